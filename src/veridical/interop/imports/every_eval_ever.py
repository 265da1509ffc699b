"""Instance-level records of every_eval_ever (evaleval/every_eval_ever) as models and tasks.

Written against its schema `instance_level_eval_0.2.1` and `0.2.2`, and records of 0.2.1 in that repository; fields of
0.3.0 beyond these are ignored. A file is JSON Lines, one record a sample, of any number of models and evaluations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.interop.imports.answer import Answer, as_text, flat_fields, held, letters, listed
from veridical.interop.imports.copies import Repeats, whole_record
from veridical.interop.imports.direction import declared_way, says_lower
from veridical.interop.imports.folders import files_in, not_read
from veridical.interop.imports.logged import NO_MODEL, LoggedModel, LoggedTask
from veridical.interop.imports.records import RecordFile, lost_records
from veridical.runs.provenance import LeftOut
from veridical.status import Status

HARNESS = "every_eval_ever"
NO_SAMPLE = "no record of a sample (model_id, evaluation_name, sample_id, and an input, an evaluation or an error)"
NO_GRADE = "the record has no evaluation of this sample"
SCHEMAS = ("0.2.1", "0.2.2")
_READING = "answer"


@dataclass
class _EvaluationRecords:
    """The records of one model and evaluation: where they are, and whether all offer the same choices."""

    files: dict[Path, int] = field(default_factory=dict)
    choices: set[tuple[str, ...]] = field(default_factory=set)
    version: str = ""
    with_references: bool = False
    """Whether any record says what is right."""
    repeats: Repeats = field(default_factory=Repeats)


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
            group = groups.setdefault(
                _group_of(record), _EvaluationRecords(version=as_text(record.get("schema_version") or ""))
            )
            group.files[file] = group.files.get(file, 0) + 1
            asked = held(record.get("input"))
            group.with_references = group.with_references or bool(listed(asked.get("reference")))
            if len(group.choices) < 2 and asked:
                group.choices.add(tuple(map(str, listed(asked.get("choices")))))
            group.repeats.expect(_asked(record), whole_record(record))
        if records.ledger.read > records.ledger.unreadable:  # else the file is of another kind
            records.ledger.check_readable(str(file))
        left_out += lost_records(file, records.ledger)
    if not groups:
        raise UserError(
            f"{path}: no instance-level records of every_eval_ever are here (JSON Lines with model_id, "
            "evaluation_name, sample_id, input and evaluation); its aggregate records, without samples, are read by "
            f"veridical import scores{not_read(left_out)}"
        )
    models: dict[str, LoggedModel] = {}
    for (model, name), group in groups.items():
        named = model or path.stem
        logged = models.setdefault(model, LoggedModel(HARNESS, named, group.version, [], where=str(path)))
        logged.tasks.append(_task(model, name, group, path))
    next(iter(models.values())).left_out += left_out
    return list(models.values())


def _is_sample(record: Mapping[str, Any]) -> bool:
    """Whether a record is of a sample that was asked: one that failed has no evaluation, or no input."""
    named = all(name in record for name in ("model_id", "evaluation_name", "sample_id"))
    return named and bool(
        isinstance(record.get("input"), dict) or isinstance(record.get("evaluation"), dict) or record.get("error")
    )


def _group_of(record: Mapping[str, Any]) -> tuple[str, str]:
    """Model and evaluation, each empty where the record does not name it."""
    return as_text(record["model_id"] or ""), as_text(record["evaluation_name"] or "")


def _asked(record: Mapping[str, Any]) -> str:
    """What is asked, and by what it is graded: records that have this in common answer one question."""
    return whole_record({name: record.get(name) for name in ("sample_id", "evaluation_result_id", "input")})


def _task(model: str, name: str, group: _EvaluationRecords, path: Path) -> LoggedTask:
    files = {file: RecordFile(file) for file in group.files}
    task = LoggedTask(
        name=name or path.stem,
        answers=lambda: _answers(task, (model, name), group, list(files.values())),
        version=group.version,
        sources=lambda: [file.source for file in files.values() if file.source],
        total=sum(group.files.values()),
        lacks=["log-likelihoods, and the number that was reported for the whole task"],
    )
    if not model:
        task.lacks.append(NO_MODEL)
    if group.version not in SCHEMAS:
        said = f"schema version {group.version!r} is" if group.version else "no schema version, and what is read is"
        task.notices.append(f"{said} not one of those that this reader was written for ({', '.join(SCHEMAS)})")
    return task


def _answers(
    task: LoggedTask, own: tuple[str, str], group: _EvaluationRecords, files: Sequence[RecordFile]
) -> Iterator[Answer]:
    same = len(group.choices) == 1
    for file in files:
        for record in file:
            if not _is_sample(record) or _group_of(record) != own:
                continue
            task.ledger.take()
            way = declared_way(held(record.get("evaluation")), record.get("metric_config"))
            if way is not None or says_lower(task.name):
                task.higher_is_better.setdefault("score", bool(way))
            answer = _answer(record, named_choices=same)
            asked = record.get("input")
            answer.gold_unknown = (
                group.with_references and isinstance(asked, dict) and not listed(asked.get("reference"))
            )
            answer.repeat = group.repeats.number(_asked(record), whole_record(record))
            yield answer


def _answer(record: Mapping[str, Any], *, named_choices: bool) -> Answer:
    asked, graded = held(record.get("input")), held(record.get("evaluation"))
    choices = [str(choice) for choice in listed(asked.get("choices"))]
    references = [str(reference) for reference in listed(asked.get("reference"))]
    if choices and set(choices) <= set(references):  # the answers that are accepted to an open question
        choices = []
    labels = choices if named_choices and len(set(choices)) == len(choices) else letters(len(choices))
    places = [place for one in references if (place := _place(one, choices, labels)) is not None]
    extracted = _extracted(record)
    place = _place(extracted, choices, labels) if extracted is not None else None
    multiple_choice = bool(choices and (places or not references))
    answer = Answer(
        document=_document(record),
        fields={"input": as_text(asked.get("raw", ""))} if asked else {"sample_id": _document(record)},
        factors={"sample_id": _document(record), **flat_fields(held(record.get("metadata")))},
        reading=str(record.get("evaluation_result_id") or _READING),
        metrics={name: graded[name] for name in ("is_correct", "score") if graded.get(name) is not None},
        choices=choices if multiple_choice else (),
        labels=labels if multiple_choice else (),
        gold=sorted(set(places)) if multiple_choice else (),
        contexts=[str(asked["formatted"])] if asked.get("formatted") else (),
        text=_text(record),
    )
    if record.get("error"):
        answer.status, answer.detail = Status.ERROR, as_text(record["error"])
    elif not answer.metrics and not multiple_choice:
        answer.status, answer.detail = Status.ERROR, NO_GRADE
    elif multiple_choice:
        answer.label = labels[place] if place is not None else None
        if place is None:
            answer.status = Status.UNPARSED if answer.text else Status.EMPTY
    return answer


def _document(record: Mapping[str, Any]) -> str:
    """The sample's id; its text where it has none."""
    return as_text(record["sample_id"] if record["sample_id"] is not None else held(record.get("input")).get("raw", ""))


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
