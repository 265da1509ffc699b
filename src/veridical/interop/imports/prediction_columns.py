"""Which column of a table of predictions is what: from flags, or by the columns' own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from veridical.errors import UserError, unknown

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "item", "doc_id", "sample_id", "question_id", "example_id", "instance_id", "pairid", "qid"),
    "gold": (
        *("gold", "gold_label", "gold_labels", "label", "target", "reference", "ground_truth", "correct_answer"),
        *("y_true", "expected", "answer"),
    ),
    "prediction": (
        *("prediction", "pred", "predicted", "predicted_label", "predicted_answer", "model_prediction", "y_pred"),
        *("model_answer", "pred_label", "extracted_answer", "response", "output", "model_output"),
        "answer",
    ),
    "correct": ("correct", "is_correct", "right", "acc", "accuracy"),
    "model": ("model", "model_name", "model_id"),
    "task": ("task", "benchmark", "dataset"),
    "choices": ("choices", "options"),
    "text": (),
}
"""How columns are known where no flag names them, in lower case."""


@dataclass(frozen=True)
class PredictionColumns:
    """Columns by role, empty where they are found by name. `scores` has one column an option, or one of JSON lists.

    `labels` are the options, where they are not those that stand in the gold column or in the names of `scores`.
    """

    id: str = ""
    gold: str = ""
    prediction: str = ""
    scores: tuple[str, ...] = ()
    correct: str = ""
    model: str = ""
    task: str = ""
    choices: str = ""
    labels: tuple[str, ...] = ()


def found_columns(given: PredictionColumns, known: Sequence[str], source: str) -> PredictionColumns:
    """The columns with those found by name. Raises UserError where a column is not there, or nothing can be judged."""
    by_name = {name.strip().lower(): name for name in reversed(known)}
    named = {getattr(given, field.name) for field in fields(given) if isinstance(getattr(given, field.name), str)}
    found: dict[str, str] = {}
    for role, names in NAMES.items():
        if role == "text":
            continue
        column = getattr(given, role)
        if column and column not in known:
            raise unknown(f"{role} column in {source}:", column, known)
        taken = {*named, *given.scores, *found.values()}
        found[role] = column or next(
            (by_name[name] for name in names if name in by_name and by_name[name] not in taken), ""
        )
    scores = tuple(part for one in given.scores for part in ([one] if one in known else _split(one)))
    for column in scores:
        if column not in known:
            raise unknown(f"score column in {source}:", column, known)
    if not scores and not given.prediction:
        scores = tuple(by_name[name] for name in ("scores", "loglikelihoods", "logprobs") if name in by_name)[:1]
    complete = PredictionColumns(
        **found, scores=scores, labels=tuple(part for one in given.labels for part in _split(one))
    )
    _check(complete, known, source)
    return complete


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _check(columns: PredictionColumns, known: Sequence[str], source: str) -> None:
    listed = ", ".join(known)
    if not columns.gold and not columns.correct:
        raise UserError(
            f"{source}: which column holds the right answers? give --gold-column COL (or --correct-column COL, of 0 "
            f"and 1); known: {listed}"
        )
    if columns.gold and not columns.prediction and not columns.scores and not columns.correct:
        raise UserError(
            f"{source}: which column holds the answers? give --prediction-column COL, or --score-columns A,B,… with a "
            f"score an option; known: {listed}"
        )
    roles: dict[str, str] = {}
    for field in fields(columns):
        value = getattr(columns, field.name)
        if field.name == "labels":
            continue
        for column in value if isinstance(value, tuple) else [value]:
            if column and roles.setdefault(column, field.name) != field.name:
                raise UserError(
                    f"{source}: {column!r} is the {roles[column]} column and the {field.name} column; name another"
                )
