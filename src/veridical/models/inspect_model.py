"""A model of a provider of Inspect's (`inspect/PROVIDER/NAME`), as `veridical.models.protocol.LanguageModel`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from veridical.errors import UserError, excerpt
from veridical.installing import install_command
from veridical.items import Mode
from veridical.models.model_source import ModelSource
from veridical.models.protocol import Fingerprint, GenerationSettings, LoadingNotes, Outcome, Query, Request
from veridical.models.server.chat import (
    BY_FIRST_TOKENS,
    FIRST_QUESTION,
    NOT_OURS,
    SEED,
    TOP,
    chat_request,
    refuse_local_settings,
)
from veridical.models.server.guard import Guard, without_secrets
from veridical.models.server.pool import concurrently, run_apart
from veridical.models.server.replies import MalformedError, by_first_tokens
from veridical.models.server_settings import ServerSettings
from veridical.models.settings import LoadSettings
from veridical.prompts.template import Message
from veridical.status import Status


def inspect_source(spec: str, rest: str) -> ModelSource:
    """The model that Inspect knows as PROVIDER/NAME. Raises UserError where it is not of that form."""
    provider, slash, name = rest.partition("/")
    if not (provider and slash and name):
        raise UserError(f"model {spec!r}: write inspect/PROVIDER/NAME, as Inspect names its models")
    return ModelSource(spec, "remote", rest, provider="inspect")


def load_inspect(source: ModelSource, settings: LoadSettings) -> InspectModel:
    """The model, after a request or two that show whether it can be reached and what it gives.

    Raises UserError where Inspect or the provider's package is not installed, the model cannot be reached, and for
    settings of local weights.
    """
    try:
        import inspect_ai  # noqa: F401  # that it is there
    except ModuleNotFoundError as error:
        raise UserError(
            f"model {source.spec!r} needs {error.name}, which is not installed: {install_command('inspect')}"
        ) from error
    refuse_local_settings(source.spec, settings)
    return InspectModel(source, settings.server)


class InspectModel:
    """A model that Inspect reaches, asked greedily (temperature 0) by its own `get_model`.

    The provider renders and tokenises, and sends a request that failed again. Choices are scored by the first token, as
    with `openai/NAME`, where the provider gives log-probabilities.
    """

    def __init__(self, source: ModelSource, settings: ServerSettings) -> None:
        self.name = source.spec
        self.settings = settings
        self._model = source.location
        self._guard = Guard(source.spec, settings)
        told, scores = self._first()
        self.modes: tuple[Mode, ...] = ("loglikelihood", "generate") if scores else ("generate",)
        self.fingerprint = Fingerprint(
            {
                "inspect": version("inspect_ai"),
                "model": self._model,
                "address": settings.base_url or "the provider's own",
                "protocol": f"chat, temperature 0, seed {SEED}, top {TOP}",
                **({"model told": told} if told else {}),
            }
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

        Raises UserError where requests fail one after another, or a limit of the settings is reached.
        """
        yield from concurrently(requests, self._opened, self.settings.concurrency)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Callable[[Request], Awaitable[Outcome]]]:
        from inspect_ai.model import GenerateConfig, get_model

        config = GenerateConfig(
            temperature=0,
            seed=SEED,
            max_connections=self.settings.concurrency,
            max_retries=self.settings.retries,
            attempt_timeout=max(1, round(self.settings.timeout)),
        )
        model = get_model(self._model, config=config, base_url=self.settings.base_url, memoize=False)
        async with model:

            async def answer(request: Request) -> Outcome:
                return await self._answer(model, request)

            yield answer

    async def _answer(self, model: Any, request: Request) -> Outcome:
        self._guard.check_limits()
        try:
            output = await self._sent(model, request)
            outcome = written(output) if request.settings else scored(output, request.continuations)
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise
        except Exception as error:  # every provider has errors of its own
            return Outcome(Status.ERROR, detail=self._guard.failed(_in_a_line(error)))
        self._guard.succeeded()
        return outcome

    async def _sent(self, model: Any, request: Request) -> Any:
        from inspect_ai.model import GenerateConfig

        limit = request.settings.max_new_tokens if request.settings else 1
        scores = {} if request.settings else {"logprobs": True, "top_logprobs": TOP}
        self._guard.n_requests += 1
        output = await model.generate(
            [_message(one) for one in request.messages], config=GenerateConfig(max_tokens=limit, **scores)
        )
        self._guard.n_tokens += getattr(output.usage, "total_tokens", 0) or 0
        return output

    def _first(self) -> tuple[str, bool]:
        """The model's name as its answers tell it, and whether it gives log-probabilities."""

        async def ask() -> tuple[str, bool]:
            from inspect_ai.model import GenerateConfig, get_model

            config = GenerateConfig(temperature=0, seed=SEED, max_retries=self.settings.retries)
            async with get_model(self._model, config=config, base_url=self.settings.base_url, memoize=False) as model:
                begun = await self._sent(model, Request(messages=FIRST_QUESTION, settings=GenerationSettings(16)))
                if begun.error:
                    raise MalformedError(begun.error)
                try:
                    asked = Request(messages=FIRST_QUESTION, continuations=("yes",))
                    scored(await self._sent(model, asked), ("yes",))
                except Exception:  # a provider that refuses the setting, or gives nothing for it
                    return str(begun.model or ""), False
                return str(begun.model or ""), True

        try:
            return run_apart(ask)
        except UserError:
            raise
        except Exception as error:
            raise UserError(f"model {self.name!r}: Inspect cannot ask it: {_in_a_line(error)}") from error


def written(output: Any) -> Outcome:
    """The outcome of a request to write, from Inspect's `ModelOutput`; reasoning is not part of the text.

    Raises MalformedError for an error, a call of a tool, and anything but one answer.
    """
    choice = _only_choice(output)
    text = choice.message.text
    n_tokens = getattr(output.usage, "output_tokens", 0) or 0
    match choice.stop_reason:
        case "stop":
            return Outcome(Status.OK, text=text, n_tokens=n_tokens, finish="stop")
        case "max_tokens":
            return Outcome(Status.TRUNCATED, text=text, n_tokens=n_tokens, finish="length")
        case "model_length":
            return Outcome(Status.TOO_LONG, detail="longer than the model takes")
        case "content_filter":
            return Outcome(Status.FILTERED, text=text, n_tokens=n_tokens, detail="the provider's content filter")
        case other:
            raise MalformedError(f"an answer that ended by {other!r}")


def scored(output: Any, continuations: tuple[str, ...]) -> Outcome:
    """The outcome of a request for the first token's probabilities. Raises MalformedError where there are none."""
    content = getattr(_only_choice(output).logprobs, "content", None)
    if not content:
        raise MalformedError("no log-probabilities")
    return by_first_tokens([(one.token, one.logprob) for one in content[0].top_logprobs or ()], continuations)


def _only_choice(output: Any) -> Any:
    if output.error:
        raise MalformedError(output.error)
    if len(output.choices) != 1:
        raise MalformedError(f"{len(output.choices)} answers for one request")
    return output.choices[0]


def _message(message: Message) -> Any:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return kinds[message.role](content=message.content)


def _in_a_line(error: BaseException) -> str:
    """What an error says, without secrets and without the markup of Inspect's own messages."""
    text = " ".join(str(error).split()) or type(error).__name__
    for mark in ("[bold]", "[/bold]", "[blue]", "[/blue]"):
        text = text.replace(mark, "")
    return without_secrets(excerpt(text, 300))
