"""Weights that no one place holds: the same answers, from wherever embedding, layers and head lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from veridical.engine.placement import device_kinds, input_device, is_spread, places
from veridical.errors import UserError
from veridical.models import load
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import GenerationSettings, Query, RequestedStates
from veridical.prompts.template import PlainText

from . import tiny

LAYERS = {f"model.layers.{n}": "cpu" for n in range(3)}
ALL = {"model.embed_tokens": "cpu", "model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"} | LAYERS
SPREAD: dict[str, Any] = {
    "a layer elsewhere": ALL | {"model.layers.1": "disk"},
    "the head elsewhere": ALL | {"lm_head": "disk"},
    "the embedding elsewhere": ALL | {"model.embed_tokens": "disk"},
    "all but a norm elsewhere": dict.fromkeys(ALL, "disk") | {"model.norm": "cpu"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = tiny.byte_level_tokenizer()
    return tiny.saved(tmp_path_factory.mktemp("models") / "m", tiny.llama(len(tokenizer)), tokenizer)


def loaded(folder: Path, device_map: Any) -> HuggingFaceModel:
    model = load(f"hf/{folder}", device_map=device_map)
    assert isinstance(model, HuggingFaceModel)
    return model


def answers(model: HuggingFaceModel) -> tuple[list[float], list[str | None], torch.Tensor]:
    texts = ("The cat sat", "The boat on the river fell because")
    scored = [model.prepare(Query((PlainText(text),), ("True", "not at all"))) for text in texts]
    written = [model.prepare(Query((PlainText(text),)), GenerationSettings(5)) for text in texts]
    found = dict(model.answer([*scored, *written]))
    reading = RequestedStates((0, 2))
    dict(model.answer_and_read(scored, reading))
    assert reading.states is not None
    totals = [score.total for index in (0, 1) for score in found[index].scores]
    return totals, [found[index].text for index in (2, 3)], torch.from_numpy(reading.states)


@pytest.mark.parametrize("case", SPREAD)
def test_spread_weights_answer_as_whole_ones_do(folder: Path, case: str) -> None:
    expected = answers(loaded(folder, None))
    model = loaded(folder, SPREAD[case])
    assert model.engine.path == "plain"
    assert "several devices" in model.engine.reason
    assert is_spread(model.engine.model)
    found = answers(model)
    assert found[0] == pytest.approx(expected[0], abs=1e-4)
    assert found[1] == expected[1]
    torch.testing.assert_close(found[2], expected[2], rtol=1e-4, atol=1e-4)
    assert model.probe().greedy_repeats


@pytest.mark.parametrize("device_map", ["auto", {"": "cpu"}])
def test_where_one_place_holds_all_prefixes_are_shared_as_ever(folder: Path, device_map: Any) -> None:
    model = loaded(folder, device_map)
    if not torch.cuda.is_available():
        assert model.engine.path == "packed"
        assert model.fingerprint == loaded(folder, None).fingerprint
    assert answers(model)[0] == pytest.approx(answers(loaded(folder, None))[0], abs=1e-3)


def test_places_are_named_and_ids_go_where_the_embedding_is() -> None:
    model: PreTrainedModel = tiny.llama(100)
    assert (places(model), device_kinds(model), is_spread(model)) == (("cpu",), "cpu", False)
    model.hf_device_map = {"model.embed_tokens": 0, "model.layers": 1, "lm_head": "cpu"}  # type: ignore[assignment]
    assert places(model) == ("cpu", "cuda:0", "cuda:1")
    assert (device_kinds(model), is_spread(model)) == ("cpu+cuda", True)
    assert input_device(model) == torch.device("cpu")


def test_a_map_that_there_is_not_and_one_next_to_a_device_are_refused(folder: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'auto'"):
        load(f"hf/{folder}", device_map="autoo")
    with pytest.raises(UserError, match="--device-map and --device cpu: give one of them"):
        load(f"hf/{folder}", device="cpu", device_map="auto")
