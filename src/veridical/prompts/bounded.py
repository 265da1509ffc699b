"""Templates of other people's are run with limits of time, memory and length.

A sandbox keeps a template from the machine, and not from its clock: two loops in one another can run for years, and a
text times a number fill all memory.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import nodes

SECONDS = 5.0
"""How long a template may take for one item. This and the numbers below are Veridical's choice."""
MEMORY = 4 << 30
"""Bytes that it may take beyond what the process has."""
CHARACTERS = 10_000_000
"""Characters that it may write."""


class TemplateLimitError(ValueError):
    """A template that does not come to an end within the limits."""


def check_length(text: str) -> str:
    """The text. Raises TemplateLimitError where it is longer than `CHARACTERS`."""
    if len(text) > CHARACTERS:
        raise TemplateLimitError(f"it writes {len(text):,} characters, and may write {CHARACTERS:,}")
    return text


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Run what is inside with limits; raises TemplateLimitError where it passes them.

    Time is limited in the main thread, where signals arrive, and memory where the system says what is used.
    """
    try:
        with _memory(), _time():
            yield
    except MemoryError as error:
        raise TemplateLimitError(f"it takes more than {MEMORY >> 30} GiB of memory") from error


@contextlib.contextmanager
def _time() -> Iterator[None]:
    timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    # Somebody else's alarm is left alone.
    if not timed or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise TemplateLimitError(f"it runs for more than {SECONDS:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextlib.contextmanager
def _memory() -> Iterator[None]:
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = used + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (wanted if soft == resource.RLIM_INFINITY else min(wanted, soft), hard))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


_HARMLESS_NODES = (
    *(
        nodes.Template,
        nodes.Output,
        nodes.TemplateData,
        nodes.Name,
        nodes.Getattr,
        nodes.Const,
        nodes.If,
        nodes.CondExpr,
    ),
    *(nodes.Test, nodes.Not, nodes.And, nodes.Or, nodes.Compare, nodes.Operand, nodes.Getitem, nodes.Filter),
)
_HARMLESS_FILTERS = frozenset({"join", "trim", "lower", "upper", "capitalize", "first", "last", "length"})


def is_harmless(template: nodes.Template) -> bool:
    """Whether a template takes time and memory in proportion to its fields: no loops, no arithmetic, few filters."""
    return all(
        isinstance(node, _HARMLESS_NODES) and (not isinstance(node, nodes.Filter) or node.name in _HARMLESS_FILTERS)
        for node in template.find_all(nodes.Node)
    )
