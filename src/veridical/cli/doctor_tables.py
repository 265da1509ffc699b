"""What the probes of a model found, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from veridical.report.texts import bounds, estimate, level

if TYPE_CHECKING:
    from veridical.engine.probes import Probes
    from veridical.studies.dtypes import DtypeAgreement

EXACT = 1e-4
"""Nats for a short continuation below which two ways to compute a log-likelihood count as the same (our choice)."""


class Diagnosis(NamedTuple):
    """What was tried, what came out, and what it means."""

    probe: str
    found: str
    meaning: str


def findings(probes: Probes) -> list[Diagnosis]:
    """A line for each probe."""
    return [*_numbers(probes), _sharing(probes), *_batches(probes), *_greedy(probes), _near_ties(probes)]


def _numbers(probes: Probes) -> list[Diagnosis]:
    if not probes.non_finite:
        return []
    found = f"not numbers for {probes.non_finite} of {probes.n_choices} next tokens"
    return [Diagnosis("logits", found, "broken weights, or a dtype too small for them: trust neither scores nor texts")]


def _sharing(probes: Probes) -> Diagnosis:
    if probes.path == "plain":
        return Diagnosis("shared prefixes", f"not shared: {probes.reason}", "every question runs in full: slower")
    return Diagnosis(
        "shared prefixes",
        f"move a log-likelihood by {_nats(probes.sharing_error)}",
        _exact(probes.sharing_error, "what questions share is computed once"),
    )


def _batches(probes: Probes) -> list[Diagnosis]:
    found = [("alone or in a padded batch", probes.plain_batch_error)]
    if probes.path == "packed":
        found.append(("small or large batches", probes.packed_batch_error))
    return [
        Diagnosis(name, f"moves a log-likelihood by {_nats(error)}", _exact(error, "batches do not decide an answer"))
        for name, error in found
    ]


def _greedy(probes: Probes) -> list[Diagnosis]:
    same, n = probes.greedy_batch_invariant, probes.n_prompts
    return [
        Diagnosis(
            "greedy text, twice",
            "the same" if probes.greedy_repeats else "not the same",
            "generating can be repeated" if probes.greedy_repeats else "generating cannot be repeated to the letter",
        ),
        Diagnosis(
            "greedy text, alone or together",
            f"the same for {same} of {n} prompts",
            "batches do not decide a text" if same == n else "a text depends on what is generated in the same batch",
        ),
    ]


def _near_ties(probes: Probes) -> Diagnosis:
    return Diagnosis(
        "near ties",
        f"{probes.near_ties} of {probes.n_choices} next tokens",
        "none in this sample" if not probes.near_ties else "another machine or batch may choose the other token",
    )


def dtype_finding(dtype: str, found: DtypeAgreement) -> Diagnosis:
    """What computing in `dtype` does to the labels that float32 gives."""
    measure, (here, there) = found.measure, found.near_ties
    if measure is None:
        return Diagnosis(
            "labels as in float32",
            "not compared",
            f"all {found.n_too_long} questions of the sample are too long for it",
        )
    rate = " ".join(filter(None, (estimate(measure), bounds(measure))))
    return Diagnosis(
        "labels as in float32",
        f"{rate} of {measure.n_items} items in {measure.n_sets} sets"
        + (f" ({found.n_too_long} too long to be asked)" if found.n_too_long else ""),
        f"{level(measure)} interval ({measure.interval}); near ties: {here} in {dtype}, {there} in float32",
    )


def _nats(error: float | None) -> str:
    if error is None:
        return "unknown: it is not a number"
    return "nothing" if error == 0 else f"{error:.2g} nats at most"


def _exact(error: float | None, good: str) -> str:
    if error is not None and error <= EXACT:
        return f"exact: {good}"
    return "choices that are closer than this may go either way" if error is not None else "do not trust its scores"
