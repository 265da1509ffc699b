"""What a reader must know of how a model was loaded and asked stands in manifest, page and terminal."""

from __future__ import annotations

import html
import logging
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from torch import ones

import veridical as vd
from veridical.cli.app import call

from ..models import tiny


def folder(path: Path, template: str | None = tiny.TEMPLATE, **changes: Any) -> Path:
    tokenizer = tiny.byte_level_tokenizer(template=template)
    tokenizer.model_max_length = 512
    return tiny.saved(path, tiny.llama(len(tokenizer), max_position_embeddings=512, **changes), tokenizer)


def asked(model: Path, out: Path, **settings: Any) -> Any:
    return vd.run("imperfective", model=f"hf/{model}", prompts="zero-shot", limit=2, out=out, **settings)


def on_page(study: Any, words: str) -> bool:
    return words in html.unescape(study.report.read_text())


def test_a_model_without_a_chat_template_says_so_where_the_score_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = asked(folder(tmp_path / "m", template=None), tmp_path / "s")
    (said,) = [line for line in study.judgement.verdicts if "chat template" in line]
    n = study.responses.filter(answerer="model").height
    assert f"all {n} questions were asked as plain text, without a chat template" in said
    assert on_page(study, said)
    assert call(["judge", str(study.path)]) == 0
    assert "without a chat template" in " ".join(capsys.readouterr().out.split())


def test_a_model_with_one_has_nothing_said_of_it(tmp_path: Path) -> None:
    study = asked(folder(tmp_path / "m"), tmp_path / "s")
    assert not [line for line in study.judgement.verdicts if "questions were" in line or "warns" in line]
    entry = study.runs[0].manifest.model
    assert entry.unused_weights == entry.remarks == entry.warnings == ()


def test_unused_weights_and_warnings_are_in_manifest_and_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = folder(tmp_path / "m")
    weights = load_file(model / "model.safetensors") | {"value_head.weight": ones(3)}
    save_file(weights, model / "model.safetensors", {"format": "pt"})
    from veridical.models.hf import HuggingFaceModel

    answer = HuggingFaceModel.answer_some

    def warn(self: HuggingFaceModel, requests: Any, wanted: Any) -> Any:
        logging.getLogger("transformers.generation").warning("these settings are ignored")
        return answer(self, requests, wanted)

    monkeypatch.setattr(HuggingFaceModel, "answer_some", warn)
    study = asked(model, tmp_path / "s")
    entry = study.runs[0].manifest.model
    assert entry.unused_weights == ("value_head.weight",)
    assert entry.warnings == ("transformers: these settings are ignored",)
    for words in ("does not use: value_head.weight.", "transformers warns: these settings are ignored"):
        assert [line for line in study.judgement.verdicts if words in line], study.judgement.verdicts
        assert on_page(study, words)
    again = asked(model, tmp_path / "s")
    assert again.runs[0].manifest.model == entry
