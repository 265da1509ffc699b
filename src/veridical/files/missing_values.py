"""What cells of users' tables hold where a value is missing: one vocabulary, of which each kind of cell takes its part.

A text means less the more a cell may say. A score can only be a number, so every usual mark counts; a reply can be
`unknown` or `?`; a right answer can be `none` or `NA` as well; an id, or the name of a model, a task or a benchmark,
can be anything: none of these marks is looked for there, and only an empty cell has no name.
"""

from __future__ import annotations

GOLD = frozenset({"", "nan", "null"})
"""Right answers that are not there: what programs write for no value, which nobody calls a label by chance."""
REPLY = GOLD | {"na", "n/a", "none"}
"""Predictions, grades and scores of options in a table of predictions: what people write for no value, too."""
SCORE = REPLY | {
    *("#n/a", "n.a.", "missing", "unknown", "?"),
    *("-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", "\N{MINUS SIGN}"),
}
"""Scores and sizes of models in a table of models."""


def is_missing(text: str, marks: frozenset[str]) -> bool:
    """Whether a cell holds one of the marks, in whatever case and between whatever spaces."""
    return text.strip().lower() in marks
