"""Greedy text is what the model's own `generate` writes one prompt at a time."""

from __future__ import annotations

import random

import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine import generation
from veridical.engine.generation import Generator
from veridical.engine.memory import Budget
from veridical.engine.plain import PlainGenerator

from ..models import tiny
from .sequences import draw
from .test_scoring import OutOfMemoryOnce

VOCABULARY = 61
STOP = frozenset(range(2, 7))
MODELS = {
    "rotary positions, grouped heads": tiny.llama(VOCABULARY, seed=1),
    "learned positions": tiny.gpt2(VOCABULARY, seed=1),
}


@torch.no_grad()
def one_at_a_time(model: PreTrainedModel, prompt: tuple[int, ...], limit: int) -> tuple[tuple[int, ...], str]:
    """The arg max of a full pass over everything so far, again and again: no cache, no batch."""
    tokens: list[int] = []
    for _ in range(limit):
        token = int(model(torch.tensor([[*prompt, *tokens]])).logits[0, -1].argmax())
        if token in STOP:
            return tuple(tokens), "stop"
        tokens.append(token)
    return tuple(tokens), "length"


def prompts(seed: int, n: int = 14) -> list[tuple[int, ...]]:
    source = random.Random(seed)
    system = draw(24, VOCABULARY, source)
    stems = [draw(5, VOCABULARY, source) for _ in range(4)]
    return [
        *(system + source.choice(stems) + draw(source.randint(1, 9), VOCABULARY, source) for _ in range(n)),
        draw(3, VOCABULARY, source),  # of no family
    ]


@pytest.mark.parametrize("slots", [1, 3, 64])
@pytest.mark.parametrize("kind", MODELS)
def test_text_is_that_of_one_prompt_at_a_time(kind: str, slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "MOST_SLOTS", slots)
    model, limit = MODELS[kind], 15
    asked = prompts(seed=0)
    found = dict(Generator(model, Budget(30), STOP).generate(asked, limit))
    assert sorted(found) == list(range(len(asked)))
    for index, prompt in enumerate(asked):
        assert (found[index].tokens, found[index].finish) == one_at_a_time(model, prompt, limit)
    # The test is worth something only where sequences of different lengths took turns in the slots.
    assert {generated.finish for generated in found.values()} == {"stop", "length"}
    assert len({len(generated.tokens) for generated in found.values()}) > 3


def test_plain_generation_writes_the_same() -> None:
    model = MODELS["rotary positions, grouped heads"]
    asked = prompts(seed=1)
    packed = dict(Generator(model, Budget(30), STOP).generate(asked, 12))
    plain = dict(PlainGenerator(model, Budget(200), STOP).generate(asked, 12))
    assert packed == plain


def test_a_finished_sequence_leaves_its_slot_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """One long answer must not hold up a batch: short ones keep coming through the other slot."""
    monkeypatch.setattr(generation, "MOST_SLOTS", 2)
    model = MODELS["rotary positions, grouped heads"]
    lengths = {prompt: len(one_at_a_time(model, prompt, 40)[0]) for prompt in prompts(seed=2, n=30)}
    long = max(lengths, key=lengths.__getitem__)
    short = sorted(lengths, key=lengths.__getitem__)[:5]
    assert lengths[long] > 2 * sum(lengths[prompt] + 1 for prompt in short[:2])
    order = [index for index, _ in Generator(model, Budget(200), STOP).generate([long, *short], 40)]
    assert order[-1] == 0
    assert order.index(0) == len(short)


def test_running_out_of_memory_halves_the_batch_and_goes_on() -> None:
    model = MODELS["rotary positions, grouped heads"]
    asked = prompts(seed=3)
    budget = Budget(400)
    with OutOfMemoryOnce(model, most=40) as limit:
        found = dict(Generator(model, budget, STOP).generate(asked, 8))
    assert limit.refused >= 1
    assert found == dict(Generator(model, Budget(30), STOP).generate(asked, 8))
