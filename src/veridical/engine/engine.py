"""One door to the engine: which path a model takes, and how much runs at once."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedModel

from veridical.engine.attention import UnsupportedAttentionError
from veridical.engine.generation import Generated, Generator, Limit
from veridical.engine.hidden import HiddenStates
from veridical.engine.memory import Budget, is_out_of_memory
from veridical.engine.passes import Pass
from veridical.engine.placement import device_kinds, input_device, is_spread, places
from veridical.engine.plain import PlainGenerator, plain_scorer
from veridical.engine.positions import turning_points
from veridical.engine.scoring import PackedScorer
from veridical.engine.targets import Scored, run_tokens
from veridical.engine.trial import bare_scores, largest, refuse_unless_causal, settle_inputs
from veridical.errors import UserError

VERSION = "1"
"""Part of every request's key: raised when a change of the engine can move a score."""

EnginePath = Literal["packed", "plain"]

CPU_BATCH_TOKENS = 2048
"""Past about 1,000 tokens a larger batch no longer raises a CPU's token rate, and costs memory."""
MOST_BATCH_TOKENS = 16_384
SMALL_BATCH = 24
"""Smaller than the subtree of the stem that `samples` share, so that their prefix is cached and continued."""

# Largest difference, in nats for a continuation of at most 20 tokens, between the two paths at which prefixes
# count as shared exactly. Half precision rounds at every step and differs more between any two batchings.
TOLERANCE = {torch.float32: 1e-4, torch.float16: 0.05, torch.bfloat16: 0.3}


@dataclass(frozen=True, slots=True)
class TrialTokens:
    """Token ids drawn at random, to try a model with."""

    context: tuple[int, ...]
    continuation: tuple[int, ...] = ()


class Engine:
    """Scores and generates with one model.

    `path` is `packed` where prefixes are shared, `plain` where they cannot be, and `reason` says why. Which it is
    is found by trial: a few sequences take both paths, and must come out alike. `trial_error` is how far apart
    they came out, in nats; None where there was no trial.
    """

    trial_error: float | None = None

    def __init__(self, model: PreTrainedModel, *, stop: frozenset[int], batch_tokens: int | None = None) -> None:
        self.stop = stop
        self.model = model.eval()  # type: ignore[no-untyped-call]
        self.budget = Budget(batch_tokens or default_batch_tokens(model))
        self._plain = plain_scorer(model, self.budget)
        self._packed = PackedScorer(model, self.budget)
        try:
            self.path, self.reason = self._choose()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise UserError(
                f"a pass of a few tokens through {type(model).__name__} does not fit into the memory of "
                f"{device_kinds(model)}: free some, or give a smaller model"
            ) from error
        self._generator = (
            Generator(model, self.budget, stop) if self.path == "packed" else PlainGenerator(model, self.budget, stop)
        )

    @property
    def name(self) -> str:
        """The engine's path and version as stored in a model's fingerprint: `packed/1`, say."""
        return f"{self.path}/{VERSION}"

    @property
    def n_tokens_run(self) -> int:
        """Tokens that scoring has put through the model so far, padding included."""
        return self._packed.n_tokens_run + self._plain.n_tokens_run

    def score(
        self,
        sequences: Sequence[Scored],
        hidden: HiddenStates | None = None,
        wanted: Collection[int] | None = None,
    ) -> Iterator[tuple[int, float]]:
        """(index, log-likelihood of the continuation, natural log) for each sequence, as it is finished.

        No context may be empty; a sequence without a continuation runs for its hidden states alone. Each distinct
        prefix runs once on the packed path. An encoder-decoder's context goes through its encoder. Where some alone
        are `wanted`, they are scored in the batches of scoring them all, to the same bit.

        On the plain path a sequence may be too large for memory even alone: raises TooLargeError with the places of
        such once all others are finished.
        """
        scorer = self._packed if self.path == "packed" else self._plain
        return scorer.score(sequences, hidden, wanted)

    def passes(self, sequences: Sequence[Scored]) -> list[Pass]:
        """What would run together, were all of these sequences scored; each sequence is a place of one pass."""
        return (self._packed if self.path == "packed" else self._plain).passes(sequences)

    def generation_passes(self, prompts: Sequence[tuple[int, ...]], limits: Sequence[int]) -> list[Pass]:
        """What would run together, were all of these prompts generated for; each prompt is a place of one pass."""
        return self._generator.passes(prompts, limits)

    def hidden_states(self, prompts: Sequence[tuple[int, ...]], layers: Sequence[int]) -> npt.NDArray[np.float32]:
        """Hidden state of each prompt's last token, [prompts, layers, width]; see `HiddenStates` for layers."""
        hidden = HiddenStates(self.model, layers, [(len(prompt) - 1, len(prompt)) for prompt in prompts])
        for _ in self.score([TrialTokens(prompt) for prompt in prompts], hidden):
            pass
        return hidden.states

    def generate(
        self, prompts: Sequence[tuple[int, ...]], max_new_tokens: Limit, wanted: Collection[int] | None = None
    ) -> Iterator[tuple[int, Generated]]:
        """(index, greedy continuation) for each non-empty prompt, as it is finished; one limit, or one a prompt.

        Raises TooLargeError as `score` does, and takes `wanted` as it does.
        """
        return self._generator.generate(prompts, max_new_tokens, wanted)

    def _choose(self) -> tuple[EnginePath, str]:
        tolerance = TOLERANCE.get(self.model.dtype, 1e-4)
        sequences = samples(self.model)
        if not self.model.config.is_encoder_decoder:
            refuse_unless_causal(self.model, run_tokens(sequences[1]))
            settle_inputs(self.model, [sequences[1], sequences[-1]], tolerance)
        if reason := not_shareable(self.model):
            return "plain", reason
        try:
            difference = self.sharing_error()
            from_bare = largest_difference(self._packed_trial(sequences[:2]), bare_scores(self.model, sequences[:2]))
        except (UnsupportedAttentionError, TypeError, AttributeError, ValueError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise
            # The first is of our own; what torch and transformers say is not for users.
            why = error if isinstance(error, UnsupportedAttentionError) else f"it stops with a {type(error).__name__}"
            return "plain", f"packed attention does not run: {why}"
        self.trial_error = difference
        difference = max(difference, from_bare)
        if not difference <= tolerance:
            return "plain", f"shared prefixes move a log-likelihood by {difference:.2g}, more than {tolerance:g}"
        return "packed", ""

    def sharing_error(self) -> float:
        """Largest difference in log-likelihood between the packed and the plain path on `samples`.

        NaN counts as infinite.
        """
        sequences = samples(self.model)
        plain = dict(plain_scorer(self.model, self.budget).score(sequences))
        return largest_difference(self._packed_trial(sequences), plain)

    def _packed_trial(self, sequences: Sequence[TrialTokens]) -> dict[int, float]:
        return dict(PackedScorer(self.model, Budget(SMALL_BATCH)).score(sequences))


def samples(model: PreTrainedModel) -> list[TrialTokens]:
    """A few short sequences that share prefixes of several lengths; their tokens are drawn with a fixed seed.

    Padding is not among them: no text has it, and some models give it no position of its own.
    """
    vocabulary = int(model.config.get_text_config().vocab_size)
    padding = getattr(model.config.get_text_config(), "pad_token_id", None)
    generator = torch.Generator().manual_seed(0)

    def draw(n: int) -> tuple[int, ...]:
        drawn = torch.randint(vocabulary, (n,), generator=generator).tolist()
        return tuple((token + 1) % vocabulary if token == padding else token for token in drawn)

    stem, branch = draw(12), draw(5)
    found = [TrialTokens(stem, draw(2)), TrialTokens(stem + branch, draw(3)), TrialTokens(stem + branch, draw(1))]
    return [*found, TrialTokens(stem + draw(4), draw(3)), TrialTokens(draw(6), draw(2))]


def largest_difference(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """The largest distance between two values of one key; infinite where one is not a number."""
    return largest([abs(value - other[key]) for key, value in one.items()])


def not_shareable(model: PreTrainedModel) -> str:
    """Why prefixes of this model cannot be shared, as far as its configuration says; empty where they can."""
    config = model.config.get_text_config()
    if model.config.is_encoder_decoder:
        return "an encoder-decoder"
    if is_spread(model):
        return f"weights on several devices ({', '.join(places(model))})"
    if lengths := turning_points(model):
        return f"rotary frequencies that change past {lengths[0]} tokens (LongRoPE)"
    layers = set(getattr(config, "layer_types", None) or ["full_attention"])
    if odd := sorted(layers - {"full_attention"}):
        return f"layers of kind {', '.join(odd)}"
    window = getattr(config, "sliding_window", None)
    if window is not None and getattr(config, "use_sliding_window", True) and not getattr(config, "layer_types", None):
        return f"a sliding window of {window} tokens"
    if not model._supports_attention_backend:
        return "no exchangeable attention"
    return ""


def default_batch_tokens(model: PreTrainedModel) -> int:
    """Tokens in a forward pass, from free memory: half of it at most for what a token takes in passing."""
    device = input_device(model)
    if device.type == "cpu":
        pages = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return int(max(64, min(CPU_BATCH_TOKENS, pages // 2 // _bytes_in_passing(model))))
    devices = [place for place in places(model) if place.startswith("cuda")] or [str(device)]
    free = min(torch.cuda.mem_get_info(one)[0] for one in devices)
    return int(max(256, min(MOST_BATCH_TOKENS, free // 2 // _bytes_in_passing(model))))


def _bytes_in_passing(model: PreTrainedModel) -> int:
    """A generous estimate of what one token takes while a layer runs: its states, projections and mask row."""
    config = model.config.get_text_config()
    inner = getattr(config, "intermediate_size", None) or 4 * config.hidden_size
    return int(model.dtype.itemsize * (3 * inner + 12 * config.hidden_size) + 4 * 4096)
