"""The numbers in results files: lm-evaluation-harness (0.3, 0.4), lighteval, Inspect's JSON logs, every_eval_ever."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical.interop.imports.answer import as_number, as_text, held, listed, number
from veridical.interop.imports.lm_eval.logs import Evaluation
from veridical.interop.imports.lm_eval.results_file import ResultsFile
from veridical.interop.imports.records import Record


@dataclass(frozen=True, slots=True)
class Score:
    """One reported number. `n` is the number of items, `shots` of examples in the prompt; None where not known."""

    model: str
    benchmark: str
    metric: str
    score: float
    stderr: float | None = None
    n: int | None = None
    shots: int | None = None
    higher_is_better: bool | None = None
    version: str = ""
    harness: str = ""
    file: str = ""


def scores_in(document: Record, file: Path) -> Iterator[Score]:
    """Every number that a results file reports, NaN for what is not a number; none where it is of no known format."""
    for is_one, scores in _FORMATS:
        if is_one(document):
            yield from scores(document, file)
            return


def _number(value: object) -> float | None:
    """A number, also where it stands as text; None for what is none."""
    if isinstance(value, bool):
        return None
    return number(value) if isinstance(value, str) else as_number(value)


def _score_of(value: object) -> float:
    """A reported score, NaN for what is not a number."""
    found = _number(value)
    return math.nan if found is None else found


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


# --- lm-evaluation-harness


def _is_lm_eval(document: Record) -> bool:
    results = document.get("results")
    known = {"config", "configs", "versions", "n-shot", "group_subtasks"} & set(document)
    return isinstance(results, dict) and bool(known) and "config_general" not in document


def _lm_eval(document: Record, file: Path) -> Iterator[Score]:
    results = ResultsFile(file, document)
    model = Evaluation(results, {}, file).model
    shots, counted, better = (held(document.get(name)) for name in ("n-shot", "n-samples", "higher_is_better"))
    configured = _count(held(document.get("config")).get("num_fewshot"))
    for task in results.reported:
        own = held(results.reported[task])
        for key, value in own.items():
            if "," in key and "_stderr" not in key and _number(value) is None:
                yield Score(model, task, key, math.nan)
        for metric, reading in results.metrics(task):
            value = results.metric(task, metric, reading)
            if value is None:
                continue
            stderr = own.get(f"{metric}_stderr,{reading}", own.get(f"{metric}_stderr"))
            yield Score(
                model=model,
                benchmark=task,
                metric=metric if reading == "none" else f"{metric},{reading}",
                score=value,
                stderr=_finite(stderr),
                n=_count(held(counted.get(task)).get("effective")),
                shots=_count(shots.get(task, configured)),
                higher_is_better=_truth(held(better.get(task)).get(metric)),
                version=results.version(task),
                harness="lm-evaluation-harness",
                file=file.name,
            )


def _finite(value: object) -> float | None:
    found = _number(value)
    return found if found is not None and math.isfinite(found) else None


# --- lighteval


def _is_lighteval(document: Record) -> bool:
    return isinstance(document.get("config_general"), dict) and isinstance(document.get("results"), dict)


def _lighteval(document: Record, file: Path) -> Iterator[Score]:
    general = held(document["config_general"])
    model = str(general.get("model_name") or held(general.get("model_config")).get("model_name") or file.parent.name)
    versions, configs = held(document.get("versions")), held(document.get("config_tasks"))
    for name, metrics in held(document["results"]).items():
        benchmark, _, shots = name.rpartition("|") if name.count("|") > 1 else (name, "", "")
        config = held(configs.get(name) or configs.get(benchmark))
        for metric, value in held(metrics).items():
            if metric.endswith("_stderr"):
                continue
            yield Score(
                model=model,
                benchmark=benchmark,
                metric=metric,
                score=_score_of(value),
                stderr=_finite(held(metrics).get(f"{metric}_stderr")),
                n=_count(config.get("effective_num_docs")),
                shots=int(shots) if shots.isdigit() else None,
                higher_is_better=_better(config, metric),
                version=as_text(versions.get(name, "")),
                harness="lighteval",
                file=file.name,
            )


def _better(config: Mapping[str, Any], metric: str) -> bool | None:
    declared = [one for one in listed(config.get("metric") or config.get("metrics")) if isinstance(one, dict)]
    return next((_truth(one.get("higher_is_better")) for one in declared if one.get("metric_name") == metric), None)


# --- Inspect


def _is_inspect(document: Record) -> bool:
    return isinstance(document.get("eval"), dict) and isinstance(document.get("results"), dict)


def _inspect(document: Record, file: Path) -> Iterator[Score]:
    evaluation, results = held(document["eval"]), held(document["results"])
    for scorer in listed(results.get("scores")):
        metrics = held(held(scorer).get("metrics"))
        for metric, found in metrics.items():
            if metric == "stderr":
                continue
            name = str(held(scorer).get("name", ""))
            yield Score(
                model=str(evaluation.get("model", "")),
                benchmark=str(evaluation.get("task", "")),
                metric=f"{metric},{name}" if name else metric,
                score=_score_of(held(found).get("value")),
                stderr=_finite(held(metrics.get("stderr")).get("value")) if metric in ("accuracy", "mean") else None,
                n=_count(results.get("completed_samples")),
                version=as_text(evaluation.get("task_version", "")),
                harness="Inspect",
                file=file.name,
            )


# --- every_eval_ever


def _is_every_eval_ever(document: Record) -> bool:
    return isinstance(document.get("evaluation_results"), list) and isinstance(document.get("model_info"), dict)


def _every_eval_ever(document: Record, file: Path) -> Iterator[Score]:
    model = held(document["model_info"])
    for result in listed(document["evaluation_results"]):
        found, config = held(held(result).get("score_details")), held(held(result).get("metric_config"))
        uncertainty = held(found.get("uncertainty"))
        lower = _truth(config.get("lower_is_better"))
        yield Score(
            model=str(model.get("id") or model.get("name") or ""),
            benchmark=str(held(result).get("evaluation_name", "")),
            metric=str(config.get("metric_name") or config.get("metric_id") or "score"),
            score=_score_of(found.get("score")),
            stderr=_finite(held(uncertainty.get("standard_error")).get("value")),
            n=_count(uncertainty.get("num_samples")),
            higher_is_better=None if lower is None else not lower,
            version=as_text(document.get("schema_version", "")),
            harness="every_eval_ever",
            file=file.name,
        )


_FORMATS: tuple[tuple[Callable[[Record], bool], Callable[[Record, Path], Iterator[Score]]], ...] = (
    (_is_lighteval, _lighteval),
    (_is_every_eval_ever, _every_eval_ever),
    (_is_inspect, _inspect),
    (_is_lm_eval, _lm_eval),
)
