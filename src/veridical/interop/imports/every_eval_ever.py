"""Instance-level records of every_eval_ever (evaleval/every_eval_ever) as models and tasks.

Written against its schema `instance_level_eval_0.2.1` and `0.2.2`, and records of 0.2.1 in that repository; fields of
0.3.0 beyond these are ignored. A file is JSON Lines, one record a sample, of any number of models and evaluations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.ledger import reasons
from veridical.interop.imports.answer import Answer, flat_fields, held, letters, listed
from veridical.interop.imports.direction import declared_way, says_lower
from veridical.interop.imports.folders import files_in
from veridical.interop.imports.logged import LoggedModel, LoggedTask
from veridical.interop.imports.records import RecordFile
from veridical.runs.provenance import LeftOut
from veridical.status import Status

HARNESS = "every_eval_ever"
NO_SAMPLE = "a record without a sample id, an input or an evaluation"
_READING = "answer"


@dataclass
class _EvaluationRecords:
    """The records of one model and evaluation: where they are, and whether all offer the same choices."""

    files: dict[Path, int] = field(default_factory=dict)
    choices: set[tuple[str, ...]] = field(default_factory=set)
    version: str = ""
    with_references: bool = False
    """Whether any record says what is right."""


def read_every_eval_ever(path: Path) -> list[LoggedModel]:
    """The models in a file or folder of instance-level records. Raises UserError where there is none."""
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    groups: dict[tuple[str, str], _EvaluationRecords] = {}
    left_out: list[LeftOut] = []
    for file in files_in(path, (".jsonl",), left_out) if path.is_dir() else [path]:
        records = RecordFile(file)
        for record in records:
            if not _is_sample(record):
                records.ledger.leave_unreadable(NO_SAMPLE)
                continue
            key = str(record["model_id"]), str(record["evaluation_name"])
            group = groups.setdefault(key, _EvaluationRecords(version=str(record.get("schema_version", ""))))
            group.files[file] = group.files.get(file, 0) + 1
            group.with_references = group.with_references or bool(listed(record["input"].get("reference")))
            if len(group.choices) < 2:
                group.choices.add(tuple(map(str, listed(held(record["input"]).get("choices")))))
        if records.ledger.read > records.ledger.unreadable:  # else the file is of another kind
            records.ledger.check_readable(str(file))
        left_out += _lost(file, records)
    if not groups:
        raise UserError(
            f"{path}: no instance-level records of every_eval_ever are here (JSON Lines with model_id, "
            "evaluation_name, sample_id, input and evaluation); its aggregate records, without samples, are read by "
            "veridical import scores"
        )
    models: dict[str, LoggedModel] = {}
    for (model, name), group in groups.items():
        logged = models.setdefault(model, LoggedModel(HARNESS, model, group.version, [], where=str(path)))
        logged.tasks.append(_task(model, name, group))
    next(iter(models.values())).left_out += left_out
    return list(models.values())


def _lost(file: Path, records: RecordFile) -> Iterator[LeftOut]:
    """What of a file belongs to no evaluation."""
    if lost := records.ledger.left_out:
        n, of = lost.total(), records.ledger.read
        yield LeftOut(what=f"{n:,} of {of:,} records of {file}", reason=reasons(lost), n=n)


def _is_sample(record: Mapping[str, Any]) -> bool:
    return (
        "model_id" in record
        and "evaluation_name" in record
        and "sample_id" in record
        and isinstance(record.get("input"), dict)
        and isinstance(record.get("evaluation"), dict)
    )


def _task(model: str, name: str, group: _EvaluationRecords) -> LoggedTask:
    files = {file: RecordFile(file) for file in group.files}
    task = LoggedTask(
        name=name,
        answers=lambda: _answers(task, model, group, list(files.values())),
        version=group.version,
        sources=lambda: [file.source for file in files.values() if file.source],
        total=sum(group.files.values()),
        lacks=["log-likelihoods, and the number that was reported for the whole task"],
    )
    return task


def _answers(task: LoggedTask, model: str, group: _EvaluationRecords, files: Sequence[RecordFile]) -> Iterator[Answer]:
    seen: Counter[tuple[str, str]] = Counter()
    same = len(group.choices) == 1
    for file in files:
        for record in file:
            if not _is_sample(record):
                continue
            if (str(record["model_id"]), str(record["evaluation_name"])) != (model, task.name):
                continue
            task.ledger.take()
            way = declared_way(record["evaluation"], record.get("metric_config"))
            if way is not None or says_lower(task.name):
                task.higher_is_better.setdefault("score", bool(way))
            answer = _answer(record, named_choices=same)
            answer.gold_unknown = group.with_references and not listed(record["input"].get("reference"))
            key = (answer.document, answer.reading)
            answer.repeat = seen[key]
            seen[key] += 1
            yield answer


def _answer(record: Mapping[str, Any], *, named_choices: bool) -> Answer:
    asked, graded = held(record["input"]), held(record["evaluation"])
    choices = [str(choice) for choice in listed(asked.get("choices"))]
    references = [str(reference) for reference in listed(asked.get("reference"))]
    if set(choices) <= set(references):  # the answers that are accepted to an open question
        choices = []
    labels = choices if named_choices and len(set(choices)) == len(choices) else letters(len(choices))
    places = [place for one in references if (place := _place(one, choices, labels)) is not None]
    extracted = _extracted(record)
    place = _place(extracted, choices, labels) if extracted is not None else None
    multiple_choice = bool(choices and (places or not references))
    answer = Answer(
        document=str(record["sample_id"]),
        fields={"input": str(asked.get("raw", ""))},
        factors={"sample_id": str(record["sample_id"]), **flat_fields(held(record.get("metadata")))},
        reading=str(record.get("evaluation_result_id") or _READING),
        metrics={name: graded[name] for name in ("is_correct", "score") if graded.get(name) is not None},
        choices=choices if multiple_choice else (),
        labels=labels if multiple_choice else (),
        gold=sorted(set(places)) if multiple_choice else (),
        contexts=[str(asked["formatted"])] if asked.get("formatted") else (),
        text=_text(record),
    )
    if record.get("error"):
        answer.status, answer.detail = Status.ERROR, str(record["error"])
    elif multiple_choice:
        answer.label = labels[place] if place is not None else None
        if place is None:
            answer.status = Status.UNPARSED if answer.text else Status.EMPTY
    return answer


def _place(text: str, choices: Sequence[str], labels: Sequence[str]) -> int | None:
    """The choice that a text names, by its own text or by its letter."""
    text = text.strip()
    for known in (choices, [choice.strip() for choice in choices], labels, letters(len(choices))):
        if text in known:
            return list(known).index(text)
    return None


def _extracted(record: Mapping[str, Any]) -> str | None:
    """The answer as the harness read it from the last output."""
    found = [held(one) for one in listed(record.get("answer_attribution"))]
    final = [one for one in found if one.get("is_terminal")] or found
    return str(final[-1]["extracted_value"]) if final and final[-1].get("extracted_value") is not None else None


def _text(record: Mapping[str, Any]) -> str:
    """What the model said: its output, or its last message."""
    output = held(record.get("output")).get("raw")
    if isinstance(output, str):
        return output
    if texts := [str(text) for text in listed(output)]:
        return texts[-1]
    said = [held(one).get("content") for one in listed(record.get("messages")) if held(one).get("role") == "assistant"]
    return next((text for text in reversed(said) if isinstance(text, str)), "")
