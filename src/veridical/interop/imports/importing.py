"""Importing: logs of another harness in, run folders out, judged and with their page."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from veridical.digests import digest
from veridical.errors import UserError, unknown
from veridical.files.ledger import Ledger, reasons
from veridical.files.new_folder import all_at_once, clear_abandoned, nothing_left
from veridical.files.targets import keep_apart
from veridical.files.writing import check_path, slug
from veridical.interop.imports.copies import without_copies
from veridical.interop.imports.every_eval_ever import read_every_eval_ever
from veridical.interop.imports.folders import check_leads_somewhere, check_new
from veridical.interop.imports.helm import read_helm
from veridical.interop.imports.inspect_log import read_inspect
from veridical.interop.imports.lighteval import read_lighteval
from veridical.interop.imports.lm_eval.evaluations import read_lm_eval
from veridical.interop.imports.logged import LoggedModel, LoggedTask
from veridical.interop.imports.metric_choice import WantedMetric, check_judged, find_metric
from veridical.interop.imports.prediction_columns import PredictionColumns
from veridical.interop.imports.predictions import read_predictions
from veridical.interop.imports.run_writer import RunWriter
from veridical.interop.imports.writer import TaskWriter
from veridical.progress import Progress, Silent
from veridical.runs.editing import as_they_are
from veridical.runs.manifest import Manifest, ModelEntry, RunSettings, SuiteEntry, now, write_manifest
from veridical.runs.provenance import HarnessTask, Imported, LeftOut, SourceFile
from veridical.studies.study import Study, open_study

READERS: Mapping[str, Callable[[Path], list[LoggedModel]]] = {
    "lm-eval": read_lm_eval,
    "inspect": read_inspect,
    "helm": read_helm,
    "lighteval": read_lighteval,
    "every-eval-ever": read_every_eval_ever,
    "predictions": read_predictions,
}


@dataclass(frozen=True)
class Import:
    """What was imported: the study (of one run or more), and what each run's manifest records about its tasks."""

    study: Study

    @property
    def imported(self) -> list[tuple[Path, str, Imported]]:
        """Folder, model and origin of every run."""
        return [
            (run.path, run.manifest.model.name, run.manifest.imported)
            for run in self.study.runs
            if run.manifest.imported is not None
        ]


def import_logs(
    harness: str,
    path: str | Path,
    out: str | Path,
    *,
    model: str | None = None,
    columns: PredictionColumns | None = None,
    metric: str | None = None,
    missing: Sequence[float] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Import:
    """Import logs as a run that is judged as any other.

    Arguments:
        harness: `lm-eval`, `inspect`, `helm`, `lighteval`, `every-eval-ever` or `predictions`.
        path: a log file, or a folder of logs.
        out: the run's folder, a new one. Where the logs are of several models it is a study, with a run in it for each.
        model: what to call the model, in place of the name in the log.
        columns: which column of a table of predictions is what; found by name where None.
        metric: the harness's score by which answers are judged, in place of their choices or of the one that
            `veridical.interop.imports.grading` would choose. Tasks that do not have it are judged as without it.
        missing: numbers that stand for a score that is missing, such as -999: an answer with one is not ok.
        seed: of the resampling.
        progress: where progress is reported; nowhere where None.

    Raises UserError where no log is there, where nothing in it can be judged, or where `out` exists. Whatever goes
    wrong, nothing is left behind.
    """
    if harness not in READERS:
        raise unknown("log format", harness, READERS)
    source, target = Path(path), Path(out)
    check_path(source)
    check_leads_somewhere(source)
    keep_apart([target], [source])
    reporter = progress or Silent()
    models = _joined(without_copies(_read(harness, source, columns)))
    if model is not None:
        if len({one.name for one in models}) > 1:
            names = ", ".join(dict.fromkeys(one.name for one in models))
            raise UserError(f"--model {model}: the logs are of several models ({names}); import them one by one")
        for one in models:
            one.name = model
    check_new(target)
    how = _How(metric, tuple(missing))
    clear_abandoned(target)
    with nothing_left(target):
        if len(models) == 1:
            _write_all(models, target, how, seed, reporter)
        else:
            with all_at_once(target) as folder:
                _write_all(models, folder, how, seed, reporter)
        study = open_study(target)
        study.write()
    return Import(study)


@dataclass(frozen=True)
class _How:
    """By which of the harness's scores answers are judged, and which numbers stand for a missing one."""

    metric: str | None = None
    missing: tuple[float, ...] = ()


def _write_all(models: Sequence[LoggedModel], target: Path, how: _How, seed: int, progress: Progress) -> None:
    refused: list[UserError] = []
    for position, one in enumerate(models):
        folder = target if len(models) == 1 else target / f"{slug(one.name)}-{position + 1}"
        try:
            _write(one, folder, how, seed, progress, in_study=len(models) > 1)
        except UserError as error:
            refused.append(error)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # A log that no reader foresaw must not take the others of its folder down.
            fault = UserError(
                f"{one.where} cannot be read: its records are not as logs of this kind have them "
                f"({type(error).__name__}); is it whole?"
            )
            fault.__cause__ = error
            refused.append(fault)
    if len(refused) == len(models):
        raise refused[0]
    for message in refused:
        progress.say(f"left out: {message}")


def _read(harness: str, source: Path, columns: PredictionColumns | None) -> list[LoggedModel]:
    if harness == "predictions":
        return read_predictions(source, columns)
    if columns is not None:
        raise UserError(f"columns are named for tables of predictions, and {harness} is a log format: leave them out")
    return READERS[harness](source)


def _joined(models: Sequence[LoggedModel]) -> list[LoggedModel]:
    """Evaluations of one model under one setting are one run, unless they have a task in common."""
    found: list[LoggedModel] = []
    for model in models:
        names = {task.name for task in model.tasks}
        for other in found:
            same = (other.harness, other.name, other.version, other.settings) == (
                model.harness,
                model.name,
                model.version,
                model.settings,
            )
            if same and not names & {task.name for task in other.tasks}:
                other.tasks += model.tasks
                other.left_out += model.left_out
                break
        else:
            found.append(model)
    return found


def _write(model: LoggedModel, folder: Path, how: _How, seed: int, progress: Progress, *, in_study: bool) -> None:
    with RunWriter(folder) as run, _without_collector():
        written = list(_tasks(model, run, how, progress))
        if not written:
            raise UserError(
                f"{model.where}: no record in it can be read as an answer ({_skipped(model.tasks)}); "
                "is it a log of another harness?"
            )
        if how.metric is not None:
            check_judged(how.metric, model.where, [(task, wanted) for _, task, wanted in written])
        run.finish()
        files = [source for task in model.tasks for source in task.sources()]
        entries = tuple(entry for entry, _, _ in written)
        manifest = _manifest(model, entries, [task for _, task, _ in written], files, seed)
        write_manifest(run.folder, manifest.model_copy(update={"parts": as_they_are(run.folder)}))
        if in_study:  # named as every run in a study is
            run.path = folder.with_name(f"{slug(model.name)}-{manifest.model.digest[:8]}")
        run.put_in_place()


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """No search for reference cycles meanwhile: records have none, and looking at them takes an eighth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _skipped(tasks: Sequence[LoggedTask]) -> str:
    total = Ledger()
    for task in tasks:
        total.add(task.ledger)
    return reasons(total.left_out) or "it is empty"


def _tasks(
    model: LoggedModel, run: RunWriter, how: _How, progress: Progress
) -> Iterator[tuple[SuiteEntry, HarnessTask, WantedMetric | None]]:
    """The tasks as they are written, each with the score by which it was to be judged."""
    for task in model.tasks:
        metric, answers = find_metric(how.metric, task.answers())
        writer = TaskWriter(run, task, model.harness, metric, how.missing)
        with progress.steps(f"importing {task.name}", task.total) as step:
            for answer in answers:
                writer.add(answer)
                step()
        try:
            task.ledger.check_readable(f"{model.where}, task {task.name}")
        except UserError as error:
            if len(model.tasks) == 1 or writer.has_written:
                raise
            model.left_out.append(LeftOut(what=f"task {task.name}", reason=str(error)))
            progress.say(f"{task.name} is left out: {error}")
            continue
        found = writer.finish()
        if found is not None:
            yield *found, metric
        elif len(model.tasks) > 1:
            model.left_out.append(LeftOut(what=f"task {task.name}", reason=_skipped([task])))
            progress.say(f"{task.name}: no record can be read ({_skipped([task])}); left out")


def _manifest(
    model: LoggedModel,
    entries: tuple[SuiteEntry, ...],
    tasks: Sequence[HarnessTask],
    files: Sequence[SourceFile],
    seed: int,
) -> Manifest:
    fingerprint = {
        "engine": f"{model.harness} {model.version}".strip(),
        "model": model.name,
        **model.settings,
        # Two evaluations of one model are kept apart, whatever the logs say about how they were made.
        "logs": digest(sorted(file.sha256 for file in files)),
    }
    return Manifest(
        created=now(),
        model=ModelEntry(name=model.name, fingerprint=fingerprint, digest=digest(fingerprint, length=32)),
        suites=entries,
        settings=RunSettings(seed=seed),
        imported=Imported(
            harness=model.harness,
            version=model.version,
            date=model.date,
            files=tuple(files),
            tasks=tuple(tasks),
            left_out=tuple(model.left_out),
        ),
    )
