"""Blinded sheets on disk: for each rater a CSV file and an HTML form, and the key in a place of its own.

OUT/key.json               what the ids stand for: not for raters
OUT/sheets/instructions.txt
OUT/sheets/rater-1.csv     to fill in with a spreadsheet program, or
OUT/sheets/rater-1.html    a form that saves the same CSV, without a server
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from veridical.errors import UserError, unknown
from veridical.files.csv_text import csv_text as quoted
from veridical.files.writing import make_folder, replace, slug
from veridical.items import Suite
from veridical.review.blinding import Sheet, blinded
from veridical.review.form import form
from veridical.review.key import NAME, ReviewKey, write_key
from veridical.review.questions import Question
from veridical.suites.registry import BUILT_IN, load

ID, COMMENT = "id", "comment"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written. `folder` holds the sheets and nothing that raters must not see."""

    key: ReviewKey
    key_file: Path
    folder: Path
    files: tuple[Path, ...]


def source_suite(source: str | Path, name: str | None = None) -> Suite:
    """The suite of that name, in that suite file, or asked in that run or study folder.

    A folder's suite is narrowed to the items that were asked; `name` chooses where it holds several. Raises
    UserError for what is none of these, and where there is a choice to make.
    """
    if str(source) in BUILT_IN or not Path(source).is_dir():
        suite = load(source)
        if name not in (None, suite.name):
            raise unknown("suite", str(name), [suite.name])
        return suite
    from veridical.runs.load import open_runs
    from veridical.studies.judged import merged

    found: dict[str, list[Suite]] = {}
    for run in open_runs([Path(source)]):
        for asked in run.suites.values():
            found.setdefault(asked.name, []).append(asked)
    if name is not None and name not in found:
        raise unknown(f"suite in {source}", name, found)
    if name is None and len(found) > 1:
        raise UserError(f"{source} holds the suites {', '.join(found)}: name one with --suite")
    return merged(found[name if name is not None else next(iter(found))])


def default_out(suite: Suite) -> Path:
    """`review-SUITE` in the working folder."""
    return Path(f"review-{slug(suite.name)}")


def write_sheets(
    suite: Suite, raters: int = 3, sample: int | None = None, seed: int = 0, out: Path | None = None
) -> Written:
    """Write sheets for `raters` raters and the key into the folder `out` (see `blinded` for the rest).

    Raises UserError where the folder holds a review already, whose sheets may be filled in, and for a path that names
    no folder.
    """
    out = out if out is not None else default_out(suite)
    if out.name in ("", ".."):
        # `--out ''` is the current folder, as is `--out .`: sheets go into a folder of their own.
        raise UserError(f"--out {out} is not a new folder; name one")
    folder, key_file = out / "sheets", out / NAME
    if key_file.exists() or folder.exists():
        raise UserError(f"{out} holds sheets already, which may be filled in: choose another --out")
    key, sheets = blinded(suite, raters, sample, seed)
    make_folder(folder)
    write_key(key_file, key)
    replace(folder / "instructions.txt", instructions(sheets[0]).encode())
    files = []
    for sheet in sheets:
        files += [folder / f"{sheet_name(sheet)}.csv", folder / f"{sheet_name(sheet)}.html"]
        # By the mark at the beginning spreadsheet programs know that it is UTF-8.
        replace(files[-2], csv_text(sheet).encode("utf-8-sig"))
        replace(files[-1], form(sheet, f"{sheet_name(sheet)}.csv").encode())
    return Written(key, key_file, folder, tuple(files))


def sheet_name(sheet: Sheet) -> str:
    """The sheet's file name without its ending."""
    return f"rater-{sheet.rater}"


def csv_text(sheet: Sheet) -> str:
    """The sheet as comma-separated values: id, texts, an empty cell for every question, comment."""
    asked = [question.name for question in sheet.questions]
    headings = dict.fromkeys(heading for row in sheet.rows for heading, _ in row.texts)
    rows = [[ID, *(_heading(heading, asked) for heading in headings), *asked, COMMENT]]
    for row in sheet.rows:
        texts = dict(row.texts)
        rows.append([row.id, *(texts.get(heading, "") for heading in headings), *([""] * len(asked)), ""])
    return quoted(rows, line_end="\r\n")


def _heading(heading: str, asked: Sequence[str]) -> str:
    """A text's heading, changed where it equals the name of a column that is read back."""
    return f"text {heading}" if heading.strip().casefold() in (ID, COMMENT, *asked) else heading


def instructions(sheet: Sheet) -> str:
    """What a rater needs to know who fills in the CSV file."""
    lines = [sheet.instructions, "", "Columns to fill in; leave a cell empty where you cannot say:", ""]
    for question in sheet.questions:
        lines.append(f"{question.name}: {question.text} ({_values(question)})")
        lines += [f"    {value}: {question.meanings[value]}" for value in question.values if value in question.meanings]
    lines += [
        "",
        f"{COMMENT}: whatever you want to say. Leave the column {ID} and the headings as they are.",
        "The HTML file of the same name is a form for the same ratings: use one or the other.",
    ]
    return "\n".join(lines) + "\n"


def _values(question: Question) -> str:
    if question.ordered:
        return f"{question.values[0]} to {question.values[-1]}"
    return " / ".join(question.values)
