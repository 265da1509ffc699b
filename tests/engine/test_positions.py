"""Models that make more of a position than its number are scored as one sequence at a time."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
import torch
from transformers import (
    Phi3Config,
    Phi3ForCausalLM,
    PreTrainedModel,
)

from veridical.engine.engine import Engine
from veridical.engine.memory import Budget
from veridical.engine.plain import PlainGenerator, PlainScorer
from veridical.engine.positions import turning_points
from veridical.models.protocol import TokenSequence

from ..models import tiny
from .sequences import draw, tolerance

VOCABULARY = 61
TURN = 32
LONG_ROPE: dict[str, Any] = {
    "rope_type": "longrope",
    "rope_theta": 1e4,
    "short_factor": [1.0] * 4,
    "long_factor": [4.0, 8.0, 16.0, 32.0],
    "original_max_position_embeddings": TURN,
}


def long_rope() -> PreTrainedModel:
    torch.manual_seed(0)
    return Phi3ForCausalLM(
        Phi3Config(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=256,
            original_max_position_embeddings=TURN,
            initializer_range=0.3,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            rope_parameters=dict(LONG_ROPE),
        )
    ).eval()


def around_the_turn() -> list[TokenSequence]:
    """Lengths on both sides of the turn and at it, some after a common beginning."""
    source = random.Random(0)
    stem = draw(20, VOCABULARY, source)
    lengths = [1, 5, TURN - 21, TURN - 20, TURN - 19, 60, 61]
    return [
        *(TokenSequence(stem + draw(n, VOCABULARY, source), draw(1, VOCABULARY, source)) for n in lengths),
        *(TokenSequence(draw(n, VOCABULARY, source), draw(1, VOCABULARY, source)) for n in (3, 80)),
    ]


@pytest.mark.parametrize("batch_tokens", [40, 10_000])
def test_scores_do_not_depend_on_company_past_the_length_where_frequencies_change(batch_tokens: int) -> None:
    model = long_rope()
    sequences = around_the_turn()
    # What is scored is read off a run of everything but the last token.
    exact = copy.deepcopy(model).double()
    expected = []
    for sequence in sequences:
        with torch.no_grad():
            logits = exact(torch.tensor([sequence.context])).logits[0, -1]
        expected.append(float(torch.log_softmax(logits, dim=-1)[sequence.continuation[0]]))
    engine = Engine(model, stop=frozenset(), batch_tokens=batch_tokens)
    assert engine.path == "plain"
    assert f"past {TURN} tokens" in engine.reason
    for scorer in (engine, PlainScorer(model, Budget(batch_tokens))):
        found = dict(scorer.score(sequences))
        for index, sequence in enumerate(sequences):
            assert found[index] == pytest.approx(expected[index], abs=tolerance(sequence))


def test_text_does_not_depend_on_company_past_the_length_where_frequencies_change() -> None:
    model = long_rope()
    prompts = [sequence.context for sequence in around_the_turn()]
    found = dict(PlainGenerator(model, Budget(10_000), frozenset()).generate(prompts, 20))
    for index, prompt in enumerate(prompts):
        tokens: list[int] = []
        for _ in range(20):
            with torch.no_grad():
                tokens.append(int(model(torch.tensor([[*prompt, *tokens]])).logits[0, -1].argmax()))
        assert found[index].tokens == tuple(tokens)


def test_the_lengths_where_frequencies_change_are_found_in_every_form_of_a_configuration() -> None:
    model = tiny.llama(VOCABULARY)
    assert turning_points(model) == ()
    model.config.rope_parameters = {"full": {"rope_type": "default"}, "long": {**LONG_ROPE}}
    assert turning_points(model) == (TURN,)
    model.config.rope_parameters = {"rope_type": "longrope"}
    model.config.original_max_position_embeddings = 77
    assert turning_points(model) == (77,)
