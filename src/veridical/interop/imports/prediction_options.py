"""The options of the questions in a table of predictions, and which of them a text names."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from veridical.errors import UserError
from veridical.files.missing_values import GOLD, is_missing
from veridical.files.tables import TableRow
from veridical.interop.imports.prediction_columns import PredictionColumns
from veridical.interop.imports.prediction_scores import list_of

MOST_LABELS = 26
"""Golds that are more than this, or that hardly recur, are answers to open questions. Our choice."""
USUAL = 0.8
"""Share of golds above which those that occur most are the names of the scores, and the others odd. Our choice."""
_WHOLE = re.compile(r"-?[0-9]+\.0")


@dataclass(frozen=True)
class Options:
    """The options of a task by row: the same for all, or each row's own; none where questions are open."""

    labels: tuple[str, ...]
    per_row: str = ""

    def of(self, row: TableRow) -> tuple[str, ...]:
        """The options of a row; none where its cell holds no list."""
        return tuple(list_of(row.values.get(self.per_row, "")) or ()) if self.per_row else self.labels


def options_of(rows: Sequence[TableRow], columns: PredictionColumns, n_scores: int) -> Options:
    """The options as flags or columns name them, else the golds where these recur; `n_scores` are those of a row."""
    if columns.choices:
        return Options((), columns.choices)
    if columns.labels:
        return Options(_apart(columns.labels, "--labels"))
    if len(columns.scores) > 1:
        return Options(_apart(_without_affixes(columns.scores), "--score-columns"))
    golds = _spelt_alike(Counter(gold for row in rows for gold in golds_of(row, columns.gold)))
    if columns.scores:  # one column of lists
        named = dict(golds.most_common(n_scores))
        if sum(named.values()) > USUAL * golds.total() and not all(gold.isdigit() for gold in named):
            return Options(tuple(sorted(named)))
        return Options(tuple(str(place) for place in range(n_scores)))
    few = 1 < len(golds) <= MOST_LABELS and golds.total() >= 2 * len(golds)
    return Options(tuple(sorted(golds)) if few else ())


def folded(text: str) -> str:
    """A text without what no answer is distinguished by: upper and lower case, and how much white space there is."""
    return " ".join(normal(text).split()).casefold()


def _spelt_alike(golds: Counter[str]) -> Counter[str]:
    """Right answers by the spelling that is most frequent of those that differ in case and white space alone."""
    found: dict[str, str] = {}
    for gold, _ in sorted(golds.items(), key=lambda pair: (-pair[1], pair[0])):
        found.setdefault(folded(gold), gold)
    joined: Counter[str] = Counter()
    for gold, n in golds.items():
        joined[found[folded(gold)]] += n
    return joined


def _apart(labels: tuple[str, ...], flag: str) -> tuple[str, ...]:
    """The labels. Raises UserError where two are one but for case and white space, which no answer would tell apart."""
    seen: dict[str, str] = {}
    for label in labels:
        first = seen.setdefault(folded(label), label)
        if first is not label:
            raise UserError(
                f"{flag}: {first!r} and {label!r} are one option but for upper and lower case or white space; name one"
            )
    return labels


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


class NamedOption(NamedTuple):
    """The option that a text names: its place among the labels, and how the text was read ("" where by the letter)."""

    place: int
    way: str


def named_option(text: str, labels: Sequence[str]) -> NamedOption | None:
    """The option that a text is, by its text or (0, 1, …; A, B, …) by its place."""
    text, known = normal(text), [normal(label) for label in labels]
    if text in known:
        return NamedOption(known.index(text), "")
    alike = [folded(one) for one in known]
    if alike.count(folded(text)) == 1:
        return NamedOption(alike.index(folded(text)), OTHER_CASE)
    if text.isdigit() and int(text) < len(labels):
        return NamedOption(int(text), BY_PLACE)
    if len(text) == 1 and text.isascii() and text.isupper() and ord(text) - 65 < len(labels):
        return NamedOption(ord(text) - 65, BY_PLACE)
    return None


OTHER_CASE, BY_PLACE = "in other upper and lower case or white space", "by their place"


def normal(text: str) -> str:
    """A text as it is compared: NFC, without spaces around it, and 1.0 as 1, which programs make of a whole number."""
    text = unicodedata.normalize("NFC", text).strip()
    return text[:-2] if _WHOLE.fullmatch(text) else text


def golds_of(row: TableRow, column: str, labels: Sequence[str] = ()) -> list[str]:
    """The right answers of a row: one, or several in a JSON list. `null` and `nan` are none, unless a label is so
    called."""
    text = row.values.get(column, "").strip() if column else ""
    if text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            return [normal(text)]
        return [normal(one if isinstance(one, str) else json.dumps(one)) for one in found]
    named = folded(text) in map(folded, labels)
    return [normal(text)] if text and (named or not is_missing(text, GOLD)) else []
