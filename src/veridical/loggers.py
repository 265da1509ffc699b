"""Other libraries' loggers: quiet where what they warn of is told in our own words."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def errors_alone(name: str) -> Iterator[None]:
    """Within this context the logger called `name` tells of errors alone."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
