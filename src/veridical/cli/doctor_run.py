"""`veridical doctor RUN`: whether every part of a run is what was written, and whether the parts belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from veridical.errors import UserError
from veridical.runs.load import check_there, open_run, run_folders
from veridical.runs.manifest import Manifest, read_manifest
from veridical.runs.parts import Found, State, inspect

if TYPE_CHECKING:
    from rich.console import Console

_SOUND = (State.WHOLE, State.UNLISTED, State.UNCHECKED)


def verify(paths: Sequence[Path], console: Console) -> bool:
    """Print the state of every part of these runs, and of each run in one line; whether all of them are whole.

    Raises UserError for a path that holds no run.
    """
    folders = [folder for path in paths for folder in _folders(path)]
    whole = [_verify(folder, console) for folder in folders]  # every one is shown
    return all(whole)


def _folders(path: Path) -> list[Path]:
    check_there(path)
    found = run_folders(path)
    if not found:
        read_manifest(path)  # says what is wrong with it
    return found


def _verify(folder: Path, console: Console) -> bool:
    console.print(str(folder), markup=False, style="bold")
    try:
        manifest = read_manifest(folder)
    except UserError as error:
        console.print(str(error), markup=False)
        return False
    found = list(inspect(folder, manifest))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for one in found:
        rows = f"{one.rows:,} rows" if one.rows is not None else ""
        table.add_row(escape(one.path), rows, one.state.value, escape(one.reason))
    console.print(table)
    fault = "" if any(one.state not in _SOUND for one in found) else _fault(folder)
    console.print(_summary(manifest, found, fault), markup=False)
    return not fault and all(one.state in _SOUND for one in found)


def _fault(folder: Path) -> str:
    """Why parts that are whole one by one do not belong together; empty where they do."""
    try:
        run = open_run(folder)
        run.check()
        for suite in run.suites.values():
            len(suite.items)
        _ = run.readouts
    except UserError as error:
        return str(error)
    return ""


def _summary(manifest: Manifest, found: Sequence[Found], fault: str) -> str:
    counts = Counter(one.state for one in found)
    if fault:
        return f"not whole: {fault}"
    if bad := [f"{n} {state.value}" for state, n in counts.items() if state not in _SOUND]:
        return f"not whole: of {len(found)} parts {', '.join(bad)}"
    if manifest.parts is None:
        return (
            f"not sealed: Veridical 0.1.0 wrote it without checksums; its {len(found)} parts can be read and belong "
            "together"
        )
    late = "; it was sealed after it was written" if manifest.sealed_later else ""
    lost = f"; {len(manifest.lost)} parts were lost before and asked again" if manifest.lost else ""
    return f"whole: {len(found)} parts{late}{lost}"
