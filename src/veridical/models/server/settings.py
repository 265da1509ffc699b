"""How a server is asked: where it is, how many requests at once, and how many at most."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from veridical.errors import UserError

BASE_URL = "OPENAI_BASE_URL"
KEY = "OPENAI_API_KEY"
DEFAULT_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server is asked.

    `base_url` is the address that `/chat/completions` is appended to: the variable OPENAI_BASE_URL, or OpenAI's own,
    where None. `concurrency` requests are under way at once; each may take `timeout` seconds and is sent again up to
    `retries` times. No more than `max_requests` are sent, and none after `max_total_tokens` (of prompts and answers, as
    the server counts them) were used. The key is read from the environment (OPENAI_API_KEY) and is held nowhere else.
    """

    base_url: str | None = None
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 6
    max_requests: int | None = None
    max_total_tokens: int | None = None

    @property
    def address(self) -> str:
        """The base URL. Raises UserError where it is none, or holds a password, which would be stored with the run."""
        address = (self.base_url or os.environ.get(BASE_URL) or DEFAULT_BASE_URL).rstrip("/")
        parts = urlsplit(address)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise UserError(f"--base-url: give the address alone; a key is read from the variable {KEY}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"--base-url {address!r}: give an address as http://127.0.0.1:8000/v1")
        return address

    @property
    def key(self) -> str:
        """The key, empty where there is none: servers of one's own ask for none."""
        return os.environ.get(KEY, "").strip()
