"""From Inspect's `ModelOutput` to an outcome, of a model that is asked and of a log that is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from veridical.models.protocol import Outcome
from veridical.models.server.replies import MalformedError, by_first_tokens
from veridical.status import Status


def ended(stop_reason: object, text: str, n_tokens: int = 0) -> Outcome | None:
    """The outcome of a text that ended for one of Inspect's stop reasons; None where it is not an answer."""
    match stop_reason:
        case "stop":
            return Outcome(Status.OK, text=text, n_tokens=n_tokens, finish="stop")
        case "max_tokens":
            return Outcome(Status.TRUNCATED, text=text, n_tokens=n_tokens, finish="length")
        case "model_length":
            return Outcome(Status.TOO_LONG, detail="longer than the model takes")
        case "content_filter":
            return Outcome(Status.FILTERED, text=text, n_tokens=n_tokens, detail="the provider's content filter")
        case _:
            return None


def written(output: Any) -> Outcome:
    """The outcome of a request to write; reasoning is not part of the text.

    Raises MalformedError for an error, a call of a tool, and anything but one answer.
    """
    choice = _only_choice(output)
    outcome = ended(choice.stop_reason, choice.message.text, getattr(output.usage, "output_tokens", 0) or 0)
    if outcome is None:
        raise MalformedError(f"an answer that ended by {choice.stop_reason!r}")
    return outcome


def scored(output: Any, continuations: Sequence[str]) -> Outcome:
    """The outcome of a request for the first token's probabilities. Raises MalformedError where there are none."""
    return by_first_tokens(_only_choice(output), continuations)


def _only_choice(output: Any) -> Any:
    if output.error:
        raise MalformedError(output.error)
    if len(output.choices) != 1:
        raise MalformedError(f"{len(output.choices)} answers for one request")
    return output.choices[0]
