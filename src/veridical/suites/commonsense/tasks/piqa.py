"""PIQA, physical commonsense, and PIQA-RUP, its reworked version, by itself and in pairs with what it reworks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from veridical.suites.commonsense.rows import Row
from veridical.suites.commonsense.task import Beside, Files, Hub, Sets, Task, columns, numbered

PIQA = Task(
    name="piqa",
    title="PIQA: which of two solutions reaches a goal",
    axis="event",
    licence="AFL-3.0",
    citation="Bisk et al. 2020, arXiv 1911.11641",
    files=Files(
        names=("valid.jsonl", "dev.jsonl", "validation*.parquet", "piqa_validation*.parquet"),
        train=("train.jsonl", "train*.parquet", "piqa_train*.parquet"),
        folders=("physicaliqa-train-dev", "plain_text", "data"),
        labels="{stem}-labels.lst",
        hub=Hub("baber/piqa", "validation", train="train"),
    ),
    fields={"goal": "goal"},
    prompt="Question: {{ goal }}\nAnswer:",
    choices=columns("sol1", "sol2"),
    gold=numbered("label"),
    sets=(Sets(name="item", cluster="goal"),),
    lm_eval="piqa",
    ours=("Items with one goal are one cluster of the intervals.",),
)

PIQA_RUP = replace(
    PIQA,
    name="piqa-rup",
    title="PIQA-RUP: PIQA's validation set reworked",
    licence="see your copy",
    citation="Gevers and Daelemans 2026, arXiv 2608.03340",
    files=replace(PIQA.files, names=("piqa_rup.*", "PIQA-RUP.*"), folders=("piqa-rup", "piqa"), hub=None),
    id="id",
    sets=(Sets(name="original", set="id"),),
    training=PIQA,
    lm_eval="",
    ours=(
        "Prompt, choices and labels are PIQA's. The columns are PIQA's and `id`, the number (from 0) of the row of "
        "PIQA's validation set that is reworked; items that rework one row are a set.",
    ),
)


def both(row: Row) -> Iterator[Row]:
    """The row that is reworked, and the row itself."""
    yield row.having(
        **{name: row.value(f"original.{name}") for name in ("goal", "sol1", "sol2", "label")}, version="original"
    )
    yield row.having(version="reworked")


PIQA_PAIRS = replace(
    PIQA_RUP,
    name="piqa-pairs",
    title="PIQA and PIQA-RUP in pairs: an item and what it was reworked into",
    files=replace(PIQA_RUP.files, beside=Beside(PIQA, by="id")),
    unpack=both,
    factors={"version": "version"},
    sets=(Sets(name="pair", set="id", role="version"),),
    ours=(*PIQA_RUP.ours, "A set is an original and what it was reworked into; accuracy is given by `version` too."),
)

TASKS = (PIQA, PIQA_RUP, PIQA_PAIRS)
