"""What a reader must know of how a model was loaded and asked stands in manifest, page and terminal."""

from __future__ import annotations

import html
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from torch import ones

import veridical as vd
from veridical.cli.app import call
from veridical.studies.remarks import remarks
from veridical.studies.study import open_study

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


def test_a_copy_of_a_run_is_said_to_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = asked(folder(tmp_path / "m"), tmp_path / "s")
    alone = {(one.measure, one.prompt, one.answerer): (one.value, one.n_items) for one in study.records}
    original = study.runs[0].path
    copy = shutil.copytree(original, original.with_name("copy-12345678"))
    first, second = sorted((original, copy))
    assert call(["judge", str(study.path)]) == 0
    assert f"{second.name} repeats {first.name}: left out." in " ".join(capsys.readouterr().out.split())
    both = open_study(study.path)
    assert {(one.measure, one.prompt, one.answerer): (one.value, one.n_items) for one in both.records} == alone
    assert not [line for line in study.judgement.verdicts if "repeats" in line]


def test_questions_that_two_folders_answer_are_counted(tmp_path: Path) -> None:
    """The second call asks four quads, the first two of which are those of the first."""
    model = folder(tmp_path / "m")
    asked(model, tmp_path / "s" / "a")
    vd.run("imperfective", model=f"hf/{model}", prompts="zero-shot", limit=4, out=tmp_path / "s" / "b")
    runs = [open_study(tmp_path / "s" / name).runs[0] for name in "ab"]
    n, of = runs[0].asks.height, runs[1].asks.height
    # Where folders are called alike, the folder above them tells them apart.
    names = [f"{run.path.parent.name}/{run.path.name}" for run in runs]
    (said,) = [line for line in remarks(runs) if "questions are in" in line]
    assert said.startswith(f"{names[1]}: {n} of its {of} questions are in {names[0]} too")
