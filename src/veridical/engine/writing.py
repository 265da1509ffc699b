"""Text of prompts that each have a limit of their own, on either path, and whether its logits were numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import PreTrainedModel

from veridical.engine.engine import Engine
from veridical.engine.generation import Generated, Generator


def write(engine: Engine, prompts: Sequence[tuple[int, ...]], limits: Sequence[int]) -> Iterator[tuple[int, Generated]]:
    """(index, greedy continuation of at most `limits[index]` tokens) for each non-empty prompt, as it is finished."""
    if isinstance(engine._generator, Generator):
        yield from engine._generator.generate(prompts, limits)
        return
    by_limit: dict[int, list[int]] = {}
    for index, limit in enumerate(limits):
        by_limit.setdefault(limit, []).append(index)
    for limit, indices in by_limit.items():
        with _not_finite(engine.model) as steps:
            for place, generated in engine.generate([prompts[index] for index in indices], limit):
                # Some row of some batch so far: which one it was shows when a prompt runs alone.
                bad = any(steps)
                yield indices[place], _alone(engine, prompts[indices[place]], limit) if bad else generated


def _alone(engine: Engine, prompt: tuple[int, ...], limit: int) -> Generated:
    """What the plain path writes, cut where the logits were not numbers: transformers takes a NaN for the largest."""
    with _not_finite(engine.model) as steps:
        ((_, generated),) = engine.generate([prompt], limit)
    if True not in steps:
        return generated
    return Generated(generated.tokens[: steps.index(True)], "non_finite")


@contextmanager
def _not_finite(model: PreTrainedModel) -> Iterator[list[bool]]:
    """Within this context the list gets an entry a forward pass: whether a best next token's logit was no number."""
    steps: list[bool] = []

    def look(module: Any, arguments: Any, output: Any) -> None:
        steps.append(not bool(torch.isfinite(output.logits[:, -1].amax(dim=-1)).all()))

    hook = model.register_forward_hook(look)
    try:
        yield steps
    finally:
        hook.remove()
