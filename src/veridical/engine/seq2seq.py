"""The plain pass of an encoder-decoder: contexts through the encoder, continuations through the decoder."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import torch
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from veridical.engine.hidden import HiddenStates
from veridical.engine.logits import only_rows, target_log_probabilities
from veridical.engine.memory import alone_or_smaller
from veridical.engine.passes import Pass, of_batches
from veridical.engine.placement import input_device
from veridical.engine.scorer import Scorer
from veridical.engine.targets import Scored


class EncoderDecoderScorer(Scorer):
    """Scores every token of the continuations, the first from the decoder's start token.

    Batches are right-padded: a mask hides what the encoder is padded with, and causality what the decoder is. The
    choices of a context share its pass through the encoder where they fall into one batch.
    """

    def score(
        self,
        sequences: Sequence[Scored],
        hidden: HiddenStates | None = None,
        wanted: Collection[int] | None = None,
    ) -> Iterator[tuple[int, float]]:
        """(index, log-likelihood of the continuation) for each sequence that has one, as it is finished.

        Raises ValueError where hidden states are asked for: an encoder-decoder has two stacks of them.
        """
        if hidden is not None:
            raise ValueError("hidden states are not taken from an encoder-decoder")
        return super().score(sequences, wanted=wanted)

    @torch.inference_mode()
    def _together(
        self, sequences: Sequence[Scored], indices: Sequence[int], hidden: HiddenStates | None, wanted: set[int]
    ) -> Iterator[tuple[int, float]]:
        for batch in self._batches(sequences):
            if wanted.isdisjoint(batch):
                continue
            with alone_or_smaller(batch):
                sums = self._sums([sequences[place] for place in batch])
            yield from ((place, value) for place, value in zip(batch, sums, strict=True) if place in wanted)

    def passes(self, sequences: Sequence[Scored]) -> list[Pass]:
        """See `Scorer.passes`."""
        return of_batches(self._batches(sequences), [len(one.context) + len(one.continuation) for one in sequences])

    def _batches(self, sequences: Sequence[Scored]) -> Iterator[list[int]]:
        """Places of sequences that run together: longest contexts first, the choices of a context side by side."""

        def size(index: int) -> tuple[int, tuple[int, ...], int]:
            sequence = sequences[index]
            return len(sequence.context), sequence.context, len(sequence.continuation)

        batch: list[int] = []
        rows = longest = 0
        for index in sorted((i for i, s in enumerate(sequences) if s.continuation), key=size, reverse=True):
            n_context, _, n_continuation = size(index)
            widths = (len(sequences[batch[0]].context) if batch else n_context) + max(longest, n_continuation)
            full = (len(batch) + 1) * widths > self.budget.batch_tokens or rows + n_continuation > self.max_rows
            if batch and full:
                yield batch
                batch, rows, longest = [], 0, 0
            batch.append(index)
            rows += n_continuation
            longest = max(longest, n_continuation)
        if batch:
            yield batch

    def _sums(self, sequences: Sequence[Scored]) -> list[float]:
        device = input_device(self.model)
        contexts = {context: row for row, context in enumerate(dict.fromkeys(s.context for s in sequences))}
        ids, mask = _padded(list(contexts))
        own = torch.tensor([contexts[sequence.context] for sequence in sequences], device=device)
        encoder = self.model.get_encoder()
        states = encoder(input_ids=ids.to(device), attention_mask=mask.to(device)).last_hidden_state
        start = decoder_start(self.model)
        inputs, _ = _padded([(start, *sequence.continuation[:-1]) for sequence in sequences])
        width = inputs.shape[1]
        lengths = [len(sequence.continuation) for sequence in sequences]
        rows = [row * width + step for row, length in enumerate(lengths) for step in range(length)]
        tokens = [token for sequence in sequences for token in sequence.continuation]
        with only_rows(self.model, torch.tensor(rows, device=device)):
            logits = self.model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states.index_select(0, own.to(states.device))),
                attention_mask=mask.to(device).index_select(0, own),
                decoder_input_ids=inputs.to(device),
                use_cache=False,
            ).logits[0]
        self.n_tokens_run += ids.numel() + inputs.numel()
        values = target_log_probabilities(
            logits, torch.arange(len(rows), device=device), torch.tensor(tokens, device=device)
        )
        owner = torch.repeat_interleave(torch.arange(len(sequences)), torch.tensor(lengths))
        sums = torch.zeros(len(sequences), dtype=torch.float64)
        sums.index_add_(0, owner, values.cpu().double())
        return sums.tolist()


def decoder_start(model: PreTrainedModel) -> int:
    """The token that the decoder begins with. Raises ValueError where the model does not say."""
    for config in (model.generation_config, model.config):
        for name in ("decoder_start_token_id", "bos_token_id"):
            token = getattr(config, name, None)
            if token is not None:
                return int(token)
    raise ValueError(f"{type(model).__name__} names no token for its decoder to begin with")


def _padded(rows: Sequence[tuple[int, ...]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids with zeros on the right, and the mask that hides these; both [rows, longest row]."""
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.zeros((len(rows), int(lengths.max())), dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
    return ids, (torch.arange(ids.shape[1]) < lengths[:, None]).long()
