"""A GGUF file runs as the model that it describes, against the same model built in transformers; or it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import Phi3Config, Phi3ForCausalLM, PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from veridical.engine.positions import turning_points
from veridical.errors import UserError
from veridical.models import gguf, load
from veridical.models.gguf_rope import check_metadata
from veridical.models.hf import HuggingFaceModel

from . import tiny
from .gguf_files import logits, written

TOKENIZER = tiny.byte_level_tokenizer()
SIZES: dict[str, Any] = {
    "vocab_size": len(TOKENIZER),
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "initializer_range": 0.3,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIDICAL_CACHE", str(tmp_path / "cache"))


def llama(base: float = 10_000.0, **rope: Any) -> PreTrainedModel:
    changes = {name: SIZES[name] for name in SIZES if name != "vocab_size"}
    return tiny.llama(len(TOKENIZER), **changes, rope_parameters={"rope_theta": base, "rope_type": "default"} | rope)


def loaded(file: Path) -> PreTrainedModel:
    model = load(f"gguf/{file}", device="cpu")
    assert isinstance(model, HuggingFaceModel)
    return model.engine.model


def llama3_divisors(base: float, factor: float = 8.0) -> np.ndarray[Any, Any]:
    """As llama.cpp's converter writes them: by wavelength, with a ramp between the two lengths."""
    found = []
    for pair in range(4):
        wavelength = 2 * np.pi * base ** (pair / 4)
        smooth = (8192 / wavelength - 1.0) / 3.0
        between = 1 / ((1 - smooth) / factor + smooth)
        found.append(1.0 if wavelength < 8192 / 4 else factor if wavelength > 8192 else between)
    return np.array(found, dtype=np.float32)


OWN_DIVISORS = [1.0, 1.5, 3.0, 6.0]
LINEAR = {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
YARN = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 16,
}
SCALED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    # metadata of the file, its further tensors, and what transformers is given
    "linear": (LINEAR, {}, {"rope_type": "linear", "factor": 4.0}),
    "linear, as old files say it": ({"rope.scale_linear": 4.0}, {}, {"rope_type": "linear", "factor": 4.0}),
    "linear by 1, which is none": (LINEAR | {"rope.scaling.factor": 1.0}, {}, {}),
    "none": ({"rope.scaling.type": "none"}, {}, {}),
    "YaRN": (YARN, {}, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}),
    "YaRN with all its settings": (
        YARN
        | {"rope.scaling.yarn_beta_fast": 16.0, "rope.scaling.yarn_beta_slow": 2.0, "rope.scaling.attn_factor": 0.5}
        | {"rope.scaling.yarn_ext_factor": 1.0, "rope.scaling.finetuned": True},
        {},
        {
            "rope_type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 16,
            "beta_fast": 16.0,
            "beta_slow": 2.0,
        }
        | {"attention_factor": 0.5 * (0.1 * np.log(4.0) + 1.0)},
    ),
    "Llama 3's divisors": (
        {"rope.freq_base": 500_000.0},
        {"rope_freqs.weight": llama3_divisors(500_000.0)},
        LLAMA3 | {"rope_theta": 500_000.0},
    ),
    "divisors of no known kind": (
        {},
        {"rope_freqs.weight": np.array(OWN_DIVISORS, dtype=np.float32)},
        {"rope_type": "longrope", "short_factor": OWN_DIVISORS, "long_factor": OWN_DIVISORS}
        | {"original_max_position_embeddings": 64, "attention_factor": 1.0},
    ),
}


@pytest.mark.parametrize("case", SCALED)
def test_scaled_positions_are_those_of_the_same_model_in_transformers(tmp_path: Path, case: str) -> None:
    metadata, tensors, rope = SCALED[case]
    expected = llama(**rope)
    named = {f"llama.{name}": value for name, value in metadata.items()}
    found = loaded(written(tmp_path / "m.gguf", expected, TOKENIZER, "llama", named, tensors))
    torch.testing.assert_close(logits(found), logits(expected), rtol=1e-4, atol=1e-4)
    if rope:
        plain = llama(base=rope.get("rope_theta", 10_000.0))
        assert (logits(expected) - logits(plain)).abs().max() > 0.05, "the scaling shows, so the test can fail"
    assert turning_points(found) == ()


def test_a_large_file_that_is_not_converted_is_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "LARGEST_CONVERTED", 0)
    expected = llama(rope_type="linear", factor=4.0)
    named = {f"llama.{name}": value for name, value in LINEAR.items()}
    found = loaded(written(tmp_path / "m.gguf", expected, TOKENIZER, "llama", named))
    torch.testing.assert_close(logits(found), logits(expected), rtol=1e-4, atol=1e-4)


def test_another_architecture_with_a_base_and_yarn(tmp_path: Path) -> None:
    rope = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 32, "rope_theta": 1e6}
    torch.manual_seed(0)
    expected = Qwen2ForCausalLM(Qwen2Config(**SIZES, rope_parameters=rope, tie_word_embeddings=True))
    metadata = {
        "qwen2.rope.freq_base": 1e6,
        "qwen2.rope.scaling.type": "yarn",
        "qwen2.rope.scaling.factor": 2.0,
        "qwen2.rope.scaling.original_context_length": 32,
    }
    found = loaded(written(tmp_path / "m.gguf", expected, TOKENIZER, "qwen2", metadata))
    torch.testing.assert_close(logits(found), logits(expected), rtol=1e-4, atol=1e-4)


def test_longrope_has_its_two_lists_and_its_window(tmp_path: Path) -> None:
    short, long = [1.0, 1.1, 1.2, 1.3], [1.0, 2.0, 4.0, 8.0]
    rope = {"rope_type": "longrope", "short_factor": short, "long_factor": long, "rope_theta": 10_000.0}
    torch.manual_seed(0)
    expected = Phi3ForCausalLM(
        Phi3Config(
            **SIZES,
            original_max_position_embeddings=32,
            rope_parameters=rope | {"original_max_position_embeddings": 32},
            sliding_window=8,
            pad_token_id=2,
        )
    )
    metadata = {
        "tokenizer.ggml.padding_token_id": 2,
        "phi3.rope.dimension_count": 8,
        "phi3.rope.scaling.original_context_length": 32,
        "phi3.rope.scaling.attn_factor": float(np.sqrt(1 + np.log(64 / 32) / np.log(32))),
        "phi3.attention.sliding_window": 8,
    }
    tensors = {
        "rope_factors_short.weight": np.array(short, dtype=np.float32),
        "rope_factors_long.weight": np.array(long, dtype=np.float32),
    }
    found = loaded(written(tmp_path / "m.gguf", expected, TOKENIZER, "phi3", metadata, tensors))
    for length in (20, 40):  # on both sides of the length at which the lists change
        torch.testing.assert_close(logits(found, length), logits(expected, length), rtol=1e-4, atol=1e-4)


def test_a_head_size_and_rotary_width_of_their_own(tmp_path: Path) -> None:
    """Qwen 3's reader takes the heads of one checkpoint for all."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    expected = Qwen3ForCausalLM(Qwen3Config(**SIZES, head_dim=16))
    metadata = {"qwen3.attention.key_length": 16, "qwen3.attention.value_length": 16}
    found = loaded(written(tmp_path / "m.gguf", expected, TOKENIZER, "qwen3", metadata))
    torch.testing.assert_close(logits(found), logits(expected), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attention.sliding_window", 8),
        ("attn_logit_softcapping", 50.0),
        ("final_logit_softcapping", 30.0),
        ("attention.scale", 0.5),
        ("logit_scale", 0.25),
        ("embedding_scale", 12.0),
        ("residual_scale", 0.22),
        ("expert_weights_scale", 2.5),
        ("expert_count", 8),
        ("rope.dimension_count", 4),
        ("attention.value_length", 4),
        ("attention.causal", False),
        ("attention.clamp_kqv", 8.0),
        ("attention.max_alibi_bias", 8.0),
        ("rope.scaling.type", "dynamic"),
        ("rope.scaling.alpha", 1000.0),
        ("some.new.setting", 3),
    ],
)
def test_metadata_that_change_the_function_and_cannot_be_met_are_refused_by_name(
    tmp_path: Path, name: str, value: Any
) -> None:
    file = written(tmp_path / "m.gguf", llama(), TOKENIZER, "llama", {f"llama.{name}": value})
    with pytest.raises(UserError, match=name.replace(".", r"\.")):
        load(f"gguf/{file}")
    assert not list((tmp_path / "cache").glob("gguf/*"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 0.0, -2.0])
@pytest.mark.parametrize(
    "name", ["rope.scaling.factor", "rope.scale_linear", "rope.scaling.attn_factor", "rope.freq_base"]
)
def test_rotary_settings_that_no_position_can_be_scaled_by_are_refused(name: str, value: float) -> None:
    with pytest.raises(UserError, match=rf"has {name} .*, where a finite number above 0 is needed"):
        check_metadata({"rope.scaling.type": "linear", name: value})


def test_a_file_whose_factor_is_not_a_number_is_refused(tmp_path: Path) -> None:
    named = {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": float("nan")}
    with pytest.raises(UserError, match=r"rope\.scaling\.factor nan, where a finite number above 0 is needed"):
        load(f"gguf/{written(tmp_path / 'm.gguf', llama(), TOKENIZER, 'llama', named)}", device="cpu")


@pytest.mark.parametrize(
    ("divisors", "words"),
    [([1.0, 2.0, 3.0], "has 3 values, where its 8 rotated dimensions need 4"), ([1.0, 2.0, np.nan, 1.0], "not finite")],
)
def test_divisors_of_frequencies_that_do_not_fit_are_refused(tmp_path: Path, divisors: list[float], words: str) -> None:
    tensors = {"rope_freqs.weight": np.array(divisors, dtype=np.float32)}
    with pytest.raises(UserError, match=rf"rope_freqs\.weight .*{words}"):
        load(f"gguf/{written(tmp_path / 'm.gguf', llama(), TOKENIZER, 'llama', {}, tensors)}", device="cpu")


def test_metadata_that_change_nothing_are_let_through(tmp_path: Path) -> None:
    harmless = {
        "llama.attention.sliding_window": 64,
        "llama.attn_logit_softcapping": 0.0,
        "llama.expert_count": 0,
        "llama.rope.dimension_count": 8,
        "llama.attention.key_length": 8,
        "llama.logit_scale": 1.0,
        "llama.pooling_type": 0,
        "llama.vocab_size": len(TOKENIZER),
        "general.name": "Tiny",
        "general.author": "nobody",
        "quantize.imatrix.entries_count": 3,
        "split.count": 0,
    }
    expected = llama()
    file = written(tmp_path / "m.gguf", expected, TOKENIZER, "llama", harmless)
    torch.testing.assert_close(logits(loaded(file)), logits(expected), rtol=1e-4, atol=1e-4)
    model = load(f"gguf/{file}")
    assert isinstance(model, HuggingFaceModel)
    assert model.loading.remarks == model.loading.warnings == ()


def test_entries_of_others_are_remarked_also_where_the_converted_copy_is_used(tmp_path: Path) -> None:
    file = written(tmp_path / "m.gguf", llama(), TOKENIZER, "llama", {"somebody.build": "7"})
    for _ in range(2):
        model = load(f"gguf/{file}")
        assert isinstance(model, HuggingFaceModel)
        assert model.loading.remarks == ("its metadata has entries that nothing reads: somebody.build",)


def test_a_tensor_that_is_missing_and_one_that_nothing_reads_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a.gguf", llama(), TOKENIZER, "llama", tensors={"blk.1.ffn_up.weight": None})
    with pytest.raises(UserError, match=r"lack one weight .* model\.layers\.1\.mlp\.up_proj\.weight"):
        load(f"gguf/{file}")
    bias = np.ones(32, dtype=np.float32)
    file = written(tmp_path / "b.gguf", llama(), TOKENIZER, "llama", tensors={"blk.1.attn_q.bias": bias})
    with pytest.raises(UserError, match=r"tensors that LlamaForCausalLM does not use: blk\.1\.attn_q\.bias"):
        load(f"gguf/{file}")


def test_a_file_that_is_not_a_model_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "m.gguf", llama(), TOKENIZER, "llama", {"general.type": "adapter"})
    with pytest.raises(UserError, match="it holds no model"):
        load(f"gguf/{file}")
