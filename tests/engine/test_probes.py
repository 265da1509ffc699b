"""The probes find what is planted, and nothing where nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine.engine import Engine
from veridical.engine.probes import Probes, probe

from ..models import tiny

VOCABULARY = 97
PROMPTS = [(3, 4, 5, 6, 7, 8), (3, 4, 5, 9), (10, 11)]
N_TOKENS = 14 + 20 + 18 + 19 + 8 + 6 + 4 + 2


def engine(model: PreTrainedModel) -> Engine:
    return Engine(model, stop=frozenset({2}), batch_tokens=300)


@contextmanager
def logits_changed_by(model: PreTrainedModel, change: Any) -> Iterator[None]:
    """Within this context `change(input ids, logits)` stands in the place of the model's logits."""

    def hook(module: Any, arguments: Any, named: dict[str, Any], output: Any) -> Any:
        output.logits = change(named["input_ids"], output.logits)
        return output

    handle = model.register_forward_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def test_a_sound_model_is_found_exact_and_repeatable() -> None:
    found = probe(engine(tiny.llama(VOCABULARY)), PROMPTS)
    assert (found.path, found.reason) == ("packed", "")
    for error in (found.sharing_error, found.plain_batch_error, found.packed_batch_error):
        assert error is not None
        assert error < 1e-4
    assert found.greedy_repeats
    assert (found.greedy_batch_invariant, found.n_prompts) == (3, 3)
    assert (found.near_ties, found.n_choices, found.n_tokens) == (0, 12, N_TOKENS)


def test_a_model_that_cannot_share_prefixes_says_why() -> None:
    found = probe(engine(tiny.mistral_with_window(VOCABULARY)), PROMPTS)
    assert found.path == "plain"
    assert "sliding window" in found.reason
    assert (found.sharing_error, found.packed_batch_error) == (None, None)
    assert found.plain_batch_error is not None
    assert found.plain_batch_error < 1e-4
    assert found.greedy_batch_invariant == 3


def test_scores_that_move_with_the_batch_are_found() -> None:
    """Traps 16 and 17: the temperature is that of how many tokens run together."""
    trying = engine(tiny.llama(VOCABULARY))
    with logits_changed_by(trying.model, lambda ids, logits: logits * (1 + ids.numel() / 100)):
        found = probe(trying, PROMPTS)
    for error in (found.plain_batch_error, found.packed_batch_error):
        assert error is not None
        assert error > 0.05


def test_greedy_text_that_does_not_repeat_is_found() -> None:
    """Trap 26: the best token is another one at every call."""
    trying = engine(tiny.llama(VOCABULARY))
    calls = iter(range(10_000))

    def restless(ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        logits[..., 50 + next(calls) % 40] = 1e4
        return logits

    with logits_changed_by(trying.model, restless):
        found = probe(trying, PROMPTS)
    assert not found.greedy_repeats
    assert found.greedy_batch_invariant < 3


def test_greedy_text_that_depends_on_its_company_is_found() -> None:
    """Trap 26: one token where prompts run together, another where one runs alone."""
    trying = engine(tiny.llama(VOCABULARY))

    def sociable(ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        logits[..., 50 if logits.shape[1] == 1 else 60] = 1e4
        return logits

    with logits_changed_by(trying.model, sociable):
        found = probe(trying, PROMPTS)
    assert found.greedy_repeats
    assert found.greedy_batch_invariant == 0


def test_near_ties_are_counted_at_every_next_token() -> None:
    """The two best logits are 0.0005 apart after token 5 (twice in the prompts) and 1 apart elsewhere."""
    trying = engine(tiny.llama(VOCABULARY))

    def planted(ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        if logits.shape[:2] != ids.shape:  # a pass that reads some places only
            return logits
        logits[..., 50], logits[..., 51] = 1000.0, 999.0
        logits[..., 51] += torch.where(ids == 5, 0.9995, 0.0)
        return logits

    with logits_changed_by(trying.model, planted):
        found = probe(trying, PROMPTS)
    assert (found.near_ties, found.n_choices) == (2, 12)


def test_a_model_without_finite_scores_has_no_errors_in_nats() -> None:
    model = tiny.llama(VOCABULARY)
    with torch.no_grad():
        model.lm_head.weight.fill_(float("nan"))
    found = probe(engine(model), PROMPTS)
    assert found.path == "plain"
    assert (found.sharing_error, found.plain_batch_error) == (None, None)
    assert (found.non_finite, found.n_choices, found.near_ties) == (12, 12, 0)


def test_next_tokens_without_finite_logits_are_counted() -> None:
    """A NaN after token 5 (twice in the prompts), an infinity after token 9; a token that is ruled out is no fault."""
    trying = engine(tiny.llama(VOCABULARY))

    def planted(ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        if logits.shape[:2] == ids.shape:
            logits[..., 50] = torch.where(ids == 5, torch.nan, logits[..., 50])
            logits[..., 51] = torch.where(ids == 9, torch.inf, logits[..., 51])
            logits[..., 52:] = -torch.inf
        return logits

    with logits_changed_by(trying.model, planted):
        found = probe(trying, PROMPTS)
    assert (found.non_finite, found.n_choices) == (3, 12)


def test_probing_twice_finds_the_same() -> None:
    trying = engine(tiny.llama(VOCABULARY))
    first: Probes = probe(trying, PROMPTS)
    assert probe(trying, PROMPTS) == first


@pytest.mark.model
def test_smollm2_is_exact_in_float32(smollm2: Any) -> None:
    found = smollm2.probe()
    assert (found.path, found.greedy_repeats) == ("packed", True)
    assert found.greedy_batch_invariant == found.n_prompts == 4
    assert max(found.sharing_error, found.plain_batch_error, found.packed_batch_error) < 1e-4
