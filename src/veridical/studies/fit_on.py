"""Which suite readouts are fitted on and how it is asked, and the modes of answers that they are set against."""

from __future__ import annotations

from pathlib import Path

from veridical.errors import UserError
from veridical.items import Suite
from veridical.suites.registry import load

FITTED_ON = {"evidence": "evidence-development"}
"""Suites that have another one to fit on; every other suite is cross-fitted in folds of whole sets."""

READOUT_MODES = ("loglikelihood", "generate")
"""Modes of the answers that a readout can be set against; the first is the default."""


def fitted_on(given: str | Suite, asked: Suite, fit_on: str | Path | Suite | None, prompt: str) -> Suite | None:
    """The suite on which readouts of `asked` are fitted; None where it is cross-fitted.

    `fit_on` is a suite, a file of one, or the name of a built-in one. It is asked with the prompt and the inputs of
    `asked`, whatever it has of its own, so that states of the two are of one kind.

    Raises UserError where the two have a name or items in common, or share no field.
    """
    if fit_on is None:
        return _built_in(given, asked)
    found = fit_on if isinstance(fit_on, Suite) else load(fit_on)
    if found.name == asked.name:
        raise UserError(
            f"--fit-on: both suites are named {asked.name!r}; rename the one to fit on (first line of its file)"
        )
    if both := set(found.by_id) & set(asked.by_id):
        raise UserError(
            f"--fit-on: {len(both)} items of {found.name!r} are items of {asked.name!r} too: a readout would be judged "
            "on what it was fitted to; leave them out of one of the two"
        )
    lacking = sorted({name for item in asked.items for name in item.fields} - _fields(found))
    if lacking:
        raise UserError(
            f"--fit-on: the items of {found.name!r} have no field {lacking[0]!r}, which those of {asked.name!r} have: "
            "the two cannot be asked alike"
        )
    parts = {name: getattr(found, name) for name in Suite.model_fields}
    asked_with = tuple(one for one in asked.prompts if one.name == prompt)
    # Built anew, not copied: a copy would carry the cached content hash.
    return Suite(**{**parts, "prompts": asked_with, "inputs": asked.inputs})


def _built_in(given: str | Suite, asked: Suite) -> Suite | None:
    """The built-in suite to fit on; a file of the same name is not a built-in suite."""
    if asked.name not in FITTED_ON or (isinstance(given, str) and given != asked.name):
        return None
    fitted = load(FITTED_ON[asked.name])
    alike = dict(fitted.inputs) == dict(asked.inputs) and fitted.labels == asked.labels
    return fitted if alike else None


def _fields(suite: Suite) -> set[str]:
    """The fields that every item of a suite has."""
    return set.intersection(*(set(item.fields) for item in suite.items)) if suite.items else set()
