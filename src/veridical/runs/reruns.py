"""Names for imported runs of one model that were evaluated more than once: by what differs between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from veridical.runs.manifest import Manifest

MOST_DIFFERENCES = 3
_LONGEST = 24
_NOT_SAID = "not said"
_NAMES = {
    "engine": "harness",
    "model_dtype": "dtype",
    "chat_template_sha": "chat template",
    "system_instruction_sha": "system instruction",
    "fewshot_as_multiturn": "examples as turns",
    "max_train_instances": "shots",
}
_LEFT_ASIDE = ("logs", "model", "pretrained", "git_hash", "numpy_seed", "torch_seed", "fewshot_seed", "model_sha")


def rerun_names(name: str, manifests: Sequence[Manifest]) -> list[str]:
    """A name for each of several imported runs of the model `name`, which say what is not the same in all.

    These are settings, numbers of examples and versions of tasks; where none of them differs, the dates.
    """
    facts = [_facts(manifest) for manifest in manifests]
    keys = [key for key in dict.fromkeys(key for own in facts for key in own) if _differs(key, facts)]
    if not keys:
        facts = [{"of": _date(manifest)} for manifest in manifests]
        keys = ["of"] if _differs("of", facts) else []
    marks = [", ".join(_fact(key, own) for key in keys[:MOST_DIFFERENCES]) for own in facts]
    marked = []
    for text, manifest in zip(marks, manifests, strict=True):
        unique = text and marks.count(text) == 1
        mark = text if unique else ", ".join(filter(None, [text, manifest.model.digest[:8]]))
        marked.append(f"{name} ({mark})")
    return marked


def _facts(manifest: Manifest) -> dict[str, str]:
    found: dict[str, str] = {}
    shots = {entry.name: str(entry.shots) for entry in manifest.suites}
    found |= _by_task("shots", shots) | _by_task("task version", {e.name: e.version for e in manifest.suites})
    for key, value in manifest.model.fingerprint.items():
        if key == "model_args":
            found |= {k: v for k, v in _arguments(value).items() if k not in _LEFT_ASIDE}
        elif key not in _LEFT_ASIDE:
            found.setdefault(_NAMES.get(key, key.replace("_", " ")), value)
    return found


def _by_task(what: str, values: Mapping[str, str]) -> dict[str, str]:
    if len(set(values.values())) <= 1:
        return {what: next(iter(values.values()), "")}
    return {f"{what} of {task}": value for task, value in values.items()}


def _arguments(text: str) -> dict[str, str]:
    """`a=b,c=d` by name."""
    parts = (part.partition("=") for part in text.split(","))
    return {key.strip().strip('{}" '): value.strip() for key, _, value in parts if key}


def _differs(key: str, facts: Sequence[Mapping[str, str]]) -> bool:
    return len({own.get(key, "") for own in facts}) > 1


def _fact(key: str, own: Mapping[str, str]) -> str:
    value = own.get(key, "") or _NOT_SAID
    short = value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
    if key == "shots":
        return f"{value} {'shot' if value == '1' else 'shots'}"
    if key in ("chat template", "system instruction"):
        return f"{key} {value[:8]}" if own.get(key) else f"no {key}"
    return f"{key} {short}"


def _date(manifest: Manifest) -> str:
    origin = manifest.imported
    if origin is None:
        return manifest.created
    dates = [PurePath(file.name).stem.rpartition("_")[2] for file in origin.files]
    return next((date for date in dates if date[:2] == "20"), origin.date)
