"""Which code proposes for a model, by its name and its own configuration."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from veridical.errors import UserError
from veridical.variation import proposers


@pytest.fixture
def loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaders that load nothing, and say what they were asked."""
    for name, function in (("minilm", "load"), ("masked", "load_masked"), ("causal", "load_causal")):
        module = ModuleType(f"veridical.variation.{name}")
        setattr(module, function, lambda *spec, name=name, **_: (name, *spec))
        monkeypatch.setitem(sys.modules, module.__name__, module)


def folder(path: Path, config: object) -> str:
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    (path / "model.safetensors").write_bytes(b"")
    return f"hf/{path}"


@pytest.mark.parametrize(
    ("config", "by"),
    [
        ({"architectures": ["BertForMaskedLM"], "model_type": "bert"}, "masked"),
        ({"architectures": ["BertForPreTraining"], "model_type": "bert"}, "masked"),
        ({"model_type": "deberta-v2"}, "masked"),
        ({"architectures": ["LlamaForCausalLM"], "model_type": "llama"}, "causal"),
        ({"architectures": ["BertLMHeadModel"], "model_type": "bert"}, "causal"),
    ],
)
def test_a_models_configuration_says_how_it_proposes(
    loaders: None, tmp_path: Path, config: dict[str, object], by: str
) -> None:
    spec = folder(tmp_path / "m", config)
    assert proposers.load(spec) == (by, spec)


def test_the_embedded_proposer_has_a_name(loaders: None) -> None:
    assert proposers.load("minilm-mlm") == ("minilm",)


def test_gguf_is_causal(loaders: None, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    assert proposers.load(f"gguf/{file}") == ("causal", f"gguf/{file}")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("minilm", "embedded proposer: minilm-mlm"),
        ("hf/./nowhere", "there is no folder nowhere"),
        ("openai/x", "is run by a server: local weights are needed"),
    ],
)
def test_an_unknown_proposer_is_reported(spec: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        proposers.load(spec)


def test_what_proposes_no_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a sequence classifier, which proposes no words"):
        proposers.load(folder(tmp_path / "m", {"architectures": ["BertForSequenceClassification"]}))
    broken = folder(tmp_path / "n", {})
    (tmp_path / "n" / "config.json").write_text("{")
    with pytest.raises(UserError, match=r"its config.json is not valid JSON"):
        proposers.load(broken)


def test_without_torch_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(module: str) -> object:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("veridical.variation.proposers.import_module", lacking)
    with pytest.raises(UserError, match="proposers need torch, which is not installed"):
        proposers.load("minilm-mlm")
