"""What models that are asked in turns have in common, whoever's client sends the requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from veridical.items import Mode
from veridical.models.protocol import Fingerprint, GenerationSettings, LoadingNotes, Outcome, Query, Request
from veridical.models.server.chat import BY_FIRST_TOKENS, NOT_OURS, SEED, TOP, chat_request
from veridical.models.server.guard import Guard
from veridical.models.server.pool import concurrently
from veridical.models.server.settings import ServerSettings


class ChatModel(ABC):
    """A model that is asked in turns, greedily (temperature 0), several requests at once.

    The server renders and tokenises. Choices are scored by the log-probabilities of the answer's first token, where the
    server gives them; see `veridical.models.server.replies.by_first_tokens`. A subclass opens a client, sends one
    request, and finds out by a first request what the server gives.
    """

    def __init__(self, name: str, settings: ServerSettings, parts: Mapping[str, str]) -> None:
        """Ask the first request. `parts` of the fingerprint say which model is asked and where."""
        self.name = name
        self.settings = settings
        self._guard = Guard(name, settings)
        reported, scores = self._first()
        self.modes: tuple[Mode, ...] = ("loglikelihood", "generate") if scores else ("generate",)
        self.fingerprint = Fingerprint(
            {**parts, "protocol": f"chat, temperature 0, seed {SEED}, top {TOP}", **reported}
        )
        self.loading = LoadingNotes(remarks=(NOT_OURS, *((BY_FIRST_TOKENS,) if scores else ())))

    @property
    def n_parameters(self) -> int | None:
        """The number of parameters is not known."""
        return None

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        """The messages as they are sent, and the choices. Raises UserError for what a chat protocol cannot put."""
        return chat_request(self.name, query, settings)

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """Answers as they come. A request that fails after all attempts is an `error`, with the reason.

        Raises UserError where no request can succeed: the key or the model is refused, requests fail one after another,
        or a limit of the settings is reached.
        """
        yield from concurrently(requests, self._opened, self.settings.concurrency)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Callable[[Request], Awaitable[Outcome]]]:
        async with self._client() as client:

            async def answer(request: Request) -> Outcome:
                return await self._answer(client, request)

            yield answer

    @abstractmethod
    def _client(self) -> AbstractAsyncContextManager[Any]:
        """What sends requests, open as long as the context lasts."""

    @abstractmethod
    async def _answer(self, client: Any, request: Request) -> Outcome:
        """The outcome of one request, after all attempts."""

    @abstractmethod
    def _first(self) -> tuple[dict[str, str], bool]:
        """What the server says of itself, as parts of the fingerprint, and whether it gives log-probabilities."""
