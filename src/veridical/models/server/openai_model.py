"""A model behind a server, as `veridical.models.protocol.LanguageModel`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from veridical.errors import UserError
from veridical.installing import install_command
from veridical.models.model_source import ModelSource
from veridical.models.protocol import GenerationSettings, Outcome, Request
from veridical.models.server.chat import FIRST_QUESTION, SEED, TOP, refuse_local_settings
from veridical.models.server.chat_model import ChatModel
from veridical.models.server.guard import short
from veridical.models.server.pool import run_apart
from veridical.models.server.replies import MalformedError, scored, used, written
from veridical.models.server.settings import DEFAULT_BASE_URL, KEY, ServerSettings
from veridical.models.settings import LoadSettings
from veridical.status import Status

if TYPE_CHECKING:
    from openai import AsyncOpenAI

WAIT = 0.5
"""Seconds before a request whose answer was not of the protocol is sent again; twice as long each time."""


def server_model(spec: str, rest: str) -> ModelSource:
    """The model that a server knows by the name `rest`."""
    return ModelSource(spec, "remote", rest, provider="openai")


def load_server(source: ModelSource, settings: LoadSettings) -> ServerModel:
    """The model, after one short request that shows whether the server can be reached and what it gives.

    Raises UserError where it cannot be reached, does not know the model or the key, and for settings of local weights.
    """
    try:
        import openai  # noqa: F401  # that it is there
    except ModuleNotFoundError as error:
        raise UserError(
            f"model {source.spec!r} needs {error.name}, which is not installed: {install_command('api')}"
        ) from error
    refuse_local_settings(source.spec, settings)
    return ServerModel(source, settings.server)


class ServerModel(ChatModel):
    """A model that a server runs, through the chat protocol of OpenAI's SDK."""

    def __init__(self, source: ModelSource, settings: ServerSettings) -> None:
        self._model = source.location
        self._key = settings.key
        if not self._key and settings.address == DEFAULT_BASE_URL:
            raise UserError(
                f"model {source.spec!r}: OpenAI's own server needs a key in the variable {KEY}; give another server's "
                f"address with --base-url, or write hf/{source.spec} for a model of the Hugging Face hub"
            )
        self._limit = "max_tokens"
        super().__init__(source.spec, settings, {"server": settings.address, "model": self._model})

    def _client(self) -> AsyncOpenAI:
        return _client(self.settings, self._key)

    async def _answer(self, client: AsyncOpenAI, request: Request) -> Outcome:
        import openai

        for attempt in range(self.settings.retries + 1):
            self._guard.check_limits()
            try:
                completion = await self._sent(client, request)
                outcome = written(completion) if request.settings else scored(completion, request.continuations)
                self._guard.succeeded()
                return outcome
            except (MalformedError, ValueError, TypeError, AttributeError, openai.APIResponseValidationError) as error:
                # The SDK sends again what failed by its status or connection, but not what has another body.
                reason = f"not an answer of the protocol: {short(error, 200)}"
                await asyncio.sleep(min(WAIT * 2**attempt, 8.0))
            except openai.APIStatusError as error:
                reason = self._said(error)
                if error.status_code in (400, 413, 422) and is_too_long(reason):
                    return Outcome(Status.TOO_LONG, detail=reason)
                if error.status_code in (401, 403, 404):
                    raise UserError(f"model {self.name!r}: the server refuses it: {reason}") from error
                break
            except openai.APIConnectionError as error:  # timeouts among them
                reason = f"{error} after {self.settings.retries + 1} attempts"
                break
        return Outcome(Status.ERROR, detail=self._guard.failed(reason))

    async def _sent(self, client: AsyncOpenAI, request: Request) -> Any:
        """One request. What the server calls the limit of the answer's length is found out by the first."""
        import openai

        given: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": one.role, "content": one.content} for one in request.messages],
            "temperature": 0,
            "seed": SEED,
            self._limit: request.settings.max_new_tokens if request.settings else 1,
        }
        if not request.settings:
            given |= {"logprobs": True, "top_logprobs": TOP}
        self._guard.n_requests += 1
        try:
            completion = await client.chat.completions.create(**given)
        except openai.BadRequestError as error:
            if self._limit == "max_tokens" and "max_completion_tokens" in str(error):
                self._limit = "max_completion_tokens"
                return await self._sent(client, request)
            raise
        self._guard.n_tokens += used(completion)
        return completion

    def _first(self) -> tuple[dict[str, str], bool]:
        """What the server says of itself, and whether it gives log-probabilities: by one request for each."""
        import openai

        async def ask() -> tuple[dict[str, str], bool]:
            async with self._client() as client:
                begun = await self._sent(client, Request(messages=FIRST_QUESTION, settings=GenerationSettings(1)))
                if not getattr(begun, "choices", None):
                    raise MalformedError("no answers in it")
                said = {name: getattr(begun, name, None) for name in ("model", "system_fingerprint")}
                parts = {f"server's {name}": value for name, value in said.items() if isinstance(value, str) and value}
                try:
                    scored(await self._sent(client, Request(messages=FIRST_QUESTION, continuations=("yes",))), ("yes",))
                except (openai.APIStatusError, MalformedError):
                    return parts, False
                return parts, True

        where = f"model {self.name!r}, server {self.settings.address}"
        try:
            return run_apart(ask)
        except openai.APIStatusError as error:
            raise UserError(f"{where}: {self._said(error)}") from error
        except openai.APIConnectionError as error:
            raise UserError(f"{where}: cannot be reached ({error}); is it running, and is --base-url right?") from error
        except (MalformedError, ValueError, TypeError, AttributeError) as error:
            raise UserError(f"{where}: does not speak OpenAI's protocol: {short(error, 200)}") from error

    def _said(self, error: Any) -> str:
        """What the server says of a request that it refuses."""
        body = error.body if isinstance(error.body, dict) else {}
        message = body.get("message") or error.message
        return f"status {error.status_code}: {short(message, 300)}"


def is_too_long(reason: str) -> bool:
    """Whether a server's refusal says that the prompt is longer than the model takes."""
    lowered = reason.casefold()
    return any(words in lowered for words in ("context length", "context_length", "context window", "too many tokens"))


def _client(settings: ServerSettings, key: str) -> AsyncOpenAI:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    # A redirect would carry the key to wherever it leads: none is followed.
    return AsyncOpenAI(
        api_key=key or "none",
        base_url=settings.address,
        timeout=settings.timeout,
        max_retries=settings.retries,
        http_client=DefaultAsyncHttpxClient(follow_redirects=False),
    )
