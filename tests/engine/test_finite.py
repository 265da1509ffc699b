"""A sequence whose numbers are not finite leaves the others as they are."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine.engine import Engine, plain_scorer
from veridical.engine.hidden import HiddenStates
from veridical.engine.memory import Budget
from veridical.engine.plain import PlainGenerator, PlainScorer
from veridical.engine.scoring import PackedScorer
from veridical.models.protocol import TokenSequence

from ..models import tiny
from .sequences import draw, one_at_a_time, tolerance
from .test_hidden import by_transformers

VOCABULARY = 97
Make = Callable[[int], PreTrainedModel]


def with_nan_at(token: int, make: Make) -> PreTrainedModel:
    """A model whose embedding of one token is not a number; what it says of tokens is left alone."""
    model = make(VOCABULARY)
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())  # where the two are tied
    with torch.no_grad():
        model.get_input_embeddings().weight[token] = float("nan")
    return model


def company(token: int) -> tuple[list[TokenSequence], dict[str, TokenSequence]]:
    """Sequences without `token`, which begin alike and do not, and some with it: inside, at an end, on a branch."""
    source = random.Random(0)

    def drawn(n: int) -> tuple[int, ...]:
        return tuple(one if one != token else 5 for one in draw(n, VOCABULARY, source))

    stem = drawn(30)
    good = [
        *(TokenSequence(stem + drawn(3), drawn(2)) for _ in range(4)),
        TokenSequence(drawn(1), drawn(2)),
        TokenSequence(drawn(2), drawn(1)),
    ]
    bad = {
        "first and longest": TokenSequence((token, *drawn(40)), (4,)),
        "a branch of the stem": TokenSequence((*stem, token), (4,)),
        "inside": TokenSequence((*drawn(5), token, *drawn(60)), (4,)),
        "in the continuation": TokenSequence(stem, (8, token, 9)),
    }
    return good, bad


CASES = [
    pytest.param(PackedScorer, tiny.llama, id="packed"),
    pytest.param(PackedScorer, tiny.gpt2, id="packed, learned positions"),
    pytest.param(PlainScorer, tiny.llama, id="plain"),
    pytest.param(PlainScorer, tiny.mistral_with_window, id="plain, window"),
    pytest.param(PlainScorer, tiny.mamba, id="plain, state space"),
]


@pytest.mark.parametrize("batch_tokens", [20, 500])
@pytest.mark.parametrize("where", [*company(7)[1], "everywhere"])
@pytest.mark.parametrize("token", [0, 7])  # 0 is what batches are padded with
@pytest.mark.parametrize(("scorer", "make"), CASES)
def test_scores_next_to_a_sequence_that_is_not_finite_are_those_without_it(
    scorer: type[PackedScorer | PlainScorer], make: Make, token: int, where: str, batch_tokens: int
) -> None:
    model = with_nan_at(token, make)
    good, odd = company(token)
    bad = list(odd.values()) if where == "everywhere" else [odd[where]]
    expected = one_at_a_time(copy.deepcopy(model).double(), good)
    found = dict(scorer(model, Budget(batch_tokens)).score([*bad, *good]))
    for index, sequence in enumerate(good):
        assert found[len(bad) + index] == pytest.approx(expected[index], abs=tolerance(sequence))
    assert all(math.isnan(found[index]) for index in range(len(bad)))


def test_an_encoder_decoder_s_scores_next_to_one_that_is_not_finite_are_those_without_it() -> None:
    for token in (0, 7):
        model = with_nan_at(token, tiny.t5)
        good, odd = company(token)
        # Its start token is the padding, so there the whole model is no number.
        together = dict(plain_scorer(model, Budget(500)).score([*odd.values(), *good]))
        for index, sequence in enumerate(good):
            alone = dict(plain_scorer(model, Budget(500)).score([sequence]))[0]
            assert together[len(odd) + index] == pytest.approx(alone, abs=tolerance(sequence), nan_ok=True)
            assert math.isfinite(alone) == (token == 7)


@pytest.mark.parametrize(("scorer", "make"), CASES)
def test_hidden_states_next_to_one_that_is_not_finite_are_those_without_it(
    scorer: type[PackedScorer | PlainScorer], make: Make
) -> None:
    """Also of sequences that are read and not scored."""
    model = with_nan_at(7, make)
    good, odd = company(7)
    asked = [*(TokenSequence(s.context) for s in good), *good, *odd.values()]
    spans = [(len(s.context) // 2, len(s.context)) for s in asked]
    layers = range(model.config.num_hidden_layers)
    hidden = HiddenStates(model, layers, spans)
    for _ in scorer(model, Budget(500)).score(asked, hidden):
        pass
    exact = copy.deepcopy(model).double()
    for index in range(2 * len(good)):
        for layer in layers:
            truth = by_transformers(exact, asked[index].context, layer, spans[index])
            np.testing.assert_allclose(hidden.states[index, layer], truth, atol=1e-4)
    assert np.isnan(hidden.states[2 * len(good)]).any()


def test_a_sequence_alone_runs_once() -> None:
    model = with_nan_at(7, tiny.llama)
    scorer = PackedScorer(model, Budget(500))
    assert math.isnan(dict(scorer.score([TokenSequence((7, 8), (9,))]))[0])
    assert scorer.n_tokens_run == 2


@pytest.mark.parametrize("make", [tiny.mistral_with_window, tiny.mamba, tiny.gemma2, tiny.t5])
def test_text_ends_where_the_logits_are_not_numbers(make: Make) -> None:
    """On the plain path: the whole prompt, or a token that the model writes itself; prompts beside it go on."""
    sound = make(VOCABULARY)
    source = random.Random(1)
    prompts = [draw(6, VOCABULARY, source) for _ in range(6)]
    free = dict(PlainGenerator(sound, Budget(500), frozenset()).generate(prompts, 6))
    written = free[0].tokens[2]
    model = with_nan_at(written, make)
    found = dict(PlainGenerator(model, Budget(500), frozenset()).generate(prompts, 6))
    for index, prompt in enumerate(prompts):
        tokens = free[index].tokens
        if written in prompt:
            expected: tuple[tuple[int, ...], str] = ((), "non_finite")
        elif written in tokens[:-1]:
            expected = tokens[: tokens.index(written) + 1], "non_finite"
        else:
            expected = tokens, "length"
        assert (found[index].tokens, found[index].finish) == expected
    assert {generated.finish for generated in found.values()} >= {"non_finite"}


def test_what_comes_after_a_stop_token_does_not_count() -> None:
    sound = tiny.mistral_with_window(VOCABULARY)
    source = random.Random(2)
    prompts = [draw(6, VOCABULARY, source) for _ in range(2)]
    first, second = (
        free.tokens for _, free in sorted(PlainGenerator(sound, Budget(500), frozenset()).generate(prompts, 8))
    )
    stop = first[1]
    assert stop not in second
    model = with_nan_at(stop, tiny.mistral_with_window)
    found = dict(PlainGenerator(model, Budget(500), frozenset({stop})).generate(prompts, 8))
    assert (found[0].tokens, found[0].finish) == (first[:1], "stop")
    assert (found[1].tokens, found[1].finish) == (second, "length")


def test_the_engine_tells_text_of_a_model_that_is_not_a_number_anywhere() -> None:
    model = tiny.llama(VOCABULARY)
    with torch.no_grad():
        model.lm_head.weight.fill_(float("nan"))
    engine = Engine(model, stop=frozenset({2}), batch_tokens=100)
    assert engine.path == "plain"
    assert [(g.tokens, g.finish) for _, g in engine.generate([(3, 4), (5,)], 4)] == [((), "non_finite")] * 2
