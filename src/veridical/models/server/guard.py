"""What ends a job that goes through a server: its limits, or failures one after another; secrets in messages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from veridical.errors import UserError, excerpt
from veridical.models.server.settings import ServerSettings

IN_A_ROW = 20
"""Requests that fail one after another, after all attempts, before the server is taken to be out of reach."""
_SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)S?\Z", re.IGNORECASE)
_SHORTEST_SECRET = 8


@dataclass
class Guard:
    """Counts what was sent to a server and what came of it, over all calls; raises UserError where a job must end."""

    name: str
    settings: ServerSettings
    n_requests: int = 0
    n_tokens: int = 0
    failed_in_a_row: int = 0

    def check_limits(self) -> None:
        """Raise UserError where no further request may be sent."""
        settings = self.settings
        if settings.max_requests is not None and self.n_requests >= settings.max_requests:
            raise UserError(
                f"--max-requests {settings.max_requests:,} is reached: answers that came are stored, and the same "
                "command with a larger number goes on"
            )
        if settings.max_total_tokens is not None and self.n_tokens >= settings.max_total_tokens:
            raise UserError(
                f"--max-total-tokens {settings.max_total_tokens:,}: {self.n_tokens:,} were used; answers that came are "
                "stored, and the same command with a larger number goes on"
            )

    def succeeded(self) -> None:
        """A request was answered."""
        self.failed_in_a_row = 0

    def failed(self, reason: str) -> str:
        """A request failed after all attempts; gives the reason without secrets. Raises UserError after `IN_A_ROW`."""
        reason = without_secrets(reason)
        self.failed_in_a_row += 1
        if self.failed_in_a_row >= IN_A_ROW:
            raise UserError(
                f"model {self.name!r}: {IN_A_ROW} requests in a row failed (the last: {reason}); answers that came are "
                "stored, and the same command goes on"
            )
        return reason


def without_secrets(text: str) -> str:
    """A text in which no value of an environment variable called KEY, TOKEN, SECRET or PASSWORD stands."""
    for name, value in os.environ.items():
        if len(value.strip()) >= _SHORTEST_SECRET and _SECRET.search(name):
            text = text.replace(value.strip(), f"({name})")
    return text


def short(text: object, longest: int) -> str:
    """An excerpt without secrets. They are removed first: what is left of a secret that was cut is not recognised."""
    return excerpt(without_secrets(str(text)), longest)
