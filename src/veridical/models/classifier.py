"""Sequence classifiers (natural language inference and its like): labels by the names of classes."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import Any

import torch
from transformers import PreTrainedModel

from veridical.digests import digest
from veridical.engine.engine import default_batch_tokens
from veridical.engine.memory import Budget
from veridical.engine.passes import Pass, of_batches
from veridical.engine.placement import device_kinds, input_device
from veridical.errors import UserError
from veridical.items import Mode
from veridical.models.checkpoint import check_ids, config_state, longest_sequence, tokenizer_state
from veridical.models.protocol import (
    CLASSIFIER_MODES,
    NOTHING_FOUND,
    ChoiceScore,
    Fingerprint,
    GenerationSettings,
    LoadingNotes,
    Outcome,
    Query,
    Request,
    TokenSequence,
)
from veridical.prompts.template import TextPair
from veridical.status import Status

VERSION = "1"
"""Part of every request's key: raised when a change here can move a score."""

_NO_TOKEN = -1
_NO_NAME = re.compile("LABEL_[0-9]+")

EncodedPair = tuple[tuple[int, ...], tuple[int, ...]]
"""Token ids, and which text each is of (empty where the tokenizer does not say)."""


class SequenceClassifier:
    """A classifier of pairs of texts with local weights. See `veridical.models.protocol.LanguageModel`.

    The score of a choice is the log-softmax, over all classes and in float32, of the class that has one of the
    choice's names. Nothing is padded: a batch holds pairs of one length.
    """

    modes: tuple[Mode, ...] = CLASSIFIER_MODES

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

        Raises UserError where model and tokenizer, or the names of the classes and the classes, do not fit each other.
        """
        check_ids(name, model, tokenizer)
        self.name = name
        self.loading = loading
        self.model = model.eval()  # type: ignore[no-untyped-call]
        self.tokenizer = tokenizer
        self.budget = Budget(batch_tokens or default_batch_tokens(model))
        self.class_names = {int(number): str(label) for number, label in (model.config.id2label or {}).items()}
        self.longest = longest_sequence(model, tokenizer)
        self.n_tokens_run = 0
        self._segmented = "token_type_ids" in inspect.signature(model.forward).parameters
        self._ends_with_padding = _ends_with_padding(model, tokenizer)
        n_classes = self._check_classes()
        self._check_names()
        self.loading = replace(loading, remarks=(*loading.remarks, *self._unnamed(n_classes)))
        self.fingerprint = Fingerprint(
            {
                "weights": weights,
                "dtype": str(model.dtype).removeprefix("torch."),
                "device": device_kinds(model),
                "tokenizer": digest(tokenizer_state(tokenizer)),
                "classes": digest(sorted(self.class_names.items())),
                "config": digest(config_state(model)),
                "longest": str(self.longest),
                "engine": f"classifier/{VERSION}",
            }
        )

    @property
    def n_parameters(self) -> int | None:
        """Number of parameters, None where it is not known."""
        return int(self.model.num_parameters())

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        """Raises UserError for a query that is not a pair of texts, and where a choice has not exactly one class."""
        pair = query.contexts[0]
        if not isinstance(pair, TextPair) or not query.classes:
            raise UserError(f"model {self.name!r} is a sequence classifier: ask it with --mode classify")
        tokens, segments = self._encoded(pair)
        return Request(
            tuple(TokenSequence(tokens, (number,), segments=segments) for number in self._numbers(query.classes))
        )

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """Log-probabilities of the classes for each request; requests with equal tokens are computed once."""
        requests = list(requests)
        return self.answer_some(requests, range(len(requests)))

    def answer_some(self, requests: Sequence[Request], wanted: Collection[int]) -> Iterator[tuple[int, Outcome]]:
        """As `answer`, for the wanted positions alone, in the batches of answering all."""
        chosen = set(wanted)
        waiting, refused = self._waiting(requests)
        yield from ((index, outcome) for index, outcome in refused.items() if index in chosen)
        pairs = list(waiting)
        missing = [place for place, pair in enumerate(pairs) if not chosen.isdisjoint(waiting[pair])]
        found = self.budget.each(
            len(pairs), lambda planned, places: self._scores([pairs[i] for i in planned], places), missing
        )
        for place, scores in found:
            yield from ((i, _scored(requests[i], scores)) for i in waiting[pairs[place]] if i in chosen)

    def passes(self, requests: Sequence[Request]) -> list[Pass]:
        """What would run together, were all of these requests answered; each is a place of one pass."""
        waiting, refused = self._waiting(requests)
        pairs = list(waiting)
        batches = of_batches(self._batches(pairs), [len(tokens) for tokens, _ in pairs])
        held = [tuple(index for place in one.places for index in waiting[pairs[place]]) for one in batches]
        return [Pass(0, tuple(refused)), *(Pass(b.n_tokens, one) for b, one in zip(batches, held, strict=True))]

    def _waiting(self, requests: Sequence[Request]) -> tuple[dict[EncodedPair, list[int]], dict[int, Outcome]]:
        """Each distinct pair to the requests that wait for it, and the outcomes of those that cannot run."""
        waiting: dict[EncodedPair, list[int]] = {}
        refused: dict[int, Outcome] = {}
        for index, request in enumerate(requests):
            tokens, segments = request.sequences[0].context, request.sequences[0].segments
            if not tokens:
                refused[index] = Outcome(Status.EMPTY, detail="no token to classify")
            elif len(tokens) > self.longest:
                refused[index] = Outcome(
                    Status.TOO_LONG, detail=f"{len(tokens)} tokens; the model takes {self.longest}"
                )
            else:
                waiting.setdefault((tokens, segments), []).append(index)
        return waiting, refused

    def _encoded(self, pair: TextPair) -> EncodedPair:
        # As a batch of one: a second text that is empty would otherwise count as none.
        encoded = self.tokenizer([pair.first], [pair.second], truncation=False)
        tokens = tuple(encoded["input_ids"][0])
        return tokens, tuple(encoded["token_type_ids"][0]) if self._segmented and "token_type_ids" in encoded else ()

    def _check_names(self) -> None:
        """Raise UserError where the configuration's two maps of names and classes contradict each other.

        Names of the form LABEL_0 are what is there where nobody gave any.
        """
        numbers: dict[str, int] = {}
        for number, label in sorted(self.class_names.items()):
            first = numbers.setdefault(label.casefold(), number)
            if first != number:
                raise UserError(
                    f"model {self.name!r}: the id2label of its config.json gives classes {first} and {number} one "
                    f"name, {label}; which of them is meant is not known: correct the wrong one"
                )
        for label, given in (self.model.config.label2id or {}).items():
            number, name = int(given), str(label)
            other = numbers.get(name.casefold(), number)
            known = self.class_names.get(number, name)
            if other == number and (known.casefold() == name.casefold() or _NO_NAME.fullmatch(name)):
                continue
            if other == number and _NO_NAME.fullmatch(known):
                continue
            there = known if other == number else f"{name} for class {other}"
            raise UserError(
                f"model {self.name!r}: its config.json contradicts itself: label2id has {name} for class {number}, "
                f"and id2label has {there}; which of them matches the weights is not known: correct the wrong one"
            )

    def _unnamed(self, n_classes: int) -> list[str]:
        """What to say of names that are there for some classes alone."""
        remarks = []
        if unnamed := [number for number in range(n_classes) if number not in self.class_names]:
            numbers = ", ".join(map(str, unnamed[:5]))
            remarks.append(
                f"the id2label of its config.json names {len(self.class_names)} of {n_classes} classes: none is "
                f"given for {numbers}"
            )
        given = {
            int(number)
            for name, number in (self.model.config.label2id or {}).items()
            if not _NO_NAME.fullmatch(str(name))
        }
        if given and (lacking := [label for number, label in sorted(self.class_names.items()) if number not in given]):
            remarks.append(
                f"the label2id of its config.json lacks {', '.join(lacking[:5])}, which id2label has: the names of "
                "id2label are taken"
            )
        return remarks

    def _check_classes(self) -> int:
        """The number of classes. Raises UserError for a name of one that the model does not put out."""
        ((_, scores),) = self._scores([self._encoded(TextPair("a", "b"))], {0})
        self.n_tokens_run = 0
        if beyond := [number for number in self.class_names if not 0 <= number < len(scores)]:
            raise UserError(
                f"model {self.name!r}: the id2label of its config.json names class {max(beyond)} "
                f"({self.class_names[max(beyond)]}), but the model has {len(scores)} classes, counted from 0"
            )
        return len(scores)

    def _numbers(self, classes: Sequence[Sequence[str]]) -> list[int]:
        """The number of each choice's class, found by name."""
        numbers = []
        for names in classes:
            known = {name.casefold() for name in names}
            found = [number for number, label in self.class_names.items() if label.casefold() in known]
            if len(found) != 1:
                raise UserError(self._unusable(classes, names, len(found)))
            numbers.extend(found)
        return numbers

    def _unusable(self, classes: Sequence[Sequence[str]], names: Sequence[str], n_found: int) -> str:
        holds = ", ".join(f"{number}: {label}" for number, label in sorted(self.class_names.items()))
        needs = "; ".join(" or ".join(names) for names in classes)
        return (
            f"model {self.name!r} has {'no class' if not n_found else f'{n_found} classes'} named "
            f"{' or '.join(names)}: the id2label of its config.json holds {holds}; one class is needed for each of: "
            f"{needs}"
        )

    @torch.inference_mode()
    def _scores(self, pairs: Sequence[EncodedPair], wanted: Collection[int]) -> Iterator[tuple[int, list[float]]]:
        """(place in `pairs`, log-softmax over the classes) for each wanted place."""
        for batch in self._batches(pairs):
            if not any(place in wanted for place in batch):
                continue
            inputs = {"input_ids": self._tensor([pairs[place][0] for place in batch])}
            inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
            if pairs[batch[0]][1]:
                inputs["token_type_ids"] = self._tensor([pairs[place][1] for place in batch])
            with self._nothing_is_padding():
                logits = self.model(**inputs).logits
            self.n_tokens_run += inputs["input_ids"].numel()
            found = zip(batch, torch.log_softmax(logits.float(), dim=-1).tolist(), strict=True)
            yield from ((place, scores) for place, scores in found if place in wanted)

    def _batches(self, pairs: Sequence[EncodedPair]) -> Iterator[list[int]]:
        """Places of pairs that run together: of one length, and alike in what else a pass must share."""
        end = self.model.config.eos_token_id

        def shape(place: int) -> tuple[int, bool, int]:
            tokens, segments = pairs[place]
            # BART's head takes the last end of text, and refuses a batch whose rows have not equally many.
            return len(tokens), bool(segments), tokens.count(end) if isinstance(end, int) else 0

        # Longest first: a batch that does not fit shows at the start.
        for (length, *_), same in groupby(sorted(range(len(pairs)), key=shape, reverse=True), shape):
            places = list(same)
            at_once = max(1, self.budget.batch_tokens // length)
            yield from (places[start : start + at_once] for start in range(0, len(places), at_once))

    @contextmanager
    def _nothing_is_padding(self) -> Iterator[None]:
        """Within this context the model takes no token of the texts for padding, even where pad = end of text.

        A causal classifier looks for the last token that is not the configured padding, and refuses batches where
        none is configured. Only where the tokenizer itself ends every text with that token is it left alone: what
        such a model was taught to read is the token before.
        """
        config = self.model.config.get_text_config()
        before = getattr(config, "pad_token_id", None)
        if not self._ends_with_padding:
            config.pad_token_id = _NO_TOKEN
        try:
            yield
        finally:
            config.pad_token_id = before

    def _tensor(self, rows: Sequence[tuple[int, ...]]) -> torch.Tensor:
        return torch.tensor(rows, dtype=torch.long, device=input_device(self.model))


def _ends_with_padding(model: PreTrainedModel, tokenizer: Any) -> bool:
    bare = tokenizer("a", "b", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a", "b")["input_ids"]
    padding = getattr(model.config.get_text_config(), "pad_token_id", None)
    return bool(whole) and whole[-1] == padding and whole[-1:] != bare[-1:]


def _scored(request: Request, scores: Sequence[float]) -> Outcome:
    chosen = tuple(ChoiceScore(scores[sequence.continuation[0]], 1, 1, 1) for sequence in request.sequences)
    finite = all(math.isfinite(score.total) for score in chosen)
    return Outcome(Status.OK if finite else Status.NON_FINITE, chosen)
