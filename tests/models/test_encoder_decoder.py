"""Encoder-decoders behind the protocol: what goes to the encoder, what to the decoder, and how long each may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import processors
from transformers import GenerationConfig

from veridical.engine.probes import TEXTS
from veridical.errors import UserError
from veridical.models import load
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import GenerationSettings, Outcome, Query, Request, TokenSequence
from veridical.prompts.template import PlainText
from veridical.status import Status

from . import tiny


def t5_tokenizer() -> Any:
    """As T5's: a text ends with the end of text, and begins with nothing."""
    tokenizer = tiny.sentencepiece_tokenizer(bos=False)
    end = tokenizer.convert_tokens_to_ids("</s>")
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", end)]
    )
    return tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = t5_tokenizer()
    return tiny.saved(tmp_path_factory.mktemp("t5") / "m", tiny.t5(len(tokenizer)), tokenizer)


@pytest.fixture(scope="module")
def model(folder: Path) -> HuggingFaceModel:
    loaded = load(f"hf/{folder}", batch_tokens=100)
    assert isinstance(loaded, HuggingFaceModel)
    return loaded


def answer(model: HuggingFaceModel, request: Request) -> Outcome:
    return dict(model.answer([request]))[0]


QUESTION = PlainText("Is the cat here?")


def test_context_and_continuation_are_texts_of_their_own(model: HuggingFaceModel) -> None:
    tokenizer = t5_tokenizer()
    request = model.prepare(Query((QUESTION,), ("True", " False"), unconditional=True))
    for sequence, text in zip(request.sequences, ("True", "False"), strict=True):
        assert list(sequence.context) == tokenizer(QUESTION.text)["input_ids"]
        assert sequence.context[-1] == tokenizer.eos_token_id
        assert list(sequence.continuation) == tokenizer(text, add_special_tokens=False)["input_ids"]
        assert not sequence.joined
    assert [list(s.context) for s in request.unconditional] == [[tokenizer.eos_token_id]] * 2
    assert model.fingerprint.parts["join"] == "separate"


def test_choices_are_scored_by_the_model_s_own_loss(model: HuggingFaceModel) -> None:
    """transformers' own cross-entropy with labels, which shifts them after the start token itself."""
    request = model.prepare(Query((QUESTION,), ("True", "It is unknown.", "False"), unconditional=True))
    outcome = answer(model, request)
    assert outcome.status is Status.OK
    found = [*(s.total for s in outcome.scores), *(s.unconditional for s in outcome.scores)]
    for total, sequence in zip(found, (*request.sequences, *request.unconditional), strict=True):
        with torch.no_grad():
            loss = model.engine.model(
                input_ids=torch.tensor([sequence.context]), labels=torch.tensor([sequence.continuation])
            ).loss
        assert total == pytest.approx(-float(loss) * len(sequence.continuation), abs=1e-4)


def test_text_is_that_of_transformers(model: HuggingFaceModel) -> None:
    request = model.prepare(Query((QUESTION,)), GenerationSettings(9))
    written = model.engine.model.generate(
        torch.tensor([request.sequences[0].context]), max_new_tokens=9, do_sample=False, num_beams=1
    )
    assert answer(model, request).text == t5_tokenizer().decode(written[0], skip_special_tokens=True)


def test_a_decoder_begins_with_what_the_config_names_where_generation_s_does_not() -> None:
    tokenizer = t5_tokenizer()
    made = tiny.t5(len(tokenizer))
    expected = answer(HuggingFaceModel("t5", made, tokenizer, weights="w"), Request((TokenSequence((8, 9), (10,)),)))
    bare = tiny.t5(len(tokenizer))
    bare.generation_config = GenerationConfig(bos_token_id=1, eos_token_id=2)
    settled = HuggingFaceModel("t5", bare, tokenizer, weights="w")
    assert answer(settled, Request((TokenSequence((8, 9), (10,)),))) == expected
    assert settled.probe().n_choices == len(TEXTS)


def test_a_decoder_with_nothing_to_begin_with_is_refused() -> None:
    tokenizer = t5_tokenizer()
    made = tiny.t5(len(tokenizer))
    made.generation_config = GenerationConfig()
    made.config.decoder_start_token_id = made.config.bos_token_id = None
    with pytest.raises(UserError, match=r"'t5'.*names no token for its decoder.*config.json"):
        HuggingFaceModel("t5", made, tokenizer, weights="w")


def test_a_choice_without_tokens_is_empty(model: HuggingFaceModel) -> None:
    assert answer(model, model.prepare(Query((QUESTION,), ("True", " ")))).status is Status.EMPTY


@pytest.mark.parametrize(
    ("n_context", "n_continuation", "expected"),
    [(256, 256, Status.OK), (257, 1, Status.TOO_LONG), (1, 257, Status.TOO_LONG)],
)
def test_each_side_has_its_own_room(
    model: HuggingFaceModel, n_context: int, n_continuation: int, expected: Status
) -> None:
    assert model.longest == 256
    request = Request((TokenSequence((7,) * n_context, (8,) * n_continuation),))
    assert answer(model, request).status is expected


def test_a_full_encoder_leaves_the_decoder_its_room(model: HuggingFaceModel) -> None:
    outcome = answer(model, Request((TokenSequence((7,) * 256),), settings=GenerationSettings(5)))
    assert outcome.status is Status.OK
    assert outcome.n_tokens == 5 or outcome.finish == "stop"
