"""What is left of a job is answered, to the bit, as within the whole of it."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from veridical.engine import generation
from veridical.engine.memory import Budget
from veridical.engine.plain import PlainScorer
from veridical.engine.scoring import PackedScorer
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import GenerationSettings, Query, Request, RequestedStates, Resumable, TokenSequence
from veridical.prompts.template import PlainText, TextPair

from . import tiny
from .test_classifier import CLASSES, wrapped

WORDS = ("cat", "sat", "on", "mat", "by the river", "boats", "carry", "bread", "to", "old town")
SHARES = (0.0, 0.05, 0.5, 0.95, 1.0)


def texts(n: int, longest: int = 30) -> list[str]:
    source = random.Random(3)
    return ["The carpenter " + " ".join(source.choices(WORDS, k=source.randint(1, longest))) for _ in range(n)]


def model(kind: str = "llama") -> HuggingFaceModel:
    tokenizer = tiny.byte_level_tokenizer()
    made = {"llama": tiny.llama, "mamba": tiny.mamba}[kind](len(tokenizer))
    return HuggingFaceModel("hf/tiny/one", made, tokenizer, weights="0", batch_tokens=128)


def choices(asked: HuggingFaceModel, n: int = 60) -> list[Request]:
    return [asked.prepare(Query((PlainText(text),), (" True", " False", " Unknown"), True)) for text in texts(n)]


def subsets(n: int) -> list[list[int]]:
    source = random.Random(7)
    return [sorted(source.sample(range(n), round(share * n))) for share in SHARES]


@pytest.mark.parametrize("kind", ["llama", "mamba"])
def test_scores_of_a_resumed_job_are_the_same_bits(kind: str) -> None:
    asked = model(kind)
    assert isinstance(asked, Resumable)
    requests = choices(asked)
    whole = dict(asked.answer(requests))
    for wanted in subsets(len(requests)):
        assert dict(asked.answer_some(requests, wanted)) == {place: whole[place] for place in wanted}


def test_classes_of_a_resumed_job_have_the_same_bits() -> None:
    asked = wrapped("bert")
    assert isinstance(asked, Resumable)
    pairs = [TextPair(first, second) for first, second in zip(texts(40), reversed(texts(40)), strict=True)]
    requests = [asked.prepare(Query((pair,), classes=CLASSES)) for pair in pairs]
    whole = dict(asked.answer(requests))
    for wanted in subsets(len(requests)):
        assert dict(asked.answer_some(requests, wanted)) == {place: whole[place] for place in wanted}


def test_hidden_states_of_a_resumed_job_have_the_same_bits() -> None:
    asked = model()
    requests = choices(asked)
    whole = RequestedStates((0, asked.n_blocks))
    dict(asked.answer_and_read(requests, whole))
    wanted = subsets(len(requests))[2]
    some = RequestedStates(whole.layers)
    assert sorted(place for place, _ in asked.answer_and_read(requests, some, wanted)) == wanted
    assert whole.states is not None
    assert some.states is not None
    np.testing.assert_array_equal(some.states[wanted], whole.states[wanted])
    assert np.isnan(np.delete(some.states, wanted, axis=0)).all()


def test_texts_of_a_resumed_job_come_in_the_parts_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "PART", 8)
    asked = model()
    requests = [asked.prepare(Query((PlainText(text),)), GenerationSettings(4)) for text in texts(30)]
    whole = dict(asked.answer(requests))
    parts: list[int] = []
    run = generation.Generator._run
    monkeypatch.setattr(
        generation.Generator,
        "_run",
        lambda own, family, *rest: parts.append(len(family.prompts)) or run(own, family, *rest),
    )
    for wanted in subsets(len(requests)):
        parts.clear()
        assert dict(asked.answer_some(requests, wanted)) == {place: whole[place] for place in wanted}
        assert set(parts) <= {8, 6}  # 30 prompts: three parts of 8 and one of 6, each whole or not at all
        assert len(parts) <= min(4, len(wanted))


@pytest.mark.parametrize("kind", [PackedScorer, PlainScorer])
def test_what_is_not_wanted_costs_no_pass(kind: type[PackedScorer] | type[PlainScorer]) -> None:
    tokens = tiny.llama(50)
    scorer = kind(tokens, Budget(64))
    source = random.Random(5)
    drawn = [tuple(source.choices(range(50), k=24)) for _ in range(40)]
    asked = [TokenSequence(one[:-1], one[-1:]) for one in drawn]
    whole = dict(scorer.score(asked))
    everything = scorer.n_tokens_run
    assert dict(scorer.score(asked, wanted=[5])) == {5: whole[5]}
    assert scorer.n_tokens_run - everything <= 64


def test_a_pass_that_does_not_fit_is_planned_anew_of_the_whole_job() -> None:
    attempts: list[tuple[list[int], set[int]]] = []

    def attempt(planned: list[int], wanted: set[int]):
        attempts.append((list(planned), set(wanted)))
        yield min(wanted), "done"
        if len(attempts) == 1:
            raise torch.OutOfMemoryError
        yield from ((place, "done") for place in sorted(wanted)[1:])

    budget = Budget(64)
    assert sorted(dict(budget.each(5, attempt, wanted=[1, 3, 4]))) == [1, 3, 4]
    assert attempts == [([0, 1, 2, 3, 4], {1, 3, 4}), ([0, 1, 2, 3, 4], {3, 4})]
    assert budget.batch_tokens == 32
