"""What a log records about one question that was asked once: the form into which every format is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from veridical.status import Status
from veridical.unicode_text import composed

RESERVED = ("labels", "glosses")
"""Names that a prompt's template has for itself; a document's field of that name gets an underscore."""


@dataclass(slots=True)
class Answer:
    """One answer as logged.

    `document` identifies the document within the task, `fields` are the document's own, as text; `factors` are what
    else its item sets can be made of (the harness's number of the document), which is not part of what was asked.
    `choices` are empty where the log has none; `labels` and `contexts` run in parallel to them (`contexts` may be one
    for all), `gold` is positions among them. `scores` are summed log-likelihoods of the choices, `unconditional` those
    without a context; `greedy` says for each choice whether it is what the model would have written. `lengths` are the
    texts whose characters and bytes normalise the scores, where the log says what they are. `label` is the answer as
    the harness read it from `text`. `reading` names the filter or scorer; `metrics` are the harness's own scores by
    name, and `part` is what it reports them for, where that is not the reading (a split). `record` is the number of the
    log's record where several answers are of one; `in_log` is False for what was asked and of which there is no record.
    """

    document: str
    fields: dict[str, str]
    reading: str
    metrics: Mapping[str, object]
    part: str = ""
    repeat: int = 0
    choices: Sequence[str] = ()
    labels: Sequence[str] = ()
    choice_contexts: Sequence[str] = ()
    contexts: Sequence[str] = ()
    gold: Sequence[int] = ()
    scores: Sequence[float] = ()
    unconditional: Sequence[float] = ()
    greedy: Sequence[bool] = ()
    lengths: Sequence[str] = ()
    text: str | None = None
    label: str | None = None
    status: Status = Status.OK
    detail: str = ""
    factors: dict[str, str] = field(default_factory=dict)
    recomputed: dict[str, float] = field(default_factory=dict)
    """What the metrics come to by the harness's rules, from what else is here."""
    by_scores: bool | None = None
    """Whether its log-likelihoods make it right, where they are known and it is judged by something else."""
    record: int | None = None
    in_log: bool = True
    gold_unknown: bool = False
    """Whether the log does not say what is right, though it does so of other answers: it is kept and not judged."""


def made_fit(answer: Answer) -> None:
    """Make an answer's choices those of an item: each with a text to score, under a name that no other has.

    A choice without a text scores 0 and wins: such an answer is none. Names that are not distinct become letters.
    """
    if not answer.choices:
        return
    if not all(answer.choices):
        answer.choices, answer.labels, answer.gold, answer.scores, answer.label = (), (), (), (), None
        answer.choice_contexts = ()
        answer.status, answer.detail = Status.EMPTY, "a choice has no text to score"
        return
    names = [" ".join(composed(label).split()) for label in answer.labels]
    if not all(names) or len(set(names)) < len(names):
        known = list(answer.labels)
        answer.labels = letters(len(known))
        answer.label = answer.labels[known.index(answer.label)] if answer.label in known else None


def shared_beginning(texts: Sequence[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    end = next((place for place, letter in enumerate(first) if not last.startswith(letter, place)), len(first))
    return first[:end]


def letters(count: int) -> list[str]:
    """Names for choices by their place: `A` to `Z`, then numbers."""
    return [chr(65 + place) if count <= 26 else str(place + 1) for place in range(count)]


def flat_fields(document: Mapping[str, Any]) -> dict[str, str]:
    """A document's fields as text: nested ones by dotted names, lists as JSON; what is null is left out."""
    fields: dict[str, str] = {}
    _flatten(document, "", fields)
    return fields


def _flatten(value: Mapping[str, Any], prefix: str, fields: dict[str, str]) -> None:
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, str):
            fields[_named(name)] = inner
        elif isinstance(inner, dict):
            _flatten(inner, f"{name}.", fields)
        elif inner is not None:
            fields[_named(name)] = as_text(inner)


def _named(name: str) -> str:
    return f"{name}_" if name in RESERVED or not name else name


def as_text(value: object) -> str:
    """A value as text: text as it is, everything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return to_json(value).decode()
    except (ValueError, TypeError):  # a number that is not finite, or one of a thousand digits
        return json.dumps(value, ensure_ascii=False)


def held(value: object) -> dict[str, Any]:
    """The value where it is an object, an empty one elsewhere: a broken log may have anything anywhere."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """The value where it is a list, an empty one elsewhere."""
    return value if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A score as a number, where it is one (NaN and infinities too): also `"True"`, `"0.5"` and booleans."""
    if not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except ValueError:
        return _TRUTH.get(str(value))
    except OverflowError:
        return None


def as_number(value: object) -> float | None:
    """A reported number, where it is a number: also one that is not finite, but none that is text."""
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


_TRUTH = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}
