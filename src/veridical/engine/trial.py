"""What a model turns out to be when it is run: causal or not, and what it wants to be given besides token ids.

The measure is the bare model: one sequence at a time, its token ids and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from transformers import PreTrainedModel

from veridical.engine.logits import target_log_probabilities
from veridical.engine.memory import Budget, is_out_of_memory
from veridical.engine.placement import input_device
from veridical.engine.plain import PlainScorer
from veridical.engine.targets import Scored, run_tokens
from veridical.errors import UserError

DOES_NOT_RUN = (TypeError, AttributeError, ValueError, IndexError, KeyError, RuntimeError, NotImplementedError)
"""What a model raises that is given what it does not take."""

# Share of the change at a token itself by which its predecessors' log-probabilities may move where a token is
# replaced. Causal models move by rounding alone (of mixtures of experts, which compute by group); bidirectional ones
# by a thousandth at least, freshly initialised.
ROUNDING = {torch.float32: 1e-4, torch.float16: 0.03, torch.bfloat16: 0.05}

Named = dict[str, Any]


def bare_scores(model: PreTrainedModel, sequences: Sequence[Scored]) -> dict[int, float]:
    """Log-likelihood of each continuation by the bare model. Raises UserError where it does not run."""
    return {index: _bare_score(model, sequence) for index, sequence in enumerate(sequences)}


@torch.inference_mode()
def _bare_score(model: PreTrainedModel, sequence: Scored) -> float:
    logits = _bare_logits(model, run_tokens(sequence))
    rows = torch.arange(len(sequence.context) - 1, len(logits), device=logits.device)
    tokens = torch.tensor(sequence.continuation, dtype=torch.long, device=logits.device)
    return float(target_log_probabilities(logits, rows, tokens).double().sum())


def _bare_logits(model: PreTrainedModel, tokens: Sequence[int]) -> torch.Tensor:
    try:
        logits: torch.Tensor = model(
            input_ids=torch.tensor([list(tokens)], device=input_device(model)), use_cache=False
        ).logits
    except DOES_NOT_RUN as error:
        if is_out_of_memory(error):
            raise
        raise UserError(
            f"{type(model).__name__} does not run on token ids alone, as a language model must "
            f"({type(error).__name__}); give another model"
        ) from error
    return logits[0]


@torch.inference_mode()
def refuse_unless_causal(model: PreTrainedModel, tokens: Sequence[int]) -> None:
    """Replace the second half of `tokens`: raises UserError where log-probabilities in the first half move."""
    vocabulary = int(model.config.get_text_config().vocab_size)
    kept = len(tokens) // 2
    other = [*tokens[:kept], *((token + 1) % vocabulary for token in tokens[kept:])]
    change = _log_probabilities(model, tokens) - _log_probabilities(model, other)
    before, after = (float(part.square().mean().sqrt()) for part in (change[:kept], change[kept:]))
    # Where either is NaN, nothing can be said.
    if before > ROUNDING.get(model.dtype, 1e-4) * after:
        raise UserError(
            f"{type(model).__name__} is not a causal language model: what it says of a token moves by {before:.2g} "
            "nats with the tokens that follow (a masked or otherwise bidirectional model, or one whose configuration "
            "lacks is_decoder); give a causal language model or an encoder-decoder"
        )


def _log_probabilities(model: PreTrainedModel, tokens: Sequence[int]) -> torch.Tensor:
    return torch.log_softmax(_bare_logits(model, tokens).float(), dim=-1)


def settle_inputs(model: PreTrainedModel, sequences: Sequence[Scored], tolerance: float) -> None:
    """See to it that `model`, given positions from 0 and a mask, says what the bare model says.

    Most do. RoBERTa's descendants count positions from the one after their padding's; some state-space hybrids take
    no mask. The first change that brings both together is made to the model's inputs from here on, by a hook, so that
    it holds on every path.

    Raises UserError where none does.
    """
    wanted = bare_scores(model, sequences)
    found: list[str] = []
    for change in _changes(model):
        handle = model.register_forward_pre_hook(_hook(change), with_kwargs=True)
        try:
            given = dict(PlainScorer(model, Budget(1)).score(sequences))
            # Where the bare model has no finite value, there is nothing to compare with.
            differences = [abs(given[index] - value) for index, value in wanted.items() if math.isfinite(value)]
            difference = largest(differences)
            if difference <= tolerance:
                if change is unchanged:
                    handle.remove()
                return
            found.append(f"log-likelihoods differ by {difference:.2g} nats")
        except DOES_NOT_RUN as error:
            if is_out_of_memory(error):
                raise
            found.append(f"it stops with a {type(error).__name__}")
        handle.remove()
    raise UserError(
        f"{type(model).__name__} does not say of token ids with positions and a mask what it says of them alone "
        f"({found[0]}), so it cannot be scored here; give another model"
    )


def largest(differences: Sequence[float]) -> float:
    """The largest, 0 of none; infinite where one is not a number."""
    return max((one if one == one else math.inf for one in differences), default=0.0)


def unchanged(named: Named) -> Named:
    """The inputs as they are; the first of the changes that are tried."""
    return named


def _changes(model: PreTrainedModel) -> Iterator[Callable[[Named], Named]]:
    yield unchanged
    tokens = model.get_input_embeddings()
    offsets = {
        module.padding_idx + 1
        for module in model.modules()
        if isinstance(module, torch.nn.Embedding) and module is not tokens and module.padding_idx is not None
    }
    yield from (partial(_shifted, by=offset) for offset in sorted(offsets))
    yield partial(_without, names=("position_ids",))
    yield partial(_without, names=("position_ids", "attention_mask"))


def _shifted(named: Named, by: int) -> Named:
    positions = named.get("position_ids")
    return named if positions is None else {**named, "position_ids": positions + by}


def _without(named: Named, names: Sequence[str]) -> Named:
    return {name: value for name, value in named.items() if name not in names}


def _hook(change: Callable[[Named], Named]) -> Callable[[torch.nn.Module, Any, Named], tuple[Any, Named]]:
    return lambda module, arguments, named: (arguments, change(named))
