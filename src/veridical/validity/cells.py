"""Names, scores and sizes from the cells of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

import numpy as np

from veridical.errors import UserError
from veridical.files.missing_values import SCORE, is_missing
from veridical.stats.units import Floats
from veridical.validity.reading import Raw

UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)\s*([kmbt]?)", re.IGNORECASE)
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(,[0-9]{3})+(?![0-9,])")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?")
_IN_NAME = re.compile(r"(?<![A-Za-z0-9.])([0-9]+(?:\.[0-9]+)?)\s*([bm])(?![A-Za-z0-9])", re.IGNORECASE)


def number_in(text: str) -> float | None:
    """The number that a cell holds, which may be infinite; None where it holds none."""
    text = text.replace("\N{MINUS SIGN}", "-")
    return float(text) if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text) else None


def no_score(text: str, more: Sequence[str] = ()) -> bool:
    """Whether a cell says that there is no score; `more` are further texts that say so, numbers by their value."""
    if is_missing(text, SCORE) or text in more:
        return True
    value = number_in(text) if more else None
    return value is not None and any(value == number_in(one.strip()) for one in more)


def texts(raw: Raw, column: str, what: str) -> tuple[str, ...]:
    """A column of names, each there. Raises UserError where one is missing."""
    names = raw.texts(column)
    if "" in names:
        raise UserError(f"{raw.place(names.index(''))}: no {what} in column {column!r}; give every row one")
    return tuple(names)


def numbers(raw: Raw, column: str, models: Sequence[str], missing: Sequence[str] = ()) -> Floats:
    """A column of scores, shape (rows,), NaN where a cell is empty or says that there is none.

    A column in which every score has a percent sign, a decimal comma or grouped thousands is read as such. Raises
    UserError for anything else that is not a number.
    """
    values = np.full(raw.frame.height, np.nan)
    filled = {row: text for row, text in enumerate(raw.texts(column)) if not no_score(text, missing)}
    plainly = plain(list(filled.values()))
    for (row, text), written in zip(filled.items(), plainly, strict=True):
        value, where = number_in(written), f"{raw.place(row, column)} ({models[row]}), column {column!r}"
        if value is None:
            raise UserError(f"{where}: {text[:40]!r} is not a number; {_instead(text)}")
        if not isfinite(value):
            raise UserError(f"{where}: {text[:40]!r} is not a finite number; leave the cell empty")
        values[row] = value
    return values


def has_percent_signs(texts: Sequence[str]) -> bool:
    """Whether all cells of a column, of which there are some, have a percent sign."""
    return bool(texts) and all(text.endswith("%") for text in texts)


def plain(texts: Sequence[str]) -> list[str]:
    """The cells of a column without the signs that all of them share: percent signs, grouped thousands, decimal commas.

    Cells such as 1,234 are thousands unless another cell of the column can only have a decimal comma.
    """
    if has_percent_signs(texts):
        texts = [text[:-1].strip() for text in texts]
    with_comma = [text for text in texts if "," in text]
    if with_comma and all(_THOUSANDS.fullmatch(text) for text in with_comma):
        return [text.replace(",", "") for text in texts]
    if not any("." in text for text in texts) and all(_DECIMAL_COMMA.fullmatch(text) for text in with_comma):
        return [text.replace(",", ".") for text in texts]
    return list(texts)


def _instead(text: str) -> str:
    """What to write instead of a text that is not a number."""
    if _DECIMAL_COMMA.fullmatch(text):
        return f"write {text.replace(',', '.')}, with a point"
    if text.endswith("%") and number_in(text[:-1].strip()) is not None:
        return f"write {text[:-1].strip()}, without the sign"
    return f"leave the cell empty where there is no score, or give --missing {text[:40]!r}"


def sizes(raw: Raw, column: str, models: Sequence[str]) -> Floats:
    """Model sizes, shape (rows,), as `7B`, `350M` or numbers in one unit; NaN where a cell is empty, 0 or below.

    Raises UserError where sizes are in mixed units, as far as can be detected: with and without a letter, numbers of
    parameters mixed with billions, or at odds with what the models' own names say.
    """
    values, lettered = np.full(raw.frame.height, np.nan), {}
    for row, text in enumerate(raw.texts(column)):
        if no_score(text) or is_no_size(text):
            continue
        match = _SIZE.fullmatch(text.replace(",", "") if _GROUPED.match(text) else text)
        size = float(match[1]) * UNITS[match[2].lower()] if match else 0.0
        if match is None or not 0 < size < np.inf:
            comma = _DECIMAL_COMMA.match(text)
            instead = (
                f"write {text.replace(',', '.')}, with a point" if comma else "write 7B, 350M, or numbers in one unit"
            )
            raise UserError(
                f"{raw.place(row)} ({models[row]}), column {column!r}: {text[:40]!r} is not a size; {instead}"
            )
        values[row] = size
        lettered[row] = bool(match[2])
    _check_units(raw, column, models, values, lettered)
    return values


def is_no_size(text: str) -> bool:
    """Whether a cell holds 0 or less, which tables write where a size is not known."""
    value = number_in(text)
    return value is not None and value <= 0


def _check_units(raw: Raw, column: str, models: Sequence[str], values: Floats, lettered: dict[int, bool]) -> None:
    def mixed(one: int, other: int) -> UserError:
        cells = raw.texts(column)
        return UserError(
            f"{raw.source}, column {column!r}: sizes in mixed units: {cells[one]} ({models[one]}, {raw.unit} "
            f"{raw.number(one)}) and {cells[other]} ({models[other]}, {raw.unit} {raw.number(other)}); give all in one"
        )

    with_letter = [row for row, there in lettered.items() if there]
    bare = [row for row, there in lettered.items() if not there]
    if with_letter and bare:
        raise mixed(with_letter[0], bare[0])
    if bare and values[bare].max() >= 1e6 > values[bare].min():
        raise mixed(bare[int(np.argmax(values[bare]))], bare[int(np.argmin(values[bare]))])
    ratios = {row: values[row] / size for row in lettered if (size := size_in_name(models[row])) is not None}
    if len(ratios) >= 2:
        usual = float(np.median(list(ratios.values())))
        odd = next((row for row, ratio in ratios.items() if not 1 / 100 < ratio / usual < 100), None)
        if odd is not None:
            like = min(ratios, key=lambda row: abs(np.log(ratios[row] / usual)))
            raise mixed(odd, like)


def size_in_name(model: str) -> float | None:
    """The number of parameters that a model's name seems to say: `Llama-2-7b-hf` → 7e9. A guess."""
    match = _IN_NAME.search(model.rpartition("/")[2])
    return None if match is None else float(match[1]) * UNITS[match[2].lower()]
