"""HellaSwag, which of four endings continues a text, and GoldenSwag, the part of it that was found sound."""

from __future__ import annotations

import re
from dataclasses import replace

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Listed, Sets, Task, column, numbered

_BRACKETED = re.compile(r"\[.*?\]")


def cleaned(text: str) -> str:
    """The text without the marks of WikiHow's headings (`[title]`, `[step]`), as lm-eval cleans it."""
    text = text.strip().replace(" [title]", ". ")
    return _BRACKETED.sub("", text).replace("  ", " ")


def beginning(row: Row) -> str:
    """Activity and beginning, of which the last sentence may be begun."""
    return cleaned(f"{row.text('activity_label')}: {row.text('ctx_a')} {row.maybe('ctx_b').capitalize()}")


def blank_ending(row: Row) -> str:
    """Why a row is not asked: an ending of which cleaning leaves nothing, so that there is nothing to score."""
    endings = row.value("endings")
    blank = isinstance(endings, list) and any(isinstance(one, str) and not cleaned(one).strip() for one in endings)
    return "a blank ending" if blank else ""


HELLASWAG = Task(
    name="hellaswag",
    title="HellaSwag: which of four endings continues a text",
    axis="event",
    licence="MIT",
    citation="Zellers et al. 2019, arXiv 1905.07830",
    files=Files(
        names=("hellaswag_val.jsonl", "validation*.parquet"),
        train=("hellaswag_train.jsonl", "train*.parquet"),
        folders=("data",),
        hub=Hub("Rowan/hellaswag", "validation", train="train"),
    ),
    fields={"text": beginning},
    prompt="{{ text }}",
    aside=blank_ending,
    choices=column("endings", cleaned),
    gold=numbered("label"),
    id="ind",
    sets=(Sets(name="item", cluster="source_id"),),
    lm_eval="hellaswag",
    decisions=(
        "Items from one video or article (`source_id`) are one cluster of the intervals. A row with an ending of which "
        "cleaning leaves nothing is left aside.",
    ),
)

GOLDENSWAG = replace(
    HELLASWAG,
    name="goldenswag",
    title="GoldenSwag: the items of HellaSwag that were found sound",
    citation="Chizhov et al. 2025, arXiv 2504.07825",
    files=Files(
        names=tuple(
            f"{name}/validation*.parquet" for name in ("goldenswag", "GoldenSwag", "goldenswag/data", "GoldenSwag/data")
        ),
        train=HELLASWAG.files.train,
        folders=("GoldenSwag", "hellaswag"),
        hub=Hub("PleIAs/GoldenSwag", "validation"),
        listed=Listed(HELLASWAG, ("goldenswag*.txt", "goldenswag*ids*.json"), by="ind"),
    ),
    lm_eval="",
    decisions=(
        "As HellaSwag. A copy is the published rows, or a list of HellaSwag's `ind` next to HellaSwag's own file.",
    ),
)

TASKS = (HELLASWAG, GOLDENSWAG)
