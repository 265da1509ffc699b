"""One sample of an Inspect log as answers, one for each of its scorers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veridical.interop.imports.answer import Answer, as_number, as_text, flat_fields, held, letters, listed
from veridical.interop.imports.logged import Reported
from veridical.runs.imported import CORRECT, INCORRECT
from veridical.status import Status

NO_SCORE = "the log has no score of this sample"
NO_NUMBER = "its score is {value}, which is not a grade"
_WORDS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ERRORED = ("error", "errored", "from_error", "scored_on_error")
"""What a score's metadata may say of a score that was made from a sample that failed."""


@dataclass(frozen=True)
class Scorers:
    """How a log's samples are scored: the readings (a scorer each, or a key of its scores), each with the metric that
    its numbers have, and those whose answers are letters of choices."""

    metrics: Mapping[str, str]
    by_letter: frozenset[str]
    reported: Sequence[Reported]
    with_targets: bool = True
    """Whether any sample of the log says what is right. Where none does (agents' tasks) the scorer's grade is taken."""

    @classmethod
    def of(cls, sample: Mapping[str, Any], reported: Sequence[Reported], *, with_targets: bool = True) -> Scorers:
        """The scorers of a log, from a sample that all of them scored and from its reported numbers."""
        scores = scores_of(sample)
        metrics = {reading: _metric_of(reading, reported) for reading in scores}
        by_letter = (reading for reading, score in scores.items() if _is_by_letter(reading, score, sample))
        return cls(metrics, frozenset(by_letter), reported, with_targets)

    def answers(self, sample: Mapping[str, Any]) -> Iterator[Answer]:
        """An answer for every reading, whether or not the sample has a score for it: all of them were asked."""
        scores = scores_of(sample)
        for reading in dict.fromkeys((*self.metrics, *scores)):
            answer = _basis(sample, reading)
            by_letter = reading in self.by_letter or (
                reading not in self.metrics and _is_by_letter(reading, scores[reading], sample)
            )
            answer.gold_unknown = self.with_targets and not has_target(sample)
            if reading in scores:
                metric = self.metrics.get(reading) or _metric_of(reading, self.reported)
                answer = _with_score(answer, sample, scores[reading], metric, by_letter=by_letter)
                yield _without_failed(answer, sample, scores)
            else:
                yield _unscored(_with_choices(answer, sample) if by_letter else answer, sample)


def _is_by_letter(reading: str, score: Mapping[str, Any], sample: Mapping[str, Any]) -> bool:
    """Whether a scorer's answers are letters of the sample's choices."""
    return reading == "choice" or score.get("answer") in letters(len(listed(sample.get("choices"))))


def _metric_of(reading: str, reported: Sequence[Reported]) -> str:
    own = [metric for metric, of, _ in reported if of == reading] or [metric for metric, *_ in reported]
    return next((name for name in ("accuracy", "mean") if name in own), "accuracy")


def scores_of(sample: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The scores of a sample by reading. A score that is an object of several values gives a reading for each."""
    if isinstance(sample.get("score"), dict):  # the form before scorers had names
        return {"score": sample["score"]}
    found: dict[str, dict[str, Any]] = {}
    for scorer, score in held(sample.get("scores")).items():
        if not isinstance(score, dict):
            continue
        if not isinstance(values := score.get("value"), dict):
            found[scorer] = score
            continue
        for name, value in values.items():
            found[name if name not in found else f"{scorer}/{name}"] = {**score, "value": value, "answer": None}
    return found


def _without_failed(answer: Answer, sample: Mapping[str, Any], scores: Mapping[str, Mapping[str, Any]]) -> Answer:
    """An answer of a sample that failed is none, whatever score was made of what there was of it."""
    error = sample.get("error") or next((said for score in scores.values() if (said := _error_of(score))), None)
    if error:
        answer.status, answer.label = Status.ERROR, None
        answer.detail = as_text(held(error).get("message") or error)[:500]
    return answer


def _error_of(score: Mapping[str, Any]) -> object:
    metadata = held(score.get("metadata"))
    return score.get("error") or next((metadata[name] for name in _ERRORED if metadata.get(name)), None)


def _unscored(answer: Answer, sample: Mapping[str, Any]) -> Answer:
    limit = held(sample.get("limit")).get("type")
    answer.label = None
    if error := sample.get("error"):
        answer.status, answer.detail = Status.ERROR, as_text(held(error).get("message") or error)[:500]
    elif limit:
        answer.status, answer.detail = Status.TRUNCATED, f"stopped at its limit ({as_text(limit)}) and not scored"
    else:
        answer.status, answer.detail = Status.ERROR, NO_SCORE
    return answer


def has_target(sample: Mapping[str, Any]) -> bool:
    """Whether a sample says what a right answer is."""
    target = sample.get("target")
    return any(as_text(one).strip() for one in (target if isinstance(target, list) else [target]) if one is not None)


def repeat_of(sample: Mapping[str, Any]) -> int:
    """The number of the repetition, from 0; Inspect counts epochs from 1."""
    epoch = sample.get("epoch")
    return max(epoch - 1, 0) if isinstance(epoch, int) else 0


def _basis(sample: Mapping[str, Any], reading: str) -> Answer:
    fields = {"input": _text(sample.get("input"))}
    target = sample.get("target")
    if target is not None:
        fields["target"] = as_text(target)
    for name, value in flat_fields(held(sample.get("metadata"))).items():
        fields[name if name not in fields else f"metadata.{name}"] = value
    return Answer(
        document=str(sample.get("id", "")),
        fields={name: value for name, value in fields.items() if value},
        factors={"sample_id": str(sample.get("id", ""))},
        reading=reading,
        metrics={},
        repeat=repeat_of(sample),
        contexts=[fields["input"]],
        text=_completion(sample),
    )


def _with_choices(answer: Answer, sample: Mapping[str, Any]) -> Answer:
    """The answer with the sample's choices, where one of them is known to be right, or where no target says any."""
    texts = [as_text(choice) for choice in listed(sample.get("choices"))]
    names = letters(len(texts))
    target = sample.get("target")
    gold = [names.index(one) for one in (target if isinstance(target, list) else [target]) if one in names]
    if texts and (len(gold) == 1 or answer.gold_unknown) and all(text.strip() for text in texts):
        answer.choices, answer.labels, answer.gold = texts, names, gold
    return answer


def _with_score(
    answer: Answer, sample: Mapping[str, Any], score: Mapping[str, Any], metric: str, *, by_letter: bool
) -> Answer:
    value, said = score.get("value"), score.get("answer")
    grade = _grade(value)
    answer.metrics = {metric: value if grade is None else grade}
    if by_letter:
        _with_choices(answer, sample)
    if answer.choices:
        _read_letter(answer, said, metric)
    elif value == "N":
        answer.status, answer.detail = Status.UNPARSED, "the scorer found no answer"
    elif grade in (0.0, 1.0):
        answer.label = CORRECT if grade else INCORRECT
    if isinstance(value, str) and _written_grade(value) is None:
        answer.status, answer.label = Status.UNPARSED, None
        answer.detail, answer.recomputed = NO_NUMBER.format(value=repr(value[:60])), {}
    if grade is None or not math.isfinite(grade):  # whatever was answered, the scorer graded nothing
        answer.status, answer.label = Status.ERROR if value is None else Status.NON_FINITE, None
        answer.detail, answer.recomputed = (
            NO_SCORE if value is None else NO_NUMBER.format(value=as_text(value)[:60]),
            {},
        )
    if said is not None and not answer.detail:
        answer.detail = f"answer: {as_text(said)}"[:500]
    return answer


def _read_letter(answer: Answer, said: object, metric: str) -> None:
    """The letter that was answered, and what the scorer makes of it by its own rule."""
    answer.label = str(said) if said in answer.labels else None
    if answer.label is None:
        answer.status = Status.AMBIGUOUS if said else Status.UNPARSED
    if answer.gold:
        right = answer.label is not None and answer.labels.index(answer.label) in answer.gold
        answer.recomputed = {metric: float(right)}


def _grade(value: object) -> float | None:
    """A score as Inspect's `value_to_float` has it; None for anything but a single value."""
    if isinstance(value, bool | int | float):
        return as_number(value)
    if isinstance(value, str):
        # Inspect counts any other text as 0, which says nothing.
        return found if (found := _written_grade(value)) is not None else 0.0
    return None


def _written_grade(text: str) -> float | None:
    """The value of a text that is one of Inspect's grades, or a number; None for any other."""
    word = text.casefold()
    if word in _WORDS and (text in "CIPN" or len(text) > 1):
        return _WORDS[word]
    try:
        return float(text)
    except ValueError:
        return None


def _text(value: object) -> str:
    """An input: a text, or what the user's turns say."""
    if isinstance(value, list):
        return "\n\n".join(_content(turn.get("content")) for turn in value if isinstance(turn, dict))
    return "" if value is None else as_text(value)


def _content(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(as_text(part.get("text", "")) for part in value if isinstance(part, dict))
    return "" if value is None else as_text(value)


def _completion(sample: Mapping[str, Any]) -> str:
    output = held(sample.get("output"))
    if isinstance(text := output.get("completion"), str):
        return text
    first = next(iter(listed(output.get("choices"))), None)
    return _content(held(held(first).get("message")).get("content"))
