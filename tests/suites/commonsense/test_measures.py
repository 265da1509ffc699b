"""Benchmarks judged: every normalisation from one set of scores, gold systems, sets, chance. All values by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.judge import judge
from veridical.judge.answering import answerings
from veridical.judge.answers import read_scores
from veridical.judge.chance import chance_levels
from veridical.judge.frame import SCHEMA
from veridical.judge.measure import Measure
from veridical.judge.normalised import NORMALISATIONS, under
from veridical.judge.table import SuiteTable
from veridical.models.protocol import ChoiceScore
from veridical.prompts.template import Prompt

# (sum, tokens, characters, bytes, unconditional): the sum prefers B, tokens and characters A, and bytes tie.
A = ChoiceScore(-6.0, 3, 12, 12, -9.0)
B = ChoiceScore(-5.0, 2, 5, 10, -5.5)
CHOSEN = {"sum": "B", "token": "A", "char": "A", "byte": None, "unconditional": "A"}


def item(n: int, gold: tuple[str, ...] = ("A",), labels: str = "AB", **parts: Any) -> Item:
    choices = tuple(Choice(label=label, continuation=f"{label} {n}") for label in labels)
    return Item(fields={"n": str(n)}, choices=choices, gold=gold, **parts)


def suite(*items: Item, groupings: tuple[Grouping, ...] = ()) -> Suite:
    return Suite(
        name="toy",
        version="1",
        measures="benchmark",
        normalisation="sum",
        all_normalisations=True,
        prompts=(Prompt(name="zero-shot", user="{{ n }}", plain=True),),
        items=items,
        groupings=groupings,
    )


def row(asked: Item, *scores: ChoiceScore) -> dict[str, Any]:
    """A response as a run stores it, read under the suite's own normalisation (`sum`)."""
    reading = read_scores(asked.labels, scores)
    lone = [score.unconditional for score in scores]
    scored: Mapping[str, Any] = {
        "labels": list(asked.labels),
        "scores": [score.total for score in scores],
        "tokens": [score.n_tokens for score in scores],
        "chars": [score.n_chars for score in scores],
        "bytes": [score.n_bytes for score in scores],
        "unconditional": None if None in lone else lone,
    }
    key = {"suite": "toy", "model": "m", "answerer": "model", "input": "full", "prompt": "zero-shot"}
    return {
        **key,
        "mode": "loglikelihood",
        "order": 0,
        "repeat": 0,
        "item": asked.id,
        "status": reading.status.value,
        "label": reading.label,
        **(scored if reading.scores else {}),
    }


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA)


def accuracies(measures: list[Measure], name: str) -> dict[str, Measure]:
    return {str(m.slice[name]): m for m in measures if m.measure == "accuracy" and name in m.slice}


def test_one_set_of_scores_gives_an_answer_under_every_normalisation() -> None:
    asked = suite(item(1), item(2, ("B",)))
    measures = judge(asked, frame(row(asked.items[0], A, B), row(asked.items[1], A, B)))
    found = accuracies(measures, "normalisation")
    # One item has gold A and the other gold B, so whatever is chosen is right once, and a tie never.
    assert {name: m.value for name, m in found.items()} == {**dict.fromkeys(NORMALISATIONS, 0.5), "byte": 0.0}
    assert found["byte"].statuses == {"tied": 2}
    assert (found["byte"].bound_low, found["byte"].bound_high) == (0.0, 1.0)
    whole = next(m for m in measures if m.measure == "accuracy" and not m.slice)
    assert whole.value == found["sum"].value


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_each_normalisation_chooses_as_a_reading_by_itself_does(name: str) -> None:
    asked = suite(item(1), item(2), item(3, labels="ABC"))
    scores = [(A, B), (B, A), (B, A, ChoiceScore(-5.5, 1, 40, 41, -6.5))]
    rows = [row(one, *given) for one, given in zip(asked.items, scores, strict=True)]
    (answering,) = answerings(SuiteTable(asked), frame(*rows))
    read = under(answering, name)
    assert read is not None
    for place, (one, given) in enumerate(zip(asked.items, scores, strict=True)):
        alone = read_scores(one.labels, given, name)
        code = read.label[0, place]
        assert (read.table.labels[code] if code >= 0 else None) == alone.label
    first = read.label[0, 0]
    assert (read.table.labels[first] if first >= 0 else None) == CHOSEN[name]


def test_what_was_not_scored_keeps_its_status_and_what_is_not_finite_is_reported() -> None:
    asked = suite(item(1), item(2), item(3))
    empty = row(asked.items[1], A, ChoiceScore(0.0, 0, 0, 0))
    infinite = row(asked.items[2], A, ChoiceScore(-5.0, 2, 5, 10, -math.inf))
    measures = judge(asked, frame(row(asked.items[0], A, B), empty, infinite))
    found = accuracies(measures, "normalisation")
    assert found["token"].statuses == {"ok": 2, "empty": 1}
    assert found["unconditional"].statuses == {"ok": 1, "empty": 1, "non_finite": 1}


def test_without_unconditional_scores_the_correction_has_no_record() -> None:
    asked = suite(item(1))
    plain = ChoiceScore(-6.0, 3, 12, 12), ChoiceScore(-5.0, 2, 5, 10)
    found = accuracies(judge(asked, frame(row(asked.items[0], *plain))), "normalisation")
    assert list(found) == ["sum", "token", "char", "byte"]


def test_unconditional_scores_of_some_questions_only_give_no_corrected_accuracy() -> None:
    """The others would be read under the suite's own normalisation: an accuracy of two at once."""
    asked = suite(item(1), item(2))
    plain = ChoiceScore(-6.0, 3, 12, 12), ChoiceScore(-5.0, 2, 5, 10)
    rows = row(asked.items[0], A, B), row(asked.items[1], *plain)
    assert list(accuracies(judge(asked, frame(*rows)), "normalisation")) == ["sum", "token", "char", "byte"]


def test_choices_without_a_context_have_no_corrected_accuracy() -> None:
    """A sentence by itself is as likely as it is by itself: the correction would tie every item."""
    asked = suite(item(1))
    alone = ChoiceScore(-6.0, 3, 12, 12, -6.0), ChoiceScore(-5.0, 2, 5, 10, -5.0)
    found = accuracies(judge(asked, frame(row(asked.items[0], *alone))), "normalisation")
    assert list(found) == ["sum", "token", "char", "byte"]


def test_another_gold_system_is_judged_next_to_the_first() -> None:
    golds = {"pragmatic": ("B",)}
    asked = suite(item(1, golds=golds), item(2, golds=golds), item(3))
    measures = judge(asked, frame(*(row(one, A, B) for one in asked.items)))
    found = accuracies(measures, "system")["pragmatic"]
    assert (found.value, found.n_items) == (1.0, 2)  # B is chosen; the third item has no pragmatic gold
    assert next(m.value for m in measures if m.measure == "accuracy" and not m.slice) == 0.0


def test_accuracy_is_given_by_every_factor_with_several_values() -> None:
    asked = suite(item(1, factors={"kind": "x", "same": 1}), item(2, ("B",), factors={"kind": "y", "same": 1}))
    measures = judge(asked, frame(*(row(one, A, B) for one in asked.items)))
    assert {name: m.value for name, m in accuracies(measures, "kind").items()} == {"x": 0.0, "y": 1.0}
    assert not accuracies(measures, "same")


def test_chance_is_the_mean_share_of_right_choices_and_of_sets_their_product() -> None:
    items = (item(1), item(2, labels="ABCD"), item(3, ("A", "B"), labels="ABCD"))
    pair = Grouping(name="pair", members=tuple(Member(set="s", item=one.id) for one in items[:2]))
    chance = {m.measure: m for m in chance_levels(suite(*items, groupings=(pair,)))}
    assert chance["accuracy"].value == pytest.approx((1 / 2 + 1 / 4 + 2 / 4) / 3)
    assert chance["accuracy"].answerer == "chance"
    assert (chance["accuracy"].n_sets, chance["accuracy"].n_items) == (2, 3)
    assert chance["set_accuracy"].value == pytest.approx(1 / 2 * 1 / 4)
    assert (chance["set_accuracy"].n_sets, chance["set_accuracy"].n_items) == (1, 2)
    assert chance["accuracy"].low is None


def test_intervals_are_clustered() -> None:
    """Ten items of one cluster that are all alike are one observation: there is nothing to estimate from."""
    items = tuple(item(n) for n in range(10))
    members = tuple(Member(set=one.id, item=one.id, cluster="one article") for one in items)
    asked = suite(*items, groupings=(Grouping(name="item", members=members),))
    measures = judge(asked, frame(*(row(one, A, B) for one in items)))
    found = accuracies(measures, "normalisation")["char"]
    assert found.value == 1.0
    assert found.low is None
    assert str(found.interval).startswith("not estimable")


def test_label_mass_is_given_only_where_every_item_has_the_same_answers() -> None:
    def measured(*texts: str) -> set[str]:
        items = tuple(
            Item(
                fields={"n": str(n)},
                choices=(Choice(label="A", continuation=text), Choice(label="B", continuation="no")),
                gold=("A",),
            )
            for n, text in enumerate(texts)
        )
        rows = [{**row(one, A, B), "label_mass": 0.5} for one in items]
        return {m.measure for m in judge(suite(*items), frame(*rows))}

    assert "label_mass" in measured("yes", "yes")
    assert "label_mass" not in measured("heat the tea", "fan the tea")
