"""What a chat protocol can be asked: turns, and of choices the first token."""

from __future__ import annotations

from veridical.errors import UserError, excerpt
from veridical.models.protocol import GenerationSettings, Query, Request
from veridical.models.settings import LoadSettings
from veridical.prompts.template import Conversation, Message

TOP = 20
"""First tokens whose log-probabilities are asked for: as many as OpenAI's protocol allows."""
SEED = 0
FIRST_QUESTION = (Message("user", "Answer with the word yes."),)
"""What a model is asked when it is loaded, to find out what the server gives."""

NOT_OURS = "is run by a server, which renders and tokenises: nothing is known of its weights, precision and batches"
BY_FIRST_TOKENS = (
    f"is scored by the {TOP} likeliest first tokens of its answer; a choice below them has the lowest one's "
    "log-probability as its score, an upper bound"
)


def chat_request(name: str, query: Query, settings: GenerationSettings | None) -> Request:
    """The messages as they are sent, and the choices. Raises UserError for what a chat protocol cannot put."""
    context = query.contexts[0]
    if len(query.contexts) > 1 or not isinstance(context, Conversation):
        raise UserError(
            f"model {name!r}: a prompt without turns, or a context for each choice, cannot be put to a chat "
            "server; ask it with local weights (hf/..., gguf/...)"
        )
    if context.messages[-1].role == "assistant":
        raise UserError(f"model {name!r}: a chat server does not continue a turn that the assistant has begun")
    if query.continuations:
        _check_apart(name, query.continuations)
        return Request(messages=context.messages, continuations=query.continuations)
    return Request(messages=context.messages, settings=settings or GenerationSettings())


def refuse_local_settings(name: str, settings: LoadSettings) -> None:
    """Raise UserError where settings of weights that are run here are given for a model of a server's."""
    local = {"--dtype": settings.dtype != "float32", "--device": settings.device != "auto"}
    local |= {"--device-map": settings.device_map is not None, "--template-arg": bool(settings.template_args)}
    local["--batch-tokens"] = settings.batch_tokens is not None
    if given := [option for option, is_given in local.items() if is_given]:
        raise UserError(f"{', '.join(given)}: of weights that are run here; model {name!r} is run by a server")


def _check_apart(name: str, continuations: tuple[str, ...]) -> None:
    """Raise UserError for choices that no first token can tell apart: one that another begins with."""
    texts = [text.strip() for text in continuations]
    for one in texts:
        for other in texts:
            if one is not other and other.startswith(one):
                raise UserError(
                    f"model {name!r}: choices {excerpt(one, 40)!r} and {excerpt(other, 40)!r} begin alike, and a chat "
                    "server gives the probabilities of the first token alone; use --mode generate"
                )
