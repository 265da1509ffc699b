"""Causal language models as proposers: they rank whole sentences.

A causal model does not see what follows a word, so it cannot be asked what stands in its place. It can be asked which
of several sentences is likelier. Candidates come from two sides: words that the model itself expects after the left
context, and words that a masked model proposes for the place. Each is put into the sentence, and

    P(w) = p(sentence with w) / sum of p(sentence with v) over the original and all candidates v,

so that P(r) > P(o) says that the model finds the sentence likelier with r. Words of several tokens have a probability
too: nothing is split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from veridical.digests import digest
from veridical.engine.logits import only_rows
from veridical.errors import UserError
from veridical.models import DeviceMap, load
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import Request
from veridical.status import Status
from veridical.variation import minilm
from veridical.variation.protocol import Candidate, Proposal, Proposer, Slot
from veridical.variation.vocabulary import Vocabulary, stands_alone

VERSION = "1"
"""Part of the fingerprint: raised when a change here can move a proposal."""

POOL = 32
"""Words taken from each side. The rest of the sentence runs anew for every one of them, so they are what costs."""

NOTHING = Proposal(None)


def load_causal(
    spec: str,
    *,
    helper: Proposer | None = None,
    pool: int = POOL,
    dtype: str = "float32",
    device: str = "auto",
    batch_tokens: int | None = None,
    device_map: DeviceMap | None = None,
) -> CausalProposer:
    """The causal model that `spec` names (as `veridical.models.load` takes it), as a proposer.

    `helper` proposes from both sides of the word, `minilm-mlm` where none is given. Raises UserError for a model that
    is not causal, and as `load` does.
    """
    model = load(spec, dtype=dtype, device=device, batch_tokens=batch_tokens, device_map=device_map)
    if not isinstance(model, HuggingFaceModel) or model.engine.model.config.is_encoder_decoder:
        raise UserError(f"proposer {spec!r} is not a causal language model, so it cannot rank sentences")
    return CausalProposer(model, helper or minilm.load(device=device), pool=pool)


class CausalProposer:
    """A causal language model with local weights, and a helper. See `veridical.variation.protocol.Proposer`.

    Every slot is scored by itself, its sentences over one trie, so that no slot's proposal depends on another's.
    """

    def __init__(self, model: HuggingFaceModel, helper: Proposer, *, pool: int = POOL) -> None:
        """`pool` words are taken from each side."""
        self.model = model
        self.loading = model.loading
        self.helper = helper
        self.pool = pool
        network = model.engine.model
        self.vocabulary = Vocabulary(model.encoder.tokenizer, int(network.config.get_text_config().vocab_size))
        self._words = {form: torch.from_numpy(self.vocabulary.whole_words(form)) for form in (False, True)}

    @property
    def name(self) -> str:
        """The model as the user spelt it."""
        return self.model.name

    @property
    def fingerprint(self) -> str:
        """Digest of model, helper and pool size: equal digests give equal proposals."""
        parts = [self.model.fingerprint.digest, self.helper.fingerprint, self.pool, f"causal/{VERSION}"]
        return digest(parts, length=32)

    def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
        """At most twice `pool` candidates. Raises UserError where the model's probabilities are not numbers.

        A word that is part of another has no proposal, and no word in a sentence that is too long for the model.
        """
        waiting: dict[Slot, list[int]] = {}
        for index, slot in enumerate(slots):
            waiting.setdefault(slot, []).append(index)
        distinct = list(waiting)
        for number, suggested in self.helper.propose(distinct, self.pool):
            slot = distinct[number]
            proposal = self._proposal(slot, suggested, top)
            for index in waiting[slot]:
                yield index, proposal

    def _proposal(self, slot: Slot, suggested: Proposal, top: int) -> Proposal:
        if not stands_alone(slot.text, slot.start, slot.stop):
            return NOTHING
        found = (*self.expected(slot), *(candidate.word for candidate in suggested.candidates))
        words = list(dict.fromkeys((slot.word, *found)))
        request = Request(tuple(self.model.encoder.alone(_filled(slot, word), "") for word in words))
        ((_, outcome),) = self.model.answer([request])
        if outcome.status is Status.NON_FINITE:
            raise UserError(f"proposer {self.name!r} gives probabilities that are not numbers; use another model")
        if outcome.status is not Status.OK:
            return NOTHING
        totals = np.array([score.total for score in outcome.scores])
        shares = np.exp(totals - totals.max())
        shares /= shares.sum()
        order = sorted(range(1, len(words)), key=lambda place: -shares[place])
        return Proposal(float(shares[0]), tuple(Candidate(words[place], float(shares[place])) for place in order[:top]))

    @torch.inference_mode()
    def expected(self, slot: Slot) -> list[str]:
        """The `pool` whole words that the model finds likeliest after what stands before the slot, best first."""
        encoder, network = self.model.encoder, self.model.engine.model
        ids, (first, _) = encoder.span(slot.text, slot.start, slot.stop)
        allowed = self._words[self.vocabulary.form(ids[first])]
        # The space before a word is the word's own token's, or the tokenizer's to add.
        left = encoder.alone(slot.text[: slot.start].removesuffix(" "), "")
        before = (*left.context, *left.continuation)
        if not before or len(before) > self.model.longest:
            return []
        tokens = torch.tensor([before], device=network.device)
        with only_rows(network, torch.tensor([len(before) - 1], device=network.device)):
            logits = network(input_ids=tokens, use_cache=False).logits[0, 0]
        open_to = logits.float().cpu().masked_fill(~allowed, -torch.inf)
        values, numbers = open_to.topk(min(self.pool, len(open_to)))
        return [
            self.vocabulary.words[number]
            for value, number in zip(values.tolist(), numbers.tolist(), strict=True)
            if value > -torch.inf
        ]


def _filled(slot: Slot, word: str) -> str:
    return slot.text[: slot.start] + word + slot.text[slot.stop :]
