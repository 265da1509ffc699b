"""HELM's run folders as models and tasks.

Such a folder holds `run_spec.json`, `scenario_state.json`, `per_instance_stats.json` and `stats.json`.

Where all choices stand in one prompt the answer is what the completion maps to, and after a chain of thought what HELM
graded it as, else the letter that its own extraction would find; where each reference was put by itself it is HELM's
own `predicted_index` (its log-likelihoods cannot be separated from those of the prompt without its tokenizer);
everywhere else answers are graded by the scores of single instances.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.interop.imports.answer import Answer, as_text, held, letters, listed, number
from veridical.interop.imports.folders import files_in
from veridical.interop.imports.helm_stats import (
    BOOKKEEPING,
    StatKey,
    of_instances,
    part_of,
    perturbation_of,
    reported_of,
)
from veridical.interop.imports.logged import LoggedModel, LoggedTask
from veridical.interop.imports.records import parse_document, read_document, source_of
from veridical.runs.provenance import LeftOut
from veridical.status import Status

HARNESS = "HELM"
STATE = "scenario_state.json"
NO_INSTANCE = "a request without an instance"
ODD = "a request that cannot be read"
NO_RESULT = "the log has no completion of this request"
UNPERTURBED = "as-logged"
NO_STATS = "no scores of single instances of HELM's own (per_instance_stats.json)"
SEPARATE = "no log-likelihoods of the references: HELM's own predicted_index is taken as the answer"
_JOINT = "multiple_choice_joint"
_THOUGHT = "multiple_choice_joint_chain_of_thought"
_THOUGHT_GRADE = "chain_of_thought_correctness"
_ALONE = ("multiple_choice_separate_original", "multiple_choice_separate_calibrated", "ranking_binary")
_SETTINGS = ("model_deployment", "method", "temperature", "max_tokens", "max_train_instances", "instructions")

_State = Mapping[str, Any]


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
        raise UserError(f"{path}: no run folder of HELM's is here: {STATE} and stats.json are expected in it")
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
        answers=lambda: _answers(task, folder, str(adapter.get("method", ""))),
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


def _answers(task: LoggedTask, folder: Path, method: str) -> Iterator[Answer]:
    found = listed(read_document(folder / STATE).get("request_states"))
    states = [state for state in found if isinstance(state, dict) and held(state.get("instance"))]
    if not states:
        raise UserError(f"{folder / STATE} holds no requests: nothing can be judged")
    task.ledger.take(len(found))
    task.ledger.leave(NO_INSTANCE, len(found) - len(states))
    stats = of_instances(listed(_beside(folder / "per_instance_stats.json", [])))
    if not stats:
        task.lacks.append(NO_STATS)
    if method in _ALONE:
        task.lacks.append(SEPARATE)
    if method == _THOUGHT and any(_THOUGHT_GRADE in own for own in stats.values()):
        method = ""  # every answer has a grade of HELM's, which is what is judged
    seen: set[StatKey] = set()
    splits: Counter[str] = Counter()
    for state in states:
        try:
            key = _key(state)
            answer = _answer(state, key, stats.get(key, {}), method)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            task.ledger.leave(ODD)
            continue
        if method in _ALONE and (key in seen or state.get("request_mode") == "calibration"):
            task.ledger.take(-1)  # instances are counted, and this is a further request of one
            continue
        seen.add(key)
        splits[answer.fields.get("split", "")] += 1
        yield answer
    if len(splits) > 1:
        shown = ", ".join(f"{n:,} {split or 'of none'}" for split, n in splits.most_common())
        task.notices.append(f"the answers are of several splits ({shown}) and judged together; HELM reports each split")


def _key(state: _State) -> StatKey:
    instance = held(state.get("instance"))
    trial = state.get("train_trial_index")
    return str(instance.get("id", "")), trial if isinstance(trial, int) else 0, perturbation_of(instance)


def _answer(state: _State, key: StatKey, stats: Mapping[str, float], method: str) -> Answer:
    instance = held(state.get("instance"))
    split = str(instance.get("split") or "")
    references = [one for one in listed(instance.get("references")) if isinstance(one, dict)]
    fields = {"input": _of_text(instance.get("input")), "split": split}
    for name, value in held(instance.get("extra_data")).items():
        fields.setdefault(str(name), as_text(value))
    answer = Answer(
        document=f"{key[0]} {key[2]}".strip(),
        fields={name: value for name, value in fields.items() if value},
        reading=key[2] or UNPERTURBED,
        metrics={name: value for name, value in stats.items() if not name.startswith(BOOKKEEPING)},
        part=part_of(split, key[2]),
        factors={"instance_id": key[0], **_tags(references)},
        repeat=key[1],
        contexts=[as_text(held(state.get("request")).get("prompt", ""))],
        text=_completion(state),
    )
    texts = [_of_text(reference.get("output")) for reference in references]
    right = [place for place, reference in enumerate(references) if "correct" in listed(reference.get("tags"))]
    mapping = state.get("output_mapping")
    if method in (_JOINT, _THOUGHT) and isinstance(mapping, dict) and mapping:
        named = {str(key): as_text(value) for key, value in mapping.items()}
        answer = _joint(answer, named, [texts[p] for p in right], thought=method == _THOUGHT)
    elif method in _ALONE and "predicted_index" in stats and all(texts):
        answer = _by_index(answer, texts, right, stats["predicted_index"])
    elif right:
        answer.fields["target"] = as_text(texts[right[0]] if len(right) == 1 else [texts[place] for place in right])
    return _failed(answer, state, alone=method in _ALONE)


def _failed(answer: Answer, state: _State, *, alone: bool) -> Answer:
    """The answer, which is none where the request failed or nothing came back."""
    result = held(state.get("result"))
    error = result.get("error") or held(state.get("instance")).get("error") or state.get("error")
    if result.get("success") is False or error:
        answer.status, answer.label = Status.ERROR, None
        answer.detail = as_text(error or "the request failed")[:500]
    elif not alone and not listed(result.get("completions")):
        answer.status, answer.label, answer.detail = Status.ERROR, None, NO_RESULT
    # A metric may be 1 of an empty text (where nothing is the right answer): a grade as any other.
    elif not alone and answer.status is Status.OK and not answer.text and 1.0 not in answer.metrics.values():
        answer.status, answer.label = Status.EMPTY, None
    return answer


def _tags(references: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The tags of the references other than `correct`, such as the position or the group that a scenario gives them."""
    tags = (as_text(tag) for reference in references for tag in listed(reference.get("tags")))
    found = sorted({tag for tag in tags if tag != "correct"})
    return {"reference_tags": ", ".join(found)} if found else {}


_LETTERS = (re.compile(r"answer is \(?([A-J])\)?"), re.compile(r"[aA]nswer:\s*\(?([A-J])\)?"))


def _after_thought(text: str) -> str:
    """The letter in which a chain of thought ends, as HELM's extraction has it: `answer is B`, else `answer: B`."""
    found = (pattern.search(text) for pattern in _LETTERS)
    return next((match[1] for match in found if match), "")


def _joint(answer: Answer, mapping: Mapping[str, str], right: Sequence[str], *, thought: bool) -> Answer:
    answer.labels, answer.choices = list(mapping), [text or " " for text in mapping.values()]
    answer.gold = [place for place, text in enumerate(mapping.values()) if text in right]
    said = _after_thought(answer.text or "") if thought else (answer.text or "").strip()
    if thought:
        answer.label = said if said in mapping else None
        answer.status = Status.OK if answer.label else Status.UNPARSED if (answer.text or "").strip() else Status.EMPTY
        return answer
    if said in mapping:
        answer.label = said
    else:
        answer.status = Status.UNPARSED if said else Status.EMPTY
    if said in mapping:
        answer.recomputed = {
            name: rule(mapping[said], right) for name, rule in _MATCHES.items() if name in answer.metrics
        }
    else:
        answer.recomputed = {name: 0.0 for name in _MATCHES if name in answer.metrics}
    return answer


def _normal(text: str) -> str:
    """Lower case, without punctuation, articles and needless space, as HELM's quasi matches compare."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))


_MATCHES: Mapping[str, Callable[[str, Sequence[str]], float]] = {
    "exact_match": lambda said, right: float(any(said.strip() == one.strip() for one in right)),
    "quasi_exact_match": lambda said, right: float(any(_normal(said) == _normal(one) for one in right)),
    "prefix_exact_match": lambda said, right: float(any(said.strip().startswith(one.strip()) for one in right)),
    "quasi_prefix_exact_match": lambda said, right: float(any(_normal(said).startswith(_normal(one)) for one in right)),
}
"""HELM's matches of a completion that names a choice with the right references."""


def _by_index(answer: Answer, texts: Sequence[str], right: Sequence[int], index: float) -> Answer:
    answer.labels, answer.choices, answer.gold = letters(len(texts)), texts, right
    answer.text = None
    predicted = int(index) if math.isfinite(index) else -1
    if 0 <= predicted < len(texts):
        answer.label = answer.labels[predicted]
    else:
        answer.status = Status.ERROR
    if "exact_match" in answer.metrics:
        answer.recomputed["exact_match"] = float(predicted in right)
    return answer


def _of_text(value: Any) -> str:
    if isinstance(value, dict):
        return as_text(value.get("text", ""))
    return "" if value is None else as_text(value)


def _completion(state: _State) -> str:
    """What was written: the completion that HELM scores, the likeliest of those asked for."""
    found = map(held, listed(held(state.get("result")).get("completions")))
    best = max(found, key=lambda one: number(one.get("logprob")) or 0.0, default={})
    return as_text(best.get("text", ""))


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
