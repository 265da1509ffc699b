"""Hidden states behind the protocol: from the passes that answer, and of a phrase in a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel

from veridical.errors import UserError
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import GenerationSettings, Query, Readable, Request, RequestedStates, SpanReader
from veridical.prompts.template import PlainText
from veridical.status import Status

from . import tiny


@pytest.fixture(scope="module")
def model() -> HuggingFaceModel:
    return made(tiny.byte_level_tokenizer(bos=True))


def made(tokenizer: Any) -> HuggingFaceModel:
    return HuggingFaceModel("tiny", tiny.llama(len(tokenizer)), tokenizer, weights="w", batch_tokens=300)


@torch.no_grad()
def truth(model: HuggingFaceModel, tokens: tuple[int, ...]) -> list[npt.NDArray[np.float32]]:
    """transformers' hidden states by layer, [tokens, width]."""
    states = model.engine.model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    return [np.asarray(layer[0]) for layer in states]


def requests(model: HuggingFaceModel, *texts: str) -> list[Request]:
    return [model.prepare(Query((PlainText(text),), (" True", " False"))) for text in texts]


def test_states_and_answers_come_from_one_call(model: HuggingFaceModel) -> None:
    assert isinstance(model, Readable)
    asked = requests(model, "The cat sat.", "The river runs on.", "The cat sat.")
    reading = RequestedStates((0, model.n_blocks - 1))
    answered = dict(model.answer_and_read(asked, reading))
    alone = dict(model.answer(asked))
    assert reading.states is not None
    assert reading.states.shape == (3, 2, model.engine.model.config.hidden_size)
    for index, request in enumerate(asked):
        assert [s.total for s in answered[index].scores] == pytest.approx(
            [s.total for s in alone[index].scores], abs=1e-4
        )
        layers = truth(model, request.sequences[0].context)
        for place, layer in enumerate(reading.layers):
            np.testing.assert_allclose(reading.states[index, place], layers[layer][-1], atol=1e-4)


def test_a_refused_request_has_no_state() -> None:
    model = made(tiny.byte_level_tokenizer())
    asked = requests(model, "short", "far too long " * 400)
    reading = RequestedStates((1,))
    answered = dict(model.answer_and_read(asked, reading))
    assert answered[1].status is Status.TOO_LONG
    assert reading.states is not None
    assert np.isfinite(reading.states[0]).all()
    assert np.isnan(reading.states[1]).all()


def test_generation_is_not_read(model: HuggingFaceModel) -> None:
    asked = [model.prepare(Query((PlainText("Say"),)), GenerationSettings(3))]
    with pytest.raises(ValueError, match="where choices are scored"):
        list(model.answer_and_read(asked, RequestedStates((0,))))


@pytest.mark.parametrize("kind", ["byte level", "sentencepiece"])
def test_a_phrase_is_the_mean_of_the_tokens_that_touch_it(kind: str) -> None:
    model = made(tiny.byte_level_tokenizer(bos=True) if kind == "byte level" else tiny.sentencepiece_tokenizer())
    assert isinstance(model, SpanReader)
    text = "The boats on it carry bread, books and bricks."
    start, stop = text.index("carry"), text.index(" and")
    ids, (first, end) = model.encoder.span(text, start, stop)
    words = model.encoder.tokenizer.decode(ids[first:end]).strip()
    assert words == "carry bread, books"
    assert ids[: len(model.encoder.opening)] == model.encoder.opening
    states = model.read_spans([text, "Bread"], [(start, stop), (0, 5)], (0, 1))
    layers = truth(model, ids)
    for layer in (0, 1):
        np.testing.assert_allclose(states[0, layer], layers[layer][first:end].mean(0), atol=1e-4)


def test_a_span_of_no_character_is_refused(model: HuggingFaceModel) -> None:
    with pytest.raises(ValueError, match="no token of 'cat' touches characters 3 to 3"):
        model.encoder.span("cat", 3, 3)


def test_a_text_that_is_too_long_to_be_read_is_named(model: HuggingFaceModel) -> None:
    """Past the last position a state would be of no use, or there would be none."""
    long = "The cat sat on a mat, " + "and so on " * 300
    with pytest.raises(UserError, match=r"which takes 256: it begins 'The cat sat on a mat, and so on"):
        model.read_spans(["The cat", long], [(0, 3), (4, 7)], (1,))


def test_a_model_without_a_plain_stack_of_blocks_is_refused() -> None:
    """The blocks of the first GPT hand on a list."""
    tokenizer = tiny.byte_level_tokenizer()
    gpt = OpenAIGPTLMHeadModel(OpenAIGPTConfig(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=4)).eval()
    odd = HuggingFaceModel("gpt", gpt, tokenizer, weights="w", batch_tokens=300)
    asked = requests(odd, "The cat sat.")
    assert dict(odd.answer(asked))[0].status is Status.OK
    for read in (
        lambda: odd.n_blocks,
        lambda: list(odd.answer_and_read(asked, RequestedStates((0,)))),
        lambda: odd.read_spans(["The cat"], [(0, 3)], (1,)),
    ):
        with pytest.raises(UserError, match="hidden states of a OpenAIGPTLMHeadModel cannot be read"):
            read()


def test_layers_are_counted_from_the_embedding_in_a_state_space_model() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    mamba = HuggingFaceModel("mamba", tiny.mamba(len(tokenizer)), tokenizer, weights="w", batch_tokens=300)
    asked = requests(mamba, "The cat sat.")
    reading = RequestedStates((0, 1, mamba.n_blocks))
    dict(mamba.answer_and_read(asked, reading))
    assert reading.states is not None
    backbone = mamba.engine.model.backbone
    ids = torch.tensor([asked[0].sequences[0].context])
    with torch.no_grad():
        expected = [backbone.embeddings(ids)]
        for block in backbone.layers:
            expected.append(block(expected[-1]))
    np.testing.assert_allclose(reading.states[0], torch.cat(expected)[:, -1], atol=1e-4)


def test_a_tokenizer_without_offsets_is_refused(model: HuggingFaceModel, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        def __call__(self, *_: object, **__: object) -> object:
            raise NotImplementedError("return_offset_mapping is not available")

    monkeypatch.setattr(model.encoder, "tokenizer", Slow())
    with pytest.raises(UserError, match="need a fast tokenizer"):
        model.encoder.span("cat", 0, 3)
