"""What of requests is equal and runs once, and what of it runs together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from veridical.engine.engine import Engine
from veridical.engine.passes import Pass
from veridical.models.outcomes import bare
from veridical.models.protocol import Request, TokenSequence

Prompt = tuple[tuple[int, ...], int]
"""Token ids, and the limit of new tokens."""


def waiting_for(
    requests: Sequence[Request], indices: Iterable[int]
) -> tuple[dict[TokenSequence, list[int]], dict[int, int]]:
    """Each distinct sequence to the requests that wait for it, and for how many each of these waits."""
    waiting: dict[TokenSequence, list[int]] = {}
    missing: dict[int, int] = {}
    for index in indices:
        sequences = dict.fromkeys(bare(s) for s in (*requests[index].sequences, *requests[index].unconditional))
        missing[index] = len(sequences)
        for sequence in sequences:
            waiting.setdefault(sequence, []).append(index)
    return waiting, missing


def limited(
    requests: Sequence[Request], indices: Iterable[int], room: Callable[[tuple[int, ...]], int]
) -> dict[Prompt, list[int]]:
    """Each distinct prompt and limit to the requests that wait for it; no limit is above the `room` after a prompt."""
    waiting: dict[Prompt, list[int]] = {}
    for index in indices:
        prompt, settings = requests[index].sequences[0].context, requests[index].settings
        assert settings is not None
        waiting.setdefault((prompt, min(settings.max_new_tokens, room(prompt))), []).append(index)
    return waiting


def scoring_passes(engine: Engine, requests: Sequence[Request], indices: Sequence[int]) -> Iterator[Pass]:
    """The passes of scoring these requests. One whose choices fall into several is a place of that of its first."""
    distinct = list(waiting_for(requests, indices)[0])
    led: dict[TokenSequence, list[int]] = {}
    for index in indices:
        led.setdefault(bare(requests[index].sequences[0]), []).append(index)
    for one in engine.passes(distinct) if distinct else ():
        yield Pass(one.n_tokens, tuple(chain.from_iterable(led.get(distinct[place], ()) for place in one.places)))


def writing_passes(engine: Engine, waiting: Mapping[Prompt, Sequence[int]]) -> Iterator[Pass]:
    """The passes of generating for these prompts."""
    held = list(waiting.values())
    prompts, limits = [prompt for prompt, _ in waiting], [limit for _, limit in waiting]
    for one in engine.generation_passes(prompts, limits) if prompts else ():
        yield Pass(one.n_tokens, tuple(chain.from_iterable(held[place] for place in one.places)))
