"""Models whose prefixes cannot be shared take the plain path, and are as exact there."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine.engine import Engine
from veridical.engine.memory import Budget
from veridical.engine.seq2seq import EncoderDecoderScorer
from veridical.models.protocol import TokenSequence

from ..models import tiny
from .sequences import draw, one_at_a_time, suite_like, tolerance
from .test_generation import one_at_a_time as one_prompt_at_a_time
from .test_generation import prompts

VOCABULARY = 61
STOP = frozenset(range(2, 7))

Make = Callable[[], PreTrainedModel]
CAUSAL: dict[str, tuple[Make, str]] = {
    "state space": (lambda: tiny.mamba(VOCABULARY), "layers of kind linear_attention"),
    "soft caps, sliding window": (lambda: tiny.gemma2(VOCABULARY), "layers of kind sliding_attention"),
    "soft caps": (lambda: tiny.gemma2(VOCABULARY, layer_types=["full_attention"] * 2), "attention with softcap"),
}


@pytest.mark.parametrize("kind", CAUSAL)
def test_other_causal_models_are_scored_and_decoded_as_one_sequence_at_a_time(kind: str) -> None:
    make, reason = CAUSAL[kind]
    model = make()
    sequences, asked = suite_like(VOCABULARY), [*prompts(seed=4, n=6), (9,), (9, 8)]
    for batch_tokens in (30, 2_000):
        engine = Engine(model, stop=STOP, batch_tokens=batch_tokens)
        assert engine.path == "plain"
        assert reason in engine.reason
        scores = dict(engine.score(sequences))
        for index, expected in enumerate(one_at_a_time(model, sequences)):
            assert scores[index] == pytest.approx(expected, abs=tolerance(sequences[index]))
        found = dict(engine.generate(asked, 10))
        for index, prompt in enumerate(asked):
            assert (found[index].tokens, found[index].finish) == one_prompt_at_a_time(model, prompt, 10)


SETTINGS: dict[str, dict[str, Any]] = {
    "repetition penalty": {"repetition_penalty": 3.0},
    "no repeated pair": {"no_repeat_ngram_size": 1},
    "beams": {"num_beams": 3, "length_penalty": 5.0},
    "sampling": {"do_sample": True, "temperature": 5.0},
    "forced last token": {"forced_eos_token_id": 9},
    "forced first token": {"forced_bos_token_id": 9},
    "suppressed tokens": {"suppress_tokens": list(range(30))},
    "suppressed first tokens": {"begin_suppress_tokens": list(range(50))},
    "bad words": {"bad_words_ids": [[token] for token in range(30)]},
    "a bias": {"sequence_bias": [[[9], 50.0]]},
    "a minimum": {"min_new_tokens": 9},
    "a time limit": {"max_time": 1e-9},
    "other ends": {"eos_token_id": list(range(30))},
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("make", [tiny.mistral_with_window, tiny.t5])
def test_settings_that_came_with_a_checkpoint_change_no_greedy_text(
    make: Callable[[int], PreTrainedModel], setting: str
) -> None:
    model = make(VOCABULARY)
    asked = [prompt[-9:] for prompt in prompts(seed=5, n=4)]
    for name, value in SETTINGS[setting].items():
        setattr(model.generation_config, name, value)
    before = model.generation_config.to_dict()
    found = dict(Engine(model, stop=STOP, batch_tokens=100).generate(asked, 8))
    assert model.generation_config.to_dict() == before
    for index, prompt in enumerate(asked):
        expected = one_answer_at_a_time if model.config.is_encoder_decoder else one_prompt_at_a_time
        assert (found[index].tokens, found[index].finish) == expected(model, prompt, 8)


@pytest.fixture(scope="module")
def t5() -> PreTrainedModel:
    return tiny.t5(VOCABULARY)


def decoder_logits(model: PreTrainedModel, context: tuple[int, ...], answer: tuple[int, ...]) -> torch.Tensor:
    """One whole pass: [len(answer) + 1, vocabulary], the first row being what the start token leads to."""
    with torch.no_grad():
        output = model(input_ids=torch.tensor([context]), decoder_input_ids=torch.tensor([(0, *answer)]))
    logits: torch.Tensor = output.logits[0].double()
    return logits


def one_answer_at_a_time(model: PreTrainedModel, prompt: tuple[int, ...], limit: int) -> tuple[tuple[int, ...], str]:
    tokens: list[int] = []
    while len(tokens) < limit:
        token = int(decoder_logits(model, prompt, tuple(tokens))[-1].argmax())
        if token in STOP:
            return tuple(tokens), "stop"
        tokens.append(token)
    return tuple(tokens), "length"


def one_pair_at_a_time(model: PreTrainedModel, sequence: TokenSequence) -> float:
    logits = decoder_logits(model, sequence.context, sequence.continuation[:-1])
    shares = torch.log_softmax(logits, dim=-1)
    return float(sum(shares[step, token] for step, token in enumerate(sequence.continuation)))


@pytest.mark.parametrize("batch_tokens", [1, 40, 10_000])
def test_an_encoder_decoder_is_scored_as_one_sequence_at_a_time(t5: PreTrainedModel, batch_tokens: int) -> None:
    """Every token of the continuation, the first from the decoder's start token."""
    sequences = suite_like(VOCABULARY, seed=1)
    engine = Engine(t5, stop=STOP, batch_tokens=batch_tokens)
    assert (engine.path, engine.reason) == ("plain", "an encoder-decoder")
    found = dict(engine.score(sequences))
    assert sorted(found) == list(range(len(sequences)))
    for index, sequence in enumerate(sequences):
        assert found[index] == pytest.approx(one_pair_at_a_time(t5, sequence), abs=tolerance(sequence))
    # The context is read: the same continuation after another one has another score.
    other = [TokenSequence(sequences[-2].context, s.continuation) for s in sequences[:2]]
    assert abs(dict(engine.score(other))[0] - found[0]) > 1e-2


def test_the_choices_of_a_context_share_its_encoding(t5: PreTrainedModel) -> None:
    context = draw(20, VOCABULARY, random.Random(0))
    scorer = EncoderDecoderScorer(t5, Budget(10_000))
    dict(scorer.score([TokenSequence(context, (token, 9)) for token in range(5)]))
    assert scorer.n_tokens_run == 20 + 5 * 2


def test_an_encoder_decoder_s_text_is_that_of_one_prompt_at_a_time(t5: PreTrainedModel) -> None:
    limit = 8
    source = random.Random(2)
    asked = [draw(source.randint(1, 9), VOCABULARY, source) for _ in range(25)]
    found = dict(Engine(t5, stop=STOP, batch_tokens=60).generate(asked, limit))
    for index, prompt in enumerate(asked):
        assert (found[index].tokens, found[index].finish) == one_answer_at_a_time(t5, prompt, limit)
    assert {generated.finish for generated in found.values()} == {"stop", "length"}


def test_hidden_states_of_an_encoder_decoder_are_refused(t5: PreTrainedModel) -> None:
    with pytest.raises(ValueError, match="encoder-decoder"):
        Engine(t5, stop=STOP, batch_tokens=60).hidden_states([(7, 8)], [1])
