"""Evaluations of lm-evaluation-harness as models and tasks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from veridical.errors import UserError
from veridical.interop.imports.answer import Answer, as_text, held
from veridical.interop.imports.lm_eval.logs import NAMELESS, Evaluation, find_evaluations
from veridical.interop.imports.lm_eval.results_file import ResultsFile
from veridical.interop.imports.lm_eval.samples import UNFILTERED, SampleReader
from veridical.interop.imports.lm_eval.write_out import WriteOutReader, is_write_out
from veridical.interop.imports.logged import LoggedModel, LoggedTask, Reported
from veridical.interop.imports.records import RecordFile, source_of
from veridical.runs.provenance import LeftOut

HARNESS = "lm-evaluation-harness"
_NOT_KNOWN = "reported numbers, task versions and settings are not known"
NO_RESULTS = f"no results file: {_NOT_KNOWN}"
_SETTINGS = (
    "model_source",
    "system_instruction_sha",
    "chat_template_sha",
    "fewshot_as_multiturn",
    "transformers_version",
    "git_hash",
)
_CONFIG = (
    *("model", "model_args", "model_dtype", "model_revision", "model_sha", "gen_kwargs", "limit"),
    *("random_seed", "numpy_seed", "torch_seed", "fewshot_seed"),
)


def read_lm_eval(path: Path) -> list[LoggedModel]:
    """The models that were evaluated in a file or folder. Raises UserError where there is none with samples."""
    return [_model(evaluation) for evaluation in find_evaluations(path)]


def _model(evaluation: Evaluation) -> LoggedModel:
    results = evaluation.results
    document = results.document if results else {}
    config = held(document.get("config"))
    given = {name: document.get(name) for name in _SETTINGS} | {name: config.get(name) for name in _CONFIG}
    paths = [records.path for records in evaluation.samples.values() if records.path.is_file()]
    tasks: list[LoggedTask] = []
    refused: list[tuple[str, UserError]] = []
    for name, records in evaluation.samples.items():
        try:
            tasks.append(_task(evaluation, name, records))
        except UserError as error:
            refused.append((name, error))
    if not tasks and refused:
        raise refused[0][1]
    return LoggedModel(
        harness=HARNESS,
        name=evaluation.model,
        version=as_text(document.get("lm_eval_version") or ""),
        tasks=tasks,
        settings={name: as_text(value) for name, value in given.items() if value not in (None, "")},
        where=str(results.path if results else paths[0] if len(paths) == 1 else evaluation.where),
        date=as_text(document.get("date") or ""),
        left_out=[
            *evaluation.left_out,
            *(LeftOut(what=f"task {name}", reason=str(error)) for name, error in refused),
            *(
                LeftOut(what=f"task {task}", reason="it was evaluated, and no file with its samples can be read")
                for task in (results.tasks if results and evaluation.whole else ())
                if task not in evaluation.samples
            ),
        ],
        size=sum(path.stat().st_size for path in paths) if len(paths) == len(evaluation.samples) else 0,
        content=lambda: " ".join(sorted(source_of(path).sha256 for path in paths)),
    )


def _task(evaluation: Evaluation, name: str, records: RecordFile) -> LoggedTask:
    results = evaluation.results
    task = LoggedTask(
        name=name,
        answers=lambda: _answers(task, records, results),
        version=results.version(name) if results else "",
        shots=_shots(results, name),
        reported=_reported(results, name) if results else [],
        sources=lambda: [records.source] if records.source else [],
        total=records.estimate(),
        declared={metric for metric, _ in results.metrics(name)} if results else set(),
        higher_is_better=results.higher_is_better(name) if results else {},
        aggregated=results.aggregated(name) if results else {},
        stderr=_stderr(results, name) if results else {},
    )
    if results is None:
        task.lacks.append(f"{evaluation.broken}; {_NOT_KNOWN}" if evaluation.broken else NO_RESULTS)
        if evaluation.model == NAMELESS:
            task.lacks.append("no name of the model: --model NAME gives it one")
    return task


def _shots(results: ResultsFile | None, task: str) -> int:
    value = held(results.document.get("n-shot")).get(task) if results else None
    return value if isinstance(value, int) else 0


def _reported(results: ResultsFile, task: str) -> list[Reported]:
    return [
        (metric, UNFILTERED if reading == "none" else reading, value)
        for metric, reading in results.metrics(task)
        if (value := results.metric(task, metric, reading)) is not None
    ]


def _stderr(results: ResultsFile, task: str) -> dict[tuple[str, str], float]:
    found = {
        (metric, UNFILTERED if reading == "none" else reading): results.metric(task, f"{metric}_stderr", reading)
        for metric, reading in results.metrics(task)
    }
    return {key: value for key, value in found.items() if value is not None}


def _answers(task: LoggedTask, records: RecordFile, results: ResultsFile | None) -> Iterator[Answer]:
    stream = iter(records)
    first = next(stream, None)
    if first is not None:
        reader: SampleReader | WriteOutReader
        if is_write_out(first):
            reader = WriteOutReader(task.name, task.declared)
        else:
            reader = SampleReader(
                task.name,
                results.config(task.name) if results else {},
                declared=task.declared,
                expected=results.expected(task.name) if results else None,
            )
        yield from reader.answers(chain([first], stream))
        task.lacks.extend(reader.notes)
        for reason, n in reader.skipped.items():
            task.ledger.leave_unreadable(reason, n)
    task.ledger.add(records.ledger)
    task.lacks.extend(
        f"{count:,} {'record was' if count == 1 else 'records were'} {note}" for note, count in records.notes.items()
    )
