"""The manifest: what makes a run repeatable."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from veridical.errors import UserError
from veridical.files.writing import json_bytes, replace
from veridical.items import Frozen
from veridical.runs.provenance import Imported

SCHEMA = "veridical.run/1"
NAME = "manifest.json"
PACKAGES = ("veridical", "numpy", "scipy", "polars", "torch", "transformers", "tokenizers", "gguf")


class ModelEntry(Frozen):
    """The model: its name as the user spelt it, and what makes its answers what they are.

    `probes` holds the fields of `veridical.engine.probes.Probes` as found when the run was begun; None where the
    model has no probes. `unused_weights` and `remarks` are those of `veridical.models.protocol.LoadingNotes`;
    `warnings` are what libraries warned of while the model was loaded and asked. `base` names the model that it was
    fine-tuned from, "" where nobody said.
    """

    name: str
    fingerprint: Mapping[str, str]
    digest: str
    n_parameters: int | None = None
    probes: Mapping[str, bool | int | float | str | None] | None = None
    unused_weights: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    base: str = ""

    def heard(self, warnings: Iterable[str]) -> ModelEntry:
        """The entry with further warnings, each once."""
        return self.model_copy(update={"warnings": tuple(dict.fromkeys((*self.warnings, *warnings)))})


class SuiteEntry(Frozen):
    """A suite that the run asks; the content hash is of the whole suite, whatever part was asked.

    `shots` is the number of examples before each item; which they are is in the hash.
    """

    name: str
    version: str
    content_hash: str
    shots: int = 0


class Call(Frozen):
    """One call that asked something, so that the run can be repeated."""

    created: str
    suites: tuple[str, ...]
    prompts: Mapping[str, tuple[str, ...]]
    modes: tuple[str, ...]
    inputs: tuple[str, ...]
    limit: int | None = None
    orders: int | None = None
    packages: Mapping[str, str] = Field(default_factory=dict)


class RunSettings(Frozen):
    """What is the same in every call of a run. `max_new_tokens` is null until something is generated."""

    seed: int
    max_new_tokens: int | None = None


class Manifest(Frozen):
    """The content of `manifest.json`: model, suites, settings, calls, and where an imported run came from."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    created: str
    model: ModelEntry
    suites: tuple[SuiteEntry, ...]
    settings: RunSettings
    calls: tuple[Call, ...] = ()
    notes: Mapping[str, int] = Field(default_factory=dict)
    imported: Imported | None = None


def now() -> str:
    """The time in UTC, to the second, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def package_versions() -> dict[str, str]:
    """Python's version and those of the installed packages that can move a score."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def is_run(folder: Path) -> bool:
    """Whether a folder holds a manifest."""
    return (folder / NAME).is_file()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder. Raises UserError where the folder is none, or is of a newer schema."""
    path = folder / NAME
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UserError(f"{folder} is not a run folder: it has no {NAME}") from error
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    found = document.get("schema") if isinstance(document, dict) else None
    if found != SCHEMA:
        raise _wrong_schema(path, found)
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: field {field!r}: {first['msg']}") from error


def _wrong_schema(path: Path, found: object) -> UserError:
    name, _, number = str(found).partition("/")
    newest = int(SCHEMA.partition("/")[2])
    if name == SCHEMA.partition("/")[0] and re.fullmatch(r"\d+", number) and int(number) > newest:
        return UserError(
            f"{path} was written by a newer Veridical (schema {found}; this one reads {SCHEMA}): "
            "read it with that version"
        )
    return UserError(f"{path} is not the manifest of a run: its schema is {found!r}, not {SCHEMA!r}")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, replacing the file as a whole. Raises UserError where it cannot be written."""
    replace(folder / NAME, json_bytes(manifest.model_dump(mode="json", by_alias=True)))


def check_suites(folder: Path, stored: Manifest, suites: Iterable[SuiteEntry]) -> None:
    """Raise UserError where a run or study holds a suite of that name with another version or content."""
    known = {entry.name: entry for entry in stored.suites}
    for entry in suites:
        other = known.get(entry.name, entry)
        if other.shots != entry.shots:
            raise UserError(
                f"{folder} holds suite {entry.name!r} with --shots {other.shots}, not {entry.shots}: use another --out"
            )
        if (other.version, other.content_hash) != (entry.version, entry.content_hash):
            raise UserError(
                f"{folder} holds suite {entry.name!r} version {other.version} (content {other.content_hash}),"
                f" not version {entry.version} (content {entry.content_hash}): use another --out"
            )


def extended(folder: Path, stored: Manifest, wanted: Manifest) -> Manifest:
    """The stored manifest with what `wanted` adds to it.

    Raises UserError where the two cannot be one run: another model, suite content, seed or generation length.
    """
    check_suites(folder, stored, wanted.suites)
    if stored.model.digest != wanted.model.digest:
        raise UserError(f"{folder} is a run of another model ({stored.model.name}): use another --out")
    settings = merged_settings(folder, stored.settings, wanted.settings)
    suites = {entry.name: entry for entry in (*stored.suites, *wanted.suites)}
    described = [call.model_dump(exclude={"created"}) for call in stored.calls]
    new_calls = tuple(c for c in wanted.calls if c.model_dump(exclude={"created"}) not in described)
    model = stored.model.heard(wanted.model.warnings)
    model = model.model_copy(update={"base": wanted.model.base or model.base})
    parts: dict[str, object] = {"suites": tuple(suites.values()), "settings": settings}
    parts |= {"calls": (*stored.calls, *new_calls), "model": model}
    return stored.model_copy(update=parts)


def merged_settings(folder: Path, settings: RunSettings, wanted: RunSettings) -> RunSettings:
    """The settings of a run with those that were open. Raises UserError where the two cannot be one run's."""
    for name in RunSettings.model_fields:
        old, new = getattr(settings, name), getattr(wanted, name)
        if old is None:
            settings = settings.model_copy(update={name: new})
        elif new is not None and new != old:
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{folder} was run with {flag} {old}, not {new}: use another --out")
    return settings
