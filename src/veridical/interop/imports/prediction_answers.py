"""Rows of a table of predictions as answers."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from veridical.files.missing_values import REPLY, is_missing
from veridical.files.tables import TableRow
from veridical.interop.imports.answer import Answer, letters
from veridical.interop.imports.copies import Repeats, whole_record
from veridical.interop.imports.logged import LoggedTask
from veridical.interop.imports.prediction_columns import PredictionColumns
from veridical.interop.imports.prediction_options import Options, folded, golds_of, named_option, normal
from veridical.interop.imports.prediction_scores import PredictionScores
from veridical.status import Status
from veridical.wording import counted

NO_GOLD = "a row without a right answer"
ODD_GOLD = "a row whose right answer is none of the options"
_SCORES, _ANSWER = "scores", "answer"
_QUESTION = (
    *("question", "premise", "hypothesis", "text", "prompt", "query", "input", "context", "passage", "sentence"),
    *("sentence1", "sentence2", "story"),
)
"""Columns that are what was asked, in lower case; other columns are what sets can be made of."""
_TRUE, _FALSE = ("1", "1.0", "true", "yes", "correct", "right"), ("0", "0.0", "false", "no", "incorrect", "wrong")


def answers_of(
    task: LoggedTask,
    rows: Sequence[TableRow],
    columns: PredictionColumns,
    options: Options,
    scores: PredictionScores,
) -> Iterator[Answer]:
    """An answer for every row that says what is right; once all are read, the task says what was odd."""
    repeats = Repeats()
    for row in rows:
        repeats.expect(_asked(row, columns), whole_record(dict(row.values)))
    golds_by_id: dict[str, set[tuple[str, ...]]] = {}
    unread: Counter[str] = Counter()
    other_case = 0
    for row in rows:
        task.ledger.take()
        labels = options.of(row)
        golds = golds_of(row, columns.gold, labels)
        document = name_in(row, columns.id) or f"line {row.line}"
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
        answer.repeat = repeats.number(_asked(row, columns), whole_record(dict(row.values)))
        golds_by_id.setdefault(document, set()).add(tuple(golds))
        if columns.prediction:
            answer.text = said_in(row, columns.prediction, labels or golds)
        if labels and golds:
            if not (places := places_of(golds, labels)):
                task.ledger.leave(ODD_GOLD)
                continue
            _choose(answer, columns, labels, places, scores.of(row, len(labels)) if columns.scores else None)
        elif golds and options.per_row:
            answer.status, answer.detail = Status.ERROR, "the cell of its choices is not a list"
        elif columns.prediction and not answer.metrics:
            said, known = normal(answer.text or ""), [normal(gold) for gold in golds]
            right = said in known
            other_case += not right and said.casefold() in [gold.casefold() for gold in known]
            answer.metrics = {"exact_match": float(right)}
            answer.fields["gold"] = json.dumps(golds, ensure_ascii=False) if len(golds) > 1 else golds[0]
        if columns.prediction and not columns.scores and not answer.text:
            answer.status = Status.EMPTY
        yield answer
    if several := [name for name, found in golds_by_id.items() if len(found) > 1]:
        shown = ", ".join(repr(name[:40]) for name in several[:4])
        task.lacks.append(
            f"{counted(len(several), 'id has', 'ids have')} rows with different right answers, each of which is an "
            f"item of its own: {shown}"
        )
    if other_case:
        task.notices.append(
            f"{counted(other_case, 'answer differs', 'answers differ')} from a right answer in upper and lower case "
            "alone, and wrong: the questions have no options, so that the texts are compared"
        )
    if unread:
        shown = ", ".join(f"{text!r} ({count})" for text, count in unread.most_common(4))
        task.lacks.append(
            f"column {columns.correct!r} is neither 0 nor 1 in {unread.total():,} of {len(rows):,} rows: {shown}"
        )


def _asked(row: TableRow, columns: PredictionColumns) -> str:
    """What identifies the item of a row: rows of one id with another question or right answer are of other items."""
    question = {name: cell for name, cell in row.values.items() if name.strip().lower() in _QUESTION}
    return json.dumps([name_in(row, columns.id) or row.line, golds_of(row, columns.gold), sorted(question.items())])


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


def places_of(golds: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Which of the options are right."""
    return sorted({named.place for gold in golds if (named := named_option(gold, labels)) is not None})


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
    named = named_option(answer.text or "", labels)
    answer.label = answer.labels[named.place] if named is not None else None
    if named is None:
        answer.status = Status.UNPARSED


def said_in(row: TableRow, column: str, known: Sequence[str]) -> str:
    """A prediction. What is one of the options (`NA`, `none`) does not mark a missing answer."""
    text = row.values.get(column, "").strip()
    named = folded(text) in map(folded, known)
    return text if text and named else cell_of(row, column)


def name_in(row: TableRow, column: str) -> str:
    """An id, or the name of a model or task, as it stands (`NA` is a name like any); "" where there is none."""
    return row.values.get(column, "").strip() if column else ""


def cell_of(row: TableRow, column: str) -> str:
    """A cell's text; "" where it holds a sign for nothing."""
    text = row.values.get(column, "").strip() if column else ""
    return "" if is_missing(text, REPLY) else text


def _grade(row: TableRow, columns: PredictionColumns) -> Mapping[str, object]:
    """Whether the answer is right, as the table says; None where it says something else, or nothing."""
    return {columns.correct: grade_of(cell_of(row, columns.correct))} if columns.correct else {}


def grade_of(text: str) -> float | None:
    """A grade from 0 to 1 that a cell holds, as a number or a word; None where it holds none."""
    text = text.lower()
    if text in _TRUE or text in _FALSE:
        return float(text in _TRUE)
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found <= 1 else None
