"""What the trial finds of a model before anything is asked of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertLMHeadModel,
    CamembertConfig,
    CamembertForCausalLM,
    Data2VecTextConfig,
    Data2VecTextForCausalLM,
    JambaConfig,
    JambaForCausalLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaForCausalLM,
    XLMConfig,
    XLMRobertaConfig,
    XLMRobertaForCausalLM,
    XLMWithLMHeadModel,
)

from veridical.engine.attention import NAME
from veridical.engine.engine import Engine
from veridical.engine.plain import PlainGenerator
from veridical.errors import UserError
from veridical.models.protocol import TokenSequence

from ..models import tiny
from .sequences import one_at_a_time, suite_like, tolerance
from .test_scoring import OutOfMemoryOnce

VOCABULARY = 97
PADDING = 1
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "pad_token_id": PADDING,
}


def made(kind: type[PreTrainedModel], config: type[Any], **changes: Any) -> PreTrainedModel:
    torch.manual_seed(0)
    return kind(config(**{**SIZES, "initializer_range": 0.3, **changes})).eval()


POSITIONS_AFTER_PADDING: dict[str, Callable[[], PreTrainedModel]] = {
    "roberta": lambda: made(RobertaForCausalLM, RobertaConfig, is_decoder=True),
    "camembert": lambda: made(CamembertForCausalLM, CamembertConfig, is_decoder=True),
    "xlm-roberta": lambda: made(XLMRobertaForCausalLM, XLMRobertaConfig, is_decoder=True),
    "data2vec-text": lambda: made(Data2VecTextForCausalLM, Data2VecTextConfig, is_decoder=True),
    "padding elsewhere": lambda: made(RobertaForCausalLM, RobertaConfig, is_decoder=True, pad_token_id=7),
}


def without(padding: int, sequences: list[TokenSequence]) -> list[TokenSequence]:
    """No padding in a text: the bare model gives it no position of its own."""

    def clean(tokens: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(9 if token == padding else token for token in tokens)

    return [TokenSequence(clean(sequence.context), clean(sequence.continuation)) for sequence in sequences]


@pytest.mark.parametrize("kind", POSITIONS_AFTER_PADDING)
def test_positions_that_do_not_begin_at_0_are_those_of_the_bare_model_on_every_path(kind: str) -> None:
    model = POSITIONS_AFTER_PADDING[kind]()
    bare = copy.deepcopy(model).double()
    padding = model.config.pad_token_id
    sequences = without(padding, suite_like(VOCABULARY))
    expected = one_at_a_time(bare, sequences)
    # A second engine of the same model finds it settled.
    for _ in range(2):
        engine = Engine(model, stop=frozenset(), batch_tokens=50)
        assert engine.path == "packed"
        assert engine.trial_error is not None
        for scorer in (engine, engine._plain):
            found = dict(scorer.score(sequences))
            for index, sequence in enumerate(sequences):
                assert found[index] == pytest.approx(expected[index], abs=tolerance(sequence))
    prompts = [sequence.context for sequence in sequences[::4]]
    for generator in (engine, PlainGenerator(model, engine.budget, frozenset())):
        written = dict(generator.generate(prompts, 6))
        for index, prompt in enumerate(prompts):
            assert written[index].tokens == greedy(bare, prompt, padding, 6)


def greedy(bare: PreTrainedModel, prompt: tuple[int, ...], padding: int, limit: int) -> tuple[int, ...]:
    """The arg max again and again; padding, written, would have no position of its own in the bare model."""
    tokens: list[int] = []
    for _ in range(limit):
        with torch.no_grad():
            tokens.append(int(bare(torch.tensor([[*prompt, *tokens]])).logits[0, -1].argmax()))
        assert tokens[-1] != padding
    return tuple(tokens)


def test_a_hybrid_that_takes_no_mask_without_a_cache_is_scored_as_one_sequence_at_a_time() -> None:
    model = made(
        JambaForCausalLM,
        JambaConfig,
        num_key_value_heads=2,
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
        num_experts=4,
        num_experts_per_tok=2,
        mamba_d_state=8,
        mamba_dt_rank=4,
        use_mamba_kernels=False,
    )
    sequences = suite_like(VOCABULARY, n_sets=3)
    expected = one_at_a_time(model, sequences)
    engine = Engine(model, stop=frozenset(), batch_tokens=100)
    found = dict(engine.score(sequences))
    for index, sequence in enumerate(sequences):
        assert found[index] == pytest.approx(expected[index], abs=tolerance(sequence))


BIDIRECTIONAL: dict[str, Callable[[], PreTrainedModel]] = {
    "masked": lambda: made(BertLMHeadModel, BertConfig),
    "masked, freshly initialised": lambda: made(BertLMHeadModel, BertConfig, initializer_range=0.02),
    "masked, positions after padding": lambda: made(RobertaForCausalLM, RobertaConfig),
    "bidirectional": lambda: XLMWithLMHeadModel(
        XLMConfig(vocab_size=VOCABULARY, emb_dim=32, n_layers=2, n_heads=4, embed_init_std=0.3, init_std=0.3)
    ).eval(),
}


@pytest.mark.parametrize(
    ("kind", "dtype"),
    # Freshly initialised, the effect is below what bfloat16 rounds away.
    [*((kind, torch.float32) for kind in BIDIRECTIONAL), ("masked", torch.bfloat16), ("bidirectional", torch.bfloat16)],
)
def test_a_model_that_sees_later_tokens_is_refused(kind: str, dtype: torch.dtype) -> None:
    with pytest.raises(UserError, match="not a causal language model"):
        Engine(BIDIRECTIONAL[kind]().to(dtype), stop=frozenset(), batch_tokens=100)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("make", [tiny.llama, tiny.gpt2, tiny.mistral_with_window, tiny.mamba, tiny.gemma2, tiny.t5])
def test_models_that_see_earlier_tokens_alone_are_not(
    make: Callable[[int], PreTrainedModel], dtype: torch.dtype
) -> None:
    engine = Engine(make(VOCABULARY).to(dtype), stop=frozenset(), batch_tokens=100)
    assert len(dict(engine.score(suite_like(VOCABULARY, n_sets=1)))) > 1


def test_memory_that_does_not_hold_a_few_tokens_is_said() -> None:
    model = tiny.llama(VOCABULARY)
    with OutOfMemoryOnce(model, most=3), pytest.raises(UserError, match="memory"):
        Engine(model, stop=frozenset(), batch_tokens=100)


def test_memory_that_runs_out_while_sharing_is_tried_is_not_a_sign_that_prefixes_cannot_be_shared() -> None:
    model = tiny.llama(VOCABULARY)
    forward = model.forward

    def limited(*args: object, **kwargs: object) -> object:
        if model.config._attn_implementation == NAME:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(*args, **kwargs)

    model.forward = limited
    with pytest.raises(UserError, match="memory"):
        Engine(model, stop=frozenset(), batch_tokens=100)
