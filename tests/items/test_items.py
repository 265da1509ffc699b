"""The nouns: frozen, checked, and named by their content."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from veridical.items import Choice, Grouping, Item, Member, Response, Suite
from veridical.judge import judge
from veridical.judge.frame import SCHEMA, frame_of
from veridical.prompts.template import Prompt, rotations
from veridical.status import Status

CHOICES = tuple(Choice(label=label, continuation=label) for label in ("True", "False", "Unknown"))
PROMPT = Prompt(name="zero-shot", user="{{ premise }} {{ labels | join('/') }}")


def item(premise: str = "It rained.", **changes: Any) -> Item:
    return Item(**{"fields": {"premise": premise}, "choices": CHOICES, "gold": ("True",), **changes})


def suite(items: tuple[Item, ...], members: tuple[Member, ...] = (), **changes: Any) -> Suite:
    groupings = (Grouping(name="set", members=members),) if members else ()
    return Suite(
        **{"name": "s", "version": "1", "prompts": (PROMPT,), "items": items, "groupings": groupings, **changes}
    )


def test_an_id_comes_from_what_is_asked_and_what_is_right() -> None:
    same = [item(), item(name="A_001"), item(factors={"telicity": "telic"})]
    assert len({one.id for one in same}) == 1
    others = [
        item("It snowed."),
        item(gold=("False",)),
        item(golds={"pragmatic": ("False",)}),
        item(choices=CHOICES[:2]),
    ]
    assert len({one.id for one in [item(), *others]}) == 5


def test_nouns_are_frozen_and_a_misspelt_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        item().gold = ("False",)  # type: ignore[misc]
    with pytest.raises(ValidationError, match="premises"):
        item(premises="x")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gold": ("true",)}, "no choice is labelled true"),
        ({"golds": {"logical": ("Maybe",)}}, "no choice is labelled Maybe"),
        ({"human": {"True": 0.5, "False": 0.2}}, "sums to 0.7"),
        ({"choices": (CHOICES[0], CHOICES[0])}, "repeat a label"),
        ({"choices": ()}, "at least 1"),
        ({"choices": (*CHOICES, Choice(label="True ", continuation="x"))}, "repeat a label"),
        ({"human": {"True": 1.5, "False": -0.5}}, "gives 'True' 1.5, which is not from 0 to 1"),
        ({"human": {"True": float("nan")}}, "gives 'True' nan"),
        ({"factors": {"x": float("inf")}}, "factor 'x' is inf: a finite number is needed"),
        ({"factors": {"x": float("nan")}}, "factor 'x' is nan"),
        ({"factors": {"x": -(2**64)}}, "factor 'x' is a number that is too long"),
        ({"fields": {"labels": "x"}}, "a field cannot be called 'labels'"),
        ({"fields": {"glosses": "x"}}, "a field cannot be called 'glosses'"),
    ],
)
def test_an_item_that_contradicts_itself_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        item(**changes)


def test_a_choice_needs_a_label_and_a_text_to_score() -> None:
    with pytest.raises(ValidationError, match="choice 'yes' has an empty continuation"):
        Choice(label="yes", continuation="", context="A context of its own.")
    for label in ("", " \t"):
        with pytest.raises(ValidationError, match="label"):
            Choice(label=label, continuation="yes")


def test_several_golds_gold_systems_and_groupings_over_one_item() -> None:
    first = item(gold=("True", "Unknown"), golds={"logical": ("Unknown",)}, human={"True": 0.75, "Unknown": 0.25})
    second = item("It snowed.")
    by_seed = Grouping(name="seed", members=(Member(set="s1", item=first.id, role="seed"),))
    by_verb = Grouping(
        name="verb",
        members=(Member(set="rain", item=first.id, role="C", cluster="weather"), Member(set="x", item=second.id)),
    )
    both = suite((first, second), groupings=(by_seed, by_verb))
    assert both.grouping().name == "seed"
    assert both.grouping("verb").sets()["rain"][0].cluster == "weather"
    with pytest.raises(KeyError):
        both.grouping("none")


def test_without_groupings_every_item_is_a_set() -> None:
    assert list(suite((item(), item("b"))).grouping().sets()) == [item().id, item("b").id]


@pytest.mark.parametrize(
    ("items", "members", "message"),
    [
        ((item(), item(name="again")), (), "same content"),
        ((item(),), (Member(set="a", item="0000"),), "unknown item"),
        (
            (item(),),
            (Member(set="a", item=item().id, role="C"), Member(set="a", item=item().id)),
            "twice in the set 'a'",
        ),
    ],
)
def test_a_suite_whose_parts_disagree_is_refused(items: Any, members: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        suite(items, members)


def test_the_order_of_lines_is_not_content_and_everything_asked_is() -> None:
    one, two = item(), item("b")
    members = (Member(set="s", item=one.id), Member(set="s", item=two.id))
    whole = suite((one, two), members)
    assert whole.content_hash == suite((two, one), members[::-1]).content_hash
    assert whole.content_hash == suite((one, two), members, title="A title").content_hash
    other_prompt = Prompt(name="zero-shot", user="{{ premise }}")
    changed = [
        suite((one,), members[:1]),
        suite((one, two), (members[0], Member(set="t", item=two.id))),
        suite((one, two), members, prompts=(other_prompt,)),
        suite((one, two), members, version="2"),
        suite((one, two), members, classes={"True": ("entailment",)}),
        suite((one, two), members, pair=("text", "hypothesis")),
    ]
    assert len({whole.content_hash, *(other.content_hash for other in changed)}) == 7


def test_a_response_has_a_label_exactly_when_it_is_ok() -> None:
    key = {"suite": "s", "item": "i", "model": "m", "mode": "loglikelihood"}
    assert Response(**key, status=Status.OK, label="True").label == "True"
    for broken in ({"status": Status.OK}, {"status": Status.TIED, "label": "True"}):
        with pytest.raises(ValidationError, match="with status"):
            Response(**key, **broken)


def test_responses_from_anywhere_are_judged_as_a_frame() -> None:
    items = (item(), item("b"), item("c"))
    answers = [(Status.OK, "True"), (Status.OK, "False"), (Status.UNPARSED, None)]
    frame = frame_of(
        Response(suite="s", item=one.id, model="m", mode="generate", status=status, label=label)
        for one, (status, label) in zip(items, answers, strict=True)
    )
    assert frame.schema == SCHEMA
    accuracy = next(m for m in judge(suite(items), frame) if m.measure == "accuracy" and not m.slice)
    assert (accuracy.value, accuracy.bound_low, accuracy.bound_high) == pytest.approx((1 / 3, 1 / 3, 2 / 3))
    assert accuracy.statuses == {"ok": 2, "unparsed": 1}


def test_rotations_put_each_label_once_in_each_place() -> None:
    assert rotations(("a", "b", "c"), 0) == (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"))
    assert rotations(("a", "b", "c"), 2) == (("a", "b", "c"), ("b", "c", "a"))
    assert rotations(("a", "b"), 5) == (("a", "b"), ("b", "a"))
