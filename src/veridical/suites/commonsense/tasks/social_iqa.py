"""Social IQa, what people think and do, and the part of it that was found sound."""

from __future__ import annotations

from dataclasses import replace

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Listed, Sets, Task, columns


def answer(row: Row) -> int:
    """The right answer's place. Labels are 1 to 3, or the answers' letters."""
    label = row.text("label").strip()
    if label not in ("1", "2", "3", "A", "B", "C"):
        row.fail(f"label {label!r} is out of range: the answers are 1 to 3, or A to C", "label")
    return "123ABC".index(label) % 3


SOCIAL_IQA = Task(
    name="social-iqa",
    title="Social IQa: what people feel, want and do in a situation",
    axis="social",
    licence="CC BY 4.0",
    citation="Sap et al. 2019, arXiv 1904.09728",
    files=Files(
        names=("dev.jsonl", "socialIQa_v1.4_dev.jsonl", "validation*.parquet"),
        train=("train.jsonl", "socialIQa_v1.4_trn.jsonl", "train*.parquet"),
        folders=("socialiqa-train-dev", "siqa"),
        labels="{stem}-labels.lst",
        label_too="correct",  # what the files of version 1.4 call it
        hub=Hub("lighteval/siqa", "validation", train="train"),
    ),
    fields={"context": "context", "question": "question"},
    prompt="Q: {{ context }} {{ question }}\nA:",
    choices=columns("answerA", "answerB", "answerC"),
    gold=answer,
    sets=(Sets(name="item", cluster="context"),),
    lm_eval="social_iqa",
    decisions=("Questions about one situation (`context`) are one cluster of the intervals.",),
)

SOCIAL_IQA_FILTERED = replace(
    SOCIAL_IQA,
    name="social-iqa-filtered",
    title="Social IQa, filtered: the items that were found sound",
    citation="Mousavi et al. 2026; as used by Gevers and Daelemans 2026, arXiv 2608.03340",
    files=Files(
        names=("social_iqa_filtered.*", "siqa_filtered.*"),
        train=SOCIAL_IQA.files.train,
        folders=("social-iqa", *SOCIAL_IQA.files.folders),
        labels=SOCIAL_IQA.files.labels,
        label_too=SOCIAL_IQA.files.label_too,
        listed=Listed(SOCIAL_IQA, ("social-iqa-filtered*.txt", "social_iqa_filtered*.txt", "siqa_filtered*.txt")),
    ),
    lm_eval="",
    decisions=(
        "As Social IQa. A copy is rows in Social IQa's format, or a list of the numbers (from 0) of the rows of "
        "Social IQa's validation file that are kept, next to that file.",
    ),
)

TASKS = (SOCIAL_IQA, SOCIAL_IQA_FILTERED)
