"""An error that nothing foresaw: one line for the user, and the traceback in a file."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from veridical.errors import excerpt, printable

STATUS = 70
"""The exit status: `EX_SOFTWARE` of sysexits.h."""
DEBUG = "VERIDICAL_DEBUG"
"""With this variable set to anything but 0, the traceback is shown too."""


def debugging() -> bool:
    """Whether the user wants to see tracebacks."""
    return os.environ.get(DEBUG, "0") not in ("", "0")


def report(error: BaseException, arguments: Sequence[str]) -> int:
    """Write the traceback to a log file, say in one line on standard error what happened and where that is."""
    text = "".join(traceback.format_exception(error))
    if debugging():
        print(text, file=sys.stderr)
    written = _written(f"veridical {' '.join(map(repr, arguments))}\nPython {sys.version}\n\n{text}")
    if isinstance(error, MemoryError):
        what = "out of memory"
    else:
        reason = " ".join(str(error).split())
        what = f"{type(error).__name__}: {excerpt(reason, 200)}" if reason else type(error).__name__
    details = f"the details are in {written}" if written else f"{DEBUG}=1 shows the details"
    print(
        printable(f"veridical: an error in Veridical itself, not in what it was given ({what}); {details}"),
        file=sys.stderr,
    )
    return STATUS


def _written(text: str) -> Path | None:
    """The log file, in the user's folder of logs, else in the one for temporary files; None where neither takes it."""
    name = f"error-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    for folder in (platformdirs.user_log_dir("veridical", appauthor=False), tempfile.gettempdir()):
        try:
            place = Path(folder)
            place.mkdir(parents=True, exist_ok=True)
            path = place / name
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
        except (OSError, ValueError, RuntimeError):
            continue
        return path
    return None
