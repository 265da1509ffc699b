"""Predictions in a CSV, TSV or JSONL file, one row an answer, as models and tasks."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from veridical.errors import UserError
from veridical.files.tables import Table, TableRow, open_table
from veridical.interop.imports.answer import Answer, letters
from veridical.interop.imports.logged import LoggedModel, LoggedTask
from veridical.interop.imports.prediction_columns import PredictionColumns, found_columns
from veridical.interop.imports.records import source_of
from veridical.status import Status

HARNESS = "predictions"
MOST_LABELS = 26
"""Golds that are more than this, or that hardly recur, are answers to open questions. Our choice."""
NO_GOLD = "a row without a right answer"
_SCORES, _ANSWER = "scores", "answer"
_QUESTION = (
    *("question", "premise", "hypothesis", "text", "prompt", "query", "input", "context", "passage", "sentence"),
    *("sentence1", "sentence2", "story"),
)
"""Columns that are what was asked, in lower case; other columns are what sets can be made of."""
_MISSING = ("", "nan", "none", "null", "na", "n/a")
_TRUE, _FALSE = ("1", "1.0", "true", "yes", "correct", "right"), ("0", "0.0", "false", "no", "incorrect", "wrong")
_WHOLE = re.compile(r"-?[0-9]+\.0")
_TINY = 5e-324


def read_predictions(path: Path, given: PredictionColumns | None = None) -> list[LoggedModel]:
    """The models of a table of predictions. Raises UserError where columns cannot be identified, or a cell is at
    fault."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; predictions are one .csv, .tsv or .jsonl file")
    table = open_table(path)
    rows = list(table.rows())
    known = list(dict.fromkeys((*table.columns, *(name for row in rows for name in row.values))))
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
        logged.tasks.append(_task(table, name, own, columns))
    if not columns.model:
        next(iter(models.values())).tasks[0].lacks.append("no name of the model: --model NAME gives it one")
    return list(models.values())


@dataclass(frozen=True)
class _Options:
    """The options of a task by row: the same for all, or each row's own; none where questions are open."""

    labels: tuple[str, ...]
    per_row: str = ""

    def of(self, row: TableRow, source: str) -> tuple[str, ...]:
        return tuple(_list(row, self.per_row, source)) if self.per_row else self.labels


def _task(table: Table, name: str, rows: Sequence[TableRow], columns: PredictionColumns) -> LoggedTask:
    options = _options(rows, columns, str(table.path))
    task = LoggedTask(
        name=name,
        answers=lambda: _answers(table, task, rows, columns, options),
        sources=lambda: [source_of(table.path)],
        total=len(rows),
    )
    if not columns.id:
        task.lacks.append("no column of ids: rows are identified by their number (--id-column COL names one)")
    used = [f"{role} {column!r}" for role, column in _used(columns)]
    task.lacks.append(f"read by these columns: {', '.join(used)}")
    if columns.prediction and not options.labels and not options.per_row and not columns.correct:
        task.lacks.append("gold answers hardly recur, so an answer is right where it is the gold text (exact match)")
    if options.labels and not columns.scores:
        said = (_cell(row, columns.prediction) for row in rows)
        strange = Counter(text for text in said if text and _place(text, options.labels) is None)
        if strange:
            shown = ", ".join(f"{text[:40]!r} ({count})" for text, count in strange.most_common(4))
            task.lacks.append(
                f"{sum(strange.values())} answers are none of the labels {', '.join(options.labels)} and are unparsed: "
                f"{shown}; --labels A,B,… names the labels"
            )
    return task


def _used(columns: PredictionColumns) -> Iterator[tuple[str, str]]:
    for role in ("id", "gold", "prediction", "correct", "choices"):
        if column := getattr(columns, role):
            yield role, column
    if columns.scores:
        yield "scores", ", ".join(columns.scores)


def _options(rows: Sequence[TableRow], columns: PredictionColumns, source: str) -> _Options:
    if columns.choices:
        return _Options((), columns.choices)
    if columns.labels:
        return _Options(columns.labels)
    if len(columns.scores) > 1:
        return _Options(_without_affixes(columns.scores))
    golds = Counter(gold for row in rows for gold in _golds(row, columns.gold))
    if columns.scores:  # one column of lists
        n = max(
            (len(_list(row, columns.scores[0], source)) for row in rows if _cell(row, columns.scores[0])), default=0
        )
        if len(golds) <= n and not all(gold.isdigit() for gold in golds):
            return _Options(tuple(sorted(golds)))
        return _Options(tuple(str(place) for place in range(n)))
    few = 1 < len(golds) <= MOST_LABELS and golds.total() >= 2 * len(golds)
    return _Options(tuple(sorted(golds)) if few else ())


def _without_affixes(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns without what all begin and end with: `score_yes`, `score_no` are `yes`, `no`."""
    shortest = min(map(len, names))
    start = next((place for place in range(shortest) if len({name[place] for name in names}) > 1), 0)
    start = max((at + 1 for at, letter in enumerate(names[0][:start]) if letter in "_-.: "), default=0)
    end = next((place for place in range(shortest - start) if len({name[-1 - place] for name in names}) > 1), 0)
    end = max(
        (at + 1 for at, letter in enumerate(reversed(names[0][len(names[0]) - end :])) if letter in "_-.: "), default=0
    )
    cut = tuple(name[start : len(name) - end] for name in names)
    return cut if all(cut) and len(set(cut)) == len(cut) else tuple(names)


def _answers(
    table: Table, task: LoggedTask, rows: Sequence[TableRow], columns: PredictionColumns, options: _Options
) -> Iterator[Answer]:
    seen: Counter[str] = Counter()
    scale, probabilities = _scale(rows, columns, str(table.path))
    if scale:
        task.lacks.append(scale)
    for row in rows:
        source = f"{table.path}, line {row.line}"
        golds = _golds(row, columns.gold)
        document = _cell(row, columns.id) or str(row.line)
        answer = Answer(
            document=document,
            fields={columns.id or "line": document},
            reading=_SCORES if columns.scores else _ANSWER,
            metrics=_grade(row, columns, source),
            factors={},
        )
        if not golds and not answer.metrics:
            task.skipped[NO_GOLD] += 1
            continue
        _describe(answer, row, columns)
        answer.repeat = seen[document]
        seen[document] += 1
        labels = options.of(row, source)
        if columns.prediction:
            answer.text = _cell(row, columns.prediction)
        if labels and golds:
            _choose(answer, row, columns, labels, golds, source)
            if answer.scores and probabilities:
                answer.scores = [math.log(max(score, _TINY)) for score in answer.scores]
        elif columns.prediction and not answer.metrics:
            right = _normal(answer.text or "") in map(_normal, golds)
            answer.metrics = {"exact_match": float(right)}
            answer.fields["gold"] = json.dumps(golds, ensure_ascii=False) if len(golds) > 1 else golds[0]
        if columns.prediction and not columns.scores and not answer.text:
            answer.status = Status.EMPTY
        yield answer


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


def _choose(
    answer: Answer,
    row: TableRow,
    columns: PredictionColumns,
    labels: Sequence[str],
    golds: Sequence[str],
    source: str,
) -> None:
    """Fill in the options, the right ones, and the answer: by scores where there are any, else by the prediction."""
    places = [place for gold in golds if (place := _place(gold, labels)) is not None]
    if not places:
        raise UserError(
            f"{source}, column {columns.gold!r}: {golds[0][:40]!r} is none of the options {', '.join(labels)}; "
            "--labels A,B,… names them"
        )
    own = bool(columns.choices)
    answer.choices, answer.labels, answer.gold = (
        list(labels),
        letters(len(labels)) if own else labels,
        sorted(set(places)),
    )
    if columns.scores:
        answer.scores = _row_scores(row, columns, len(labels), source)
        answer.text = None
        return
    place = _place(answer.text or "", labels)
    answer.label = answer.labels[place] if place is not None else None
    if place is None:
        answer.status = Status.UNPARSED


def _place(text: str, labels: Sequence[str]) -> int | None:
    """The option that a text is, by its text or (0, 1, …; A, B, …) by its place."""
    normal = [_normal(label) for label in labels]
    text = _normal(text)
    if text in normal:
        return normal.index(text)
    if [one.casefold() for one in normal].count(text.casefold()) == 1:
        return [one.casefold() for one in normal].index(text.casefold())
    if text.isdigit() and int(text) < len(labels):
        return int(text)
    if len(text) == 1 and text.isascii() and text.isupper() and ord(text) - 65 < len(labels):
        return ord(text) - 65
    return None


def _normal(text: str) -> str:
    """A text as it is compared: NFC, without spaces around it, and 1.0 as 1, which programs make of a whole number."""
    text = unicodedata.normalize("NFC", text).strip()
    return text[:-2] if _WHOLE.fullmatch(text) else text


def _cell(row: TableRow, column: str) -> str:
    text = row.values.get(column, "").strip() if column else ""
    return "" if text.lower() in _MISSING else text


def _golds(row: TableRow, column: str) -> list[str]:
    """The right answers of a row: one, or several in a JSON list."""
    text = row.values.get(column, "").strip() if column else ""
    if text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            return [_normal(text)]
        return [_normal(one if isinstance(one, str) else json.dumps(one)) for one in found]
    return [_normal(text)] if text and text.lower() not in ("nan", "null") else []


def _list(row: TableRow, column: str, source: str) -> list[str]:
    text = row.values.get(column, "").strip()
    try:
        found = json.loads(text)
    except ValueError:
        found = [part.strip() for part in re.split(r"[|;]", text)] if re.search(r"[|;]", text) else None
    if isinstance(found, dict):
        found = list(found.values())
    if not isinstance(found, list):
        raise UserError(f"{source}, column {column!r}: {text[:40]!r} is not a list; write a JSON list, or A|B|C")
    return [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in found]


def _grade(row: TableRow, columns: PredictionColumns, source: str) -> Mapping[str, object]:
    text = _cell(row, columns.correct).lower()
    if not columns.correct or not text:
        return {}
    if text in _TRUE or text in _FALSE:
        return {columns.correct: float(text in _TRUE)}
    try:
        return {columns.correct: float(text)}
    except ValueError:
        raise UserError(
            f"{source}, column {columns.correct!r}: {text[:40]!r} is not 0, 1, true or false; leave the cell empty, or "
            "name another with --correct-column"
        ) from None


def _row_scores(row: TableRow, columns: PredictionColumns, options: int, source: str) -> list[float]:
    texts = (
        [row.values.get(column, "") for column in columns.scores]
        if len(columns.scores) > 1
        else _list(row, columns.scores[0], source)
    )
    if len(texts) != options:
        raise UserError(f"{source}: {len(texts)} scores for {options} options; give one for each")
    return [_score(text, source) for text in texts]


def _score(text: str, source: str) -> float:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        raise UserError(f"{source}: {text[:40]!r} is not the score of an option; write a number") from None


def _scale(rows: Sequence[TableRow], columns: PredictionColumns, source: str) -> tuple[str, bool]:
    """The note on scores that are not log-likelihoods, and whether they are probabilities that sum to 1."""
    if not columns.scores:
        return "", False
    scores = []
    for row in rows:
        where = f"{source}, line {row.line}"
        several = len(columns.scores) > 1
        texts = [row.values.get(one, "") for one in columns.scores] if several else _list(row, columns.scores[0], where)
        scores.append([_score(text, where) for text in texts])
    known = [own for own in scores if not any(map(math.isnan, own))]
    if known and all(min(own) >= 0 and max(own) <= 1 and abs(sum(own) - 1) < 0.01 for own in known):
        return "scores are probabilities that sum to 1: their logarithms are kept, and label mass says nothing", True
    if any(score > 0 for own in known for score in own):
        return "scores above 0 are not log-likelihoods: the highest is the answer, and there is no label mass", False
    return "", False
