"""How far a model's numbers can be trusted here: the same few questions put in several ways."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from veridical.engine.engine import SMALL_BATCH, Engine, EnginePath, TrialTokens, largest_difference, samples
from veridical.engine.generation import Generated
from veridical.engine.memory import Budget
from veridical.engine.placement import input_device
from veridical.engine.plain import plain_scorer
from veridical.engine.scoring import PackedScorer
from veridical.engine.seq2seq import decoder_start

TEXTS = (
    "The kettle was on the stove when the lights went out. Was the water hot?",
    "The kettle was on the stove when the lights went out. Where was the",
    "Name a bird that swims:",
    "One, two, three, four,",
)
"""Prompts to generate from: two that begin alike, and several lengths."""
NEW_TOKENS = 3
"""Tokens generated from each."""
NEAR_TIE = 1e-3
"""Two logits closer than this are a near tie: another batch size or machine may decide the other way. Our choice."""
ALL_AT_ONCE = 4096
"""Tokens in a batch that holds all the sequences that are probed."""


@dataclass(frozen=True, slots=True)
class Probes:
    """What was found. Errors are the largest difference of a log-likelihood, in nats.

    Attributes:
        path: the engine's path; `reason` says why prefixes are not shared, and is empty where they are.
        sharing_error: the packed path against the plain one; None where the packed path was not tried.
        plain_batch_error: the plain path, a sequence alone against all in one padded batch.
        packed_batch_error: the packed path, a small batch against one that holds all; None on the plain path.
            An error is None as well where a log-likelihood was not a number.
        greedy_repeats: whether the prompts gave the same texts when generated twice.
        greedy_batch_invariant: how many of the `n_prompts` gave the same text alone as together.
        near_ties: of the `n_choices` of a next token in the prompts, those whose two best logits are closer
            than `NEAR_TIE`.
        n_tokens: the tokens of all sequences and prompts that were used.
        non_finite: of the `n_choices`, those whose logits are not all numbers.
    """

    path: EnginePath
    reason: str
    sharing_error: float | None
    plain_batch_error: float | None
    packed_batch_error: float | None
    greedy_repeats: bool
    greedy_batch_invariant: int
    n_prompts: int
    near_ties: int
    n_choices: int
    n_tokens: int
    non_finite: int = 0


def probe(engine: Engine, prompts: Sequence[tuple[int, ...]], new_tokens: int = NEW_TOKENS) -> Probes:
    """Put `samples` and `prompts` (token ids, none empty) to the engine's model in several ways.

    `new_tokens` are generated from each prompt, and must fit behind it.
    """
    sequences = samples(engine.model)
    together = _generated(engine, prompts, new_tokens)
    again = _generated(engine, prompts, new_tokens)
    alone = [_generated(engine, [prompt], new_tokens)[0] for prompt in prompts]
    gaps = _gaps(engine.model, prompts)
    return Probes(
        path=engine.path,
        reason=engine.reason,
        sharing_error=_finite(engine.trial_error),
        plain_batch_error=_finite(_plain_batch_error(engine, sequences)),
        packed_batch_error=_finite(_packed_batch_error(engine, sequences)) if engine.path == "packed" else None,
        greedy_repeats=together == again,
        greedy_batch_invariant=sum(one == other for one, other in zip(alone, together, strict=True)),
        n_prompts=len(prompts),
        near_ties=sum(gap < NEAR_TIE for gap in gaps),
        n_choices=len(gaps),
        n_tokens=sum(len(s.context) + len(s.continuation) for s in sequences) + sum(map(len, prompts)),
        non_finite=sum(math.isnan(gap) for gap in gaps),
    )


def _finite(error: float | None) -> float | None:
    return error if error is not None and math.isfinite(error) else None


def _plain_batch_error(engine: Engine, sequences: Sequence[TrialTokens]) -> float:
    together = dict(plain_scorer(engine.model, Budget(ALL_AT_ONCE)).score(sequences))
    one_by_one = dict(plain_scorer(engine.model, Budget(1)).score(sequences))
    return largest_difference(together, one_by_one)


def _packed_batch_error(engine: Engine, sequences: Sequence[TrialTokens]) -> float:
    together = dict(PackedScorer(engine.model, Budget(ALL_AT_ONCE)).score(sequences))
    in_pieces = dict(PackedScorer(engine.model, Budget(SMALL_BATCH)).score(sequences))
    return largest_difference(together, in_pieces)


def _generated(engine: Engine, prompts: Sequence[tuple[int, ...]], new_tokens: int) -> list[Generated]:
    found = dict(engine.generate(prompts, new_tokens))
    return [found[index] for index in range(len(prompts))]


@torch.inference_mode()
def _gaps(model: PreTrainedModel, prompts: Sequence[tuple[int, ...]]) -> list[float]:
    """At every token of the prompts, the best logit of the next one less the second best; NaN where either is NaN.

    Of an encoder-decoder, at the first token of each answer.
    """
    if not prompts:
        return []
    ids = pad_sequence([torch.tensor(prompt) for prompt in prompts], batch_first=True)
    real = pad_sequence([torch.ones(len(prompt), dtype=torch.long) for prompt in prompts], batch_first=True)
    inputs = {"input_ids": ids, "attention_mask": real}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.full((len(prompts), 1), decoder_start(model))
        real = torch.ones_like(inputs["decoder_input_ids"])
    logits = model(**{name: value.to(input_device(model)) for name, value in inputs.items()}, use_cache=False).logits
    places = logits[real.bool().to(logits.device)].float()
    best = places.topk(2, dim=-1).values
    # The maximum is NaN where any is; topk need not be.
    finite = places.amax(dim=-1).isfinite()
    gaps: list[float] = torch.where(finite, best[:, 0] - best[:, 1], torch.nan).tolist()
    return gaps
