"""HELM's run folders as models and tasks.

Such a folder holds `run_spec.json`, `scenario_state.json`, `per_instance_stats.json` and `stats.json`.

Where all choices stand in one prompt the answer is what the completion maps to, and after a chain of thought what HELM
graded it as, else the letter that its own extraction would find; where each reference was put by itself it is HELM's
own `predicted_index` (its log-likelihoods cannot be separated from those of the prompt without its tokenizer);
everywhere else answers are graded by the scores of single instances.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.interop.imports.answer import Answer, as_text, held, listed
from veridical.interop.imports.folders import files_in, not_read
from veridical.interop.imports.helm_state import (
    ALONE,
    THOUGHT,
    THOUGHT_GRADE,
    UNPERTURBED,
    answer_of,
    key_of,
    right_places,
)
from veridical.interop.imports.helm_stats import StatKey, expected_of, of_instances, reported_of, split_of_instances
from veridical.interop.imports.logged import LoggedModel, LoggedTask
from veridical.interop.imports.records import parse_document, read_document, source_of
from veridical.runs.provenance import LeftOut
from veridical.status import Status

HARNESS = "HELM"
STATE = "scenario_state.json"
NO_INSTANCE = "a request without an instance"
ODD = "a request that cannot be read"
ABSENT = "asked, as HELM's statistics say, and not among the requests"
MOST_ABSENT = 1_000_000
NO_STATS = "no scores of single instances of HELM's own (per_instance_stats.json)"
SEPARATE = "no log-likelihoods of the references: HELM's own predicted_index is taken as the answer"
_SETTINGS = ("model_deployment", "method", "temperature", "max_tokens", "max_train_instances", "instructions")


def read_helm(path: Path) -> list[LoggedModel]:
    """The models that were evaluated in a run folder, or in the run folders below it.

    Raises UserError where there is none.
    """
    if path.is_file():
        raise UserError(f"{path}: give the run folder of HELM's that it is in, not the file")
    if not path.exists():
        raise UserError(f"{path}: no such folder")
    odd: list[LeftOut] = []
    found = files_in(path, (".json",), odd)
    folders = sorted({file.parent for file in found if file.name == STATE})
    if not folders:
        raise UserError(
            f"{path}: no run folder of HELM's is here: {STATE} and stats.json are expected in it{not_read(odd)}"
        )
    models = [_model(folder) for folder in folders]
    without = sorted({file.parent for file in found if file.name in ("run_spec.json", "stats.json")} - set(folders))
    models[0].left_out += [LeftOut(what=str(one), reason=f"it has no {STATE}") for one in without]
    models[0].left_out += odd
    return models


def _model(folder: Path) -> LoggedModel:
    broken: list[str] = []
    spec = held(_beside(folder / "run_spec.json", broken))
    adapter = held(spec.get("adapter_spec"))
    name = adapter.get("model") or adapter.get("model_deployment") or "model not named in the log"
    return LoggedModel(
        harness=HARNESS,
        name=str(name),
        version="",
        tasks=[_task(folder, spec, adapter, broken)],
        settings={part: as_text(adapter[part]) for part in _SETTINGS if adapter.get(part) not in (None, "")},
        where=str(folder),
        size=(folder / STATE).stat().st_size,
        content=lambda: source_of(folder / STATE).sha256,
    )


def _task(folder: Path, spec: Mapping[str, Any], adapter: Mapping[str, Any], broken: list[str]) -> LoggedTask:
    reported = listed(_beside(folder / "stats.json", broken))
    files = [
        file
        for name in (STATE, "run_spec.json", "per_instance_stats.json", "stats.json")
        if (file := folder / name).is_file()
    ]
    task = LoggedTask(
        name=_name(str(spec.get("name") or folder.name)),
        answers=lambda: _answers(task, folder, str(adapter.get("method", "")), expected_of(reported)),
        shots=adapter["max_train_instances"] if isinstance(adapter.get("max_train_instances"), int) else 0,
        reported=reported_of(reported),
        sources=lambda: [source_of(file) for file in files],
        total=len(listed(_beside(folder / "per_instance_stats.json", broken))),
    )
    task.lacks += broken
    if not spec:
        task.lacks.append("the model and its settings are not known (run_spec.json)")
    return task


def _name(name: str) -> str:
    """A run's name without its model: `mmlu:subject=philosophy`."""
    scenario, colon, arguments = name.partition(":")
    kept = [part for part in arguments.split(",") if not part.startswith(("model=", "model_deployment="))]
    return scenario + (colon + ",".join(kept) if any(kept) else "")


def _answers(task: LoggedTask, folder: Path, method: str, expected: Mapping[tuple[str, str], int]) -> Iterator[Answer]:
    found = listed(read_document(folder / STATE).get("request_states"))
    states = [state for state in found if isinstance(state, dict) and held(state.get("instance"))]
    if not states:
        raise UserError(f"{folder / STATE} holds no requests: nothing can be judged")
    task.ledger.take(len(found))
    task.ledger.leave_unreadable(NO_INSTANCE, len(found) - len(states))
    single = listed(_beside(folder / "per_instance_stats.json", []))
    stats = of_instances(single)
    if not stats:
        task.lacks.append(NO_STATS)
    if method in ALONE:
        task.lacks.append(SEPARATE)
    if method == THOUGHT and any(THOUGHT_GRADE in own for own in stats.values()):
        method = ""  # every answer has a grade of HELM's, which is what is judged
    with_right = any(map(right_places, states))
    seen: set[StatKey] = set()
    present: Counter[tuple[str, str]] = Counter()
    splits: Counter[str] = Counter()
    for state in states:
        try:
            key = key_of(state)
            answer = answer_of(state, key, stats.get(key, {}), method)
            answer.gold_unknown = with_right and not right_places(state)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            task.ledger.leave_unreadable(ODD)
            continue
        if method in ALONE and (key in seen or state.get("request_mode") == "calibration"):
            task.ledger.take(-1)  # instances are counted, and this is a further request of one
            continue
        seen.add(key)
        splits[answer.fields.get("split", "")] += 1
        present[answer.fields.get("split", ""), key[2]] += key[1] == 0
        yield answer
    named = {key: split for key, split in split_of_instances(single).items() if key not in seen}
    yield from _absent(named, expected, present, task.ledger.left_out.total())
    if len(splits) > 1:
        shown = ", ".join(f"{n:,} {split or 'of none'}" for split, n in splits.most_common())
        task.notices.append(f"the answers are of several splits ({shown}) and judged together; HELM reports each split")


def _absent(
    named: Mapping[StatKey, str],
    expected: Mapping[tuple[str, str], int],
    present: Mapping[tuple[str, str], int],
    left_out: int,
) -> Iterator[Answer]:
    """Instances that HELM has scores of, or counts, and whose requests are not in the log.

    `named` are those of which single scores are there, with their splits; `expected` and `present` count instances by
    split and perturbation. Requests that could not be read (`left_out`) are among these.
    """
    known = Counter(present)
    known.update((split, key[2]) for key, split in named.items() if key[1] == 0)
    unnamed = [
        ((f"not in the log {split} {n + 1}".replace("  ", " "), 0, perturbation), split)
        for (split, perturbation), count in expected.items()
        for n in range(max(min(count, MOST_ABSENT) - known[split, perturbation], 0))
    ]
    for (instance, trial, perturbation), split in [*named.items(), *unnamed][left_out:]:
        yield Answer(
            document=f"{instance} {perturbation}".strip(),
            fields={"instance_id": instance, **({"split": split} if split else {})},
            reading=perturbation or UNPERTURBED,
            metrics={},
            repeat=trial,
            text="",
            status=Status.ERROR,
            detail=ABSENT,
            in_log=False,
        )


def _beside(path: Path, broken: list[str]) -> Any:
    """A file without which answers can still be judged: None where it does not exist, or is not valid JSON (which is
    reported)."""
    if not path.is_file():
        return None
    try:
        return parse_document(path.read_bytes(), str(path))
    except UserError as error:
        broken.append(f"left out: {error}")
        return None
