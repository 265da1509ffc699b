"""Predictions in a CSV, TSV or JSONL file, one row an answer, as models and tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from veridical.errors import UserError
from veridical.files.sources import check_source
from veridical.files.tables import TableRow
from veridical.interop.imports.logged import NO_MODEL, LoggedModel, LoggedTask
from veridical.interop.imports.prediction_answers import answers_of, cell_of, grade_of, name_in, places_of, said_in
from veridical.interop.imports.prediction_columns import PredictionColumns, found_columns
from veridical.interop.imports.prediction_options import Options, golds_of, named_option, options_of
from veridical.interop.imports.prediction_rows import read_rows
from veridical.interop.imports.prediction_scores import PredictionScores
from veridical.interop.imports.records import source_of
from veridical.wording import counted

HARNESS = "predictions"


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
        key = name_in(row, columns.model) or path.stem, name_in(row, columns.task) or path.stem
        groups.setdefault(key, []).append(row)
    models: dict[str, LoggedModel] = {}
    for (model, name), own in groups.items():
        logged = models.setdefault(model, LoggedModel(HARNESS, model, "", [], where=str(path)))
        logged.tasks.append(_task(path, name, own, columns))
    next(iter(models.values())).left_out += found.left_out
    if not columns.model:
        next(iter(models.values())).tasks[0].lacks.append(NO_MODEL)
    return list(models.values())


def _task(path: Path, name: str, rows: Sequence[TableRow], columns: PredictionColumns) -> LoggedTask:
    scores = PredictionScores(rows, columns.scores, str(path))
    options = options_of(rows, columns, scores.length)
    _check_golds(rows, columns, options, str(path))
    _check_grades(rows, columns, str(path))
    task = LoggedTask(
        name=name,
        answers=lambda: answers_of(task, rows, columns, options, scores),
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
        golds = [golds_of(row, columns.gold, options.labels) for row in rows]
        lost = [bool(gold) and not places_of(gold, options.labels) for gold in golds]
        said = (
            said_in(row, columns.prediction, options.labels) for row, odd in zip(rows, lost, strict=True) if not odd
        )
        strange = Counter(text for text in said if text and named_option(text, options.labels) is None)
        if strange:
            task.lacks.append(
                f"{counted(strange.total(), 'answer is', 'answers are')} none of the labels "
                f"{', '.join(options.labels)}, and not read: {_most(strange)}; --labels A,B,… names the labels"
            )
        if left := Counter(gold[0] for gold, odd in zip(golds, lost, strict=True) if odd):
            task.lacks.append(
                f"{counted(left.total(), 'row is', 'rows are')} left out, since what is right is none of the labels "
                f"{', '.join(options.labels)}: {_most(left)}; --labels A,B,… names the labels"
            )
    return task


def _most(found: Counter[str]) -> str:
    return ", ".join(f"{text[:40]!r} ({count:,})" for text, count in found.most_common(4))


def _read_loosely(rows: Sequence[TableRow], columns: PredictionColumns, options: Options) -> Iterator[str]:
    """Lines on cells that are an option only where upper and lower case, or its place, is taken for it."""
    ways: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        labels = options.of(row)
        golds = [("right answers", gold) for gold in golds_of(row, columns.gold, labels)]
        said = [("predictions", said_in(row, columns.prediction, labels))] if columns.prediction else []
        for what, text in (*golds, *said):
            named = named_option(text, labels) if text and labels else None
            if named is not None and named.way:
                ways.setdefault((what, named.way), Counter())[f"{text[:40]!r} as {labels[named.place][:40]!r}"] += 1
    for (what, way), found in ways.items():
        shown = ", ".join(f"{pair} ({count:,})" for pair, count in found.most_common(4))
        yield f"{found.total():,} {what} are read as options {way}: {shown}; --labels A,B,… names the labels"


def _used(columns: PredictionColumns) -> Iterator[tuple[str, str]]:
    for role in ("id", "gold", "prediction", "correct", "choices"):
        if column := getattr(columns, role):
            yield role, column
    if columns.scores:
        yield "scores", ", ".join(columns.scores)


def _check_grades(rows: Sequence[TableRow], columns: PredictionColumns, source: str) -> None:
    """Raise UserError for a column of grades most of whose cells are something else: it is another column."""
    said = [(row.line, text) for row in rows if (text := cell_of(row, columns.correct))]
    odd = [(line, text) for line, text in said if grade_of(text) is None]
    if 2 * len(odd) > len(said):
        line, text = odd[0]
        raise UserError(
            f"{source}, line {line}, column {columns.correct!r}: {text[:40]!r} is not 0, 1, true or false, as are "
            f"{len(odd):,} of {len(said):,} cells; name another column with --correct-column"
        )


def _check_golds(rows: Sequence[TableRow], columns: PredictionColumns, options: Options, source: str) -> None:
    """Raise UserError where most right answers are none of the options: other options are meant."""
    said = [
        (row, golds, labels)
        for row in rows
        if (labels := options.of(row)) and (golds := golds_of(row, columns.gold, labels))
    ]
    odd = [(row.line, golds[0], labels) for row, golds, labels in said if not places_of(golds, labels)]
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
