"""Progress on standard error: a bar on a terminal, a line now and then elsewhere, nothing in the library."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from veridical.errors import printable

if TYPE_CHECKING:
    from rich.console import Console

LINE_SECONDS = 30.0
"""How far apart the lines are where there is no terminal to draw a bar on."""
SHARE_FOR_TIME_LEFT = 0.05
"""How much must be done before the time left is shown: what is done first (the longest prompts) does not predict it."""
SUMMARY_SECONDS = 1.0
"""How long something must have taken for its speed to be shown."""


class Progress(Protocol):
    """Where a run reports its progress."""

    def say(self, message: str) -> None:
        """Show one line."""

    def steps(self, what: str, total: int) -> contextlib.AbstractContextManager[Callable[[], None]]:
        """Count `total` steps: call what the context gives after each."""


class Silent:
    """Shows nothing."""

    def say(self, message: str) -> None:
        """Show nothing."""

    @contextlib.contextmanager
    def steps(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Count nothing; the function that it gives may be called any number of times."""
        yield lambda: None


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def _speed(rate: float) -> str:
    """Items a second, or a minute where that would be none."""
    return f"{rate:.1f} items/s" if rate >= 1 else f"{60 * rate:.1f} items/min"


class Terminal:
    """Shows progress on a console: a bar with items a second and the time left where it is a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, message: str) -> None:
        """Print one line, with control characters made visible."""
        self._console.print(printable(message), markup=False, highlight=False, soft_wrap=True)

    @contextlib.contextmanager
    def steps(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Show a bar in a terminal, and a line now and then elsewhere; call what the context gives after each step."""
        with self._bar(what, total) if self._console.is_terminal else self._lines(what, total) as step:
            yield step

    @contextlib.contextmanager
    def _bar(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
        )
        started = time.monotonic()
        done = 0
        with Bar(*columns, console=self._console, transient=True) as bar:
            task = bar.add_task(what, total=total, rate="")

            def step() -> None:
                nonlocal done
                done += 1
                rate = done / max(time.monotonic() - started, 1e-9)
                bar.update(task, completed=done, rate=_speed(rate))

            yield step
        self._summarise(what, done, time.monotonic() - started)

    def _summarise(self, what: str, done: int, seconds: float) -> None:
        if done and seconds >= SUMMARY_SECONDS:
            self.say(f"{what}: {done:,} in {_duration(seconds)} ({_speed(done / seconds)})")

    @contextlib.contextmanager
    def _lines(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        started = shown = time.monotonic()
        done = 0

        def step() -> None:
            nonlocal done, shown
            done += 1
            moment = time.monotonic()
            if moment - shown >= LINE_SECONDS:
                shown = moment
                rate = done / (moment - started)
                left = f", {_duration((total - done) / rate)} left" if done >= SHARE_FOR_TIME_LEFT * total else ""
                self.say(f"{what}: {done} of {total}, {_speed(rate)}{left}")

        yield step
        self._summarise(what, done, time.monotonic() - started)
