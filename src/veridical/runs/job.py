"""Everything that one model is asked, prepared a window of asks at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from veridical.errors import UserError
from veridical.items import Suite
from veridical.models.protocol import GenerationSettings, LanguageModel, Request
from veridical.progress import Progress
from veridical.runs.asks import Ask
from veridical.runs.plan import Plan, query

WINDOW = 4_096
"""Asks that are prepared, recorded and answered together.

Batches are made within a window, and windows are counted from the first ask of the job, so that a run that goes on
makes the batches that it would have made. It is large enough for shared prefixes and sorting by length to pay, and
small enough for the token ids of long prompts with examples to fit into memory.
"""

Prepared = tuple[Ask, Request, str]
"""An ask, its request and the request's key."""


@dataclass(frozen=True)
class Job:
    """What a model is asked. Only one window of it is held as requests at any time.

    Made by `begin`, which prepares the first window, and the first ask of every suite, prompt, input and mode.
    """

    model: LanguageModel
    plans: Sequence[Plan]
    settings: GenerationSettings
    first: tuple[Prepared, ...]

    @classmethod
    def begin(
        cls, model: LanguageModel, plans: Sequence[Plan], settings: GenerationSettings, progress: Progress
    ) -> Job:
        """The job, tried: no forward pass, and nothing is written.

        Raises UserError where one of the asks that are tried cannot be put to this model.
        """
        window = list(islice(_asks(plans), WINDOW))
        tried = set(window)
        others = [ask for plan in plans for ask in plan.asks.firsts() if ask not in tried]
        fingerprint, suites = model.fingerprint.digest, _suites(plans)
        with progress.steps("preparing", len(window) + len(others)) as step:
            first = []
            for ask in window:
                first.append(_prepared(model, fingerprint, suites[ask.suite], ask, settings))
                step()
            for ask in others:
                _prepared(model, fingerprint, suites[ask.suite], ask, settings)
                step()
        return cls(model, plans, settings, tuple(first))

    @property
    def window_size(self) -> int:
        """Asks in a window, but for the last."""
        return WINDOW

    def __len__(self) -> int:
        return sum(len(plan.asks) for plan in self.plans)

    def windows(self) -> Iterator[list[Ask]]:
        """The asks, `WINDOW` at a time."""
        asks = _asks(self.plans)
        while window := list(islice(asks, WINDOW)):
            yield window

    def prepared(self, window: Sequence[Ask]) -> Sequence[Prepared]:
        """The requests of a window and their keys. Raises UserError where an ask cannot be put to this model."""
        if self.first and window[0] == self.first[0][0]:
            return self.first
        return prepare(self.model, self.plans, window, self.settings)


def prepare(
    model: LanguageModel, plans: Sequence[Plan], asks: Iterable[Ask], settings: GenerationSettings
) -> list[Prepared]:
    """Asks of these plans as this model sees them, with their keys. No forward pass, and nothing is written.

    Raises UserError where an ask cannot be put to this model.
    """
    fingerprint, suites = model.fingerprint.digest, _suites(plans)
    return [_prepared(model, fingerprint, suites[ask.suite], ask, settings) for ask in asks]


def _asks(plans: Sequence[Plan]) -> Iterator[Ask]:
    return chain.from_iterable(plan.asks for plan in plans)


def _suites(plans: Sequence[Plan]) -> dict[str, Suite]:
    return {plan.suite.name: plan.suite for plan in plans}


def _prepared(model: LanguageModel, fingerprint: str, suite: Suite, ask: Ask, settings: GenerationSettings) -> Prepared:
    put = query(suite, ask)
    request = model.prepare(put, settings if ask.mode == "generate" else None)
    if suite.normalisation == "unconditional" and put.unconditional and not request.unconditional:
        raise UserError(
            f"model {model.name!r} gives no scores without context, which suite {suite.name!r} "
            "needs (its normalisation is 'unconditional'): ask another suite, or another model"
        )
    return ask, request, request.key(fingerprint, ask.repeat)
