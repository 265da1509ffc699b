"""A model of a provider of Inspect's (`inspect/PROVIDER/NAME`), as `veridical.models.protocol.LanguageModel`."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

from veridical.errors import UserError
from veridical.installing import install_command
from veridical.models.model_source import ModelSource
from veridical.models.protocol import GenerationSettings, Outcome, Request
from veridical.models.server.chat import FIRST_QUESTION, SEED, TOP, refuse_local_settings
from veridical.models.server.chat_model import ChatModel
from veridical.models.server.guard import short
from veridical.models.server.inspect_replies import scored, written
from veridical.models.server.pool import run_apart
from veridical.models.server.replies import MalformedError
from veridical.models.server.settings import ServerSettings
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


class InspectModel(ChatModel):
    """A model that Inspect reaches by its own `get_model`, which sends a request that failed again."""

    def __init__(self, source: ModelSource, settings: ServerSettings) -> None:
        self._model = source.location
        address = settings.base_url or "the provider's own"
        parts = {"inspect": version("inspect_ai"), "model": self._model, "address": address}
        super().__init__(source.spec, settings, parts)

    def _client(self) -> Any:
        from inspect_ai.model import GenerateConfig, get_model

        config = GenerateConfig(
            temperature=0,
            seed=SEED,
            max_connections=self.settings.concurrency,
            max_retries=self.settings.retries,
            attempt_timeout=max(1, round(self.settings.timeout)),
        )
        return get_model(self._model, config=config, base_url=self.settings.base_url, memoize=False)

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

    def _first(self) -> tuple[dict[str, str], bool]:
        """The model's name as its answers give it, and whether it gives log-probabilities."""

        async def ask() -> tuple[dict[str, str], bool]:
            async with self._client() as model:
                begun = await self._sent(model, Request(messages=FIRST_QUESTION, settings=GenerationSettings(16)))
                if begun.error:
                    raise MalformedError(begun.error)
                parts = {"model told": str(begun.model)} if begun.model else {}
                try:
                    asked = Request(messages=FIRST_QUESTION, continuations=("yes",))
                    scored(await self._sent(model, asked), ("yes",))
                except Exception:  # a provider that refuses the setting, or gives nothing for it
                    return parts, False
                return parts, True

        try:
            return run_apart(ask)
        except UserError:
            raise
        except Exception as error:
            raise UserError(f"model {self.name!r}: Inspect cannot ask it: {_in_a_line(error)}") from error


def _message(message: Message) -> Any:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return kinds[message.role](content=message.content)


def _in_a_line(error: BaseException) -> str:
    """What an error says, without secrets and without the markup of Inspect's own messages."""
    text = " ".join(str(error).split()) or type(error).__name__
    for mark in ("[bold]", "[/bold]", "[blue]", "[/blue]"):
        text = text.replace(mark, "")
    return short(text, 300)
