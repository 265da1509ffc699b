"""A results file of lm-eval: the numbers that the harness reported, and the configurations of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical.interop.imports.answer import as_number, as_text, held, listed, number
from veridical.interop.imports.direction import truth

_NO_METRICS = ("sample_len", "sample_count", "alias")


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """A results file: what the harness reported."""

    path: Path
    document: Mapping[str, Any]

    @property
    def reported(self) -> Mapping[str, Mapping[str, Any]]:
        """The numbers that the harness reported, by task."""
        return held(self.document.get("results"))

    def config(self, task: str) -> Mapping[str, Any]:
        """The configuration of a task, empty where the file has none."""
        return held(held(self.document.get("configs")).get(task))

    def version(self, task: str) -> str:
        """The version of a task, empty where it is not given."""
        found = held(self.document.get("versions")).get(task)
        return "" if found in (None, "Yaml", "N/A") else str(found)  # 0.4.0 gives the kind of file

    def metric(self, task: str, metric: str, reading: str) -> float | None:
        """The number reported for a metric: `acc,none`, and `acc` in 0.3."""
        own = held(self.reported.get(task))
        value = own.get(f"{metric},{reading}", own.get(metric) if reading == "none" else None)
        return None if isinstance(value, bool) else as_number(_reported(value))

    def metrics(self, task: str) -> list[tuple[str, str]]:
        """The metrics reported for a task, each with its filter."""
        own = held(self.reported.get(task))
        named = (key.partition(",") for key, value in own.items() if as_number(_reported(value)) is not None)
        return [
            (metric, reading or "none")
            for metric, _, reading in named
            if not metric.endswith("_stderr") and metric not in _NO_METRICS
        ]

    def higher_is_better(self, task: str) -> dict[str, bool]:
        """Which way is better, by metric, where the document says it."""
        listed_metrics = map(held, listed(self.config(task).get("metric_list")))
        given = {str(one.get("metric")): one.get("higher_is_better") for one in listed_metrics}
        given |= held(held(self.document.get("higher_is_better")).get(task))
        return {metric: said for metric, way in given.items() if (said := truth(way)) is not None}

    def aggregated(self, task: str) -> dict[str, str]:
        """How the number of a metric is made of the scores of single answers, where the document says it."""
        listed_metrics = map(held, listed(self.config(task).get("metric_list")))
        return {str(one.get("metric")): as_text(one["aggregation"]) for one in listed_metrics if one.get("aggregation")}

    def expected(self, task: str) -> int | None:
        """How many documents were asked."""
        found = held(held(self.document.get("n-samples")).get(task)).get("effective")
        return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None

    @property
    def tasks(self) -> list[str]:
        """The tasks that were asked and are not groups: those with numbers, a configuration or a count of samples."""
        groups = {*held(self.document.get("groups"))}
        groups |= {name for name, of in held(self.document.get("group_subtasks")).items() if of}
        asked = (*self.reported, *held(self.document.get("configs")), *held(self.document.get("n-samples")))
        return [task for task in dict.fromkeys(asked) if task not in groups]


def _reported(value: object) -> object:
    """A reported value, as a number where it is the text of one."""
    return number(value) if isinstance(value, str) else value
