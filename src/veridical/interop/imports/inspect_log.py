"""Inspect's logs as models and tasks: `.eval` files and `.json`.

They are read with Inspect's own reader where it is installed, which knows every older form of them, and otherwise by
their documented form: a `.eval` is a zip of `header.json` and `samples/ID_epoch_N.json`, a `.json` one object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from itertools import chain
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.ledger import reasons
from veridical.interop.imports.answer import Answer, as_number, as_text, held, listed
from veridical.interop.imports.direction import declared_way
from veridical.interop.imports.folders import files_in, not_read
from veridical.interop.imports.inspect_file import Log, read_log
from veridical.interop.imports.inspect_sample import Scorers, has_target, repeat_of, scores_of
from veridical.interop.imports.logged import LoggedModel, LoggedTask, Reported
from veridical.runs.provenance import LeftOut
from veridical.status import Status

HARNESS = "Inspect"
ABSENT = "in the evaluation's list of samples, and not in the log"
LIMITED = "samples were stopped at a limit ({kinds}) and are judged by the score that they were given"


def read_inspect(path: Path) -> list[LoggedModel]:
    """The models that were evaluated in a log, or in the logs of a folder.

    Raises UserError where there is none with samples, or a log cannot be read.
    """
    if not path.is_dir():
        return [_model(read_log(path))]
    found: list[LoggedModel] = []
    refused: list[tuple[Path, UserError]] = []
    odd: list[LeftOut] = []
    for file in files_in(path, (".eval", ".json"), odd):
        try:
            log = read_log(file)
            found.append(_model(log))
        except UserError as error:
            refused.append((file, error))
    if not found:
        raise (
            refused[0][1]
            if refused
            else UserError(f"{path}: no log of Inspect's is here (.eval or .json){not_read(odd)}")
        )
    for file, why in refused:
        found[0].left_out.append(LeftOut(what=str(file), reason=why.reason))
    found[0].left_out += odd
    return found


def _model(log: Log) -> LoggedModel:
    spec = held(log.header.get("eval"))
    version = held(spec.get("packages")).get("inspect_ai", "")
    task = _task(log, spec)
    given = {name: spec.get(name) for name in ("model_args", "model_base_url", "task_args", "model_generate_config")}
    config = held(spec.get("config"))
    given |= {name: config.get(name) for name in ("limit", "epochs", "sample_id")}
    named = [as_text(spec[name]) for name in ("eval_id", "run_id", "task_id", "created") if spec.get(name)]
    return LoggedModel(
        harness=HARNESS,
        name=str(spec.get("model") or "model not named in the log"),
        version=as_text(version),
        tasks=[task],
        settings={name: as_text(value) for name, value in given.items() if value},
        where=str(log.path),
        date=as_text(spec.get("created") or ""),
        size=log.n_samples,
        content=lambda: " ".join(named) if len(named) > 2 else log.source().sha256,
    )


def _task(log: Log, spec: Mapping[str, Any]) -> LoggedTask:
    if not log.n_samples:
        raise UserError(
            f"no samples (its status is {log.status!r}), so that nothing can be judged; "
            "run the evaluation with its samples logged",
            where=log.path,
        )
    model = next((sample for sample in log.samples() if scores_of(sample) and not sample.get("error")), None)
    model = model or next((sample for sample in log.samples() if scores_of(sample)), None)
    if model is None:
        if lost := reasons(log.ledger.left_out):
            raise UserError(f"no sample with a score can be read ({lost}); was it copied whole?", where=log.path)
        raise UserError(
            "no sample has a score, so that nothing can be judged; 'inspect score' gives them one", where=log.path
        )
    scored = Scorers.of(model, _reported(log), with_targets=any(map(has_target, log.samples())))
    task = LoggedTask(
        name=str(spec.get("task") or log.path.stem),
        answers=lambda: _answers(task, log, scored, spec),
        version=as_text(spec.get("task_version", "")),
        reported=_reported(log),
        stderr=_stderr(log),
        higher_is_better=_ways(log, spec),
        sources=lambda: [log.source()],
        total=log.n_samples,
    )
    task.lacks += log.notes
    if not scored.with_targets:
        task.lacks.append("no sample has a target: right is what its scorer says")
    if log.status != "success":
        expected = _expected(log, spec)
        of = f" of {expected:,}" if expected else ""
        task.lacks.append(f"its status is {log.status!r}: {log.n_samples:,}{of} samples are in it")
    return task


def _expected(log: Log, spec: Mapping[str, Any]) -> int | None:
    found = held(spec.get("dataset")).get("samples")
    return found if isinstance(found, int) and found != log.n_samples else None


def _ways(log: Log, spec: Mapping[str, Any]) -> dict[str, bool]:
    """Which way is better, by scorer, where the log says it of the scorer or of one of its metrics."""
    found: dict[str, bool] = {}
    scores = map(held, listed(held(log.header.get("results")).get("scores")))
    for one in (*scores, *map(held, listed(spec.get("scorers")))):
        metrics = held(one.get("metrics"))
        way = declared_way(one, one.get("options"), one.get("metadata"), *map(held, metrics.values()))
        if way is not None:
            found.setdefault(str(one.get("name")), way)
    return found


_SPREADS = ("stderr", "std", "var", "bootstrap_stderr")


def _metrics(log: Log) -> Iterator[Reported]:
    """Every number that is reported; those under another reducer than the mean are named after it."""
    for score in map(held, listed(held(log.header.get("results")).get("scores"))):
        reducer = score.get("reducer")
        for name, metric in held(score.get("metrics")).items():
            value = as_number(held(metric).get("value"))
            if value is not None:
                named = name if reducer in (None, "mean") else f"{name} ({reducer})"
                yield named, str(score.get("name")), value


def _reported(log: Log) -> list[Reported]:
    return [one for one in _metrics(log) if one[0].partition(" (")[0] not in _SPREADS]


def _stderr(log: Log) -> dict[tuple[str, str], float]:
    """The standard error of a scorer's accuracy or mean."""
    errors = {reading: value for metric, reading, value in _metrics(log) if metric in ("stderr", "bootstrap_stderr")}
    means = [(metric, reading) for metric, reading, _ in _reported(log) if metric in ("accuracy", "mean")]
    return {key: errors[key[1]] for key in means if key[1] in errors}


def _answers(task: LoggedTask, log: Log, scored: Scorers, spec: Mapping[str, Any]) -> Iterator[Answer]:
    """An answer for every sample, epoch and reading, whether or not it has a score: all of them were asked."""
    seen: set[tuple[str, int]] = set()
    limits: Counter[str] = Counter()
    for record, sample in enumerate(log.samples()):
        seen.add((str(sample.get("id", "")), repeat_of(sample)))
        if kind := held(sample.get("limit")).get("type"):
            limits[as_text(kind)] += bool(scores_of(sample))
        for answer in scored.answers(sample):
            answer.record = record
            yield answer
    task.ledger.add(log.ledger)
    if limited := limits.total():
        task.lacks.append(f"{limited:,} " + LIMITED.format(kinds=", ".join(sorted(limits))))
    yield from _absent(log, spec, seen, scored)


def _absent(log: Log, spec: Mapping[str, Any], seen: Set[tuple[str, int]], scored: Scorers) -> Iterator[Answer]:
    """Samples that were to be evaluated and of which the log, cancelled or damaged, has nothing."""
    epochs = held(spec.get("config")).get("epochs")
    repeats = range(epochs if isinstance(epochs, int) and 0 < epochs <= MOST_EPOCHS else 1)
    named = [
        (str(identity), repeat)
        for identity in listed(held(spec.get("dataset")).get("sample_ids"))
        for repeat in repeats
        if (str(identity), repeat) not in seen
    ]
    # How many were evaluated the results say too; of these not even the names are known.
    known = log.ledger.read + len(named)
    more = range(max(min(_evaluated(log), MOST_ABSENT) - known, 0))
    for document, repeat in chain(named, ((f"not in the log {n + 1}", 0) for n in more)):
        for reading in scored.metrics:
            yield Answer(
                document=document,
                fields={"sample_id": document},
                reading=reading,
                metrics={},
                repeat=repeat,
                text="",
                status=Status.ERROR,
                detail=ABSENT,
                in_log=False,
            )


def _evaluated(log: Log) -> int:
    """How many samples the results say that were evaluated, each epoch by itself; 0 where they do not say it."""
    found = held(log.header.get("results")).get("total_samples")
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


MOST_ABSENT = 1_000_000
MOST_EPOCHS = 10_000
