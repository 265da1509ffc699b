"""PIQA, physical commonsense, and PIQA-RUP, its reworked version, by itself and in pairs with what it reworks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Originals, Sets, Task, columns, numbered

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
    decisions=("Items with one goal are one cluster of the intervals.",),
)

LEVELS = {
    "homophones": "lexical",
    "typos": "lexical",
    "leetspeak": "lexical",
    "it-cleft": "syntactic",
    "wh-cleft": "syntactic",
    "compound": "syntactic",
    "red herrings": "semantic",
    "checklist": "semantic",
    "stress test": "semantic",
}
"""RUPBench's nine perturbations, by what they change."""

PERTURBED = {
    "goal_HP": "homophones",  # as the file has it; the source's description says `_HF`
    "goal_HF": "homophones",
    "goal_typos": "typos",
    "goal_Leet": "leetspeak",
    "goal_It_cleft": "it-cleft",
    "goal_Wh_cleft": "wh-cleft",
    "goal_comp": "compound",
    "goal_red_herrings": "red herrings",
    "goal_checklist": "checklist",
    "goal_stress": "stress test",
}
"""The columns with perturbed goals."""


def holds_original(row: Row) -> bool:
    """Whether a row is RUPBench's: an original with its perturbations, not one perturbed item."""
    return not PERTURBED.keys().isdisjoint(row.values)


def perturbed(row: Row) -> Iterator[Row]:
    """One row for each perturbation of RUPBench's row; a row of another form is itself one."""
    if not holds_original(row):
        yield row
        return
    for column, name in PERTURBED.items():
        if column in row.values:
            yield row.having(goal=row.values[column], original=row.value("goal"), id=str(row.number), perturbation=name)


def _perturbation(row: Row) -> str:
    return row.maybe("perturbation")


PIQA_RUP = replace(
    PIQA,
    name="piqa-rup",
    title="PIQA-RUP: PIQA's validation set under nine perturbations",
    licence="see your copy",
    citation=(
        "Wang and Zhao 2024, RUPBench, arXiv 2406.11020; github.com/EternityYW/RUPBench, "
        "perturbed_datasets/PIQA_RUP.csv"
    ),
    files=replace(
        PIQA.files,
        names=("PIQA_RUP.*", "piqa_rup.*", "PIQA-RUP.*"),
        folders=("piqa-rup", "piqa", "perturbed_datasets", "RUPBench/perturbed_datasets"),
        label_too="answer",  # what RUPBench calls it
        hub=None,
    ),
    # The perturbation is a field, though no prompt shows it: some leave a goal as it was, and each is asked.
    fields={"goal": "goal", "perturbation": _perturbation},
    id=lambda row: " ".join(part for part in (row.text("id"), _perturbation(row)) if part),
    factors={"perturbation": _perturbation, "level": lambda row: LEVELS.get(_perturbation(row), "")},
    sets=(
        Sets(
            name="original", set="id", role=_perturbation, cluster=lambda row: row.maybe("original") or row.text("goal")
        ),
    ),
    unpack=perturbed,
    training=PIQA,
    lm_eval="",
    decisions=(
        "Prompt, choices and labels are PIQA's; the goal is the perturbed one. A set is an original's perturbations.",
        "Some perturbations leave a goal as it was (clefts of fragments): they are asked as published.",
        "A file with PIQA's columns and `id`, the number (from 0) of the row of PIQA's validation set that is "
        "reworked, is read too; items that rework one row are a set.",
    ),
)


def both(row: Row) -> Iterator[Row]:
    """The row that is reworked, and what it was reworked into."""
    if holds_original(row):
        yield row.having(version="original", id=str(row.number))
        yield from (one.having(version="reworked") for one in perturbed(row))
        return
    yield row.having(
        **{name: row.value(f"original.{name}") for name in ("goal", "sol1", "sol2", "label")}, version="original"
    )
    yield row.having(version="reworked")


PIQA_PAIRS = replace(
    PIQA_RUP,
    name="piqa-pairs",
    title="PIQA and PIQA-RUP together: an item and what it was reworked into",
    files=replace(PIQA_RUP.files, originals=Originals(PIQA, by="id", unless=holds_original)),
    unpack=both,
    factors={"version": "version", **PIQA_RUP.factors},
    sets=(Sets(name="pair", set="id", role=lambda row: _perturbation(row) or row.text("version")),),
    decisions=(
        *PIQA_RUP.decisions,
        "A set is an original and what it was reworked into (nine items, of RUPBench's file); accuracy is given by "
        "`version` too.",
    ),
)

TASKS = (PIQA, PIQA_RUP, PIQA_PAIRS)
