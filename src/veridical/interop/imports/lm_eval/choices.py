"""A record whose choices were scored, as an answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from veridical.interop.imports.answer import Answer, letters, made_fit, number, shared_beginning
from veridical.interop.imports.lm_eval.gold import gold_positions
from veridical.interop.imports.lm_eval.requests import Requests, scores_of
from veridical.interop.imports.lm_eval.rules import first_best, of_choices
from veridical.status import Status


@dataclass(frozen=True, slots=True)
class Conventions:
    """How the records of a task are to be read.

    `delimiter` stands before a choice in what was scored. `by_text` says that choices are named by their own texts
    (the same for every document), and by their place otherwise. `index_first` decides between two readings of a
    target such as `1`. `graded` says that the task's right answers do not follow from its log-likelihoods and gold,
    `whole_contexts` that no examples stand before contexts that are the choices.
    """

    delimiter: str = " "
    by_text: bool = False
    index_first: bool = True
    graded: bool = False
    whole_contexts: bool = False


def chosen(
    answer: Answer, requests: Requests, target: object, conventions: Conventions, declared: Iterable[str] = ()
) -> Answer:
    """The answer with its choices, their scores and which of them are right; `declared` are metrics to recompute."""
    continuations = requests.continuations or []
    found = scores_of(requests.returned)
    count = _conditional(requests)
    answer.contexts = shared_contexts(requests.contexts[:count])
    texts = own_texts(requests, conventions.delimiter)
    own_contexts = len(answer.contexts) > 1
    if own_contexts:
        answer.choice_contexts = _from_last_example(answer.contexts)
    answer.labels = _labels(texts, by_text=conventions.by_text and not own_contexts)
    answer.choices = [text or whole for text, whole in zip(texts, continuations, strict=False)]
    if found is None:
        answer.status, answer.detail = Status.ERROR, "no log-likelihoods are logged"
        answer.gold = gold_positions(target, texts, index_first=conventions.index_first)
        return answer
    totals, greedy = found
    answer.scores, answer.unconditional = totals[:count], totals[count:]
    answer.greedy = greedy[:count]
    if own_contexts and len(set(continuations)) == 1:
        answer.gold = _deduced(answer)
    else:
        answer.gold = gold_positions(target, texts, index_first=conventions.index_first)
        answer.lengths = texts
    made_fit(answer)
    if answer.scores and not all(map(math.isfinite, answer.scores)):
        answer.status = Status.NON_FINITE
    if own_contexts and conventions.whole_contexts:
        # Without examples the contexts are the task's choices, and it is by their lengths that it normalises.
        answer.recomputed = of_choices(replace(answer, lengths=answer.contexts)) if answer.scores else {}
    elif answer.scores:
        answer.recomputed = of_choices(answer, declared)
    return answer


def _conditional(requests: Requests) -> int:
    """How many requests are choices in their context: half, where the rest is scored without one."""
    count = len(requests.contexts)
    half = count // 2
    again = requests.continuations or []
    if count % 2 == 0 and half > 1 and again[:half] == again[half:] and not any(requests.contexts[half:]):
        return half
    return count


def own_texts(requests: Requests, delimiter: str) -> list[str]:
    """The texts of the choices without the delimiter before them."""
    return [text.removeprefix(delimiter) for text in (requests.continuations or [])[: _conditional(requests)]]


def shared_contexts(contexts: Sequence[str]) -> list[str]:
    """The one context of all choices, or one a choice."""
    return list(contexts[:1]) if len(set(contexts)) == 1 else list(contexts)


def _from_last_example(contexts: Sequence[str]) -> list[str]:
    """Contexts that differ, without what they share up to the last blank line: the solved examples before them."""
    shared = shared_beginning(contexts)
    start = shared.rfind("\n\n")
    return [context[start + 2 :] if start >= 0 else context for context in contexts]


def _labels(texts: Sequence[str], *, by_text: bool) -> list[str]:
    named = [" ".join(text.split()) for text in texts]
    return list(texts) if by_text and all(named) and len(set(named)) == len(named) else letters(len(texts))


def _deduced(answer: Answer) -> tuple[int, ...]:
    """The right one of two contexts, from the harness's own score: the target says only what follows them."""
    acc = number(answer.metrics.get("acc"))
    if acc not in (0.0, 1.0) or len(answer.scores) != 2:
        return ()
    best = first_best(answer.scores)
    return (best if acc == 1.0 else 1 - best,)
