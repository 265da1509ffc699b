"""Predictions in a CSV, TSV or JSONL file, one row an answer, as models and tasks."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from veridical.errors import UserError
from veridical.files.sources import check_source
from veridical.files.tables import TableRow
from veridical.interop.imports.answer import Answer, letters
from veridical.interop.imports.logged import LoggedModel, LoggedTask
from veridical.interop.imports.prediction_columns import PredictionColumns, found_columns
from veridical.interop.imports.prediction_options import Options, golds_of, how_read, normal, options_of, place_of
from veridical.interop.imports.prediction_rows import read_rows
from veridical.interop.imports.prediction_scores import MISSING, PredictionScores
from veridical.interop.imports.records import source_of
from veridical.status import Status

HARNESS = "predictions"
NO_GOLD = "a row without a right answer"
ODD_GOLD = "a row whose right answer is none of the options"
_SCORES, _ANSWER = "scores", "answer"
_QUESTION = (
    *("question", "premise", "hypothesis", "text", "prompt", "query", "input", "context", "passage", "sentence"),
    *("sentence1", "sentence2", "story"),
)
"""Columns that are what was asked, in lower case; other columns are what sets can be made of."""
_TRUE, _FALSE = ("1", "1.0", "true", "yes", "correct", "right"), ("0", "0.0", "false", "no", "incorrect", "wrong")


def read_predictions(path: Path, given: PredictionColumns | None = None) -> list[LoggedModel]:
    """The models of a table of predictions. Raises UserError where columns cannot be identified, or a cell is at
    fault."""
    check_source(path)
    found = read_rows(path)
    rows = found.rows
    known = list(dict.fromkeys((*found.columns, *(name for row in rows for name in row.values))))
    columns = found_columns(given or PredictionColumns(), known, str(path))
    if not rows:
        raise UserError(f"{path}: no rows; write one for each answer")
    groups: dict[tuple[str, str], list[TableRow]] = {}
    for row in rows:
        key = _cell(row, columns.model) or path.stem, _cell(row, columns.task) or path.stem
        groups.setdefault(key, []).append(row)
    models: dict[str, LoggedModel] = {}
    for (model, name), own in groups.items():
        logged = models.setdefault(model, LoggedModel(HARNESS, model, "", [], where=str(path)))
        logged.tasks.append(_task(path, name, own, columns))
    next(iter(models.values())).left_out += found.left_out
    if not columns.model:
        next(iter(models.values())).tasks[0].lacks.append("no name of the model: --model NAME gives it one")
    return list(models.values())


def _task(path: Path, name: str, rows: Sequence[TableRow], columns: PredictionColumns) -> LoggedTask:
    scores = PredictionScores(rows, columns.scores, str(path))
    options = options_of(rows, columns, scores.length)
    _check_golds(rows, columns, options, str(path))
    _check_grades(rows, columns, str(path))
    task = LoggedTask(
        name=name,
        answers=lambda: _answers(task, rows, columns, options, scores),
        sources=lambda: [source_of(path)],
        total=len(rows),
    )
    task.lacks.extend(scores.notes())
    if not columns.id:
        task.lacks.append("no column of ids: rows are identified by their number (--id-column COL names one)")
    used = [f"{role} {column!r}" for role, column in _used(columns)]
    task.lacks.append(f"read by these columns: {', '.join(used)}")
    if columns.prediction and not options.labels and not options.per_row and not columns.correct:
        task.lacks.append("gold answers hardly recur, so an answer is right where it is the gold text (exact match)")
    task.notices.extend(_read_loosely(rows, columns, options))
    if options.labels and not columns.scores:
        said = (_said(row, columns.prediction, options.labels) for row in rows)
        strange = Counter(text for text in said if text and place_of(text, options.labels) is None)
        if strange:
            shown = ", ".join(f"{text[:40]!r} ({count})" for text, count in strange.most_common(4))
            task.lacks.append(
                f"{sum(strange.values())} answers are none of the labels {', '.join(options.labels)} and are unparsed: "
                f"{shown}; --labels A,B,… names the labels"
            )
    return task


def _read_loosely(rows: Sequence[TableRow], columns: PredictionColumns, options: Options) -> Iterator[str]:
    """Lines on cells that are an option only where upper and lower case, or its place, is taken for it."""
    ways: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        labels = options.of(row)
        golds = [("right answers", gold) for gold in golds_of(row, columns.gold)]
        said = [("predictions", _said(row, columns.prediction, labels))] if columns.prediction else []
        for what, text in (*golds, *said):
            if text and labels and (place := place_of(text, labels)) is not None and (way := how_read(text, labels)):
                ways.setdefault((what, way), Counter())[f"{text[:40]!r} as {labels[place][:40]!r}"] += 1
    for (what, way), found in ways.items():
        shown = ", ".join(f"{pair} ({count:,})" for pair, count in found.most_common(4))
        yield f"{found.total():,} {what} are read as options {way}: {shown}; --labels A,B,… names the labels"


def _used(columns: PredictionColumns) -> Iterator[tuple[str, str]]:
    for role in ("id", "gold", "prediction", "correct", "choices"):
        if column := getattr(columns, role):
            yield role, column
    if columns.scores:
        yield "scores", ", ".join(columns.scores)


def _answers(
    task: LoggedTask,
    rows: Sequence[TableRow],
    columns: PredictionColumns,
    options: Options,
    scores: PredictionScores,
) -> Iterator[Answer]:
    seen: Counter[tuple[str, ...]] = Counter()
    golds_by_id: dict[str, set[tuple[str, ...]]] = {}
    unread: Counter[str] = Counter()
    for row in rows:
        task.ledger.take()
        labels = options.of(row)
        golds = golds_of(row, columns.gold, labels)
        document = _cell(row, columns.id) or str(row.line)
        answer = Answer(
            document=document,
            fields={columns.id or "line": document},
            reading=_SCORES if columns.scores else _ANSWER,
            metrics=_grade(row, columns),
            factors={},
        )
        if not golds and not answer.metrics:
            written = row.values.get(columns.gold, "").strip()
            task.ledger.leave(f"{NO_GOLD} ({written!r} is read as none; --labels names labels)" if written else NO_GOLD)
            continue
        if columns.correct and answer.metrics[columns.correct] is None:
            unread[row.values.get(columns.correct, "").strip()[:40] or "empty"] += 1
        _describe(answer, row, columns)
        # Rows of one id with other right answers are of other items, and no repetition of each other.
        answer.repeat = seen[document, *golds]
        seen[document, *golds] += 1
        golds_by_id.setdefault(document, set()).add(tuple(golds))
        if columns.prediction:
            answer.text = _said(row, columns.prediction, labels or golds)
        if labels and golds:
            if not (places := _places(golds, labels)):
                task.ledger.leave(ODD_GOLD)
                continue
            _choose(answer, columns, labels, places, scores.of(row, len(labels)) if columns.scores else None)
        elif golds and options.per_row:
            answer.status, answer.detail = Status.ERROR, "the cell of its choices is not a list"
        elif columns.prediction and not answer.metrics:
            right = normal(answer.text or "") in map(normal, golds)
            answer.metrics = {"exact_match": float(right)}
            answer.fields["gold"] = json.dumps(golds, ensure_ascii=False) if len(golds) > 1 else golds[0]
        if columns.prediction and not columns.scores and not answer.text:
            answer.status = Status.EMPTY
        yield answer
    if several := [name for name, found in golds_by_id.items() if len(found) > 1]:
        shown = ", ".join(repr(name[:40]) for name in several[:4])
        task.lacks.append(
            f"{len(several):,} ids have rows with different right answers, each of which is an item of its own: {shown}"
        )
    if unread:
        shown = ", ".join(f"{text!r} ({count})" for text, count in unread.most_common(4))
        task.lacks.append(
            f"column {columns.correct!r} is neither 0 nor 1 in {unread.total():,} of {len(rows):,} rows: {shown}"
        )


def _check_grades(rows: Sequence[TableRow], columns: PredictionColumns, source: str) -> None:
    """Raise UserError for a column of grades most of whose cells are something else: it is another column."""
    said = [(row.line, text) for row in rows if (text := _cell(row, columns.correct))]
    odd = [(line, text) for line, text in said if _grade_of(text) is None]
    if 2 * len(odd) > len(said):
        line, text = odd[0]
        raise UserError(
            f"{source}, line {line}, column {columns.correct!r}: {text[:40]!r} is not 0, 1, true or false, as are "
            f"{len(odd):,} of {len(said):,} cells; name another column with --correct-column"
        )


def _describe(answer: Answer, row: TableRow, columns: PredictionColumns) -> None:
    """What was asked as fields; every other column that has no role as what sets can be made of."""
    roles = {*columns.scores, *(getattr(columns, role) for role in ("id", "gold", "prediction", "correct", "model"))}
    roles |= {columns.task, columns.choices}
    for name, cell in row.values.items():
        if name in roles or not cell.strip():
            continue
        if name.strip().lower() in _QUESTION:
            answer.fields[name] = cell
        else:
            answer.factors[name] = cell.strip()


def _places(golds: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Which of the options are right."""
    return sorted({place for gold in golds if (place := place_of(gold, labels)) is not None})


def _check_golds(rows: Sequence[TableRow], columns: PredictionColumns, options: Options, source: str) -> None:
    """Raise UserError where most right answers are none of the options: other options are meant."""
    said = [
        (row, golds, labels)
        for row in rows
        if (labels := options.of(row)) and (golds := golds_of(row, columns.gold, labels))
    ]
    odd = [(row.line, golds[0], labels) for row, golds, labels in said if not _places(golds, labels)]
    if 2 * len(odd) > len(said):
        line, gold, labels = odd[0]
        raise UserError(
            f"{source}, line {line}, column {columns.gold!r}: {gold[:40]!r} is none of the options {', '.join(labels)} "
            f"(nor are {len(odd) - 1:,} more of {len(said):,} cells); --labels A,B,… names them"
        )
    if options.per_row and not said and any(golds_of(row, columns.gold) for row in rows):
        raise UserError(
            f"{source}: no cell of column {options.per_row!r} is a list; write a JSON list, or A|B|C, or name another "
            "with --choices-column"
        )


def _choose(
    answer: Answer,
    columns: PredictionColumns,
    labels: Sequence[str],
    places: Sequence[int],
    scores: Sequence[float] | None,
) -> None:
    """Fill in the options, the right ones, and the answer: by scores where there are any, else by the prediction."""
    own = bool(columns.choices)
    answer.choices, answer.labels, answer.gold = list(labels), letters(len(labels)) if own else labels, places
    if scores is not None:
        answer.scores, answer.text = scores, None
        if not all(map(math.isfinite, scores)):
            answer.status, answer.detail = Status.NON_FINITE, "an option has no score that is a number"
        return
    place = place_of(answer.text or "", labels)
    answer.label = answer.labels[place] if place is not None else None
    if place is None:
        answer.status = Status.UNPARSED


def _said(row: TableRow, column: str, known: Sequence[str]) -> str:
    """A prediction. What is one of the options (`NA`, `none`) does not mark a missing answer."""
    text = row.values.get(column, "").strip()
    named = normal(text).casefold() in (normal(one).casefold() for one in known)
    return text if text and named else _cell(row, column)


def _cell(row: TableRow, column: str) -> str:
    text = row.values.get(column, "").strip() if column else ""
    return "" if text.lower() in MISSING else text


def _grade(row: TableRow, columns: PredictionColumns) -> Mapping[str, object]:
    """Whether the answer is right, as the table says; None where it says something else, or nothing."""
    return {columns.correct: _grade_of(_cell(row, columns.correct))} if columns.correct else {}


def _grade_of(text: str) -> float | None:
    text = text.lower()
    if text in _TRUE or text in _FALSE:
        return float(text in _TRUE)
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found <= 1 else None
