"""What other libraries warn of while a model is loaded and asked: collected, so that it is shown once and stored."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

LIBRARIES = ("transformers", "tokenizers", "gguf", "torch", "accelerate", "huggingface_hub", "safetensors")
"""The loggers that are listened to, by the name of their library."""

LONGEST = 600
"""Characters of a message that are kept."""

REPORTED_OTHERWISE = (
    "LOAD REPORT",  # missing and unused weights: `veridical.models.weights` refuses or lists them
    "Dequantizing the whole model",  # how GGUF files are always loaded here
)
"""Parts of messages about what Veridical checks, or decides, itself."""

_ABOUT_CODE = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
"""Warnings that speak to whoever calls a library, not of what a model answers."""

_COLOURS = re.compile("\x1b\\[[0-9;]*m")


@contextmanager
def collected() -> Iterator[list[str]]:
    """Within this context the libraries' warnings go to the list, each once, and not to standard error.

    A message is one line that begins with the library's name. Contexts may be nested: what an inner one collects, the
    outer one has as well when the inner one ends.
    """
    messages: list[str] = []
    with ExitStack() as undo:
        _forget_what_was_said()
        handler = _Handler(messages)
        for library in LIBRARIES:
            undo.enter_context(_listened_to(logging.getLogger(library), handler))
        undo.enter_context(warnings.catch_warnings())  # forgets, on entry, which warnings were shown before
        _listen_to_warnings(messages)
        outer = _current[-1] if _current else None
        _current.append(messages)
        undo.callback(_current.remove, messages)
        try:
            yield messages
        finally:
            if outer is not None:
                _add(outer, messages)


_current: list[list[str]] = []


class _Handler(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # the caller gave other arguments than its message takes
            text = str(record.msg)
        if not _is_about_code(text):
            _add(self.messages, [_line(record.name.partition(".")[0], text)])


@contextmanager
def _listened_to(logger: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    before = (logger.level, logger.propagate, logger.handlers[:])
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    logger.handlers = [handler]
    try:
        yield
    finally:
        logger.setLevel(before[0])
        logger.propagate, logger.handlers = before[1], before[2]


def _listen_to_warnings(messages: list[str]) -> None:
    """Takes what the module `warnings` would print, until its filters are put back."""

    def keep(message: Warning | str, category: type[Warning], filename: str, *others: Any, **named: Any) -> None:
        if not issubclass(category, _ABOUT_CODE):
            found = next((name for name in LIBRARIES if re.search(rf"[\\/]{name}[\\/]", filename)), "python")
            _add(messages, [_line(found, str(message))])

    warnings.showwarning = keep
    for category in (UserWarning, RuntimeWarning):
        warnings.filterwarnings("default", category=category)


def _forget_what_was_said() -> None:
    """Has transformers give a warning again that it gives once a process: it may be of another model now."""
    once = getattr(logging.Logger, "warning_once", None)
    if forget := getattr(once, "cache_clear", None):
        forget()


def _is_about_code(text: str) -> bool:
    return "deprecated" in text and "instead" in text


def _line(library: str, text: str) -> str:
    plain = " ".join(_COLOURS.sub("", text).split())
    plain = plain.removeprefix(f"[{library}]").strip()
    return f"{library}: {plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + '…'}"


def _add(messages: list[str], new: Iterable[str]) -> None:
    for message in new:
        if message not in messages and not any(part in message for part in REPORTED_OTHERWISE):
            messages.append(message)
