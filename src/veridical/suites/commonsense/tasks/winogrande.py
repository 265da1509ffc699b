"""WinoGrande, whose blank is filled by one of two names, and WinoWhat, its validation set paraphrased.

Both are scored partially (Trinh and Le 2018): what is scored is the text after the blank, in the context of each of the
two fillings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from veridical.items import Choice
from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Sets, Task, numbered

BLANK = "_"


def around(row: Row, column: str) -> tuple[str, str]:
    """What stands before the blank of a sentence, and what after it."""
    before, blank, after = row.text(column).partition(BLANK)
    if not blank:
        row.fail(f"there is no blank ({BLANK}) to fill", column)
    return before, after


def fillings(column: str) -> Callable[[Row], list[Choice]]:
    """For each option, the sentence up to the blank with the option in it, and the rest of it to be scored."""

    def choices(row: Row) -> list[Choice]:
        before, after = around(row, column)
        if not after.strip():
            row.fail("nothing follows the blank, so there is nothing to score", column)
        options = zip("AB", ("option1", "option2"), strict=True)
        return [Choice(label=a, context=before + row.text(name), continuation=after.strip()) for a, name in options]

    return choices


def twins(row: Row) -> str:
    """What the two sentences of a schema share: their `qID` but for the number at its end; blank without one."""
    return row.maybe("qID").rpartition("-")[0]


WINOGRANDE = Task(
    name="winogrande",
    title="WinoGrande: which of two names a pronoun's blank stands for",
    axis="none",
    licence="CC BY 4.0",
    citation="Sakaguchi et al. 2020, arXiv 1907.10641",
    files=Files(
        names=("dev.jsonl", "validation*.parquet"),
        train=("train_xl.jsonl", "train_l.jsonl", "train_m.jsonl", "train_s.jsonl", "train_xs.jsonl", "train*.parquet"),
        folders=("winogrande_1.1", "winogrande_xl"),
        labels="{stem}-labels.lst",
        label="answer",
        hub=Hub("allenai/winogrande", "validation", config="winogrande_xl", train="train"),
    ),
    fields={"sentence": "sentence"},
    prompt="{{ sentence }}",
    choices=fillings("sentence"),
    gold=numbered("answer", first=1),
    id=lambda row: row.maybe("qID") or row.place,
    sets=(Sets(name="twins", set=twins),),
    normalisation="sum",
    lm_eval="winogrande",
    decisions=(
        "Twin sentences (one `qID` but for its last number) are a set. Both fillings have the same text scored, so "
        "no normalisation can change an answer.",
    ),
)


def endings(column: str) -> Callable[[Row], list[Choice]]:
    """For each option, the option with what follows the blank, after the sentence up to the blank."""

    def choices(row: Row) -> list[Choice]:
        before, after = around(row, column)
        options = zip("AB", ("option1", "option2"), strict=True)
        return [
            Choice(label=label, context=before.rstrip(), continuation=f"{row.text(option)}{after.rstrip()}")
            for label, option in options
        ]

    return choices


CATEGORIES = ("physical", "social", "numerical", "temporal", "spatial")
"""The kinds of knowledge that WinoWhat's rows are tagged with, in the order of the numbers in `gpt_category`."""


def categories(row: Row) -> tuple[str, ...]:
    """The row's kinds of knowledge, in the order of `CATEGORIES`; none where it names none.

    `gpt_category_names` is a list as Python writes it; where it is missing, the numbers in `gpt_category` are read.
    """
    names = row.maybe("gpt_category_names").casefold()
    numbers = row.maybe("gpt_category") if not names else ""
    digits = {part.strip() for part in numbers.split(",")}
    return tuple(one for number, one in enumerate(CATEGORIES, 1) if one in names or str(number) in digits)


def tagged(category: str) -> Callable[[Row], str]:
    """Whether a row is tagged with a category: `yes` or `no`; empty where no row of the file could be."""
    return lambda row: ("yes" if category in found else "no") if (found := categories(row)) else ""


WINOWHAT = replace(
    WINOGRANDE,
    name="winowhat",
    title="WinoWhat: WinoGrande's validation set paraphrased",
    licence="see your copy",
    citation="Gevers et al. 2025, arXiv 2503.23779",
    files=Files(names=("WinoWhat.*",), folders=("winowhat", "winogrande"), label="answer"),
    fields={"sentence": "paraphrased_sentence"},
    choices=endings("paraphrased_sentence"),
    id=lambda row: row.maybe("qID") or row.maybe("id") or row.place,
    factors={"category": lambda row: ", ".join(categories(row)), **{name: tagged(name) for name in CATEGORIES}},
    normalisation="char",
    lm_eval="",
    decisions=(
        "The paraphrase is in the column `paraphrased_sentence`, the original in `sentence`. Paraphrases end in their "
        "blank where they can, so the option is scored together with what follows it.",
        "A row may have several of the five categories: accuracy is given by each (`physical: yes`), and by those that "
        "it has together (`category`). The published file has no `qID`, so there are no sets of twins in it.",
    ),
)


def both(row: Row) -> Iterator[Row]:
    """The original sentence and its paraphrase."""
    yield row.having(version="original", text=row.text("sentence"))
    yield row.having(version="reworked", text=row.text("paraphrased_sentence"))


WINOWHAT_PAIRS = replace(
    WINOWHAT,
    name="winowhat-pairs",
    title="WinoGrande and WinoWhat in pairs: a sentence and its paraphrase",
    fields={"sentence": "text"},
    choices=endings("text"),
    unpack=both,
    factors={"version": "version", **WINOWHAT.factors},
    sets=(Sets(name="pair", set=lambda row: row.place, role="version"),),
    decisions=(
        *WINOWHAT.decisions,
        "A set is an original and its paraphrase, both scored as WinoWhat is; accuracy is given by `version` too.",
    ),
)

TASKS = (WINOGRANDE, WINOWHAT, WINOWHAT_PAIRS)
