"""Log-likelihoods of continuations: exact, each distinct prefix once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from transformers import PreTrainedModel

from veridical.engine.attention import NAME, PackedLayout, Prefix, attention_of, laid_out
from veridical.engine.logits import only_rows, rows_that_fit, target_log_probabilities
from veridical.engine.memory import Budget
from veridical.engine.packing import Packed, pack, pack_piece
from veridical.engine.plan import Extend, Retreat, Run, steps
from veridical.engine.targets import Scored, Targets, run_tokens
from veridical.engine.trie import Trie

Reading = list[tuple[int, int]]
"""(place in the batch, target): what one forward pass has to read off."""


class PackedScorer:
    """Scores sequences over a trie of their tokens. `n_tokens_run` counts what went through the model."""

    def __init__(self, model: PreTrainedModel, budget: Budget) -> None:
        self.model = model
        self.budget = budget
        self.max_rows = rows_that_fit(model)
        self.n_tokens_run = 0

    def score(self, sequences: Sequence[Scored]) -> Iterator[tuple[int, float]]:
        """(index, log-likelihood of the continuation) for each sequence, as it is finished."""
        return self.budget.each(sequences, self._score)

    @torch.inference_mode()
    def _score(self, sequences: Sequence[Scored]) -> Iterator[tuple[int, float]]:
        trie = Trie([run_tokens(sequence) for sequence in sequences])
        targets = Targets(sequences)
        wanted = targets.by_segment(trie)
        rows = {segment: len({offset for offset, _ in places}) for segment, places in wanted.items()}
        prefixes = [Prefix()]
        with attention_of(self.model, NAME):
            for step in steps(trie, self.budget.batch_tokens, rows, self.max_rows):
                match step:
                    case Retreat(pieces):
                        del prefixes[-pieces:]
                    case Extend(segment, offset, length):
                        piece = trie.segments[segment].tokens[offset : offset + length]
                        start = trie.segments[segment].start + offset
                        reading = [
                            (place - offset, target)
                            for place, target in wanted.get(segment, [])
                            if offset <= place < offset + length
                        ]
                        packed = pack_piece(piece, start, dtype=self.model.dtype, device=self.model.device)
                        prefixes.append(longer := Prefix())
                        yield from self._read(packed, prefixes[-2], longer, reading, targets)
                    case Run(tops):
                        packed = pack(
                            trie,
                            tops,
                            prefixes[-1].n_tokens,
                            dtype=self.model.dtype,
                            device=self.model.device,
                        )
                        reading = [
                            (first + place, target)
                            for segment, first in packed.first.items()
                            for place, target in wanted.get(segment, [])
                        ]
                        yield from self._read(packed, prefixes[-1], None, reading, targets)

    def _read(
        self, packed: Packed, prefix: Prefix, keep: Prefix | None, reading: Reading, targets: Targets
    ) -> Iterator[tuple[int, float]]:
        """One forward pass; yields the sequences that it completes."""
        device = packed.ids.device
        places = sorted({place for place, _ in reading})
        row_of = {place: row for row, place in enumerate(places)}
        with (
            laid_out(PackedLayout(packed, prefix, keep)),
            only_rows(self.model, torch.tensor(places, dtype=torch.long, device=device)),
        ):
            output = self.model(
                input_ids=packed.ids.unsqueeze(0), position_ids=packed.positions.unsqueeze(0), use_cache=False
            )
        self.n_tokens_run += len(packed.ids)
        if not reading:
            return
        numbers = [target for _, target in reading]
        values = target_log_probabilities(
            output.logits[0],
            torch.tensor([row_of[place] for place, _ in reading], device=device),
            torch.from_numpy(targets.tokens[numbers]).to(device),
        )
        yield from targets.add(numbers, values.tolist())
