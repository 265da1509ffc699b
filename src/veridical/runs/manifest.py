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
from veridical.files import checksum
from veridical.files.decoding import in_words, leading_fault
from veridical.files.json_text import schema_fault
from veridical.files.writing import json_bytes, replace
from veridical.items import Frozen
from veridical.runs.provenance import Imported

SCHEMA = "veridical.run/2"
UNSEALED = "veridical.run/1"
"""The schema of 0.1.0, whose manifests list no parts."""
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

    def with_warnings(self, warnings: Iterable[str]) -> ModelEntry:
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


class Part(Frozen):
    """A file of a run that its manifest lists: `path` relative to the run, with `/`; None for `rows` of no table.

    `before` is the checksum of the file that this one is taking the place of, while it does: one of the two is there.
    """

    path: str
    rows: int | None
    sha256: str
    before: str = ""


class Manifest(Frozen):
    """The content of `manifest.json`: model, suites, settings, calls, and where an imported run came from.

    `parts` lists the files that the run consists of (`veridical.runs.parts`); None for a run of 0.1.0, which is not
    sealed. `sealed_later` says that they were listed by a later version than the one that wrote them. `lost` are parts
    that had gone when a later call went on with the run.
    """

    schema_: str = Field(default=SCHEMA, alias="schema")
    created: str
    model: ModelEntry
    suites: tuple[SuiteEntry, ...]
    settings: RunSettings
    calls: tuple[Call, ...] = ()
    notes: Mapping[str, int] = Field(default_factory=dict)
    imported: Imported | None = None
    parts: tuple[Part, ...] | None = None
    sealed_later: bool = False
    lost: tuple[Part, ...] = ()

    def listed(self) -> dict[str, Part]:
        """The parts by path; none where the run is not sealed."""
        return {part.path: part for part in self.parts or ()}


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
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is not a regular file")
        document: Any = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UserError(f"{folder} is not a run folder: it has no {NAME}") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: it is not JSON; {_RESTORE}") from error
    found = document.get("schema") if isinstance(document, dict) else None
    if found not in (SCHEMA, UNSEALED):
        raise _wrong_schema(path, document)
    sealed = found == SCHEMA or "seal" in document
    if sealed and document.pop("seal", None) != _seal(document):
        raise UserError(f"{path} is damaged, or was edited: its content does not have its checksum; {_RESTORE}")
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        first = leading_fault(error)
        field = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: field {field!r}: {in_words(first)}; {_RESTORE}") from error


_RESTORE = "put a copy of the file in its place, or run (or import) again with another --out"


def _seal(document: Mapping[str, Any]) -> str:
    """The checksum of a manifest: of its fields, whatever their order and the space between them."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return checksum.of_bytes(text.encode("utf-8", errors="surrogatepass"))


def _wrong_schema(path: Path, document: object) -> UserError:
    found = document.get("schema") if isinstance(document, dict) else None
    name, _, number = str(found).partition("/")
    newest = int(SCHEMA.partition("/")[2])
    if name == SCHEMA.partition("/")[0] and re.fullmatch(r"\d+", number) and int(number) > newest:
        return UserError(
            f"{path} was written by a newer Veridical (schema {found}; this one reads {SCHEMA}): "
            "read it with that version"
        )
    return UserError(f"{path} is not the manifest of a run: {schema_fault(document, SCHEMA)}; {_RESTORE}")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, replacing the file as a whole. Raises UserError where it cannot be written."""
    document = manifest.model_dump(mode="json", by_alias=True)
    replace(folder / NAME, json_bytes({**document, "seal": _seal(document)}), follow=False)


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
    model = stored.model.with_warnings(wanted.model.warnings)
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
