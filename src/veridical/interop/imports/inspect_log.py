"""Inspect's logs as models and tasks: `.eval` files and `.json`.

They are read with Inspect's own reader where it is installed, which knows every older form of them, and otherwise by
their documented form: a `.eval` is a zip of `header.json` and `samples/ID_epoch_N.json`, a `.json` one object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.interop.imports.answer import Answer, as_text, flat_fields, held, letters, listed
from veridical.interop.imports.folders import files_in
from veridical.interop.imports.inspect_file import Log, read_log
from veridical.interop.imports.logged import LoggedModel, LoggedTask, Reported
from veridical.items import Status
from veridical.runs.imported import CORRECT, INCORRECT

HARNESS = "Inspect"
UNSCORED = "a sample without a score"
_FIRST_EPOCH = "epochs after the first are kept as repeats; measures are of the first"
_WORDS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def read_inspect(path: Path) -> list[LoggedModel]:
    """The models that were evaluated in a log, or in the logs of a folder.

    Raises UserError where there is none with samples, or a log cannot be read.
    """
    if not path.is_dir():
        return [_model(read_log(path))]
    found: list[LoggedModel] = []
    refused: list[UserError] = []
    for file in files_in(path, (".eval", ".json")):
        try:
            log = read_log(file)
            found.append(_model(log))
        except UserError as error:
            refused.append(error)
    if not found:
        raise refused[0] if refused else UserError(f"{path}: no log of Inspect's is here (.eval or .json)")
    for told in refused:
        found[0].tasks[0].lacks.append(f"left out: {told}")
    return found


def _model(log: Log) -> LoggedModel:
    spec = held(log.header.get("eval"))
    version = held(spec.get("packages")).get("inspect_ai", "")
    task = _task(log, spec)
    given = {name: spec.get(name) for name in ("model_args", "model_base_url", "task_args", "model_generate_config")}
    return LoggedModel(
        harness=HARNESS,
        name=str(spec.get("model") or "model not named in the log"),
        version=as_text(version),
        tasks=[task],
        settings={name: as_text(value) for name, value in given.items() if value},
        where=str(log.path),
    )


def _task(log: Log, spec: Mapping[str, Any]) -> LoggedTask:
    if not log.n_samples:
        raise UserError(
            f"{log.path} has no samples (its status is {log.status!r}): nothing can be judged; "
            "run the evaluation with its samples logged"
        )
    if not any(held(sample.get("scores")) or held(sample.get("score")) for sample in log.samples()):
        if log.skipped:
            lost = "; ".join(f"{count:,} {reason}" for reason, count in log.skipped.items())
            raise UserError(f"{log.path}: no sample with a score can be read ({lost}); was it copied whole?")
        raise UserError(
            f"{log.path}: no sample has a score, so that nothing can be judged; 'inspect score' gives them one"
        )
    reported = _reported(log)
    task = LoggedTask(
        name=str(spec.get("task") or log.path.stem),
        answers=lambda: _answers(task, log, {name for name, *_ in reported}),
        version=as_text(spec.get("task_version", "")),
        reported=reported,
        sources=lambda: [log.source()],
        total=log.n_samples,
    )
    task.lacks += log.notes
    if log.status != "success":
        expected = _expected(log, spec)
        of = f" of {expected:,}" if expected else ""
        task.lacks.append(f"its status is {log.status!r}: {log.n_samples:,}{of} samples are in it")
    return task


def _expected(log: Log, spec: Mapping[str, Any]) -> int | None:
    found = held(spec.get("dataset")).get("samples")
    return found if isinstance(found, int) and found != log.n_samples else None


def _reported(log: Log) -> list[Reported]:
    """Metrics of every scorer; those under another reducer than the mean are named after it."""
    found: list[Reported] = []
    for score in map(held, listed(held(log.header.get("results")).get("scores"))):
        reducer = score.get("reducer")
        for name, metric in held(score.get("metrics")).items():
            value = held(metric).get("value")
            if name in ("stderr", "std", "var", "bootstrap_stderr") or not isinstance(value, int | float):
                continue
            named = name if reducer in (None, "mean") else f"{name} ({reducer})"
            found.append((named, str(score.get("name")), float(value)))
    return found


def _answers(task: LoggedTask, log: Log, reported: set[str]) -> Iterator[Answer]:
    metric = next((name for name in ("accuracy", "mean") if name in reported), "accuracy")
    repeated = False
    for sample in log.samples():
        found = list(_of_sample(sample, metric))
        if not found:
            task.skipped[UNSCORED] += 1
        for answer in found:
            repeated = repeated or answer.repeat > 0
            yield answer
    task.skipped.update(log.skipped)
    if repeated:
        task.lacks.append(_FIRST_EPOCH)


def _of_sample(sample: Mapping[str, Any], metric: str) -> Iterator[Answer]:
    scores = sample.get("scores")
    if isinstance(sample.get("score"), dict):  # the form before scorers had names
        scores = {"score": sample["score"]}
    if named := held(scores):
        for scorer, score in named.items():
            if isinstance(score, dict):
                yield _scored(_basis(sample, scorer), sample, score, metric)
    elif isinstance(error := sample.get("error"), dict):
        answer = _basis(sample, "error")
        answer.status, answer.detail = Status.ERROR, as_text(error.get("message", ""))[:500]
        yield answer


def _basis(sample: Mapping[str, Any], reading: str) -> Answer:
    fields = {"input": _text(sample.get("input"))}
    target = sample.get("target")
    if target is not None:
        fields["target"] = as_text(target)
    for name, value in flat_fields(held(sample.get("metadata"))).items():
        fields[name if name not in fields else f"metadata.{name}"] = value
    epoch = sample.get("epoch")
    return Answer(
        document=str(sample.get("id", "")),
        fields={name: value for name, value in fields.items() if value},
        reading=reading,
        metrics={},
        repeat=max(epoch - 1, 0) if isinstance(epoch, int) else 0,
        contexts=[fields["input"]],
        text=_completion(sample),
    )


def _scored(answer: Answer, sample: Mapping[str, Any], score: Mapping[str, Any], metric: str) -> Answer:
    value = score.get("value")
    grade = _grade(value)
    answer.metrics = {metric: value if grade is None else grade}
    choices, said = sample.get("choices"), score.get("answer")
    names = letters(len(choices)) if isinstance(choices, list) else []
    targets = sample.get("target")
    gold = [names.index(one) for one in (targets if isinstance(targets, list) else [targets]) if one in names]
    letter_scorer = answer.reading == "choice" or said in names
    texts = [as_text(choice) for choice in choices] if isinstance(choices, list) else []
    if letter_scorer and len(gold) == 1 and texts and all(text.strip() for text in texts):
        answer.choices, answer.labels, answer.gold = texts, names, gold
        answer.label = str(said) if said in names else None
        if answer.label is None:
            answer.status = Status.AMBIGUOUS if said else Status.UNPARSED
        answer.recomputed = {metric: float(answer.label is not None and names.index(answer.label) in gold)}
    elif value == "N":
        answer.status, answer.detail = Status.UNPARSED, "the scorer found no answer"
    elif grade in (0.0, 1.0):
        answer.label = CORRECT if grade else INCORRECT
    if said is not None and not answer.detail:
        answer.detail = f"answer: {as_text(said)}"[:500]
    return answer


def _grade(value: object) -> float | None:
    """A score as Inspect's `value_to_float` has it; None for what is no single value."""
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, str):
        if value.casefold() in _WORDS and (value in "CIPN" or len(value) > 1):
            return _WORDS[value.casefold()]
        try:
            return float(value)
        except ValueError:
            return 0.0
    return None


def _text(value: object) -> str:
    """An input: a text, or what the user's turns say."""
    if isinstance(value, list):
        return "\n\n".join(_content(turn.get("content")) for turn in value if isinstance(turn, dict))
    return "" if value is None else as_text(value)


def _content(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(as_text(part.get("text", "")) for part in value if isinstance(part, dict))
    return "" if value is None else as_text(value)


def _completion(sample: Mapping[str, Any]) -> str:
    output = held(sample.get("output"))
    if isinstance(text := output.get("completion"), str):
        return text
    first = next(iter(listed(output.get("choices"))), None)
    return _content(held(held(first).get("message")).get("content"))
