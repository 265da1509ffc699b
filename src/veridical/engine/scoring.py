"""Log-likelihoods of continuations: exact, each distinct prefix once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext

import numpy as np
import torch

from veridical.engine.attention import NAME, PackedLayout, TokenPath, attention_of, laid_out
from veridical.engine.hidden import HiddenStates
from veridical.engine.logits import only_rows, target_log_probabilities
from veridical.engine.packing import pack, pack_piece
from veridical.engine.passes import Pass
from veridical.engine.plan import Extend, Retreat, RunSubtrees, steps
from veridical.engine.scorer import Scorer
from veridical.engine.targets import Scored, Targets, run_tokens
from veridical.engine.trie import Trie

Positions = list[tuple[int, int]]
"""(place in the batch, what is read there): targets by number, or sequences whose hidden state is taken."""


class PackedScorer(Scorer):
    """Scores sequences over a trie of their tokens. `n_tokens_run` counts what went through the model."""

    @torch.inference_mode()
    def _together(
        self, sequences: Sequence[Scored], indices: Sequence[int], hidden: HiddenStates | None, wanted: set[int]
    ) -> Iterator[tuple[int, float]]:
        trie, targets, scored, rows = _planned(sequences)
        taken: dict[int, Positions] = {}
        if hidden is not None:
            chosen = [indices[place] for place in wanted]
            hidden.begin(chosen)
            taken = hidden.places(trie, indices, set(chosen))
        read = _serving(scored, np.isin(targets.sequence, list(wanted)).nonzero()[0].tolist())
        read |= set(taken)
        path = TokenPath()
        for step in steps(trie, self.budget.batch_tokens, rows, self.max_rows, read):
            length = 0
            match step:
                case Retreat(pieces):
                    path.retreat(pieces)
                    continue
                case Extend(segment, offset, length):
                    tokens = trie.segments[segment].tokens[offset : offset + length]
                    start = trie.segments[segment].start + offset
                    packed = pack_piece(tokens, start, dtype=self.model.dtype, device=self.model.device)
                    # Where the whole segment would begin, were all of it in this batch.
                    first = {segment: -offset}
                case RunSubtrees(tops):
                    packed = pack(trie, tops, path.prefix.n_tokens, dtype=self.model.dtype, device=self.model.device)
                    first = packed.first
            size = len(packed.ids)
            with nullcontext() if hidden is None else hidden.taken(_reading(first, taken, size)):
                layout = PackedLayout(packed, path.prefix, keep=path if length else None)
                finished = self._read(layout, _reading(first, scored, size), targets)
            yield from ((place, value) for place, value in finished if place in wanted)
            if length:
                path.extend(length)

    def passes(self, sequences: Sequence[Scored]) -> list[Pass]:
        """See `Scorer.passes`; a sequence is a place of the pass that reads its first target."""
        trie, _, _, rows = _planned(sequences)
        first: dict[int, Positions] = {}
        for place, sequence in enumerate(sequences):
            segment, offset = trie.position(trie.ends[place], len(sequence.context) - 1)
            first.setdefault(segment, []).append((offset, place))
        found: list[Pass] = []
        for step in steps(trie, self.budget.batch_tokens, rows, self.max_rows):
            match step:
                case Extend(segment, offset, length):
                    read = [place for start, place in first.get(segment, ()) if 0 <= start - offset < length]
                    found.append(Pass(length, tuple(read)))
                case RunSubtrees(tops):
                    below = [segment for top in tops for segment in trie.walk(top)]
                    read = [place for segment in below for _, place in first.get(segment, ())]
                    found.append(Pass(sum(trie.segments[top].size for top in tops), tuple(read)))
        return found

    def _read(self, layout: PackedLayout, reading: Positions, targets: Targets) -> list[tuple[int, float]]:
        """One forward pass; returns the sequences that it completes, with their sums."""
        packed = layout.packed
        device = packed.ids.device
        places = sorted({place for place, _ in reading})
        row_of = {place: row for row, place in enumerate(places)}
        with (
            attention_of(self.model, NAME),
            laid_out(layout),
            only_rows(self.model, torch.tensor(places, dtype=torch.long, device=device)),
        ):
            output = self.model(
                input_ids=packed.ids.unsqueeze(0), position_ids=packed.positions.unsqueeze(0), use_cache=False
            )
        self.n_tokens_run += len(packed.ids)
        numbers = [target for _, target in reading]
        values = target_log_probabilities(
            output.logits[0],
            torch.tensor([row_of[place] for place, _ in reading], dtype=torch.long, device=device),
            torch.from_numpy(targets.tokens[numbers]).to(device),
        )
        return list(targets.add(numbers, values.tolist()))


def _planned(sequences: Sequence[Scored]) -> tuple[Trie, Targets, dict[int, Positions], dict[int, int]]:
    """The trie of the sequences, their targets, where in each segment these are read, and how many rows that takes."""
    trie = Trie([run_tokens(sequence) for sequence in sequences])
    targets = Targets(sequences)
    scored = targets.by_segment(trie)
    return trie, targets, scored, {segment: len({offset for offset, _ in read}) for segment, read in scored.items()}


def _serving(places: Mapping[int, Positions], wanted: Iterable[int]) -> set[int]:
    """The segments at which one of `wanted` is read."""
    chosen = set(wanted)
    return {segment for segment, reading in places.items() if any(what in chosen for _, what in reading)}


def _reading(first: Mapping[int, int], wanted: Mapping[int, Positions], size: int) -> Positions:
    """What of `wanted` (by segment and offset) stands in a batch of `size` tokens, by place in it."""
    return [
        (start + offset, what)
        for segment, start in first.items()
        for offset, what in wanted.get(segment, ())
        if 0 <= start + offset < size
    ]
