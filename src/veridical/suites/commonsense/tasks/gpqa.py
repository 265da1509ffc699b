"""GPQA-Diamond: graduate-level science questions with four choices.

Rows as in `gpqa_diamond.csv` (Rein et al. 2023; the archive of github.com/idavidrein/gpqa, and Idavidrein/gpqa on
the Hugging Face hub; the file is behind a password, its columns are known from code that reads it). Its many columns on
how a question came about are left aside; those called `Pre-Revision …` and `Extra Revised …` hold earlier and later
wordings that no published score is on.
"""

from __future__ import annotations

from collections.abc import Callable

from veridical.digests import digest
from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Task, fixed

_COLUMNS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")


def cleaned(text: str) -> str:
    """A choice as lm-eval cleans it."""
    return text.strip().replace(" [title]", ". ").replace("  ", " ")


def answers(row: Row) -> list[str]:
    """The four answers in the order in which they are named: by a digest of each together with the question."""
    texts = [cleaned(row.text(name)) for name in _COLUMNS]
    return sorted(texts, key=lambda text: digest([row.text("Question"), text]))


def _right(row: Row) -> int:
    return answers(row).index(cleaned(row.text(_COLUMNS[0])))


def _answer(place: int) -> Callable[[Row], str]:
    return lambda row: answers(row)[place]


def _domain(row: Row) -> str:
    return row.maybe("High-level domain").strip()


GPQA_DIAMOND = Task(
    name="gpqa-diamond",
    title="GPQA-Diamond: graduate-level questions in biology, chemistry and physics",
    axis="control",
    licence="CC BY 4.0",
    citation="Rein et al. (2023), GPQA, arXiv 2311.12022; github.com/idavidrein/gpqa",
    files=Files(
        names=("gpqa_diamond.csv", "gpqa_diamond.jsonl"),
        folders=("gpqa", "dataset"),
        hub=Hub(path="Idavidrein/gpqa", config="gpqa_diamond", split="train"),
    ),
    fields={
        "question": "Question",
        **{letter: _answer(place) for place, letter in enumerate("ABCD")},
    },
    prompt=(
        "What is the correct answer to this question:{{ question }}\n"
        "Choices:\n(A) {{ A }}\n(B) {{ B }}\n(C) {{ C }}\n(D) {{ D }}\nAnswer:"
    ),
    choices=fixed("(A)", "(B)", "(C)", "(D)"),
    gold=_right,
    id=lambda row: row.maybe("Record ID") or row.place,
    factors={"domain": _domain},
    normalisation="sum",
    lm_eval="gpqa_diamond_zeroshot",
    differs=(
        "The order of the choices: lm-eval shuffles them at random, differently at every start; here their texts "
        "decide. Given the same order the requests are equal."
    ),
    decisions=("The order of the choices, which their texts decide.",),
)

TASKS = (GPQA_DIAMOND,)
