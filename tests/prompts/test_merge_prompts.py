"""How seeds and variants are asked."""

from __future__ import annotations

import pytest

from veridical.prompts.template import Conversation, Prompt, rotations
from veridical.suites.merge.prompts import CHOICES, CLASSES, GLOSSES, INPUTS, LABELS, PAIR, PROMPTS

SEED = {"premise": "A woman is slicing a lemon.", "hypothesis": "A woman is cutting a lemon."}
VARIANT = {name: text.replace("lemon", "melon") for name, text in SEED.items()}

each_prompt = pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)


def turns(prompt: Prompt, fields: dict[str, str], labels: tuple[str, ...] = LABELS) -> dict[str, str]:
    context = prompt.render(fields, labels)
    assert isinstance(context, Conversation)
    return {message.role: message.content for message in context.messages}


@each_prompt
def test_a_seed_and_its_variant_share_the_system_turn(prompt: Prompt) -> None:
    seed, variant = turns(prompt, SEED), turns(prompt, VARIANT)
    assert seed["system"] == variant["system"]
    assert seed["user"].replace("lemon", "melon") == variant["user"]


@each_prompt
def test_every_order_names_the_labels_in_it(prompt: Prompt) -> None:
    for order in rotations(LABELS, 0):
        said = turns(prompt, SEED, order)["system"]
        places = [said.index(f"{label}: {GLOSSES[label]}") for label in order]
        assert places == sorted(places)
        assert said.endswith(f"{order[0]}, {order[1]} or {order[2]}.")


@each_prompt
def test_a_withheld_premise_is_said_to_be_withheld(prompt: Prompt) -> None:
    said = turns(prompt, {name: SEED[name] for name in INPUTS["hypothesis_only"]})
    assert "The premise is withheld" in said["system"]
    assert said["user"].startswith("Premise: (withheld)\nHypothesis: A woman is cutting")
    assert "withheld" not in turns(prompt, SEED)["system"]


def test_labels_choices_and_classes_agree() -> None:
    assert tuple(choice.label for choice in CHOICES) == LABELS == tuple(CLASSES) == tuple(GLOSSES)
    assert INPUTS["full"] == PAIR
    assert all(label in names for label, names in CLASSES.items())
