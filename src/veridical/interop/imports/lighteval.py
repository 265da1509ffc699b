"""lighteval's details (one Parquet file a task) as models and tasks.

`details_TASK_DATE.parquet` lie under `details/MODEL/DATE/`, `results_DATE.json` under `results/MODEL/`, or both in one
folder, as on the hub. Since 0.10 a row has the columns `doc`, `model_response` and `metric`; before, `example`,
`full_prompt`, `choices`, `gold_index`, `gold`, `predictions`, `metrics`, which stand as Python's text of them where
lighteval could not write them otherwise. Written after lighteval's source, not tested on a file that it wrote.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from veridical.errors import UserError
from veridical.files.binary_file import read_bytes
from veridical.interop.imports.answer import Answer, as_text, flat_fields, held, letters, listed, number
from veridical.interop.imports.direction import truth
from veridical.interop.imports.folders import files_in, not_read
from veridical.interop.imports.logged import LoggedModel, LoggedTask
from veridical.interop.imports.records import Record, read_document, source_of, whole_characters
from veridical.runs.provenance import LeftOut
from veridical.status import Status

HARNESS = "lighteval"
_DATE = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
_DETAILS = re.compile(rf"details_(?P<task>.+)_(?P<date>{_DATE})\.parquet")
_READING = "details"
MOST_ROWS = 10_000_000
ABSENT = "asked, as the results file says, and not among the details"
UNKNOWN_FORM = "a row of no form that lighteval writes"
NO_ANSWER = "the row has neither an answer nor a grade"
NO_SCORES = "the row lacks the log-likelihoods of its choices"


@dataclass(frozen=True)
class _Row:
    """What either form of a row says."""

    query: str
    prompt: str
    instruction: str
    choices: Sequence[str]
    gold: Sequence[int]
    golds: Sequence[str]
    scores: Sequence[float]
    unconditional: Sequence[float]
    texts: Sequence[str]
    metrics: Mapping[str, object]
    specific: Mapping[str, Any]

    @property
    def is_scored(self) -> bool:
        """Whether each of several choices has a log-likelihood."""
        return len(self.scores) == len(self.choices) > 1


def read_lighteval(path: Path) -> list[LoggedModel]:
    """The models in a details file or a folder of them. Raises UserError where there is none."""
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    odd: list[LeftOut] = []
    found = files_in(path, (".parquet",), odd) if path.is_dir() else [path]
    files = [(file, match) for file in found if (match := _DETAILS.fullmatch(file.name))]
    if not files:
        raise UserError(
            f"{path}: no details of lighteval are here: details_TASK_DATE.parquet is expected (run lighteval with "
            "--save-details), or the folder that such files are in; results without details are read by "
            f"veridical import scores{not_read(odd)}"
        )
    models: dict[tuple[str, str], LoggedModel] = {}
    for file, match in files:
        results = _results(file, match["date"])
        general = held(results.get("config_general"))
        name = str(general.get("model_name") or held(general.get("model_config")).get("model_name") or _folder(file))
        logged = models.setdefault(
            (name, match["date"]),
            LoggedModel(
                harness=HARNESS,
                name=name,
                version=as_text(general.get("lighteval_sha") or ""),
                tasks=[],
                settings={key: as_text(general[key]) for key in ("model_sha", "model_dtype") if general.get(key)},
                where=str(file.parent),
                date=match["date"],
            ),
        )
        logged.tasks.append(_task(file, match["task"], results))
    first = next(iter(models.values()))
    first.left_out += odd
    first.left_out += [
        LeftOut(what=str(file), reason="it is not called details_TASK_DATE.parquet")
        for file in found
        if not _DETAILS.fullmatch(file.name)
    ]
    return list(models.values())


def _folder(file: Path) -> str:
    """The model as its folder names it: `details/ORG/NAME/DATE/`."""
    parts = file.parent.parts
    if "details" in parts[:-1]:
        place = len(parts) - 1 - parts[::-1].index("details")
        return "/".join(parts[place + 1 : -1]) or file.parent.name
    return file.parent.name


def _results(file: Path, date: str) -> Record:
    """The results file of the same date; empty where none is found."""
    name = f"results_{date}.json"
    places = [file.parent / name, file.parent.parent / name]
    parts = file.parent.parts
    if "details" in parts:
        place = len(parts) - 1 - parts[::-1].index("details")
        places.append(Path(*parts[:place], "results", *parts[place + 1 : -1], name))
    for one in places:
        if one.is_file():
            try:
                return read_document(one)
            except UserError:
                return {}
    return {}


def _task(file: Path, written: str, results: Record) -> LoggedTask:
    reported = held(held(results.get("results")).get(written))
    shots = written.rpartition("|")[2]
    task = LoggedTask(
        name=written,
        answers=lambda: _answers(task, file, _evaluated(results, written)),
        version=as_text(held(results.get("versions")).get(written, "")),
        shots=int(shots) if shots.isdigit() else 0,
        reported=[
            (metric, _READING, float(value))
            for metric, value in reported.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and not metric.endswith("_stderr")
        ],
        stderr={
            (metric.removesuffix("_stderr"), _READING): float(value)
            for metric, value in reported.items()
            if metric.endswith("_stderr") and isinstance(value, int | float)
        },
        sources=lambda: [source_of(file)],
        higher_is_better=_ways(held(held(results.get("config_tasks")).get(written))),
    )
    if not results:
        task.lacks.append("no results file: reported numbers, task versions and settings are not known")
    return task


def _ways(config: Mapping[str, Any]) -> dict[str, bool]:
    """Which way is better, by metric, where the task's configuration says it."""
    found: dict[str, bool] = {}
    for one in map(held, [*listed(config.get("metric")), *listed(config.get("metrics"))]):
        named, way = one.get("metric_name"), one.get("higher_is_better")
        for name in named if isinstance(named, list) else [named]:
            said = truth(way.get(str(name)) if isinstance(way, dict) else way)
            if said is not None:
                found[str(name)] = said
    return found


def _evaluated(results: Record, written: str) -> int:
    """How many documents were asked, as the results file says; 0 where it does not."""
    found = held(held(results.get("config_tasks")).get(written)).get("effective_num_docs")
    return min(found, MOST_ROWS) if isinstance(found, int) and not isinstance(found, bool) else 0


def _answers(task: LoggedTask, file: Path, evaluated: int) -> Iterator[Answer]:
    try:
        frame = pl.read_parquet(read_bytes(file))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{file}: not a Parquet file, or cut off; copy it again") from error
    rows = list(frame.iter_rows(named=True))
    read = [_row(row) for row in rows]
    offered = {tuple(row.choices) for row in read if row is not None}
    by_scores = any(row is not None and row.is_scored for row in read)
    task.ledger.take(len(read))
    for place, row in enumerate(read):
        if row is None:
            task.ledger.leave_unreadable(UNKNOWN_FORM)
        else:
            yield _answer(row, str(place), same=len(offered) == 1, by_scores=by_scores)
    for place in range(len(read), evaluated):
        answer = Answer(document=str(place), fields={"row": str(place)}, reading=_READING, metrics={})
        answer.status, answer.detail, answer.in_log = Status.ERROR, ABSENT, False
        yield answer


def _answer(row: _Row, document: str, *, same: bool, by_scores: bool) -> Answer:
    """A row as an answer. `by_scores` says that the task's choices are scored: a row without scores is then not ok."""
    choices = [choice.strip() or choice for choice in row.choices]
    labels = choices if same and len(set(choices)) == len(choices) else letters(len(choices))
    scored = row.is_scored or (by_scores and len(choices) > 1)
    fields = {"query": row.query, **{f"specific.{name}": text for name, text in flat_fields(row.specific).items()}}
    if row.instruction:
        fields["instruction"] = row.instruction
    if not scored and row.golds:
        fields["gold"] = as_text(list(row.golds))
    answer = Answer(
        document=document,
        fields=fields,
        factors={"row": document},
        reading=_READING,
        metrics=row.metrics,
        choices=list(row.choices) if scored else (),
        labels=labels if scored else (),
        gold=[place for place in row.gold if 0 <= place < len(choices)] if scored else (),
        scores=row.scores if row.is_scored else (),
        unconditional=row.unconditional if row.is_scored and len(row.unconditional) == len(choices) else (),
        lengths=list(row.choices) if scored else (),
        contexts=[row.prompt] if row.prompt else (),
        text=None if scored else next(iter(row.texts), ""),
    )
    if scored and not row.is_scored:
        answer.status, answer.detail = Status.ERROR, NO_SCORES
    elif not scored and not row.texts and not row.metrics:
        answer.status, answer.detail = Status.ERROR, NO_ANSWER
    return answer


def _row(row: Mapping[str, Any]) -> _Row | None:
    """A row of either form; None where it is of neither."""
    named = {name.strip("_"): value for name, value in row.items()}
    if "doc" in named and "model_response" in named:
        return _new(_value(named["doc"]), _value(named["model_response"]), _value(named.get("metric")))
    if "predictions" in named:
        return _old({name: _value(value) for name, value in named.items()})
    return None


def _value(cell: object) -> Any:
    """A cell, read from Python's text of it where it stands as that."""
    if isinstance(cell, str) and cell[:1] in ("[", "{", "("):
        try:
            return whole_characters(ast.literal_eval(cell))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return cell
    return cell


def _new(doc: object, response: object, metric: object) -> _Row:
    document, said = held(doc), held(response)
    choices = [str(choice) for choice in listed(document.get("choices"))]
    gold = _places(document.get("gold_index"))
    return _Row(
        query=str(document.get("query") or ""),
        prompt=str(said.get("input") or document.get("full_prompt") or ""),
        instruction=str(document.get("instruction") or ""),
        choices=choices,
        gold=gold,
        golds=[choices[place] for place in gold if 0 <= place < len(choices)],
        scores=_floats(said.get("logprobs")),
        unconditional=_floats(said.get("unconditioned_logprobs")),
        texts=[str(text) for text in listed(said.get("text"))],
        metrics=_there(metric),
        specific=_there(document.get("specific")),
    )


def _old(row: Mapping[str, Any]) -> _Row:
    predictions = listed(row.get("predictions"))
    scores = _floats(predictions)
    gold = row.get("gold")
    return _Row(
        query=str(row.get("example") or ""),
        prompt=str(row.get("full_prompt") or ""),
        instruction=str(row.get("instruction") or ""),
        choices=[str(choice) for choice in listed(row.get("choices"))],
        gold=_places(row.get("gold_index")),
        golds=[str(one) for one in (gold if isinstance(gold, list) else [gold]) if one is not None],
        scores=scores,
        unconditional=(),
        texts=[] if scores else [_first_text(one) for one in predictions],
        metrics=_there(row.get("metrics")),
        specific=_there(row.get("specifics")),
    )


def _there(value: object) -> dict[str, Any]:
    """A mapping without what is null: Parquet gives every row the keys of all."""
    return {key: one for key, one in held(_value(value)).items() if one is not None}


def _places(value: object) -> list[int]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, int)]


def _floats(value: object) -> list[float]:
    """Log-likelihoods, each by itself or in a pair with whether it is greedy; empty where one is not a number."""
    found: list[float] = []
    for one in listed(value):
        first = one[0] if isinstance(one, list | tuple) and one else one
        score = number(first) if isinstance(first, int | float) and not isinstance(first, bool) else None
        if score is None:
            return []
        found.append(score)
    return found


def _first_text(value: object) -> str:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return str(value)
