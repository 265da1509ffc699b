"""What raters are asked of which suite: a table, open for more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from pydantic import Field

from veridical.errors import UserError
from veridical.items import Frozen, Item, Name, Suite

SEED = "seed"
"""The role of the item, in a set of variants, that the others were made from."""


class Question(Frozen):
    """A question with closed answers, asked of every item of a sheet.

    `values` are what may be answered, in order where `ordered` (a scale, on which answers can be adjacent).
    `meanings` explains values; `scores` gives each value a number where a mean of them says something.
    """

    name: Name
    text: Name
    values: tuple[Name, ...] = Field(min_length=1)
    meanings: Mapping[str, str] = Field(default_factory=dict)
    scores: tuple[float, ...] = ()
    ordered: bool = False

    @property
    def binary(self) -> bool:
        """Whether a mean of its scores is a share: they can be 0 and 1 alone, whatever the ratings are."""
        return set(self.scores) == {0.0, 1.0}


def _scale(name: str, text: str, worst: str, best: str) -> Question:
    values = ("1", "2", "3", "4", "5")
    meanings = {"1": worst, "5": best}
    return Question(
        name=name, text=text, values=values, meanings=meanings, scores=tuple(map(float, values)), ordered=True
    )


def _yes_no(name: str, text: str) -> Question:
    return Question(name=name, text=text, values=("yes", "no"), scores=(1.0, 0.0))


SENTENCE_QUESTIONS = (
    _scale("grammar", "Are the sentences grammatical?", "hardly a sentence", "no error"),
    _scale("fluency", "Would a native speaker put it this way?", "nobody would", "entirely natural"),
    _scale(
        "adequacy",
        "Could this happen, and are the sentences about one and the same event?",
        "makes no sense together",
        "entirely",
    ),
)
"""The three scales are those of arXiv 2601.09373; the wording is Veridical's."""

VARIANT_QUESTIONS = (
    _yes_no("fluent", "Is the variant fluent, as if it had been written this way?"),
    _yes_no("label_kept", "Is the right answer to the original also the right answer to the variant?"),
)


def _label_question(suite: Suite) -> tuple[Question, ...]:
    """The suite's labels, or those that all its items share, with what its prompts say that they mean."""
    labels = suite.labels or suite.items[0].labels
    odd = next((item for item in suite.items if not set(item.labels) <= set(labels)), None)
    if odd is not None:
        raise UserError(
            f"suite {suite.name}: items {suite.items[0].id} and {odd.id} have different labels "
            f"({', '.join(labels)}; {', '.join(odd.labels)}), and the suite names none: raters cannot be asked one "
            "question; give the header 'labels'"
        )
    glosses = dict(chain.from_iterable(prompt.glosses.items() for prompt in reversed(suite.prompts)))
    meanings = {label: glosses[label] for label in labels if label in glosses}
    return (Question(name="label", text="Which label is right?", values=labels, meanings=meanings),)


def _gold(item: Item) -> dict[str, tuple[str, ...]]:
    return {"label": item.gold} if item.gold else {}


@dataclass(frozen=True, slots=True)
class ReviewKind:
    """How the items of one kind of suite are put to raters.

    `expected` gives, by question, the answers that the suite claims to be right of an item. `whole_sets`: sets
    are sampled whole, since they are judged together; items otherwise. `variants`: a set's seed is shown with each
    of its variants and is not rated itself.
    """

    instructions: str
    questions: Callable[[Suite], tuple[Question, ...]]
    expected: Callable[[Item], Mapping[str, tuple[str, ...]]]
    whole_sets: bool = False
    variants: bool = False


VARIANTS = ReviewKind(
    instructions=(
        "Each entry shows an original and a variant of it with one word replaced. Decide for yourself what the right "
        "answer to the original is, then whether that same answer is right for the variant too. For a premise and a "
        "hypothesis the answers are: the hypothesis must hold, it cannot hold, it may or may not hold."
    ),
    questions=lambda suite: VARIANT_QUESTIONS,
    expected=lambda item: {question.name: ("yes",) for question in VARIANT_QUESTIONS},
    variants=True,
)
SENTENCES = ReviewKind(
    instructions="Each entry shows sentences that belong together. Rate them from 1 (worst) to 5 (best).",
    questions=lambda suite: SENTENCE_QUESTIONS,
    expected=lambda item: {},
)
EVIDENCE = ReviewKind(
    instructions=(
        "Each entry shows the background of a study, one diagnostic result as evidence, a target claim and a condition "
        "that the claim rests on. First ask whether the result is about this condition for this target at all; if it "
        "is, ask which way it points, or whether it is too weak to tell. Judge this result alone: not whether the "
        "claim is true, and not whether other conditions hold. Texts recur; judge each entry by itself."
    ),
    questions=_label_question,
    expected=_gold,
    whole_sets=True,
)
LABELS = ReviewKind(
    instructions="Give each entry the label that is right for it. Judge each entry by itself, by what it says alone.",
    questions=_label_question,
    expected=_gold,
    whole_sets=True,
)

_KINDS = {
    "merge": VARIANTS,
    "imperfective": SENTENCES,
    "imperfective-quads": SENTENCES,
    "evidence": EVIDENCE,
}


def kind_of(suite: Suite) -> ReviewKind:
    """How this suite is put to raters, by its measures; any other suite's items are given labels."""
    return _KINDS.get(suite.measures, LABELS)
