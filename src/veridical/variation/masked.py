"""Masked language models as proposers: the word's own token is masked, and the softmax there is read.

The mask takes the place of the word's *token*, in the sentence as it is tokenized with the word. So the space before
the word is treated as the model was taught, whatever the tokenizer: where a token carries its space (`Ġred`, `▁red`),
so does its mask, and the word is compared with tokens of the same form only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForMaskedLM, PreTrainedModel

from veridical.digests import digest
from veridical.engine.logits import rows_that_fit
from veridical.engine.memory import Budget, planning_the_rest
from veridical.errors import UserError
from veridical.models.checkpoint import load_checkpoint, longest_sequence, tokenizer_state
from veridical.models.protocol import NOTHING_FOUND, LoadingNotes
from veridical.models.settings import DeviceMap
from veridical.models.sources import resolve
from veridical.variation.places import only_places
from veridical.variation.protocol import Candidate, Proposal, Slot
from veridical.variation.vocabulary import Vocabulary, stands_alone
from veridical.variation.words import cased, casing

VERSION = "1"
"""Part of the fingerprint: raised when a change here can move a proposal."""

CPU_BATCH_TOKENS = 384
"""A pass is always filled up to this (see `MaskedProposer._pass`), so that much is lost on a lone sentence."""
CUDA_BATCH_TOKENS = 16_384

NOTHING = Proposal(None)


def load_masked(
    spec: str,
    *,
    dtype: str = "float32",
    device: str = "auto",
    batch_tokens: int | None = None,
    device_map: DeviceMap | None = None,
) -> MaskedProposer:
    """The masked language model that `spec` (`hf/ORG/NAME`, `hf/PATH`) names.

    Raises UserError for a spec that names nothing, and for a model that has learned no words for masked places.
    """
    source = resolve(spec)
    if source.kind == "gguf":
        raise UserError(f"proposer {spec!r}: a GGUF file holds no masked language model")
    found = load_checkpoint(source, dtype=dtype, device=device, auto_class=_OfOneText, device_map=device_map)
    return MaskedProposer(
        spec,
        found.model,
        found.tokenizer,
        weights=found.weights,
        batch_tokens=batch_tokens,
        loading=found.loading,
    )


class _OfOneText:
    """`AutoModelForMaskedLM` that takes no encoder-decoder."""

    @staticmethod
    def from_pretrained(location: str, **settings: Any) -> Any:
        config = settings.get("config") or AutoConfig.from_pretrained(location)
        if config.is_encoder_decoder:
            raise UserError(f"{location} is an encoder-decoder, not a masked language model of one text")
        return AutoModelForMaskedLM.from_pretrained(location, **settings)


@dataclass(frozen=True, slots=True)
class _Masked:
    """A sentence with one token masked: what goes through the model. Equal ones go once."""

    tokens: tuple[int, ...]
    place: int


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A sentence as tokens. `spans` are their characters; those of `before` and `after` are the tokenizer's own."""

    tokens: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    before: int
    after: int


class MaskedProposer:
    """A masked language model with local weights. See `veridical.variation.protocol.Proposer`.

    Probabilities are the softmax over the whole vocabulary, in float32. `n_tokens_run` counts what went through the
    model, fillings included. A sentence that is too long for the model is seen through a window around the word.
    """

    def __init__(
        self,
        name: str,
        model: PreTrainedModel,
        tokenizer: Any,
        *,
        weights: str,
        batch_tokens: int | None = None,
        loading: LoadingNotes = NOTHING_FOUND,
    ) -> None:
        """`weights` identifies the weights: a hash, or a revision of the hub's. `loading` is what reading them found.

        Raises UserError for a tokenizer without a mask, or one that does not give the characters of a token.
        """
        self.loading = loading
        if tokenizer.mask_token_id is None:
            raise UserError(f"proposer {name!r}: its tokenizer has no mask token, so it is not a masked language model")
        if not tokenizer.is_fast:
            raise UserError(
                f"proposer {name!r}: {type(tokenizer).__name__} does not give the characters of a token; "
                "a fast tokenizer (tokenizer.json) is needed"
            )
        self._name = name
        self.model = model.eval()  # type: ignore[no-untyped-call]
        self.tokenizer = tokenizer
        self.vocabulary = Vocabulary(tokenizer, int(model.config.get_text_config().vocab_size))
        on_cpu = model.device.type == "cpu"
        self.budget = Budget(batch_tokens or (CPU_BATCH_TOKENS if on_cpu else CUDA_BATCH_TOKENS))
        self.longest = longest_sequence(model, tokenizer)
        self.n_tokens_run = 0
        self._words = {form: torch.from_numpy(self.vocabulary.whole_words(form)) for form in (False, True)}
        self._fingerprint = digest(
            {
                "weights": weights,
                "dtype": str(model.dtype).removeprefix("torch."),
                "device": model.device.type,
                "tokenizer": digest(tokenizer_state(tokenizer)),
                "proposer": f"masked/{VERSION}",
            },
            length=32,
        )

    @property
    def name(self) -> str:
        """The model as the user spelt it."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """Digest of weights, dtype, device and tokenizer: equal digests give equal proposals."""
        return self._fingerprint

    def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
        """Raises UserError where the model's probabilities are not numbers."""
        encoded = self._encode(list(dict.fromkeys(slot.text for slot in slots)))
        waiting: dict[_Masked, list[tuple[int, int]]] = {}
        for index, slot in enumerate(slots):
            sentence = encoded[slot.text]
            place = self._place(sentence, slot)
            if place is None:
                yield index, NOTHING
            else:
                masked = self._masked(sentence, place)
                waiting.setdefault(masked, []).append((index, sentence.tokens[place]))
        distinct = list(waiting)
        for number, row in self.budget.each(
            len(distinct), planning_the_rest(lambda some: self._run([distinct[i] for i in some]))
        ):
            for index, token in waiting[distinct[number]]:
                yield index, self._proposal(row, token, slots[index].word, top)

    def _encode(self, texts: list[str]) -> dict[str, _Encoded]:
        if not texts:
            return {}
        found = self.tokenizer(texts, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False)
        encoded = {}
        for row, text in enumerate(texts):
            special = found["special_tokens_mask"][row]
            plain = [place for place, is_special in enumerate(special) if not is_special] or [len(special)]
            encoded[text] = _Encoded(
                tuple(found["input_ids"][row]),
                tuple(found["offset_mapping"][row]),
                before=plain[0],
                after=max(0, len(special) - 1 - plain[-1]),
            )
        return encoded

    def _place(self, sentence: _Encoded, slot: Slot) -> int | None:
        """Where the one token stands that is the slot's word; None where the word is split, unknown or part of one."""
        if not stands_alone(slot.text, slot.start, slot.stop):
            return None
        touching = [place for place, (a, b) in enumerate(sentence.spans) if a < slot.stop and b > slot.start]
        if len(touching) != 1:
            return None
        place = touching[0]
        token, (a, b) = sentence.tokens[place], sentence.spans[place]
        # A token may have the space before it among its characters, but nothing other than the word.
        if slot.text[a : slot.start].strip() or b != slot.stop or a > slot.start:
            return None
        if self.vocabulary.is_special(token) or self.vocabulary.is_unfinished(token):
            return None
        split_from_space = not self.vocabulary.form(token) and place and self._is_bare_space(sentence, place - 1)
        return None if split_from_space else place

    def _is_bare_space(self, sentence: _Encoded, place: int) -> bool:
        return place >= sentence.before and self.vocabulary.is_bare_space(sentence.tokens[place])

    def _masked(self, sentence: _Encoded, place: int) -> _Masked:
        tokens = list(sentence.tokens)
        tokens[place] = int(self.tokenizer.mask_token_id)
        if len(tokens) <= self.longest:
            return _Masked(tuple(tokens), place)
        end = len(tokens) - sentence.after
        room = self.longest - sentence.before - sentence.after
        first = max(sentence.before, min(place - room // 2, end - room))
        window = (*tokens[: sentence.before], *tokens[first : first + room], *tokens[end:])
        return _Masked(window, sentence.before + place - first)

    def _run(self, sentences: Sequence[_Masked]) -> Iterator[tuple[int, torch.Tensor]]:
        """(place in `sentences`, probabilities [vocabulary]) for each. Batches hold sentences of one length."""

        def length(number: int) -> int:
            return len(sentences[number].tokens)

        # Longest first: a batch that does not fit shows at the start.
        for width, same in groupby(sorted(range(len(sentences)), key=length, reverse=True), length):
            numbers = list(same)
            rows = max(1, min(self.budget.batch_tokens // width, rows_that_fit(self.model)))
            for start in range(0, len(numbers), rows):
                batch = numbers[start : start + rows]
                yield from zip(batch, self._pass([sentences[number] for number in batch], rows), strict=False)

    @torch.inference_mode()
    def _pass(self, batch: Sequence[_Masked], rows: int) -> torch.Tensor:
        """Probabilities [rows, vocabulary], float32; rows past the batch repeat its last sentence.

        The rows of a pass depend on the sentences' length alone, never on how many are asked: matrix products of
        another size round differently, and near ties of P(r) and P(o) would move with the company a sentence is in.
        """
        filled = [*batch, *[batch[-1]] * (rows - len(batch))]
        width = len(batch[0].tokens)
        device = self.model.device
        tokens = torch.tensor([sentence.tokens for sentence in filled], device=device)
        places = torch.tensor([row * width + sentence.place for row, sentence in enumerate(filled)], device=device)
        with only_places(self.model, places):
            logits = self.model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits[0]
        self.n_tokens_run += tokens.numel()
        return torch.softmax(logits.float(), dim=-1).cpu()

    def _proposal(self, probabilities: torch.Tensor, token: int, word: str, top: int) -> Proposal:
        original = float(probabilities[token])
        if original != original:
            raise UserError(f"proposer {self.name!r} gives probabilities that are not numbers; use another model")
        allowed = self._words[self.vocabulary.form(token)]
        open_to = probabilities.masked_fill(~allowed, -1.0)
        open_to[token] = -1.0
        values, numbers = open_to.topk(min(top, int(allowed.sum()) - bool(allowed[token])))
        words = [self.vocabulary.words[number] for number in numbers.tolist()]
        # A vocabulary without capitals has nothing to say of them: they are the original's.
        like = casing(word) if self.vocabulary.folds_case else "lower"
        if like != "lower":
            words = [cased(candidate, like) for candidate in words]
        return Proposal(original, tuple(map(Candidate, words, values.tolist())))
