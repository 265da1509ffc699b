"""Hugging Face models that score and write text, and GGUF files, on the engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from transformers import PreTrainedModel

from veridical.digests import digest
from veridical.engine.engine import Engine
from veridical.engine.generation import Generated
from veridical.engine.hidden import HiddenStates, blocks
from veridical.engine.memory import TooLargeError
from veridical.engine.passes import Pass
from veridical.engine.placement import device_kinds
from veridical.engine.probes import NEW_TOKENS, TEXTS, Probes, probe
from veridical.errors import UserError
from veridical.items import Mode
from veridical.models.channels import channel_tokens
from veridical.models.checkpoint import check_ids, config_state, longest_sequence, tokenizer_state
from veridical.models.distinct import limited, scoring_passes, waiting_for, writing_passes
from veridical.models.endings import settle_start, stop_tokens
from veridical.models.outcomes import bare, scored
from veridical.models.protocol import (
    LANGUAGE_MODES,
    NOTHING_FOUND,
    THINKING_OPEN,
    Fingerprint,
    GenerationSettings,
    LoadingNotes,
    Outcome,
    Query,
    Request,
    RequestedStates,
    TokenSequence,
)
from veridical.models.tokens import SeparateEncoder, TextEncoder
from veridical.prompts.channels import said
from veridical.prompts.chat import Rendered, joined, render
from veridical.status import Status

_OUT_OF_MEMORY = Outcome(Status.ERROR, detail="does not fit into memory, alone in a pass")


class HuggingFaceModel:
    """A causal language model, or an encoder-decoder, with local weights. See `LanguageModel` for what it does."""

    modes: tuple[Mode, ...] = LANGUAGE_MODES

    def __init__(
        self,
        name: str,
        model: PreTrainedModel,
        tokenizer: Any,
        *,
        weights: str,
        batch_tokens: int | None = None,
        template_args: Mapping[str, object] | None = None,
        loading: LoadingNotes = NOTHING_FOUND,
    ) -> None:
        """`weights` identifies the weights: a hash, or a revision of the hub's. `loading` is what reading them found.

        Raises UserError where model and tokenizer do not fit each other, or a decoder has no token to begin with.
        """
        self.name = name
        self.loading = loading
        self._template_args = dict(template_args or {})
        self._two_sided = bool(model.config.is_encoder_decoder)
        self.encoder = SeparateEncoder(tokenizer) if self._two_sided else TextEncoder(tokenizer)
        self._unknown = check_ids(name, model, tokenizer)
        if self._two_sided:
            settle_start(name, model)
        self._channels = channel_tokens(tokenizer)
        # Harmony's <|end|> ends a message; the answer is in a later one.
        stop = stop_tokens(model, tokenizer, self._template_args) - self._channels.message_ends
        self.engine = Engine(model, stop=stop, batch_tokens=batch_tokens)
        self.longest = longest_sequence(model, tokenizer)
        self.fingerprint = Fingerprint(
            {
                "weights": weights,
                "dtype": str(model.dtype).removeprefix("torch."),
                "device": device_kinds(model),
                "tokenizer": digest(tokenizer_state(tokenizer)),
                "template": digest([tokenizer.chat_template, self._template_args]),
                "join": self.encoder.join_policy,
                "config": digest(config_state(model)),
                "stop": digest(sorted(self.engine.stop)),
                "longest": str(self.longest),
                "engine": self.engine.name,
            }
        )

    @property
    def template_args(self) -> Mapping[str, object]:
        """Arguments of the chat template other than the turns."""
        return self._template_args

    @property
    def n_parameters(self) -> int | None:
        """Number of parameters, None where it is not known."""
        return int(self.engine.model.num_parameters())

    def thinks(self, tokens: Sequence[int]) -> bool:
        """Whether generated tokens hold thinking, by the markers that `prompts.channels` lists."""
        text = self._channels.text(tokens, self.encoder.decode)
        return said(text) != (text, False)

    def probe(self) -> Probes:
        """Try how far the answers depend on batches and repetition here: a second or two on a small model."""
        new_tokens = min(NEW_TOKENS, self.longest - 1)
        prompts = [self.encoder.context(Rendered(text))[: self.longest - new_tokens] for text in TEXTS]
        prompts = prompts if new_tokens else []
        return probe(self.engine, [prompt for prompt in prompts if prompt], new_tokens)

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        """Render and tokenise. Notes: what the chat template needed, and the path that the engine takes."""
        if query.classes:
            raise UserError(f"model {self.name!r} is not a sequence classifier: it has no classes to choose from")
        rendered = [render(context, self.encoder.tokenizer, self._template_args) for context in query.contexts]
        notes = tuple(dict.fromkeys(note for one in rendered for note in one.notes))
        if any(one.opens_thinking for one in rendered):
            notes = (*notes, THINKING_OPEN)
        if not query.continuations:
            context = TokenSequence(self.encoder.context(rendered[0]))
            return self._known(Request((context,), settings=settings or GenerationSettings(), notes=notes))
        contexts = rendered if len(rendered) > 1 else rendered * len(query.continuations)
        given = zip(contexts, query.continuations, strict=True)
        pairs = [(*joined(context, text, query.delimiter), text) for context, text in given]
        sequences = tuple(self.encoder.sequence(context, join, text) for context, join, text in pairs)
        alone = (
            self.encoder.unconditional(sequence, text, join)
            for sequence, (_, join, text) in zip(sequences, pairs, strict=True)
        )
        return self._known(Request(sequences, tuple(alone) if query.unconditional else (), notes=notes))

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """(position in `requests`, outcome) for each: first those refused, then scored, then generated."""
        requests = list(requests)
        return self.answer_some(requests, range(len(requests)))

    def answer_some(self, requests: Sequence[Request], wanted: Collection[int]) -> Iterator[tuple[int, Outcome]]:
        """As `answer`, for the wanted positions alone, in the batches of answering all."""
        chosen = set(wanted)
        runnable: list[int] = []
        for index, request in enumerate(requests):
            refused = self._refuse(request)
            if refused is None:
                runnable.append(index)
            elif index in chosen:
                yield index, refused
        yield from self._score(requests, [index for index in runnable if requests[index].scores_choices], chosen)
        yield from self._generate(requests, [i for i in runnable if not requests[i].scores_choices], chosen)

    def passes(self, requests: Sequence[Request]) -> list[Pass]:
        """What would run together, were all of these requests answered; each is a place of one pass."""
        refused = tuple(index for index, request in enumerate(requests) if self._refuse(request))
        runnable = set(range(len(requests))).difference(refused)
        scoring = [index for index in sorted(runnable) if requests[index].scores_choices]
        writing = limited(requests, sorted(runnable.difference(scoring)), self._room)
        return [
            Pass(0, refused),
            *scoring_passes(self.engine, requests, scoring),
            *writing_passes(self.engine, writing),
        ]

    @cached_property
    def n_blocks(self) -> int:
        """Raises UserError where hidden states cannot be read: found by reading those of one token."""
        if self._two_sided:
            raise UserError(
                f"model {self.name!r} is an encoder-decoder: no position of it has read question and answer"
            )
        try:
            count = len(blocks(self.engine.model))
            self.engine.hidden_states([(0,)], (0, count))
        except (ValueError, AttributeError, TypeError) as error:
            raise UserError(
                f"model {self.name!r}: hidden states of a {type(self.engine.model).__name__} cannot be read, which has "
                "no plain stack of blocks; its answers can be had without them"
            ) from error
        return count

    def answer_and_read(
        self, requests: Sequence[Request], reading: RequestedStates, wanted: Collection[int] | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """As `answer`, or `answer_some` where some are `wanted`, and fill in `reading.states`.

        Raises ValueError for requests that generate, UserError for a model whose hidden states cannot be read.
        """
        chosen = set(range(len(requests)) if wanted is None else wanted)
        _ = self.n_blocks  # refuses a model that cannot be read
        if any(not request.scores_choices for request in requests):
            raise ValueError("hidden states are read where choices are scored")
        refused = {index: outcome for index, request in enumerate(requests) if (outcome := self._refuse(request))}
        yield from ((index, outcome) for index, outcome in refused.items() if index in chosen)
        runnable = [index for index in range(len(requests)) if index not in refused]
        yield from self._score(requests, runnable, chosen, reading)

    def read_spans(
        self, texts: Sequence[str], spans: Sequence[tuple[int, int]], layers: Sequence[int]
    ) -> npt.NDArray[np.float32]:
        """Mean state of each span's tokens, [texts, layers, width]. Raises UserError for an encoder-decoder and for a
        text that is too long."""
        if self._two_sided:
            raise UserError(f"model {self.name!r} is an encoder-decoder: phrases are read of models that see one text")
        _ = self.n_blocks  # refuses a model that cannot be read
        found = [self.encoder.span(text, *span) for text, span in zip(texts, spans, strict=True)]
        for text, (ids, _) in zip(texts, found, strict=True):
            if len(ids) > self.longest:
                raise UserError(
                    f"a text of {len(ids)} tokens is too long for model {self.name!r}, which takes {self.longest}: "
                    f"it begins {text[:60]!r}"
                )
        hidden = HiddenStates(self.engine.model, tuple(layers), [span for _, span in found])
        for _ in self.engine.score([TokenSequence(ids) for ids, _ in found], hidden):
            pass
        return hidden.states

    def _known(self, request: Request) -> Request:
        """Raises UserError for a text with a special token that the model has no embedding of."""
        for sequence in (*request.sequences, *request.unconditional) if self._unknown else ():
            if odd := self._unknown.intersection(sequence.context + sequence.continuation):
                token = self.encoder.tokenizer.convert_ids_to_tokens(min(odd))
                raise UserError(
                    f"model {self.name!r} has no embedding of the special token {token!r}, which a text holds"
                )
        return request

    def _refuse(self, request: Request) -> Outcome | None:
        sequences = (*request.sequences, *request.unconditional)
        if any(not sequence.context for sequence in sequences):
            return Outcome(Status.EMPTY, detail="no token to begin from")
        if request.scores_choices and any(not sequence.continuation for sequence in sequences):
            return Outcome(Status.EMPTY, detail="a choice without a token of its own")
        if self._two_sided:
            # Each side has its own places.
            longest = max(max(len(sequence.context), len(sequence.continuation)) for sequence in sequences)
            fits = longest <= self.longest
        else:
            longest = max(len(sequence.context) + len(sequence.continuation) for sequence in sequences)
            # A continuation's last token is scored but never run; a generated answer needs room for a token.
            fits = longest - request.scores_choices < self.longest + request.scores_choices
        if not fits:
            return Outcome(Status.TOO_LONG, detail=f"{longest} tokens; the model takes {self.longest}")
        return None

    def _score(
        self,
        requests: Sequence[Request],
        indices: Sequence[int],
        chosen: set[int],
        reading: RequestedStates | None = None,
    ) -> Iterator[tuple[int, Outcome]]:
        """Equal sequences of all requests run once; a chosen request is answered when its last sequence is."""
        waiting, missing = waiting_for(requests, indices)
        distinct = list(waiting)
        wanted = [place for place, one in enumerate(distinct) if not chosen.isdisjoint(waiting[one])]
        sums: dict[TokenSequence, float] = {}
        hidden = None if reading is None else self._hidden(requests, indices, distinct, reading)
        lost: set[int] = set()
        try:
            for place, value in self.engine.score(distinct, hidden, wanted):
                sums[distinct[place]] = value
                for index in waiting[distinct[place]]:
                    missing[index] -= 1
                    if missing[index] == 0 and index in chosen:
                        yield index, scored(requests[index], sums)
        except TooLargeError as error:
            lost = {index for place in error.places for index in waiting[distinct[place]] if index in chosen}
            yield from ((index, _OUT_OF_MEMORY) for index in sorted(lost))
        if reading is not None and hidden is not None:
            first = {sequence: place for place, sequence in enumerate(distinct)}
            reading.states = np.full((len(requests), *hidden.states.shape[1:]), np.nan, dtype=np.float32)
            for index in set(indices) & chosen - lost:
                reading.states[index] = hidden.states[first[bare(requests[index].sequences[0])]]

    def _hidden(
        self,
        requests: Sequence[Request],
        indices: Sequence[int],
        distinct: Sequence[TokenSequence],
        reading: RequestedStates,
    ) -> HiddenStates:
        """The last prompt token of each request's first sequence."""
        read = {bare(requests[index].sequences[0]) for index in indices}
        ends = [len(sequence.context) for sequence in distinct]
        spans = [(end - 1, end) if sequence in read else None for sequence, end in zip(distinct, ends, strict=True)]
        return HiddenStates(self.engine.model, reading.layers, spans)

    def _generate(
        self, requests: Sequence[Request], indices: Sequence[int], chosen: set[int]
    ) -> Iterator[tuple[int, Outcome]]:
        """Equal prompts with one limit run once. Near the end of the window a limit is what there is room for."""
        waiting = limited(requests, indices, self._room)
        distinct = list(waiting)
        prompts, limits = [prompt for prompt, _ in distinct], [limit for _, limit in distinct]
        wanted = [place for place, one in enumerate(distinct) if not chosen.isdisjoint(waiting[one])]
        try:
            for place, generated in self.engine.generate(prompts, limits, wanted):
                outcome = self._written(generated)
                yield from ((index, outcome) for index in waiting[distinct[place]] if index in chosen)
        except TooLargeError as error:
            for place in error.places:
                yield from ((index, _OUT_OF_MEMORY) for index in waiting[distinct[place]] if index in chosen)

    def _room(self, prompt: tuple[int, ...]) -> int:
        """How many tokens can be generated after a prompt."""
        return self.longest - (0 if self._two_sided else len(prompt))

    def _written(self, generated: Generated) -> Outcome:
        text, n_tokens = self._channels.text(generated.tokens, self.encoder.decode), len(generated.tokens)
        if generated.finish == "non_finite":
            detail = f"logits that are not numbers after {n_tokens} tokens"
            return Outcome(Status.NON_FINITE, text=text, n_tokens=n_tokens, detail=detail)
        return Outcome(Status.OK, text=text, n_tokens=n_tokens, finish=generated.finish)
