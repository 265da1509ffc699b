"""What a command says that was stopped and can go on where it was."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import typer


@contextlib.contextmanager
def resumable(given: list[str], study: Path, *, named: bool) -> Iterator[None]:
    """Within this context a signal to end the process is answered by the command that goes on.

    `given` is the command line; `named` says whether it names the study's folder. The exit status is the program's
    to set (`cli.main`).
    """
    try:
        yield
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            print(_message(given, study, named=named), file=sys.stderr)
        raise typer.Exit(1) from None


def _message(given: list[str], study: Path, *, named: bool) -> str:
    if not study.is_dir():
        return "veridical: stopped before anything was stored"
    words = ["veridical", *given, *([] if named else ["--out", str(study)])]
    return f"veridical: stopped; what was answered is stored. To go on:\n  {shlex.join(words)}"
