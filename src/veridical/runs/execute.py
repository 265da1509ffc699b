"""Asking one model everything that its run still lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veridical.errors import UserError
from veridical.items import Status
from veridical.models.protocol import GenerationSettings, LanguageModel, Outcome, Request
from veridical.runs.plan import Ask, Plan, query
from veridical.runs.progress import Progress
from veridical.runs.store import RunStore


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of a run's asks: counts of distinct requests, and what the first failure said."""

    n_asks: int
    n_stored: int
    n_answered: int
    n_failed: int
    first_failure: str = ""


Prepared = tuple[Ask, Request, str]
"""An ask, its request and the request's key."""


def prepare(
    model: LanguageModel, plans: Sequence[Plan], settings: GenerationSettings, progress: Progress
) -> list[Prepared]:
    """Every ask as this model sees it, with its key. No forward pass, and nothing is written.

    Raises UserError where an ask cannot be put to this model.
    """
    fingerprint = model.fingerprint.digest
    prepared: list[Prepared] = []
    with progress.steps("preparing", sum(len(plan.asks) for plan in plans)) as step:
        for plan in plans:
            for ask in plan.asks:
                put = query(plan.suite, ask)
                request = model.prepare(put, settings if ask.mode == "generate" else None)
                if put.unconditional and not request.unconditional:
                    raise UserError(
                        f"model {model.name!r} gives no scores without context, which suite {plan.suite.name!r} "
                        "needs (its normalisation is 'unconditional'): ask another suite, or another model"
                    )
                prepared.append((ask, request, request.key(fingerprint, ask.repeat)))
                step()
    return prepared


def execute(model: LanguageModel, store: RunStore, prepared: Sequence[Prepared], progress: Progress) -> Tally:
    """Ask what is not stored yet, equal requests once, and store the answers as they come.

    Whatever ends it early (an interrupt, an error), the answers that came are stored first.
    """
    store.add_requests(prepared)
    answered = store.answered()
    distinct = {key: request for _, request, key in prepared}
    missing = {key: request for key, request in distinct.items() if key not in answered}
    keys = list(missing)
    failures: dict[str, str] = {}
    try:
        with progress.steps(f"asking {model.name}", len(keys)) as step:
            # A model need not cope with nothing to do.
            for position, outcome in model.answer(list(missing.values())) if missing else ():
                if fault := _fault(missing[keys[position]], outcome):
                    failures[keys[position]] = fault
                else:
                    store.add(keys[position], outcome)
                step()
    finally:
        store.flush()
    return Tally(
        n_asks=len(prepared),
        n_stored=len(distinct) - len(missing),
        n_answered=len(missing) - len(failures),
        n_failed=len(failures),
        first_failure=next(iter(failures.values()), ""),
    )


def _fault(request: Request, outcome: Outcome) -> str:
    """Why an outcome is no answer to its request; empty where it is one."""
    if outcome.status is Status.ERROR:
        return outcome.detail or "no reason was given"
    if request.unconditional and any(score.unconditional is None for score in outcome.scores):
        return "the scores without context are missing"
    return ""
