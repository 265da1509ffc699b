"""The plain pass: right-padded batches, for models whose prefixes cannot be shared, and to check those that can."""

from __future__ import annotations

import inspect
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import groupby

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, PreTrainedModel

from veridical.engine.generation import Generated, Limit
from veridical.engine.hidden import HiddenStates
from veridical.engine.logits import only_rows, target_log_probabilities
from veridical.engine.memory import Budget, alone_or_smaller
from veridical.engine.passes import Pass, of_batches
from veridical.engine.placement import input_device
from veridical.engine.positions import turning_points
from veridical.engine.scorer import Scorer
from veridical.engine.seq2seq import EncoderDecoderScorer, decoder_start
from veridical.engine.targets import Scored, run_tokens


class PlainScorer(Scorer):
    """Scores sequences in right-padded batches of like length, with a mask and explicit positions."""

    def __init__(self, model: PreTrainedModel, budget: Budget) -> None:
        super().__init__(model, budget)
        self._turning_points = turning_points(model)

    @torch.inference_mode()
    def _together(
        self, sequences: Sequence[Scored], indices: Sequence[int], hidden: HiddenStates | None, wanted: set[int]
    ) -> Iterator[tuple[int, float]]:
        if hidden is not None:
            hidden.begin([indices[place] for place in wanted])
        for batch in self._batches(sequences):
            if wanted.isdisjoint(batch):
                continue
            width = max(len(run_tokens(sequences[place])) for place in batch)
            reading = [
                (row * width + position, indices[place])
                for row, place in enumerate(batch)
                if place in wanted
                for position in range(*(hidden.spans[indices[place]] or (0,) if hidden else (0,)))
            ]
            with alone_or_smaller(batch), nullcontext() if hidden is None else hidden.taken(reading):
                sums = self._sums([sequences[place] for place in batch])
            yield from (
                (place, value)
                for place, value in zip(batch, sums, strict=True)
                if place in wanted and sequences[place].continuation
            )

    def passes(self, sequences: Sequence[Scored]) -> list[Pass]:
        """See `Scorer.passes`."""
        return of_batches(self._batches(sequences), [len(run_tokens(sequence)) for sequence in sequences])

    def _batches(self, sequences: Sequence[Scored]) -> Iterator[list[int]]:
        batch: list[int] = []
        rows = 0
        lengths = [len(run_tokens(sequence)) for sequence in sequences]
        # Longest first: a batch that does not fit shows at the start, and the first bounds the width.
        for index in sorted(range(len(sequences)), key=lengths.__getitem__, reverse=True):
            more = len(sequences[index].continuation)
            width = lengths[batch[0]] if batch else 0
            full = (len(batch) + 1) * width > self.budget.batch_tokens or rows + more > self.max_rows
            if batch and (full or self._side(lengths[index]) != self._side(width)):
                yield batch
                batch, rows = [], 0
            batch.append(index)
            rows += more
        if batch:
            yield batch

    def _side(self, length: int) -> int:
        return bisect_left(self._turning_points, length)

    def _sums(self, sequences: Sequence[Scored]) -> list[float]:
        device = input_device(self.model)
        inputs = [run_tokens(sequence) for sequence in sequences]
        width = max(map(len, inputs))
        # What stands at a padded place is never looked at: the mask and causality both hide it.
        ids = torch.zeros((len(inputs), width), dtype=torch.long)
        mask = torch.zeros((len(inputs), width), dtype=torch.long)
        rows: list[int] = []
        tokens: list[int] = []
        owner: list[int] = []
        for row, (run, sequence) in enumerate(zip(inputs, sequences, strict=True)):
            ids[row, : len(run)] = torch.tensor(run)
            mask[row, : len(run)] = 1
            start = row * width + len(sequence.context) - 1
            rows.extend(range(start, start + len(sequence.continuation)))
            tokens.extend(sequence.continuation)
            owner.extend([row] * len(sequence.continuation))
        positions = torch.arange(width).expand(len(inputs), -1)
        # The type is passed, since a pass for hidden states alone has no row to infer it from.
        with only_rows(self.model, torch.tensor(rows, dtype=torch.long, device=device)):
            logits = self.model(
                input_ids=ids.to(device),
                attention_mask=mask.to(device),
                use_cache=False,
                **({"position_ids": positions.to(device)} if self._takes_positions() else {}),
            ).logits[0]
        self.n_tokens_run += ids.numel()
        values = target_log_probabilities(
            logits, torch.arange(len(rows), device=device), torch.tensor(tokens, dtype=torch.long, device=device)
        )
        sums = torch.zeros(len(inputs), dtype=torch.float64)
        sums.index_add_(0, torch.tensor(owner, dtype=torch.long), values.cpu().double())
        return sums.tolist()

    def _takes_positions(self) -> bool:
        return "position_ids" in inspect.signature(self.model.forward).parameters


def plain_scorer(model: PreTrainedModel, budget: Budget) -> PlainScorer | EncoderDecoderScorer:
    """The plain pass that fits the model."""
    return EncoderDecoderScorer(model, budget) if model.config.is_encoder_decoder else PlainScorer(model, budget)


@contextmanager
def _no_generation_defaults(model: PreTrainedModel) -> Iterator[None]:
    """Within this context `model.generate` takes nothing from the settings that came with the checkpoint.

    It fills in from them whatever a caller leaves open: a repetition penalty, beams, forced or suppressed tokens, a
    time limit. Greedy text is the arg max of every step, here as where prefixes are shared. Of an encoder-decoder the
    start token alone is kept, without which its decoder has nothing to run; a forced first token is not, since a
    decoder starts without it, and scores do not have it either.
    """
    own = model.generation_config
    model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        model.generation_config = own


class PlainGenerator:
    """Greedy decoding with the model's own `generate`, in batches of prompts of one length.

    Of one length, because padding on the left is not invisible to every architecture (state-space layers see it), and
    because LongRoPE turns the positions of all of a batch by its longest sequence.
    """

    def __init__(self, model: PreTrainedModel, budget: Budget, stop: frozenset[int]) -> None:
        self.model = model
        self.budget = budget
        self.stop = stop

    def generate(
        self, prompts: Sequence[tuple[int, ...]], max_new_tokens: Limit, wanted: Collection[int] | None = None
    ) -> Iterator[tuple[int, Generated]]:
        """(index, what was generated) for each non-empty prompt, as it is finished; `wanted` as in `Scorer.score`."""
        limits = [max_new_tokens] * len(prompts) if isinstance(max_new_tokens, int) else max_new_tokens
        return self.budget.each(
            len(prompts),
            lambda indices, places: self._generate([prompts[i] for i in indices], [limits[i] for i in indices], places),
            wanted,
        )

    def passes(self, prompts: Sequence[tuple[int, ...]], limits: Sequence[int]) -> list[Pass]:
        """The batches in which all of these prompts would be generated for; each prompt is a place of one of them."""
        return of_batches(self._batches(prompts, limits), [len(prompts[i]) + limits[i] for i in range(len(prompts))])

    def _generate(
        self, prompts: Sequence[tuple[int, ...]], limits: Sequence[int], wanted: set[int]
    ) -> Iterator[tuple[int, Generated]]:
        for batch in self._batches(prompts, limits):
            if wanted.isdisjoint(batch):
                continue
            with alone_or_smaller(batch):
                texts = self._texts([prompts[index] for index in batch], limits[batch[0]])
            yield from ((place, text) for place, text in zip(batch, texts, strict=True) if place in wanted)

    def _batches(self, prompts: Sequence[tuple[int, ...]], limits: Sequence[int]) -> Iterator[list[int]]:
        """Places of prompts of one length and one limit, which run together."""

        def alike(index: int) -> tuple[int, int]:
            return len(prompts[index]), limits[index]

        for (length, limit), same in groupby(sorted(range(len(prompts)), key=alike), alike):
            indices = list(same)
            at_once = max(1, self.budget.batch_tokens // (length + limit))
            yield from (indices[start : start + at_once] for start in range(0, len(indices), at_once))

    @torch.inference_mode()
    def _texts(self, prompts: Sequence[tuple[int, ...]], limit: int) -> list[Generated]:
        ids = torch.tensor(prompts, device=input_device(self.model))
        # A decoder's output begins with the token that starts it, not with the prompt.
        start_token = decoder_start(self.model) if self.model.config.is_encoder_decoder else None
        wanted = GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=limit,
            do_sample=False,
            eos_token_id=sorted(self.stop) or None,
            pad_token_id=min(self.stop, default=0),
            decoder_start_token_id=start_token,
        )
        finite = _Finite()
        with _no_generation_defaults(self.model):
            output = self.model.generate(  # type: ignore[operator]
                ids,
                attention_mask=torch.ones_like(ids),
                generation_config=wanted,
                logits_processor=LogitsProcessorList([finite]),
            )
        new = output[:, 1:] if start_token is not None else output[:, len(prompts[0]) :]
        return [self._cut(tokens, good) for tokens, good in zip(new.tolist(), finite.by_row(), strict=True)]

    def _cut(self, tokens: Sequence[int], finite: Sequence[bool]) -> Generated:
        for place, (token, good) in enumerate(zip(tokens, finite, strict=False)):
            if not good:
                return Generated(tuple(tokens[:place]), "non_finite")
            if token in self.stop:
                return Generated(tuple(tokens[:place]), "stop")
        return Generated(tuple(tokens), "length")


class _Finite(LogitsProcessor):
    """Watches whether the best next token's logit is a number, [rows] a step; an arg max takes NaN for the largest."""

    def __init__(self) -> None:
        self.steps: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        self.steps.append(scores.amax(dim=-1).isfinite())
        return scores

    def by_row(self) -> list[list[bool]]:
        return torch.stack(self.steps, dim=1).tolist()
