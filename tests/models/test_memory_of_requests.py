"""A request that memory does not hold is an error of its own, and the others are answered."""

from __future__ import annotations

import numpy as np
import torch

from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import GenerationSettings, Query, RequestedStates
from veridical.prompts.template import PlainText
from veridical.status import Status

from . import tiny


def test_a_request_too_large_for_memory_is_an_error_and_the_others_are_answered() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = tiny.mistral_with_window(len(tokenizer))
    asked = HuggingFaceModel("tiny", model, tokenizer, weights="w")
    texts = ("The cat sat", "The cat sat " * 20, "A river")
    choices = [asked.prepare(Query((PlainText(text),), (" down", " up"))) for text in texts]
    written = [
        asked.prepare(Query((PlainText(text),)), GenerationSettings(limit)) for text in texts for limit in (3, 4)
    ]
    expected = dict(asked.answer([*choices, *written]))
    forward = model.forward

    def limited(*args: object, **kwargs: object) -> object:
        if kwargs["input_ids"].shape[1] > 30:  # type: ignore[attr-defined]
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(*args, **kwargs)

    model.forward = limited
    found = dict(asked.answer([*choices, *written]))
    too_large = {1, 3 + 2, 3 + 3}
    assert {index for index, outcome in found.items() if outcome.status is Status.ERROR} == too_large
    assert all("memory" in found[index].detail for index in too_large)
    for index in set(range(9)) - too_large:
        assert found[index].text == expected[index].text
        for one, other in zip(found[index].scores, expected[index].scores, strict=True):
            assert abs(one.total - other.total) < 1e-4
    reading = RequestedStates((1,))
    assert {index for index, o in asked.answer_and_read(choices, reading) if o.status is Status.ERROR} == {1}
    assert reading.states is not None
    assert np.isnan(reading.states).any(axis=(1, 2)).tolist() == [False, True, False]
