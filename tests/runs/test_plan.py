"""What a plan asks, worked out by hand on a suite of two shapes of sets."""

from __future__ import annotations

import random

import pytest

from veridical.errors import UserError
from veridical.items import Grouping
from veridical.limits import limited, take_sets
from veridical.prompts.template import TextPair
from veridical.runs.plan import AskOptions, check_names, plan, query

from .toy import LABELS, toy_suite


def shuffled(suite, seed=3):
    items = list(suite.items)
    members = list(suite.groupings[0].members)
    random.Random(seed).shuffle(items)
    random.Random(seed + 1).shuffle(members)
    return toy_suite(items=tuple(items), groupings=(Grouping(name="verb", members=tuple(members)),))


def test_every_prompt_that_fits_is_asked_in_every_order_and_restricted_inputs_once():
    made = plan(toy_suite(6), AskOptions())
    counts = {}
    for ask in made.asks:
        counts[ask.prompt, ask.input] = counts.get((ask.prompt, ask.input), 0) + 1
    # 6 telic and 6 atelic verbs, two items each; `plainly` in all three rotations, `rule` in its one.
    assert counts == {("plainly", "full"): 72, ("plainly", "hypothesis_only"): 24, ("rule", "full"): 24}
    assert [line.split(" in ")[0] for line in made.skipped] == ["toy: skipping think"]


def test_rotations_put_each_label_once_in_each_place():
    made = plan(toy_suite(1), AskOptions(prompts=("plainly",), inputs=("full",)))
    orders = {ask.order: ask.labels for ask in made.asks}
    assert orders == {0: LABELS, 1: ("False", "Unknown", "True"), 2: ("Unknown", "True", "False")}


def test_orders_override_the_prompts_own():
    made = plan(toy_suite(1), AskOptions(prompts=("plainly", "rule"), inputs=("full",), orders=2))
    assert {(ask.prompt, ask.order) for ask in made.asks} == {(name, k) for name in ("plainly", "rule") for k in (0, 1)}


def test_generate_asks_reasoning_prompts_too():
    made = plan(toy_suite(1), AskOptions(modes=("generate",)))
    assert {ask.prompt for ask in made.asks} == {"plainly", "rule", "think"}
    assert made.skipped == ()


def test_both_modes_in_one_plan():
    made = plan(toy_suite(1), AskOptions(modes=("loglikelihood", "generate"), prompts=("think", "rule")))
    assert {(ask.mode, ask.prompt) for ask in made.asks} == {
        ("loglikelihood", "rule"),
        ("generate", "rule"),
        ("generate", "think"),
    }


def test_a_restricted_input_shows_its_fields_alone():
    suite = toy_suite(1)
    made = plan(suite, AskOptions(prompts=("rule",), inputs=("full", "hypothesis_only")))
    assert {ask.input for ask in made.asks} == {"full", "hypothesis_only"}
    for ask in made.asks:
        text = query(suite, ask).contexts[0].messages[-1].content
        assert ("was doing" in text) == (ask.input == "full")


def test_limits_are_nested_balanced_and_keep_members():
    suite = toy_suite(9)
    grouping = suite.grouping()
    for smaller in range(1, 18):
        assert take_sets(grouping, smaller, 0) == take_sets(grouping, smaller + 1, 0)[:smaller]
    for limit in (2, 6, 10):
        roles = [m.role for m in limited(suite, limit, 0).grouping().members]
        assert [roles.count(role) for role in "ABCD"] == [limit // 2] * 4
    assert len(limited(suite, 400, 0).items) == 36


def test_a_limit_takes_what_is_left_where_a_shape_runs_out():
    suite = toy_suite(4)
    members = tuple(m for m in suite.grouping().members if m.role in "AC" or m.set.endswith("0"))
    taken = take_sets(Grouping(name="verb", members=members), 5, 0)
    assert len(taken) == len(set(taken)) == 5


def test_another_seed_takes_other_sets():
    grouping = toy_suite(30).grouping()
    assert take_sets(grouping, 10, 0) != take_sets(grouping, 10, 1)


def test_a_shuffled_suite_file_keeps_ids_and_the_choice_of_sets():
    suite = toy_suite(9)
    other = shuffled(suite)
    assert [item.id for item in other.items] != [item.id for item in suite.items]
    assert set(take_sets(suite.grouping(), 6, 0)) == set(take_sets(other.grouping(), 6, 0))
    options = AskOptions(limit=6)
    assert set(plan(suite, options).asks) == set(plan(other, options).asks)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (AskOptions(modes=("logliklihood",)), "unknown mode 'logliklihood': did you mean 'loglikelihood'?"),  # type: ignore[arg-type]
        (AskOptions(prompts=("rulle",)), "unknown prompt 'rulle': did you mean 'rule'?"),
        (AskOptions(prompts=("think",)), "prompt 'think' asks the model to reason: it needs --mode generate"),
        (AskOptions(inputs=("hypothesis",)), "unknown input 'hypothesis': did you mean 'hypothesis_only'?"),
        (AskOptions(orders=-1), "--orders -1"),
        (AskOptions(seed=-1), "--seed -1"),
        (AskOptions(modes=("classify",), prompts=("rule",)), "--prompt goes with a language model"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(options, words):
    with pytest.raises(UserError) as caught:
        check_names([toy_suite(1)], options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_field_that_a_prompt_needs_and_an_item_lacks_is_the_users_fault():
    suite = toy_suite(1, inputs={"premise_only": ("premise",)})
    made = plan(suite, AskOptions(prompts=("rule",), inputs=("premise_only",)))
    with pytest.raises(UserError, match=r"suite 'toy', item .* input 'premise_only': prompt 'rule', user part"):
        query(suite, made.asks[0])


CLASSES = {"True": ("entailment",), "False": ("contradiction",), "Unknown": ("neutral", "unknown")}


def test_classify_asks_each_item_once_an_input_without_prompt_or_order():
    suite = toy_suite(2, classes=CLASSES)
    made = plan(suite, AskOptions(modes=("classify",), orders=0))
    assert [(ask.item, ask.input, ask.prompt, ask.order) for ask in made.asks] == [
        (item.id, name, "", 0) for name in ("full", "hypothesis_only") for item in suite.items
    ]
    assert made.skipped == ()


def test_classify_shows_a_pair_and_leaves_empty_what_is_withheld():
    suite = toy_suite(1, classes=CLASSES)
    fields = suite.items[0].fields
    for ask, first in zip(plan(suite, AskOptions(modes=("classify",))).asks[::4], (fields["premise"], ""), strict=True):
        put = query(suite, ask)
        assert put.contexts == (TextPair(first, fields["hypothesis"]),)
        assert put.classes == (("entailment",), ("contradiction",), ("neutral", "unknown"))
        assert put.continuations == ()


def test_an_input_that_shows_nothing_of_the_pair_is_not_classified():
    suite = toy_suite(1, classes=CLASSES, pair=("hypothesis", "hypothesis"), inputs={"premise_only": ("premise",)})
    assert {ask.input for ask in plan(suite, AskOptions(modes=("classify",))).asks} == {"full"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "suite 'toy' cannot be asked in mode classify: it does not say what a classifier calls its labels"),
        ({"classes": {"True": ("entailment",)}}, "do not say what a classifier calls 'False'"),
        ({"classes": CLASSES, "pair": ("text", "hypothesis")}, "no field 'text', which mode classify shows"),
    ],
)
def test_a_suite_that_cannot_be_classified_is_reported_in_one_line(changes, words):
    suite = toy_suite(1, **changes)
    with pytest.raises(UserError) as caught:
        query(suite, plan(suite, AskOptions(modes=("classify",))).asks[0])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", ["loglikelihood", "generate"])
def test_prompts_asked_one_by_one_are_the_plan_of_all_at_once(mode):
    # The first prompt in the suite reasons, so that it fits one mode alone.
    suite = toy_suite(2, prompts=tuple(reversed(toy_suite(1).prompts)))
    names = [prompt.name for prompt in suite.prompts if mode == "generate" or not prompt.reasons]
    at_once = plan(suite, AskOptions(modes=(mode,))).asks
    one_by_one = [
        ask for name in reversed(names) for ask in plan(suite, AskOptions(modes=(mode,), prompts=(name,))).asks
    ]
    assert sorted(map(str, one_by_one)) == sorted(map(str, at_once))
    assert {ask.prompt for ask in at_once if ask.input == "hypothesis_only"} == {names[0]}


def test_inputs_that_are_named_go_to_a_prompt_that_is_named():
    made = plan(toy_suite(1), AskOptions(prompts=("rule",), inputs=("hypothesis_only",)))
    assert {(ask.prompt, ask.input) for ask in made.asks} == {("rule", "hypothesis_only")}
    assert {ask.input for ask in plan(toy_suite(1), AskOptions(prompts=("rule",))).asks} == {"full"}
