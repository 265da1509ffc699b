"""From a server's answer to an outcome: what was written, or what the first token's probabilities say of the choices.

What is not exactly what was asked for is refused (`MalformedError`) and asked again; nothing is scored from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from veridical.models.protocol import ChoiceScore, FinishReason, Outcome
from veridical.status import Status


class MalformedError(Exception):
    """An answer that is not of the form that was asked for. The message says in a few words what is wrong with it."""


def used(completion: Any) -> int:
    """The tokens of prompt and answer, as an answer says; 0 where it does not say."""
    total = getattr(getattr(completion, "usage", None), "total_tokens", None)
    return total if isinstance(total, int) and total > 0 else 0


def written(completion: Any) -> Outcome:
    """The outcome of a request to write. Thinking that the server gives apart from the answer is not part of it.

    Raises MalformedError.
    """
    choice = _only_choice(completion)
    message = choice.message
    if getattr(message, "tool_calls", None):
        raise MalformedError("a call of a tool instead of an answer")
    text = message.content or ""
    if not isinstance(text, str):
        raise MalformedError("content that is not a text")
    refusal = getattr(message, "refusal", None)
    if not text and isinstance(refusal, str) and refusal:
        text = refusal
    n_tokens = getattr(getattr(completion, "usage", None), "completion_tokens", None) or 0
    match choice.finish_reason:
        case "stop":
            status, finish = Status.OK, "stop"
        case "length":
            status, finish = Status.TRUNCATED, "length"
        case "content_filter":
            return Outcome(Status.FILTERED, text=text, n_tokens=n_tokens, detail="the server's content filter")
        case other:
            raise MalformedError(f"an answer that ended by {other!r}")
    ended: FinishReason = "length" if finish == "length" else "stop"
    return Outcome(status, text=text, n_tokens=n_tokens, finish=ended)


def scored(completion: Any, continuations: Sequence[str]) -> Outcome:
    """The outcome of a request for the first token's probabilities: see `by_first_tokens`. Raises MalformedError."""
    return by_first_tokens(_only_choice(completion), continuations)


def by_first_tokens(answer: Any, continuations: Sequence[str]) -> Outcome:
    """Scores of choices from the likeliest first tokens of an answer and their log-probabilities.

    `answer` has `logprobs.content`, whose first entry has `top_logprobs`, as OpenAI's protocol and Inspect have it. A
    token counts for a choice that begins with it (white space around the token set aside), and the probabilities of
    several such tokens are added. A choice that none of the listed tokens begins has the lowest listed log-probability
    as its score, which is an upper bound, and is named in the detail; with no choice among them the status is
    `below_k`. A token that begins several choices cannot be divided among them: where it is as likely as the likeliest
    choice, the answer is not known, and the status is `ambiguous`.

    Raises MalformedError.
    """
    content = getattr(getattr(answer, "logprobs", None), "content", None)
    if not content:
        raise MalformedError("no log-probabilities")
    listed = [(one.token, one.logprob) for one in content[0].top_logprobs or ()]
    if not listed or not all(isinstance(p, int | float) and math.isfinite(p) and p <= 1e-3 for _, p in listed):
        raise MalformedError("log-probabilities that are none")
    lowest = min(value for _, value in listed)
    found: list[list[float]] = [[] for _ in continuations]
    shared: list[float] = []
    for token, value in listed:
        begins = [k for k, text in enumerate(continuations) if _begins(token, text)]
        if len(begins) == 1:
            found[begins[0]].append(value)
        elif begins:
            shared.append(value)
    totals = [_added(values) if values else lowest for values in found]
    scores = tuple(
        ChoiceScore(min(total, 0.0), 1, len(text.strip()), len(text.strip().encode()))
        for total, text in zip(totals, continuations, strict=True)
    )
    best = max((total for total, values in zip(totals, found, strict=True) if values), default=-math.inf)
    if shared and _added(shared) >= best:
        return Outcome(Status.AMBIGUOUS, detail="the likeliest first token begins several of the choices")
    lacking = [repr(text.strip()) for text, values in zip(continuations, found, strict=True) if not values]
    if len(lacking) == len(continuations):
        return Outcome(Status.BELOW_K, detail=f"no choice is among the {len(listed)} likeliest first tokens")
    bound = f"below the {len(listed)} likeliest first tokens, scored at most: {', '.join(lacking)}"
    return Outcome(Status.OK, scores, detail=bound if lacking else "")


def _begins(token: str, text: str) -> bool:
    word = token.strip()
    return bool(word) and text.strip().startswith(word)


def _added(values: Sequence[float]) -> float:
    """The logarithm of the sum of probabilities."""
    highest = max(values)
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))


def _only_choice(completion: Any) -> Any:
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or len(choices) != 1:
        n = len(choices) if isinstance(choices, list) else "no list of"
        raise MalformedError(f"{n} answers for one request" if choices is not None else "no answers: not the protocol")
    if getattr(choices[0], "message", None) is None:
        raise MalformedError("an answer without a message")
    return choices[0]
