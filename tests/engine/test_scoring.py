"""Log-likelihoods are those of one sequence at a time, whatever is scored beside it."""

from __future__ import annotations

import copy
import random

import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine.attention import TokenPath
from veridical.engine.engine import Engine
from veridical.engine.logits import target_log_probabilities
from veridical.engine.memory import Budget
from veridical.engine.packing import DENSE_BLOCK
from veridical.engine.plain import PlainScorer
from veridical.engine.scoring import PackedScorer
from veridical.engine.targets import run_tokens
from veridical.engine.trie import Trie
from veridical.models.protocol import TokenSequence

from ..models import tiny
from .sequences import draw, one_at_a_time, suite_like, tolerance

VOCABULARY = 97
MODELS = {
    "rotary positions, grouped heads": tiny.llama(VOCABULARY),
    "tied embeddings": tiny.llama(VOCABULARY, tie_word_embeddings=True),
    "one key-value head": tiny.llama(VOCABULARY, num_key_value_heads=1),
    "learned positions": tiny.gpt2(VOCABULARY),
}


def assert_scores(found: dict[int, float], model: PreTrainedModel, sequences: list[TokenSequence]) -> None:
    expected = one_at_a_time(model, sequences)
    assert sorted(found) == list(range(len(sequences)))
    for index, sequence in enumerate(sequences):
        assert found[index] == pytest.approx(expected[index], abs=tolerance(sequence))


@pytest.mark.parametrize("batch_tokens", [7, 40, 10_000])
@pytest.mark.parametrize("kind", MODELS)
def test_packed_scores_are_those_of_one_sequence_at_a_time(kind: str, batch_tokens: int) -> None:
    sequences = suite_like(VOCABULARY)
    scorer = PackedScorer(MODELS[kind], Budget(batch_tokens))
    assert_scores(dict(scorer.score(sequences)), MODELS[kind], sequences)
    # Each distinct prefix ran once, whatever the batches.
    assert scorer.n_tokens_run == Trie([run_tokens(sequence) for sequence in sequences]).n_tokens


@pytest.mark.parametrize("batch_tokens", [30, 10_000])
@pytest.mark.parametrize("kind", [*MODELS, "sliding window"])
def test_plain_scores_are_those_of_one_sequence_at_a_time(kind: str, batch_tokens: int) -> None:
    model = MODELS.get(kind) or tiny.mistral_with_window(VOCABULARY)
    sequences = suite_like(VOCABULARY, seed=1)
    assert_scores(dict(PlainScorer(model, Budget(batch_tokens)).score(sequences)), model, sequences)


def test_scores_do_not_depend_on_the_order_or_company_of_requests() -> None:
    model = MODELS["rotary positions, grouped heads"]
    sequences = suite_like(VOCABULARY, seed=2)
    together = dict(PackedScorer(model, Budget(64)).score(sequences))
    order = random.Random(0).sample(range(len(sequences)), len(sequences))
    shuffled = dict(PackedScorer(model, Budget(64)).score([sequences[index] for index in order]))
    for place, index in enumerate(order):
        assert shuffled[place] == pytest.approx(together[index], abs=tolerance(sequences[index]))
    for index in (0, len(sequences) // 2):
        alone = dict(PackedScorer(model, Budget(64)).score([sequences[index]]))
        assert alone[0] == pytest.approx(together[index], abs=tolerance(sequences[index]))


def test_a_cached_prefix_serves_every_branch_as_it_was() -> None:
    """Trap 24: a cache that a branch writes to shows the next branch tokens that are not its own."""
    model = MODELS["rotary positions, grouped heads"]
    source = random.Random(8)
    stem = draw(30, VOCABULARY, source)
    sequences = [
        TokenSequence((*stem, first, *draw(5, VOCABULARY, source)), draw(2, VOCABULARY, source)) for first in range(5)
    ]
    scorer = PackedScorer(model, Budget(8))
    assert_scores(dict(scorer.score(sequences)), model, sequences)
    # The stem ran once, in pieces, and every branch on its own after it.
    assert scorer.n_tokens_run == 30 + 5 * 7


@pytest.mark.parametrize("kind", MODELS)
def test_a_text_inside_a_cached_prefix_is_scored_as_without_one(kind: str) -> None:
    """Trap 25: the stem of the others, scored itself, has all its targets where keys and values are cached."""
    source = random.Random(9)
    stem = draw(30, VOCABULARY, source)
    inside = [TokenSequence(stem[:n], stem[n : n + m]) for n, m in [(1, 29), (7, 3), (8, 8), (29, 1)]]
    branches = [
        TokenSequence((*stem, first, *draw(5, VOCABULARY, source)), draw(2, VOCABULARY, source)) for first in range(3)
    ]
    cached = PackedScorer(MODELS[kind], Budget(8))
    found = dict(cached.score([*inside, *branches]))
    assert_scores(found, MODELS[kind], [*inside, *branches])
    assert cached.n_tokens_run == 30 + 3 * 7
    for index, sequence in enumerate(inside):
        alone = dict(PackedScorer(MODELS[kind], Budget(1000)).score([sequence]))
        assert found[index] == pytest.approx(alone[0], abs=tolerance(sequence))


def test_a_subtree_too_large_for_one_square_block_is_scored_alike() -> None:
    model = tiny.llama(VOCABULARY, max_position_embeddings=1024)
    source = random.Random(3)
    stem = draw(DENSE_BLOCK + 30, VOCABULARY, source)
    sequences = [
        TokenSequence(stem + draw(n, VOCABULARY, source), draw(m, VOCABULARY, source))
        for n, m in [(0, 3), (5, 9), (40, 2), (5, 1)]
    ]
    assert_scores(dict(PackedScorer(model, Budget(2_000)).score(sequences)), model, sequences)


def test_a_chain_of_prefixes_may_be_as_deep_as_a_text_is_long() -> None:
    """Every prefix of a text is scored: a plan a level deep for each, and memory for the keys and values of one."""
    model = tiny.llama(VOCABULARY, max_position_embeddings=1500, num_hidden_layers=1)
    text = draw(1200, VOCABULARY, random.Random(10))
    sequences = [TokenSequence(text[:n], text[n : n + 1]) for n in range(1, len(text))]
    found = dict(PackedScorer(model, Budget(64)).score(sequences))
    with torch.no_grad():
        shares = torch.log_softmax(copy.deepcopy(model).double()(torch.tensor([text])).logits[0], dim=-1)
    for index, sequence in enumerate(sequences):
        expected = float(shares[len(sequence.context) - 1, sequence.continuation[0]])
        assert found[index] == pytest.approx(expected, abs=1e-4)


def test_a_cached_prefix_is_held_once_however_many_pieces_it_came_in(monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS["rotary positions, grouped heads"]
    held: list[set[tuple[int, int]]] = []
    extend = TokenPath.extend

    def extended(path: TokenPath, length: int) -> None:
        extend(path, length)
        # Bytes by place in memory: views of one buffer count once.
        states = [state.untyped_storage() for state in (*path._keys, *path.prefix.keys)]
        held.append({(state.data_ptr(), state.nbytes()) for state in states})

    monkeypatch.setattr(TokenPath, "extend", extended)
    context = draw(240, VOCABULARY, random.Random(11))
    asked = [TokenSequence(context, (token,)) for token in range(3)]
    assert_scores(dict(PackedScorer(model, Budget(8)).score(asked)), model, asked)
    assert len(held) == 240 // 8
    config = model.config
    needed = 240 * config.num_key_value_heads * config.head_dim * 4 * config.num_hidden_layers
    # Half as much again is room to grow.
    assert needed <= sum(size for _, size in held[-1]) <= 1.5 * needed


def test_more_logits_than_memory_allows_are_taken_in_pieces() -> None:
    model = MODELS["rotary positions, grouped heads"]
    source = random.Random(4)
    sequences = [TokenSequence(draw(1, VOCABULARY, source), draw(60, VOCABULARY, source)) for _ in range(2)]
    for scorer in (PackedScorer(model, Budget(500)), PlainScorer(model, Budget(500))):
        scorer.max_rows = 16
        assert_scores(dict(scorer.score(sequences)), model, sequences)


def test_logits_are_taken_at_the_needed_positions_only() -> None:
    """Trap 23: memory from log-probabilities of the full vocabulary at every position."""
    model = MODELS["rotary positions, grouped heads"]
    sizes: list[torch.Size] = []
    handle = model.get_output_embeddings().register_forward_hook(lambda m, i, output: sizes.append(output.shape))
    source = random.Random(5)
    context = draw(50, VOCABULARY, source)
    sequences = [TokenSequence(context, (token,)) for token in range(5)]
    try:
        dict(PackedScorer(model, Budget(500)).score(sequences))
    finally:
        handle.remove()
    assert sizes == [torch.Size([1, 1, VOCABULARY])]


def test_half_precision_logits_do_not_make_ties() -> None:
    """Trap 21: two logits that bfloat16 tells apart stay apart, since the subtraction is in float32."""
    logits = torch.tensor([[0.0, -0.02, 20.0, 20.0]], dtype=torch.bfloat16)
    rounded = torch.log_softmax(logits, dim=-1)
    assert rounded[0, 0] == rounded[0, 1]  # near -20.7 bfloat16 has steps of 1/8
    found = target_log_probabilities(logits, torch.tensor([0, 0]), torch.tensor([0, 1]))
    assert float(found[0] - found[1]) == pytest.approx(0.02, abs=1e-3)


class OutOfMemoryOnce:
    """A forward pass that runs out of memory above a size: a fault that a real allocator cannot be made to show."""

    def __init__(self, model: PreTrainedModel, most: int) -> None:
        self.model, self.most, self.refused = model, most, 0
        self.forward = model.forward

    def __enter__(self) -> OutOfMemoryOnce:
        def limited(*args: object, **kwargs: object) -> object:
            if kwargs["input_ids"].numel() > self.most:  # type: ignore[attr-defined]
                self.refused += 1
                raise torch.OutOfMemoryError("CUDA out of memory")
            return self.forward(*args, **kwargs)

        self.model.forward = limited
        return self

    def __exit__(self, *_: object) -> None:
        self.model.forward = self.forward


@pytest.mark.parametrize("scorer", [PackedScorer, PlainScorer])
def test_running_out_of_memory_halves_the_batch_and_goes_on(scorer: type[PackedScorer | PlainScorer]) -> None:
    model = MODELS["rotary positions, grouped heads"]
    sequences = suite_like(VOCABULARY, seed=6)
    budget = Budget(400)
    with OutOfMemoryOnce(model, most=60) as limit:
        found = dict(scorer(model, budget).score(sequences))
    assert limit.refused >= 1
    assert budget.batch_tokens < 400
    assert_scores(found, model, sequences)


def test_a_model_whose_attention_is_not_plain_takes_the_plain_path_and_says_why() -> None:
    model = tiny.mistral_with_window(VOCABULARY)
    engine = Engine(model, stop=frozenset(), batch_tokens=200)
    assert engine.path == "plain"
    assert "window" in engine.reason or "sliding" in engine.reason
    sequences = suite_like(VOCABULARY, seed=7)
    assert_scores(dict(engine.score(sequences)), model, sequences)


@pytest.mark.parametrize("kind", MODELS)
def test_models_with_plain_causal_attention_share_prefixes(kind: str) -> None:
    engine = Engine(MODELS[kind], stop=frozenset(), batch_tokens=200)
    assert (engine.path, engine.reason) == ("packed", "")
    assert engine.sharing_error() < 1e-4


def test_a_model_that_shares_wrongly_is_found_out_by_trial() -> None:
    """A layer that mixes in the token before, outside attention: its configuration does not tell, the trial does."""
    model = tiny.llama(VOCABULARY)

    def mix(module: torch.nn.Module, arguments: object, output: torch.Tensor) -> torch.Tensor:
        return output + torch.nn.functional.pad(output[:, :-1], (0, 0, 1, 0))

    model.model.layers[0].mlp.register_forward_hook(mix)
    engine = Engine(model, stop=frozenset(), batch_tokens=200)
    assert engine.path == "plain"
    assert "move a log-likelihood" in engine.reason
