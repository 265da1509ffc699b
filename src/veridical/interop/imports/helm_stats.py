"""HELM's statistics: those of a whole run, and those of single instances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from veridical.interop.imports.answer import as_number, listed
from veridical.interop.imports.logged import Reported

BOOKKEEPING = (
    "num_",
    "training_",
    "inference_",
    "batch_size",
    "finish_reason",
    "prompt_truncated",
    "max_prob",
    "logprob",
    "perplexity",
    "bits_per_byte",
    "predicted_index",
)

StatKey = tuple[str, int, str]
"""Instance, trial, perturbation."""


def reported_of(stats: Sequence[Any]) -> list[Reported]:
    """(metric, part, mean) of every statistic of one prompt; HELM's summaries over perturbations are left out."""
    found: list[Reported] = []
    for stat in stats:
        named = _stat_name(stat) if isinstance(stat, dict) and not _worst(stat) else None
        if named and (mean := as_number(stat.get("mean"))) is not None:
            found.append((named[0], named[1], mean))
    return found


def _worst(stat: Mapping[str, Any]) -> bool:
    """Whether a statistic is HELM's summary over perturbations (robustness, fairness) and of no single prompt."""
    name = stat.get("name")
    return isinstance(name, dict) and perturbation_of(name) in ("robustness", "fairness")


def _stat_name(stat: Any) -> tuple[str, str] | None:
    """Metric and part (split and perturbation) of a statistic; None for what is not about answers."""
    name = stat.get("name") if isinstance(stat, dict) else None
    if not isinstance(name, dict) or str(name.get("name", "")).startswith(BOOKKEEPING):
        return None
    return str(name.get("name")), part_of(str(name.get("split") or ""), perturbation_of(name))


def perturbation_of(value: Mapping[str, Any]) -> str:
    """The name of the perturbation; empty where there is none."""
    found = value.get("perturbation")
    return str(found.get("name", "")) if isinstance(found, dict) else ""


def part_of(split: str, perturbation: str) -> str:
    """Split and perturbation as the name of a part."""
    return ", ".join(part for part in (split, perturbation) if part)


def trial_of(entry: Mapping[str, Any]) -> int:
    """Which set of examples was shown, from 0."""
    trial = entry.get("train_trial_index")
    return trial if isinstance(trial, int) else 0


def _key_of(entry: Mapping[str, Any]) -> StatKey:
    return str(entry.get("instance_id", "")), trial_of(entry), perturbation_of(entry)


def of_instances(entries: Sequence[Any]) -> dict[StatKey, dict[str, float]]:
    """The means of every instance's statistics, by name, for each (instance, trial, perturbation)."""
    found: dict[StatKey, dict[str, float]] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        key = _key_of(entry)
        for stat in listed(entry.get("stats")):
            name = stat.get("name") if isinstance(stat, dict) else None
            mean = stat.get("mean") if isinstance(stat, dict) else None
            # A perturbed instance has each statistic twice, once under the perturbation's name.
            if isinstance(name, dict) and (value := as_number(mean)) is not None:
                found.setdefault(key, {})[str(name.get("name"))] = value
    return found


def split_of_instances(entries: Sequence[Any]) -> dict[StatKey, str]:
    """The split of every instance that has statistics."""
    found: dict[StatKey, str] = {}
    for entry in entries:
        if isinstance(entry, dict):
            names = (stat.get("name") for stat in listed(entry.get("stats")) if isinstance(stat, dict))
            splits = (str(name["split"]) for name in names if isinstance(name, dict) and name.get("split"))
            found[_key_of(entry)] = next(splits, "")
    return found


def expected_of(stats: Sequence[Any]) -> dict[tuple[str, str], int]:
    """How many instances HELM counts (`num_instances`), by split and perturbation."""
    found: dict[tuple[str, str], int] = {}
    for stat in stats:
        name = stat.get("name") if isinstance(stat, dict) else None
        if not isinstance(name, dict) or name.get("name") != "num_instances" or _worst(stat):
            continue
        count = as_number(stat.get("mean"))
        if count is not None and math.isfinite(count):
            found[str(name.get("split") or ""), perturbation_of(name)] = int(count)
    return found
