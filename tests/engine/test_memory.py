"""One sequence that memory does not hold is reported, and the others are answered."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine.engine import Engine, plain_scorer
from veridical.engine.hidden import HiddenStates
from veridical.engine.memory import Budget, TooLargeError, is_out_of_memory
from veridical.engine.plain import PlainGenerator
from veridical.models.protocol import TokenSequence

from ..models import tiny
from .sequences import draw, suite_like, tolerance

VOCABULARY = 97
LONGEST = 45
T = TypeVar("T")
Make = Callable[[int], PreTrainedModel]
MAKES = [tiny.mistral_with_window, tiny.mamba, tiny.t5]


@contextmanager
def memory_for(model: PreTrainedModel, longest: int) -> Iterator[None]:
    """Within this context a pass over rows of more tokens than this runs out of memory."""
    module = model.get_encoder() if model.config.is_encoder_decoder else model
    forward = module.forward

    def limited(*args: object, **kwargs: object) -> object:
        if kwargs["input_ids"].shape[1] > longest:  # type: ignore[attr-defined]
            raise RuntimeError(
                "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."
            )
        return forward(*args, **kwargs)

    module.forward = limited
    try:
        yield
    finally:
        module.forward = forward


def taken(results: Iterator[tuple[int, T]]) -> tuple[dict[int, T], tuple[int, ...]]:
    """What came, each once, and then the places that were too large."""
    found: dict[int, T] = {}
    try:
        for index, result in results:
            assert index not in found
            found[index] = result
    except TooLargeError as error:
        return found, error.places
    raise AssertionError("nothing was too large")


def with_two_too_long() -> tuple[list[TokenSequence], list[int]]:
    source = random.Random(0)
    long = [TokenSequence(draw(n, VOCABULARY, source), (3,)) for n in (80, 60)]
    ordinary = suite_like(VOCABULARY, n_sets=3)
    return [long[0], *ordinary, long[1]], [0, len(ordinary) + 1]


@pytest.mark.parametrize("batch_tokens", [30, 500])
@pytest.mark.parametrize("make", MAKES)
def test_sequences_too_large_for_memory_cost_themselves_alone(make: Make, batch_tokens: int) -> None:
    model = make(VOCABULARY)
    asked, too_large = with_two_too_long()
    expected = dict(plain_scorer(model, Budget(500)).score(asked))
    budget = Budget(batch_tokens)
    with memory_for(model, LONGEST):
        found, places = taken(plain_scorer(model, budget).score(asked))
    assert sorted(places) == too_large
    assert sorted([*found, *too_large]) == list(range(len(asked)))
    for index, score in found.items():
        assert score == pytest.approx(expected[index], abs=tolerance(asked[index]))
    # It was halved until the long ones stood alone, and no further.
    assert budget.batch_tokens >= min(batch_tokens, 60)


@pytest.mark.parametrize("make", MAKES)
def test_prompts_too_large_for_memory_cost_themselves_alone(make: Make) -> None:
    model = make(VOCABULARY)
    asked, too_large = with_two_too_long()
    prompts = [sequence.context for sequence in asked]
    expected = dict(PlainGenerator(model, Budget(500), frozenset()).generate(prompts, 3))
    with memory_for(model, LONGEST):
        found, places = taken(PlainGenerator(model, Budget(500), frozenset()).generate(prompts, 3))
    assert sorted(places) == too_large
    assert found == {index: generated for index, generated in expected.items() if index not in too_large}


def test_hidden_states_of_the_others_are_taken_once() -> None:
    model = tiny.mistral_with_window(VOCABULARY)
    asked, too_large = with_two_too_long()
    spans = [(0, len(sequence.context)) for sequence in asked]
    expected, found = (HiddenStates(model, (0, 1), spans) for _ in range(2))
    engine = Engine(model, stop=frozenset(), batch_tokens=500)
    dict(engine.score(asked, expected))
    with memory_for(model, LONGEST), pytest.raises(TooLargeError):
        dict(engine.score(asked, found))
    for index in range(len(asked)):
        if index in too_large:
            assert not found.states[index].any()
        else:
            assert abs(found.states[index] - expected.states[index]).max() < 1e-4


def test_a_sequence_that_is_run_again_alone_and_does_not_fit_is_the_one_that_is_reported() -> None:
    """The first run comes back without a number, and the second does not come back."""
    model = tiny.mistral_with_window(VOCABULARY)
    forward = model.forward
    asked = [TokenSequence(draw(n, VOCABULARY, random.Random(n)), (3,)) for n in (5, 9, 7)]

    def spoilt(*args: object, **kwargs: object) -> object:
        ids = kwargs["input_ids"]
        assert isinstance(ids, torch.Tensor)
        if tuple(ids.shape) == (1, 9):
            raise torch.OutOfMemoryError("CUDA out of memory")
        output = forward(*args, **kwargs)
        if len(ids) == 3:
            output.logits[0, 0] = float("nan")
        return output

    model.forward = spoilt
    found, places = taken(plain_scorer(model, Budget(500)).score(asked))
    assert places == (1,)
    model.forward = forward
    expected = dict(plain_scorer(model, Budget(500)).score(asked))
    assert found == pytest.approx({index: expected[index] for index in (0, 2)}, abs=1e-4)


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (MemoryError(), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: not enough memory"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"), True),
        (RuntimeError("The size of tensor a (2) must match the size of tensor b (4)"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_allocators_say_is_understood(error: Exception, is_memory: bool) -> None:
    assert is_out_of_memory(error) is is_memory
