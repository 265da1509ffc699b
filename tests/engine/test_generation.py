"""Greedy text is what the model's own `generate` writes one prompt at a time."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine import generation
from veridical.engine.engine import Engine
from veridical.engine.families import families
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
        logits = model(torch.tensor([[*prompt, *tokens]])).logits[0, -1]
        if not logits.isfinite().all():
            return tuple(tokens), "non_finite"
        token = int(logits.argmax())
        if token in STOP:
            return tuple(tokens), "stop"
        tokens.append(token)
    return tuple(tokens), "length"


def prompts(seed: int, n: int = 40) -> list[tuple[int, ...]]:
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


def test_prompts_that_all_begin_alike_share_that_and_few_of_many_do_not() -> None:
    system = tuple(range(20))
    alike = [(*system, 20 + n) for n in range(2)]
    assert [family.n_shared for family in families(alike)] == [20]
    assert [family.n_shared for family in families([*alike, (60,)])] == [0]
    assert sorted(family.n_shared for family in families([*((*system, n) for n in range(40)), (60,)])) == [0, 20]
    # A prompt keeps its last token, where its answer begins.
    assert [family.n_shared for family in families([system, (*system, 5)])] == [19]


def passes(model: PreTrainedModel, asked: Sequence[tuple[int, ...]], limit: int | list[int]) -> int:
    """How many times the model runs to generate for the prompts."""
    calls: list[int] = []
    hook = model.register_forward_pre_hook(lambda *_: calls.append(1))
    dict(Generator(model, Budget(4096), frozenset()).generate(asked, limit))
    hook.remove()
    return len(calls)


def test_premises_of_a_few_hypotheses_each_run_together() -> None:
    """64 prompts fill 64 slots: a pass a token, and not a pass a token of every premise."""
    source = random.Random(0)
    stem = draw(40, VOCABULARY, source)
    premises = [stem + draw(24, VOCABULARY, source) for _ in range(16)]
    asked = [premise + draw(5, VOCABULARY, source) for premise in premises for _ in range(4)]
    model, limit = MODELS["rotary positions, grouped heads"], 10
    # The shared stem, the prompts (a batch or more), and a step for each token but the first.
    assert passes(model, asked, limit) <= 2 + limit


def test_prompts_of_many_limits_run_together() -> None:
    model = MODELS["rotary positions, grouped heads"]
    asked = [draw(30 + n, VOCABULARY, random.Random(n)) for n in range(20)]
    limits = [24 - n for n in range(20)]
    assert passes(model, asked, limits) <= 24 + 2
    for path in (Generator(model, Budget(100), STOP), None):
        engine = Engine(model, stop=STOP, batch_tokens=300)
        if path is None:
            engine.path, engine._generator = "plain", PlainGenerator(model, Budget(200), STOP)
        found = dict(engine.generate(asked, limits))
        for index, (prompt, limit) in enumerate(zip(asked, limits, strict=True)):
            assert (found[index].tokens, found[index].finish) == one_at_a_time(model, prompt, limit)


@pytest.mark.parametrize("path", ["packed", "plain"])
def test_text_of_logits_that_are_not_numbers_is_reported_and_cut(path: str) -> None:
    """One poisoned token in a prompt, or among those that get written: what is beside it stays as it was."""
    model = tiny.llama(VOCABULARY, seed=1)
    sound = [*prompts(seed=4, n=20), draw(5, VOCABULARY, random.Random(5))]
    written = [token for prompt in sound for token in one_at_a_time(model, prompt, 12)[0][1:]]
    poison = max(sorted(set(written) - set(sound[0])), key=written.count)
    sound = [prompt for prompt in sound if poison not in prompt]
    assert len(sound) > 10
    poisoned = [(*sound[0][:30], poison), (poison,), (*sound[3], poison, 8, 9)]
    asked = [*sound, *poisoned, *sound[:3]]
    with torch.no_grad():
        model.model.embed_tokens.weight[poison] = float("nan")
    generator = Generator if path == "packed" else PlainGenerator
    engine = Engine(MODELS["rotary positions, grouped heads"], stop=STOP, batch_tokens=300)
    engine.model, engine.path = model, path  # type: ignore[assignment]
    engine._generator = generator(model, Budget(300), STOP)
    found = dict(engine.generate(asked, 12))
    expected = [one_at_a_time(model, prompt, 12) for prompt in asked]
    assert [(found[index].tokens, found[index].finish) for index in range(len(asked))] == expected
    assert {finish for _, finish in expected} == {"stop", "non_finite"}
    assert len({len(tokens) for tokens, finish in expected if finish == "non_finite"}) > 1


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
