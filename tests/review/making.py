"""Small suites, keys and filled-in sheets, made by hand."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path

import numpy as np

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.prompts.template import Prompt
from veridical.review.key import RatedItem, ReviewKey
from veridical.review.krippendorff import MISSING
from veridical.review.questions import SENTENCE_QUESTIONS, Question
from veridical.review.reading import Ratings
from veridical.review.sheets import Written

LABELS = ("entailment", "neutral", "contradiction")
PROMPT = Prompt(name="zero-shot", user="{{ premise }} {{ hypothesis }}", glosses={"neutral": "either may be."})
LABEL = Question(name="label", text="Which label is right?", values=("a", "b", "c"))
GRAMMAR = SENTENCE_QUESTIONS[0]


def make_item(premise: str, hypothesis: str, gold: str, labels: Sequence[str] = LABELS, **factors: str) -> Item:
    choices = tuple(Choice(label=label, continuation=label) for label in labels)
    fields = {"premise": premise, "hypothesis": hypothesis}
    return Item(fields=fields, choices=choices, gold=(gold,), factors=factors, name=f"source-{gold}-{premise[:6]}")


def make_suite(
    measures: str, n_sets: int = 6, per_set: int = 3, gold: Callable[[int], str] | None = None, animal: str = "dog"
) -> Suite:
    """Sets of a seed, about an animal, and variants of it; `gold` is the label of each set, from its number."""
    items: list[Item] = []
    members: list[Member] = []
    for number in range(n_sets):
        label = gold(number) if gold else LABELS[number % 3]
        for place in range(per_set):
            word = animal if place == 0 else f"animal-{place}"
            item = make_item(f"The {word} number {number} barked.", f"A {word} made a noise.", label, kind=label)
            role = "seed" if place == 0 else "variant"
            items.append(item)
            members.append(Member(set=f"{label}-{number}", item=item.id, role=role))
    return Suite(
        name="pets",
        version="1",
        title=f"a title that names {LABELS[0]}",
        labels=LABELS,
        measures=measures,
        prompts=(PROMPT,),
        groupings=(Grouping(name="seed", members=tuple(members)),),
        items=tuple(items),
    )


def make_key(
    questions: Sequence[Question], sets: Sequence[str], golds: Sequence[str] = (), raters: int = 2
) -> ReviewKey:
    """A key over one item for each entry of `sets`; the row of item 3 on rater 2's sheet has the id `r2i3`."""
    items = tuple(
        RatedItem(
            item=f"item{place}",
            name=f"name{place}",
            set=name,
            cluster=name,
            expected={questions[0].name: (golds[place],)} if golds else {},
            texts=(("premise", f"premise {place}"),),
        )
        for place, name in enumerate(sets)
    )
    ids = {f"r{rater}i{place}": (rater, place) for rater in range(1, raters + 1) for place in range(len(items))}
    return ReviewKey(
        suite="made",
        version="1",
        content_hash="0",
        seed=0,
        raters=raters,
        questions=tuple(questions),
        items=items,
        ids=ids,
    )


def make_ratings(key: ReviewKey, given: Mapping[str, Sequence[Sequence[str]]]) -> Ratings:
    """Ratings from a row of values for each item, one a rater, `""` where there is none."""
    codes = {
        question.name: np.array(
            [[question.values.index(v) if v else MISSING for v in row] for row in given[question.name]], np.int64
        )
        for question in key.questions
    }
    return Ratings(key, tuple(range(1, key.raters + 1)), codes, {})


def fill(written: Written, answer: Callable[[int, RatedItem, Question], str]) -> list[Path]:
    """Fill in the CSV sheets as `answer(rater, item, question)` says, and give their paths."""
    paths = [path for path in written.files if path.suffix == ".csv"]
    for path in paths:
        rows = list(csv.DictReader(StringIO(path.read_text("utf-8-sig"), newline="")))
        for row in rows:
            rater, position = written.key.ids[row["id"]]
            for question in written.key.questions:
                row[question.name] = answer(rater, written.key.items[position], question)
        buffer = StringIO()
        writer = csv.DictWriter(buffer, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(buffer.getvalue(), "utf-8-sig", newline="")
    return paths
