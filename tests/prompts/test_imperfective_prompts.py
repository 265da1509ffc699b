"""The four prompts: what each contains, and what none may show."""

from __future__ import annotations

import pytest

from veridical.prompts.template import Conversation, Prompt, rotations
from veridical.suites.imperfective.prompts import CHOICES, GLOSSES, INPUTS, LABELS, PROMPTS

FIELDS = {"premise": "The potter was glazing a bowl.", "hypothesis": "The potter glazed a bowl."}
BY_NAME = {prompt.name: prompt for prompt in PROMPTS}

each_prompt = pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)


def turns(prompt: Prompt, labels: tuple[str, ...] = LABELS, **fields: str) -> dict[str, str]:
    context = prompt.render(fields or FIELDS, labels)
    assert isinstance(context, Conversation)
    return {message.role: message.content for message in context.messages}


def test_the_prompts_are_the_four_strategies() -> None:
    assert list(BY_NAME) == ["zero-shot", "dap", "cot", "counterfactual"]
    assert [prompt.orders for prompt in PROMPTS] == [3, 1, 1, 1]
    assert [prompt.reasons for prompt in PROMPTS] == [False, False, True, True]
    assert [prompt.answer for prompt in PROMPTS] == ["label", "label", "json", "json"]


@each_prompt
def test_the_user_turn_is_the_item_and_the_system_turn_ends_by_naming_the_labels(prompt: Prompt) -> None:
    said = turns(prompt)
    asked = "" if prompt.reasons else "\nAnswer:"
    assert said["user"] == f"Premise: {FIELDS['premise']}\nHypothesis: {FIELDS['hypothesis']}{asked}"
    assert said["system"].endswith("True, False or Unknown.")


@each_prompt
def test_definitions_and_labels_rotate_together(prompt: Prompt) -> None:
    for order in rotations(LABELS, 0):
        said = turns(prompt, order)
        places = [said["system"].index(f"{label}: {GLOSSES[label]}") for label in order]
        assert places == sorted(places)
        assert said["system"].endswith(f"{order[0]}, {order[1]} or {order[2]}.")


@each_prompt
def test_the_system_turn_is_the_same_for_every_item(prompt: Prompt) -> None:
    other = {"premise": "Two otters were diving.", "hypothesis": "Two otters dived."}
    assert turns(prompt)["system"] == turns(prompt, **other)["system"]


@each_prompt
def test_a_withheld_premise_is_said_to_be_withheld(prompt: Prompt) -> None:
    shown = {name: FIELDS[name] for name in INPUTS["hypothesis_only"]}
    said = turns(prompt, **shown)
    assert "no premise given" in said["system"]
    assert "premise alone" not in said["system"]
    assert FIELDS["premise"] not in said["user"]
    assert said["user"].startswith("Premise: (none given)\nHypothesis: The potter glazed")


@each_prompt
def test_no_line_is_empty_and_no_prompt_says_what_an_item_is_for(prompt: Prompt) -> None:
    for fields in (FIELDS, {"hypothesis": FIELDS["hypothesis"]}):
        text = "\n".join(turns(prompt, **fields).values())
        assert all(line.strip() for line in text.splitlines())
        for word in ("telic", "interrupted", "ambiguous", "accomplishment", "paradox", "group"):
            assert word not in text.lower()


def test_only_dap_states_the_rule_about_aspect() -> None:
    assert [name for name in BY_NAME if "progressive" in turns(BY_NAME[name])["system"]] == ["dap"]


def test_reasoning_prompts_say_what_json_to_return() -> None:
    assert '{"reasoning": ' in turns(BY_NAME["cot"])["system"]
    assert '{"possible_interruptions": [' in turns(BY_NAME["counterfactual"])["system"]
    for name in ("cot", "counterfactual"):
        assert '"label": ' in turns(BY_NAME[name])["system"]


def test_zero_shot_is_short() -> None:
    # English runs to about 1.3 tokens a word: 110 tokens are some 80 words.
    assert len(turns(BY_NAME["zero-shot"])["system"].split()) <= 60


def test_choices_are_the_bare_labels() -> None:
    assert tuple(choice.continuation for choice in CHOICES) == LABELS == ("True", "False", "Unknown")
