"""Signals that end a process: raised as KeyboardInterrupt, so that what was done so far can be stored first."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

STOPPING: tuple[signal.Signals, ...] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
)
"""What a terminal, a shell, a service manager or a cluster's scheduler sends to end a process."""
REPEATED_SECONDS = 1.0
"""A second signal within this time is part of the first: some managers send two, and fingers press twice."""


class StopSignal(KeyboardInterrupt):
    """A signal to end has come. `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@dataclass(slots=True)
class Received:
    """The first signal that came, if any, and when the last one was raised."""

    number: int | None = None
    raised: float = 0.0

    @property
    def status(self) -> int:
        """The conventional exit status: 128 and the signal's number; that of Ctrl-C where no handler saw a signal."""
        return 128 + (signal.SIGINT if self.number is None else self.number)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler. Raises StopSignal."""
        now = time.monotonic()
        if self.number is not None and now - self.raised < REPEATED_SECONDS:
            return
        self.number = self.number or number
        self.raised = now
        raise StopSignal(number)


@contextmanager
def raised(*, defaults_only: bool = False) -> Iterator[Received]:
    """Within this context the signals of `STOPPING` are raised as StopSignal in the main thread.

    One that is ignored stays ignored (`nohup`, jobs in the background). With `defaults_only` a signal that has a
    handler already keeps it, and one that came takes its default effect when the context is left.
    """
    received = Received()
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                handler = signal.getsignal(number)
                if handler is signal.SIG_DFL or (callable(handler) and not defaults_only):
                    before[number] = signal.signal(number, received.handle)
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if defaults_only and received.number is not None:
            signal.raise_signal(received.number)


@contextmanager
def deferred() -> Iterator[None]:
    """Within this context a signal for which there is a handler waits until the context is left."""
    waiting: list[int] = []
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                if callable(signal.getsignal(number)):
                    before[number] = signal.signal(number, lambda number, _: waiting.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            signal.raise_signal(waiting[0])
