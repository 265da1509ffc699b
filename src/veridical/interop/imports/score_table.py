"""Results without samples as a table of scores: one row a model, benchmark and metric, for `veridical validity`.

Read are the results files of lm-evaluation-harness (0.3 and 0.4) and of lighteval, Inspect's JSON logs, and the
aggregate records of every_eval_ever (schema 0.2 and 0.3).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.csv_text import csv_text
from veridical.files.ledger import Ledger
from veridical.files.targets import keep_apart
from veridical.files.writing import check_path, make_folder, replace
from veridical.interop.imports.answer import as_number, as_text, held, listed, number
from veridical.interop.imports.folders import files_in
from veridical.interop.imports.lm_eval.logs import Evaluation
from veridical.interop.imports.lm_eval.results_file import ResultsFile
from veridical.interop.imports.records import Record, read_document
from veridical.interop.imports.sentinels import SUSPECTS
from veridical.runs.provenance import LeftOut

NOT_FINITE = "a score that is not a finite number"
NOT_RESULTS = "a JSON file that holds no results"
UNREADABLE = "a file that cannot be read"


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


@dataclass(frozen=True)
class FoundScores:
    """The scores that were found, the files and numbers that were read, and counts of what was left out of either.

    `notices` name numbers that look as if they stood for a score that is missing.
    """

    scores: tuple[Score, ...]
    skipped: Mapping[str, int]
    files: int = 0
    numbers: int = 0
    notices: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """The models, each once, in the order of the scores."""
        return tuple(dict.fromkeys(score.model for score in self.scores))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks, each once, in the order of the scores."""
        return tuple(dict.fromkeys(score.benchmark for score in self.scores))


def read_scores(path: Path, missing: Collection[float] = ()) -> FoundScores:
    """Every score in a results file or a folder of them; `missing` are numbers that stand for one that is missing.

    Raises UserError where there is none.
    """
    check_path(path)
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    scores: list[Score] = []
    files, numbers = Ledger(), Ledger()
    odd: list[LeftOut] = []
    for file in files_in(path, (".json",), odd) if path.is_dir() else [path]:
        files.take()
        try:
            document = read_document(file)
            found = list(_scores(document, file))
        except UserError:
            if file == path:
                raise
            files.leave(UNREADABLE)
            continue
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # Results that no reader foresaw must not take the others of a folder down.
            if file == path:
                raise UserError(f"{file} is not written as results are ({type(error).__name__}: {error})") from error
            files.leave(UNREADABLE)
            continue
        if found:
            files.use()
        else:
            files.leave(NOT_RESULTS)
        for score in found:
            numbers.take()
            if not math.isfinite(score.score):
                numbers.leave(NOT_FINITE)
            elif score.score in missing:
                numbers.leave(f"score of {score.score:.10g}, taken as missing")
            else:
                numbers.use()
                scores.append(score)
    for one in odd:
        files.take()
        files.leave(f"file that cannot be read: {one.what}: {one.reason}")
    files.check(str(path))
    numbers.check(str(path))
    if not scores:
        raise UserError(
            f"{path}: no results of lm-evaluation-harness, lighteval, Inspect or every_eval_ever are here; name a "
            "results file (results_*.json), or the folder that such files are in"
        )
    left_out = files.left_out + numbers.left_out
    return FoundScores(tuple(scores), left_out, files.read, numbers.read, tuple(_suspected(scores)))


def _suspected(scores: Sequence[Score]) -> Iterator[str]:
    """What looks like a mark of a missing score: -1 too, where no other score is below 0."""
    found = Counter(score.score for score in scores if score.score in SUSPECTS)
    if any(score.score < 0 and score.score not in SUSPECTS for score in scores):
        found.pop(-1.0, None)
    for value, n in found.most_common(6):
        yield (
            f"{n:,} score{'' if n == 1 else 's'} of {value:.10g}, which often stands for a score that is missing: "
            f"--missing={value:.10g} leaves such out"
        )


def import_scores(path: str | Path, out: str | Path, missing: Collection[float] = ()) -> FoundScores:
    """Write the scores in a results file, or a folder of them, as a table of `out`, a CSV file that is not there yet.

    `missing` are numbers that stand for a score that is missing.
    Raises UserError where there are no scores, or where `out` exists or is not a .csv.
    """
    source, target = Path(path), Path(out)
    if target.suffix.lower() != ".csv":
        raise UserError(f"--out {target}: scores are written as a table; name a .csv file")
    if target.exists():
        raise UserError(f"{target} exists already; choose another --out")
    keep_apart([target], [source])
    table = read_scores(source, missing)
    rows = [[field.name for field in fields(Score)], *map(astuple, table.scores)]
    make_folder(target.parent)
    replace(target, csv_text(rows).encode())
    return table


def _scores(document: Record, file: Path) -> Iterator[Score]:
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
    """A reported score, NaN for what is no number."""
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
