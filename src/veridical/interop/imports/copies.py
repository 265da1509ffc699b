"""Logs that are exact copies of one another."""

from __future__ import annotations

from collections.abc import Sequence

from veridical.interop.imports.logged import LoggedModel
from veridical.runs.provenance import LeftOut


def without_copies(models: Sequence[LoggedModel]) -> list[LoggedModel]:
    """The evaluations without those that repeat another of the same model; the one that is kept says which."""
    kept: list[LoggedModel] = []
    for model in models:
        first = next((other for other in kept if _is_copy(model, other)), None)
        if first is None:
            kept.append(model)
        else:
            first.left_out.append(LeftOut(what=model.where, reason=f"it repeats {first.where}"))
    return kept


def _is_copy(one: LoggedModel, other: LoggedModel) -> bool:
    alike = one.size == other.size > 0 and (one.harness, one.name) == (other.harness, other.name)
    names = [task.name for task in one.tasks] == [task.name for task in other.tasks]
    return alike and names and one.content() == other.content()
