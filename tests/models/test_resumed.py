"""What is left of a job is answered, to the bit, as within the whole of it."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from veridical.engine import generation
from veridical.engine.memory import Budget
from veridical.engine.passes import Pass, divided
from veridical.engine.plain import PlainScorer
from veridical.engine.scoring import PackedScorer
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import (
    Divisible,
    GenerationSettings,
    Query,
    Request,
    RequestedStates,
    Resumable,
    TokenSequence,
)
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


def asked_of(kind: str) -> tuple[Divisible, list[Request]]:
    """A model, and requests of all that it can be asked, refused ones among them."""
    if kind == "bert":
        classifier = wrapped("bert")
        pairs = [TextPair(first, second) for first, second in zip(texts(40), reversed(texts(40)), strict=True)]
        return classifier, [classifier.prepare(Query((pair,), classes=CLASSES)) for pair in pairs]
    asked = model(kind)
    written = [asked.prepare(Query((PlainText(text),)), GenerationSettings(5)) for text in texts(40)]
    too_long = Request((TokenSequence((5,) * 100_000, (6,)),))
    return asked, [*choices(asked, 60), too_long, *written, *choices(asked, 3)]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 200])
@pytest.mark.parametrize("kind", ["llama", "mamba", "bert"])
def test_shares_of_a_job_give_the_same_bits_and_every_request_is_in_one(
    kind: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "PART", 8)
    asked, requests = asked_of(kind)
    assert isinstance(asked, Divisible)
    shares = divided(asked.passes(requests), n)
    assert len(shares) == n
    assert sorted(place for share in shares for place in share) == list(range(len(requests)))
    whole = dict(asked.answer(requests))
    for share in shares:
        assert dict(asked.answer_some(requests, share)) == {place: whole[place] for place in share}


@pytest.mark.parametrize("kind", ["llama", "mamba"])
def test_shares_hardly_run_anything_twice(kind: str) -> None:
    asked = model(kind)
    requests = choices(asked)
    list(asked.answer(requests))
    whole = asked.engine.n_tokens_run
    runs = []
    for share in divided(asked.passes(requests), 2):
        before = asked.engine.n_tokens_run
        list(asked.answer_some(requests, share))
        runs.append(asked.engine.n_tokens_run - before)
    # Twice: what the two have above them in common, and the choices' scores without a context.
    assert sum(runs) <= 1.25 * whole
    assert max(runs) <= 0.7 * whole


@pytest.mark.parametrize(
    ("sizes", "n", "shares"),
    [
        # The middle of a pass says whose it is: of 10 tokens 0 to 5 are the first share's, 5 to 10 the second's.
        ((4, 2, 4), 2, [[0], [1, 2]]),
        ((1, 1, 1, 1), 2, [[0, 1], [2, 3]]),
        ((9, 1), 3, [[], [0], [1]]),
        ((), 2, [[], []]),
        ((0, 0), 2, [[0, 1], []]),
    ],
)
def test_passes_are_divided_by_their_tokens(sizes: tuple[int, ...], n: int, shares: list[list[int]]) -> None:
    assert divided([Pass(size, (place,)) for place, size in enumerate(sizes)], n) == shares
