"""The model that runs is the model in the folder: what files lack is refused, what they hold beyond it is listed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, BertModel

from veridical.errors import UserError
from veridical.models import load
from veridical.models.checkpoint import load_checkpoint
from veridical.models.hf import HuggingFaceModel
from veridical.models.model_source import ModelSource
from veridical.variation.masked import load_masked

from . import tiny

Weights = dict[str, torch.Tensor]


def changed(folder: Path, change: Callable[[Weights], Weights]) -> Path:
    """The folder with the weights that `change` makes of its own."""
    file = folder / "model.safetensors"
    save_file({name: value.clone() for name, value in change(load_file(file)).items()}, file, {"format": "pt"})
    return folder


def without(*names: str) -> Callable[[Weights], Weights]:
    return lambda weights: {name: value for name, value in weights.items() if name not in names}


def tiny_llama(folder: Path, **changes: Any) -> Path:
    tokenizer = tiny.byte_level_tokenizer()
    return tiny.saved(folder, tiny.llama(len(tokenizer), **changes), tokenizer)


def sharded_llama(folder: Path) -> Path:
    tokenizer = tiny.byte_level_tokenizer()
    tiny.llama(len(tokenizer)).save_pretrained(folder, max_shard_size="40KB")
    tokenizer.save_pretrained(folder)
    assert len(list(folder.glob("*.safetensors"))) > 1
    return folder


def test_a_language_model_without_its_head_is_refused(tmp_path: Path) -> None:
    folder = changed(tiny_llama(tmp_path / "m"), without("lm_head.weight"))
    with pytest.raises(
        UserError, match=r"lack one weight that LlamaForCausalLM computes with: lm_head\.weight"
    ) as message:
        load(f"hf/{folder}")
    assert str(folder) in str(message.value)


def test_a_head_that_the_configuration_ties_may_be_missing(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m", tie_word_embeddings=True)
    assert "lm_head.weight" not in load_file(folder / "model.safetensors")
    model = load(f"hf/{folder}")
    assert isinstance(model, HuggingFaceModel)
    assert model.loading.unused_weights == model.loading.warnings == model.loading.remarks == ()


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "_orig_mod.module."])
def test_weights_under_a_wrapper_s_names_are_refused_with_what_to_do(tmp_path: Path, prefix: str) -> None:
    folder = changed(tiny_llama(tmp_path / "m"), lambda weights: {prefix + name: v for name, v in weights.items()})
    with pytest.raises(UserError, match="save the module that is inside the wrapper") as message:
        load(f"hf/{folder}")
    assert f"begin with '{prefix}'" in str(message.value)


@pytest.mark.parametrize(
    ("prefix", "words"),
    [("base_model.model.", "PEFT .* merge these"), ("student.", "save the model without that prefix")],
)
def test_weights_under_names_of_another_kind_are_not_called_wrapped(tmp_path: Path, prefix: str, words: str) -> None:
    folder = changed(tiny_llama(tmp_path / "m"), lambda weights: {prefix + name: v for name, v in weights.items()})
    with pytest.raises(UserError, match=words) as message:
        load(f"hf/{folder}")
    assert "wrapped" not in str(message.value)


@pytest.mark.parametrize(
    ("kind", "missing"),
    [("bert", "classifier.weight"), ("bert", "bert.pooler.dense.weight"), ("roberta", "classifier.out_proj.weight"),
     ("gpt2", "score.weight"), ("bart", "classification_head.dense.bias")],
)  # fmt: skip
def test_a_classifier_without_a_weight_of_its_head_is_refused(tmp_path: Path, kind: str, missing: str) -> None:
    tokenizer = tiny.pair_tokenizer(kind)
    model = tiny.classifier(kind, len(tokenizer), ["entailment", "neutral", "contradiction"])
    folder = changed(tiny.saved(tmp_path / "m", model, tokenizer), without(missing))
    with pytest.raises(UserError, match=missing.replace(".", r"\.")):
        load(f"hf/{folder}")


def test_an_encoder_decoder_without_a_weight_is_refused(tmp_path: Path) -> None:
    tokenizer = tiny.sentencepiece_tokenizer()
    folder = tiny.saved(tmp_path / "m", tiny.t5(len(tokenizer)), tokenizer)
    name = "decoder.block.1.layer.1.EncDecAttention.q.weight"
    with pytest.raises(UserError, match=r"EncDecAttention\.q\.weight"):
        load(f"hf/{changed(folder, without(name))}")


def test_a_norm_and_a_bias_take_part_and_all_are_counted(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m", attention_bias=True)
    names = [f"model.layers.{n}.self_attn.{part}_proj.bias" for n in range(3) for part in "qkv"]
    with pytest.raises(UserError, match=r"lack 10 weights .* and 4 more"):
        load(f"hf/{changed(folder, without('model.norm.weight', *names))}")


def test_a_weight_takes_part_where_attention_leaves_out_what_is_not_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some processors' kernels give a row of finite numbers for a query of NaN: here all do.
    attention = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        "torch.nn.functional.scaled_dot_product_attention",
        lambda query, key, *rest, **given: attention(query.nan_to_num(0.0), key.nan_to_num(0.0), *rest, **given),
    )
    for part in ("q", "k"):
        name = f"model.layers.1.self_attn.{part}_proj.weight"
        with pytest.raises(UserError, match=re.escape(name)):
            load(f"hf/{changed(tiny_llama(tmp_path / part), without(name))}")


def test_a_shape_that_the_configuration_does_not_say_is_refused(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "intermediate_size": 96}))
    with pytest.raises(UserError, match=r"another shape .*down_proj\.weight \(32x64, not 32x96\)"):
        load(f"hf/{folder}")


def test_a_shard_that_is_missing_and_an_index_that_names_too_little(tmp_path: Path) -> None:
    folder = sharded_llama(tmp_path / "a")
    max(folder.glob("*.safetensors")).unlink()
    with pytest.raises(UserError, match=r"1 of the 5 files that it names are not in"):
        load(f"hf/{folder}")
    folder = sharded_llama(tmp_path / "b")
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    shard = folder / index["weight_map"].pop("model.layers.2.mlp.up_proj.weight")
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    save_file(without("model.layers.2.mlp.up_proj.weight")(load_file(shard)), shard, {"format": "pt"})
    with pytest.raises(UserError, match=r"model\.layers\.2\.mlp\.up_proj\.weight"):
        load(f"hf/{folder}")


def test_weights_that_nothing_uses_are_listed(tmp_path: Path) -> None:
    extra = {"model.layers.7.mlp.up_proj.weight": torch.ones(2, 2), "value_head.weight": torch.ones(3)}
    folder = changed(tiny_llama(tmp_path / "m"), lambda weights: weights | extra)
    model = load(f"hf/{folder}")
    assert isinstance(model, HuggingFaceModel)
    assert model.loading.unused_weights == tuple(sorted(extra))
    (said,) = model.loading.remarks
    assert said.startswith("its files hold 2 weights that LlamaForCausalLM does not use: model.layers.7.mlp")


def test_what_takes_no_part_in_a_forward_pass_may_be_missing(tmp_path: Path) -> None:
    """The pooler of a bare encoder does not touch its hidden states, and old buffers are made anew."""
    torch.manual_seed(0)
    tokenizer = tiny.pair_tokenizer("bert")
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
    )
    folder = tiny.saved(tmp_path / "m", BertModel(config), tokenizer)
    buffers = {"embeddings.position_ids": torch.arange(64).unsqueeze(0)}
    changed(folder, lambda weights: without("pooler.dense.weight", "pooler.dense.bias")(weights) | buffers)
    source = ModelSource("hf/m", "folder", str(folder))
    found = load_checkpoint(source, dtype="float32", device="cpu", auto_class=BertModel)
    assert found.loading.unused_weights == ()
    changed(folder, without("encoder.layer.1.output.dense.bias"))
    with pytest.raises(UserError, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        load_checkpoint(source, dtype="float32", device="cpu", auto_class=BertModel)


def test_a_masked_language_model_without_its_head_is_refused(tmp_path: Path) -> None:
    tokenizer = tiny.pair_tokenizer("bert")
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4
    )
    folder = tiny.saved(tmp_path / "m", BertForMaskedLM(config), tokenizer)
    changed(folder, without("cls.predictions.transform.dense.weight"))
    with pytest.raises(UserError, match=r"cls\.predictions\.transform\.dense\.weight"):
        load_masked(f"hf/{folder}")
