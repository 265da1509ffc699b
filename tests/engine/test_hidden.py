"""Hidden states are transformers' own, and cost no second pass."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine.engine import Engine
from veridical.engine.hidden import HiddenStates, TokenSpan
from veridical.engine.memory import Budget
from veridical.engine.plain import PlainScorer
from veridical.engine.scoring import PackedScorer
from veridical.models.protocol import TokenSequence

from ..models import tiny
from .sequences import draw, one_at_a_time, suite_like
from .test_scoring import OutOfMemoryOnce

VOCABULARY = 97
MODELS = {"rotary positions": tiny.llama(VOCABULARY), "learned positions": tiny.gpt2(VOCABULARY)}


@torch.no_grad()
def by_transformers(
    model: PreTrainedModel, tokens: tuple[int, ...], layer: int, span: TokenSpan
) -> npt.NDArray[np.float32]:
    ids = torch.tensor([tokens])
    states = model(ids, output_hidden_states=True).hidden_states
    if model.config.model_type == "mamba":  # its list begins with the output of the first block
        states = (model.get_input_embeddings()(ids), *states)
    return np.asarray(states[layer][0, span[0] : span[1]].mean(dim=0))


@pytest.mark.parametrize("scorer", [PackedScorer, PlainScorer])
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("batch_tokens", [15, 5_000])
def test_states_are_those_of_transformers_and_scores_stay(
    kind: str, scorer: type[PackedScorer | PlainScorer], batch_tokens: int
) -> None:
    model = MODELS[kind]
    source = random.Random(0)
    sequences = suite_like(VOCABULARY)
    last = [(len(s.context) - 1, len(s.context)) for s in sequences]
    # Spans of several tokens, across the places where sequences part.
    wide = [(source.randrange(len(s.context)), len(s.context)) for s in sequences]
    spans = [source.choice(pair) for pair in zip(last, wide, strict=True)]
    layers = (0, 1, model.config.num_hidden_layers - 1)
    hidden = HiddenStates(model, layers, [*spans[:-1], None])
    scores = dict(scorer(model, Budget(batch_tokens)).score(sequences, hidden))
    expected = one_at_a_time(model, sequences)
    assert [scores[index] for index in range(len(sequences))] == pytest.approx(expected, abs=2e-4)
    for index, (sequence, span) in enumerate(zip(sequences[:-1], spans[:-1], strict=True)):
        for number, layer in enumerate(layers):
            truth = by_transformers(model, sequence.context, layer, span)
            np.testing.assert_allclose(hidden.states[index, number], truth, atol=1e-4)
    assert not hidden.states[-1].any()


def test_scoring_and_reading_out_cost_one_forward() -> None:
    model = MODELS["rotary positions"]
    sequences = suite_like(VOCABULARY)
    scorer = PackedScorer(model, Budget(100))
    dict(scorer.score(sequences))
    alone = scorer.n_tokens_run
    hidden = HiddenStates(model, (2,), [(0, len(s.context)) for s in sequences])
    dict(scorer.score(sequences, hidden))
    assert scorer.n_tokens_run == 2 * alone


def test_the_last_block_is_taken_before_the_final_norm() -> None:
    model = MODELS["rotary positions"]
    tokens = draw(9, VOCABULARY, random.Random(1))
    n_blocks = model.config.num_hidden_layers
    found = Engine(model, stop=frozenset(), batch_tokens=100).hidden_states([tokens], (n_blocks,))[0, 0]
    normed = by_transformers(model, tokens, n_blocks, (8, 9))
    assert not np.allclose(found, normed, atol=1e-3)
    np.testing.assert_allclose(model.model.norm(torch.from_numpy(found)).detach(), normed, atol=1e-4)


def test_prompts_without_continuation_are_read_out() -> None:
    model = MODELS["rotary positions"]
    source = random.Random(2)
    prompts = [draw(n, VOCABULARY, source) for n in (1, 5, 30, 5)]
    found = Engine(model, stop=frozenset(), batch_tokens=20).hidden_states(prompts, (2,))
    for states, prompt in zip(found, prompts, strict=True):
        truth = by_transformers(model, prompt, 2, (len(prompt) - 1, len(prompt)))
        np.testing.assert_allclose(states[0], truth, atol=1e-4)


@pytest.mark.parametrize("make", [tiny.mistral_with_window, tiny.mamba, tiny.gemma2])
def test_prompts_alone_are_read_out_where_prefixes_are_not_shared(make: Callable[[int], PreTrainedModel]) -> None:
    """No continuation in the whole batch, so no row of logits; and batches of prompts with some that have one."""
    model = make(VOCABULARY)
    source = random.Random(3)
    prompts = [draw(n, VOCABULARY, source) for n in (1, 5, 30, 5, 17)]
    engine = Engine(model, stop=frozenset(), batch_tokens=40)
    assert engine.path == "plain"
    layers = range(model.config.num_hidden_layers)
    found = engine.hidden_states(prompts, layers)
    mixed = [TokenSequence(prompt, (4, 5) if index % 2 else ()) for index, prompt in enumerate(prompts)]
    spans = [(len(prompt) // 2, len(prompt)) for prompt in prompts]
    beside = HiddenStates(model, layers, spans)
    assert sorted(index for index, _ in engine.score(mixed, beside)) == [1, 3]
    exact = copy.deepcopy(model).double()
    for index, (prompt, span) in enumerate(zip(prompts, spans, strict=True)):
        for layer in layers:
            last = by_transformers(exact, prompt, layer, (len(prompt) - 1, len(prompt)))
            np.testing.assert_allclose(found[index, layer], last, atol=1e-4)
            np.testing.assert_allclose(
                beside.states[index, layer], by_transformers(exact, prompt, layer, span), atol=1e-4
            )


def test_running_out_of_memory_takes_no_state_twice() -> None:
    model = MODELS["rotary positions"]
    sequences = [TokenSequence(s.context, s.continuation) for s in suite_like(VOCABULARY)]
    hidden = HiddenStates(model, (2,), [(0, len(s.context)) for s in sequences])
    with OutOfMemoryOnce(model, most=60) as limit:
        dict(PackedScorer(model, Budget(400)).score(sequences, hidden))
    assert limit.refused
    for states, sequence in zip(hidden.states, sequences, strict=True):
        truth = by_transformers(model, sequence.context, 2, (0, len(sequence.context)))
        np.testing.assert_allclose(states[0], truth, atol=1e-4)


def test_what_cannot_be_taken_is_refused() -> None:
    model = MODELS["rotary positions"]
    with pytest.raises(ValueError, match="layers"):
        HiddenStates(model, (9,), [(0, 1)])
    with pytest.raises(ValueError, match="no tokens"):
        HiddenStates(model, (1,), [(3, 3)])
