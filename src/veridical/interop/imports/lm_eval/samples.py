"""Samples of lm-evaluation-harness 0.4.0 to 0.4.13, and the `write_out` records of 0.3, as answers.

A record holds the document, the arguments of every request (context and continuation) and what came back. It does not
hold the choices without their delimiter, nor how its target names the right one: that is found out from the task's
configuration where a results file has it, and from the first records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from veridical.interop.imports.answer import Answer, as_text, flat_fields, listed, number
from veridical.interop.imports.lm_eval.choices import Conventions, chosen, own_texts, shared_contexts
from veridical.interop.imports.lm_eval.gold import target_readings
from veridical.interop.imports.lm_eval.requests import Requests, requests_of, scores_of
from veridical.interop.imports.lm_eval.rules import first_best, is_metric
from veridical.interop.imports.tally import is_right
from veridical.status import Status

LOOKED_AT = 500
"""Records from which the task's conventions are found out."""
AGREEING = 0.99
"""Share of these whose own `acc` must be what their log-likelihoods say; below it, the task has a rule of its own."""

_FRAME = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
}
UNFILTERED = "as-logged"
"""The reading of what no filter has touched (`none` in the harness)."""

UNREADABLE = "record without a document"
NO_ANSWER = "the log has no answer to this document: its requests and responses are missing or do not fit"
ABSENT = "asked, as the results file says, and not among the samples"
DEDUCED = "the log does not say which of two contexts is right: that is deduced from the harness's own acc"
INVALID = "[invalid]"
"""What the harness's regex filter gives where nothing matches."""


@dataclass
class SampleReader:
    """The records of one task as answers. `skipped` counts records that cannot be read, `notes` what was assumed."""

    task: str
    config: Mapping[str, Any]
    declared: Collection[str] = ()
    """The metrics that the results file names."""
    expected: int | None = None
    """How many documents were asked, where the results file says it."""
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    unnamed: set[str] = field(default_factory=set)
    """Keys of records that are not taken as scores, where nothing says what is one."""

    def answers(self, records: Iterable[dict[str, Any]]) -> Iterator[Answer]:
        """The answers in the records of one task; what cannot be read is counted in `skipped`."""
        records = iter(records)
        first = list(islice(records, LOOKED_AT))
        self.conventions = self._conventions([record for record in first if requests_of(record)])
        with_targets = any(record.get("target") is not None for record in first)
        filters = [str(one.get("name")) for one in listed(self.config.get("filter_list")) if isinstance(one, dict)]
        seen: Counter[str] = Counter()
        held_documents: dict[str, set[str]] = {}
        for record in chain(first, records):
            if "doc_id" not in record and "doc" not in record:
                self.skipped[UNREADABLE] += 1
                continue
            self.unnamed.update(name for name in record if name not in _FRAME and self._is_unnamed(record, name))
            reading = record.get("filter")
            if reading is None:
                # Older versions write the records of every filter, one filter after another, and do not name it.
                document = str(record.get("doc_id"))
                place, seen[document] = seen[document], seen[document] + 1
                if filters:
                    reading = filters[place % len(filters)]  # a second record under one filter is left out as such
                else:
                    reading = f"filter {place + 1}" if place and not self.config else None
            answer = self._answer(record, requests_of(record), _reading(reading))
            answer.gold_unknown = with_targets and record.get("target") is None and not answer.gold
            held_documents.setdefault(answer.reading, set()).add(answer.document)
            if answer.choice_contexts and answer.gold and DEDUCED not in self.notes:
                self.notes.append(DEDUCED)
            yield answer
        for reading, documents in held_documents.items():
            yield from self._absent(reading, documents)
        if self.unnamed:
            self.notes.append(
                f"no list of metrics in the log: {', '.join(sorted(self.unnamed)[:6])} are taken as no scores, since "
                "their names are not those of the harness's metrics"
            )

    def _metrics(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The scores of a record: those that it names, else those that the results file names, else by their names."""
        named = [name for name in listed(record.get("metrics")) if isinstance(name, str)] or self.declared
        if named:
            return {name: record[name] for name in record if name in named and name not in _FRAME}
        return {name: record[name] for name in record if name not in _FRAME and is_metric(name)}

    def _is_unnamed(self, record: Mapping[str, Any], name: str) -> bool:
        return not self.declared and not listed(record.get("metrics")) and not is_metric(name)

    def _absent(self, reading: str, documents: set[str]) -> Iterator[Answer]:
        """Documents that were asked, as the results file says, and that the samples do not hold."""
        missing = (self.expected or 0) - len(documents)
        asked = map(str, range(self.expected or 0))
        for document in islice((one for one in asked if one not in documents), max(missing, 0)):
            answer = Answer(document=document, fields={"doc_id": document}, reading=reading, metrics={})
            answer.status, answer.detail, answer.text = Status.ERROR, ABSENT, "" if self._generates else None
            answer.in_log = False
            yield answer

    def _answer(self, record: dict[str, Any], requests: Requests | None, reading: str) -> Answer:
        document = record.get("doc")
        fields = flat_fields(document) if isinstance(document, dict) else {"doc": as_text(document)}
        answer = Answer(
            document=str(record.get("doc_id", "")),
            fields=fields,
            reading=reading,
            metrics={},
        )
        answer.metrics = self._metrics(record)
        answer.factors = flat_fields(
            {name: value for name, value in record.items() if name not in _FRAME and name not in answer.metrics}
        )
        if "doc_id" in record:
            answer.factors["doc_id"] = as_text(record["doc_id"])
        target = record.get("target")
        if requests is None or record.get("error"):
            return self._failed(answer, record)
        if requests.continuations is None:
            return _generated(answer, requests, target, record)
        if len(requests.continuations) == 1:
            return _single(answer, requests, target)
        if self.conventions.graded:
            by_scores = chosen(replace(answer), requests, target, self.conventions)
            if by_scores.scores and by_scores.gold and by_scores.status is Status.OK:
                answer.by_scores = is_right(by_scores)
            return _single(answer, requests, target)
        return chosen(answer, requests, target, self.conventions, self.declared)

    def _failed(self, answer: Answer, record: Mapping[str, Any]) -> Answer:
        """A document that was asked and of which the log has no answer."""
        answer.status, answer.detail = Status.ERROR, as_text(record.get("error") or NO_ANSWER)[:500]
        answer.text = "" if self._generates else None
        if record.get("target") is not None and self._generates:
            answer.fields.setdefault("target", as_text(record["target"]))
        return answer

    _generates = False

    def _conventions(self, first: Sequence[dict[str, Any]]) -> Conventions:
        held = [(record, requests) for record in first if (requests := requests_of(record))]
        self._generates = bool(held) and all(requests.continuations is None for _, requests in held)
        scored = [
            (record, requests)
            for record, requests in held
            if requests.continuations and len(requests.continuations) > 1
        ]
        if not scored:
            return Conventions()
        delimiter = self._delimiter([requests for _, requests in scored])
        texts = [own_texts(requests, delimiter) for _, requests in scored]
        conventions = Conventions(
            delimiter=delimiter,
            by_text=_constant(texts),
            index_first=_index_first(scored, texts),
            whole_contexts=self.config.get("num_fewshot") == 0 and not self.config.get("description"),
        )
        agreeing = _agreement(scored, conventions)
        if agreeing is not None and agreeing < AGREEING:
            self.notes.append(
                f"its own acc is not what the log-likelihoods and the target say ({agreeing:.0%} of the first "
                f"{len(scored)} records agree): answers are graded by the harness's scores"
            )
            return replace(conventions, graded=True)
        return conventions

    def _delimiter(self, scored: Sequence[Requests]) -> str:
        """What stands before every choice: the configuration's, else a space, where the continuations begin so."""
        given = self.config.get("target_delimiter")
        wanted = given if isinstance(given, str) else " "
        begin = all(text.startswith(wanted) for requests in scored for text in requests.continuations or ())
        if given is None and begin:
            self.notes.append("no task configuration: a space before each choice is taken as the delimiter")
        return wanted if begin else ""


def _reading(name: object) -> str:
    return UNFILTERED if name in (None, "none", "") else as_text(name)


# Generated texts and single continuations: graded by the harness


def _generated(answer: Answer, requests: Requests, target: object, record: Mapping[str, Any]) -> Answer:
    answer.contexts = requests.contexts[:1]
    answer.text = _text(record.get("resps", requests.returned))
    filtered = _text(requests.returned)
    if target is not None:
        answer.fields.setdefault("target", as_text(target))
    if not any(number(value) == 1.0 for value in answer.metrics.values()):
        if filtered == INVALID or (answer.text.strip() and _is_nothing(record)):
            answer.status, answer.detail = Status.UNPARSED, "the harness's filter found no answer"
        elif not answer.text.strip():
            answer.status = Status.EMPTY
    if filtered != answer.text and not answer.detail:
        answer.detail = filtered
    return answer


def _is_nothing(record: Mapping[str, Any]) -> bool:
    """Whether a filter left nothing of an answer: null, or a list of it."""
    found = record.get("filtered_resps", "")
    return found is None or found == [] or (isinstance(found, list) and all(one in (None, [], [None]) for one in found))


def _text(returned: object) -> str:
    while isinstance(returned, list) and returned:
        returned = returned[0]
    return "" if isinstance(returned, list) or returned is None else as_text(returned)


def _single(answer: Answer, requests: Requests, target: object) -> Answer:
    answer.contexts = shared_contexts(requests.contexts)
    if target is not None:
        answer.fields.setdefault("target", as_text(target))
    found = scores_of(requests.returned)
    if found is None:
        answer.status, answer.detail = Status.ERROR, "no log-likelihood is logged"
        return answer
    totals, greedy = found
    answer.scores, answer.lengths = totals, requests.continuations or []
    if not all(map(math.isfinite, totals)):
        answer.status = Status.NON_FINITE
    if len(totals) > 1:
        answer.fields.setdefault("choices", as_text(requests.continuations))
    else:
        answer.detail = f"log-likelihood {totals[0]:.6g}"
        if greedy and "acc" in answer.metrics:
            answer.recomputed["acc"] = float(greedy[0])
        if "perplexity" in answer.metrics:
            answer.recomputed["perplexity"] = totals[0]
    return answer


def _constant(texts: Sequence[Sequence[str]]) -> bool:
    """Whether all documents offer the same few short texts, so that these name the answers."""
    first = texts[0]
    short = 2 <= len(first) <= 26 and all(len(text) <= 40 for text in first)
    return short and len(texts) > 1 and all(sorted(own) == sorted(first) for own in texts)


def _index_first(scored: Sequence[tuple[dict[str, Any], Requests]], texts: Sequence[Sequence[str]]) -> bool:
    """Whether targets that could be an index or a text are an index: as the records' own `acc` has it."""
    votes = Counter[bool]()
    for (record, requests), own in zip(scored, texts, strict=True):
        readings = target_readings(record.get("target"), own)
        found, acc = scores_of(requests.returned), number(record.get("acc"))
        if len(readings) == 2 and found and acc in (0.0, 1.0):
            best = first_best(found[0][: len(own)])
            for index, place in zip((True, False), readings, strict=True):
                votes[index] += (place == best) == (acc == 1.0)
    return votes[True] >= votes[False]


def _agreement(scored: Sequence[tuple[dict[str, Any], Requests]], conventions: Conventions) -> float | None:
    """The share of records whose own `acc` is what scores and target say; None where no record has one."""
    agree: list[bool] = []
    for record, requests in scored:
        if "acc" not in record:
            continue
        answer = Answer(document="", fields={}, reading="", metrics={"acc": record["acc"]})
        answer = chosen(answer, requests, record.get("target"), conventions)
        own = number(record["acc"])
        # A score that is not a number says nothing about the task's rule.
        finite = own is not None and math.isfinite(own) and answer.status is not Status.NON_FINITE and answer.gold
        if "acc" in answer.recomputed and finite:
            agree.append(answer.recomputed["acc"] == own)
    return sum(agree) / len(agree) if agree else None
