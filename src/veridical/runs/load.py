"""From run folders to the frame that measures read. No model and no torch is needed for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from veridical.errors import UserError
from veridical.files.links import real_path
from veridical.files.writing import check_path
from veridical.items import FULL, Suite
from veridical.readouts.record import StoredReadout
from veridical.runs.answered import answered_frame
from veridical.runs.imported import imported_frame
from veridical.runs.manifest import NAME, Manifest, SuiteEntry, is_run, read_manifest
from veridical.runs.parts import checked, read_tables
from veridical.runs.plan import MODES
from veridical.runs.provenance import UNKNOWN
from veridical.runs.readouts import read_readouts
from veridical.runs.references import check_references
from veridical.runs.reruns import rerun_names
from veridical.runs.store import (
    ASKS,
    ITEMS_NAME,
    check_items,
    read_asks,
    read_heads,
    read_responses,
    read_suites,
)
from veridical.runs.stored import read_stored_suites
from veridical.status import Status

NEAR_TIE = 1e-3
"""Two choices whose log-likelihoods are closer than this (in nats) are counted as a near tie: another batch
size or machine may decide the other way. Our choice."""


@dataclass(frozen=True)
class Run:
    """What one model answered, read from its folder. `name` is the model's, made unique within a study."""

    path: Path
    manifest: Manifest
    name: str

    @cached_property
    def suites(self) -> dict[str, Suite]:
        """The suites by name, narrowed to the items that were asked."""
        if self.manifest.imported is not None:
            judged = {task.suite for task in self.manifest.imported.tasks if task.judged_by}
            heads = {name: head for name, head in read_heads(self.path).items() if name in judged}
            checked(self.path, ITEMS_NAME)  # it is read again, by column, whenever an item is asked for
            return read_stored_suites(self.path / ITEMS_NAME, heads)
        return read_suites(self.path)

    @cached_property
    def asks(self) -> pl.DataFrame:
        """What was asked (`veridical.runs.store.read_asks`)."""
        if self.manifest.imported is not None:  # written once, each ask once
            return read_tables(self.path, "requests", ASKS)
        return read_asks(self.path)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a response (`veridical.judge.frame.SCHEMA`); an ask without an answer is an `error`.

        The order of rows does not depend on the calls that asked them.
        """
        if (imported := self.manifest.imported) is not None:
            return imported_frame(self.path, self.name, self.asks, imported, self.suites)
        return answered_frame(self.name, self.asks, read_responses(self.path), self.suites)

    @cached_property
    def readouts(self) -> tuple[StoredReadout, ...]:
        """The readouts of its hidden states that were made, by suite and prompt."""
        return read_readouts(self.path, self.name)

    @cached_property
    def answers(self) -> pl.DataFrame:
        """`frame`, and below it what readouts and their baselines answer."""
        return pl.concat([self.frame, *(readout.answers for readout in self.readouts)])

    @property
    def asked(self) -> bool:
        """Whether any question is stored."""
        return not self.asks.is_empty()

    def check(self) -> None:
        """Raise UserError where its questions, items and answers do not belong together."""
        if self.asked:
            check_references(self.path, self.manifest, self.asks)

    def notes(self) -> dict[str, int]:
        """Counts for the manifest: what rendering did, tokens across a join, near ties, missing answers."""
        asks = self.asks
        counts = Counter(asks["notes"].explode().drop_nulls().to_list())
        return {
            **dict(sorted(counts.items())),
            "asks": asks.height,
            "joined_tokens": int(asks["joined"].sum()),
            "near_ties": self.frame.filter(pl.col("margin") < NEAR_TIE).height,
            "unanswered": self.frame.filter(status=Status.ERROR.value).height,
        }


def place(suites: Mapping[str, Suite], row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Where a row of a frame stands: prompts and inputs as the suite lists them, items by their ids."""
    suite = suites[row["suite"]]
    prompts = [prompt.name for prompt in suite.prompts]
    inputs = [FULL, *(name for name in suite.inputs if name != FULL)]
    ranks = (_rank(prompts, row["prompt"]), _rank(MODES, row["mode"]), _rank(inputs, row["input"]))
    return (row["suite"], *ranks, row["item"], row["order"], row["repeat"])


def _rank(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else -1


def open_run(path: Path) -> Run:
    """The run in a folder. Raises UserError where the folder is not one."""
    check_there(path)
    manifest = read_manifest(path)
    return Run(path, manifest, manifest.model.name)


def check_there(path: Path) -> None:
    """Raise UserError where a path that is to name runs leads to nothing."""
    if not path.exists():
        raise UserError(f"{path}: no such folder; give a run folder, or the study folder that holds it")


def run_folders(path: Path) -> list[Path]:
    """The run folders that a path names: itself, or those in a study folder, by name."""
    if is_run(path):
        return [path]
    if not path.is_dir():
        return []
    return sorted(folder for folder in path.iterdir() if is_run(folder))


def open_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs in these run or study folders, each once.

    Raises UserError where a path holds no run, where a run stores no question or lacks the items of one, or
    where two runs cannot be judged together.
    """
    runs = opened(paths)
    for run in runs:
        if run.manifest.suites and not run.asked:
            raise UserError(
                f"no requests stored in {run.path / 'requests'}: they were removed, or the run was stopped before it "
                f"asked; the same 'veridical run' with --out {run.path.parent} asks again"
            )
        check_items(run.path, run.asks)
        run.check()
    return runs


def opened(paths: Sequence[Path]) -> list[Run]:
    """As `open_runs`, whatever the runs store."""
    folders: dict[Path, None] = {}
    for path in paths:
        check_path(path)
        check_there(path)
        found = run_folders(path)
        if not found:
            raise UserError(f"{path} is not a run folder: neither it nor a folder in it has a {NAME}")
        # The same folder by two names (a link, `a` and `a/.`) is one run.
        known = {real_path(folder) for folder in folders}
        folders.update(dict.fromkeys(folder for folder in found if real_path(folder) not in known))
    runs = [open_run(folder) for folder in folders]
    _check_same_suites(runs)
    return _with_unique_names(runs)


def _check_same_suites(runs: Sequence[Run]) -> None:
    seen: dict[str, Run] = {}
    for run in runs:
        for entry in run.manifest.suites:
            other = seen.setdefault(entry.name, run)
            first = next(e for e in other.manifest.suites if e.name == entry.name)
            if run.manifest.imported is not None and other.manifest.imported is not None:
                continue  # items are compared by their content, whatever the version and the examples
            if first != entry and not _may_be_one(first, entry):
                raise UserError(
                    f"{other.path} and {run.path} hold different contents of suite {entry.name!r} (versions "
                    f"{first.version} and {entry.version}): judge them apart"
                )


def _may_be_one(one: SuiteEntry, other: SuiteEntry) -> bool:
    """Whether two entries differ in nothing but a version that the log of one does not say."""
    return UNKNOWN in (one.version, other.version) and one.model_copy(update={"version": other.version}) == other


def _with_unique_names(runs: Sequence[Run]) -> list[Run]:
    """Runs of one model name under several dtypes are named by dtype, and otherwise by fingerprint.

    Runs of one fingerprint keep one name: they are one model's answers in several folders. Raises UserError
    where those were written under different limits.
    """
    named: dict[str, list[Run]] = {}
    for run in runs:
        named.setdefault(run.manifest.model.name, []).append(run)
    apart: dict[Path, Run] = {}
    for name, same in named.items():
        digests = {run.manifest.model.digest for run in same}
        if len(digests) > 1 and all(run.manifest.imported is not None for run in same):
            unique = rerun_names(name, [run.manifest for run in same])
            apart |= {run.path: replace(run, name=own) for run, own in zip(same, unique, strict=True)}
            continue
        dtypes = {run.manifest.model.fingerprint.get("dtype", "") for run in same}
        _check_same_limits(same)
        for run in same:
            dtype = run.manifest.model.fingerprint.get("dtype", "")
            mark = f" {dtype}" if len(dtypes) == len(digests) and dtype else f"@{run.manifest.model.digest[:8]}"
            apart[run.path] = replace(run, name=name if len(digests) == 1 else f"{name}{mark}")
    return [apart[run.path] for run in runs]


def _check_same_limits(runs: Sequence[Run]) -> None:
    """Raise UserError where one model's runs stopped generating at different lengths: no answer is then the one."""
    seen: dict[str, Run] = {}
    for run in runs:
        limit = run.manifest.settings.max_new_tokens
        if limit is None:
            continue
        other = seen.setdefault(run.manifest.model.digest, run)
        if (first := other.manifest.settings.max_new_tokens) != limit:
            raise UserError(
                f"{other.path} and {run.path} are runs of one model ({run.manifest.model.name}) with "
                f"--max-new-tokens {first} and {limit}: judge them apart, one path a call"
            )
