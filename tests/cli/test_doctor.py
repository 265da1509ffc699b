"""`veridical doctor --model`: what a model's answers depend on besides the question."""

from __future__ import annotations

import re

import pytest

from tests.cli.test_bad_input import call, fault


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables whose lines are not folded."""
    monkeypatch.setenv("COLUMNS", "240")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from tests.models.tiny import byte_level_tokenizer, llama, saved

    tokenizer = byte_level_tokenizer()
    # The suite's longest prompt takes some 1,200 of this tokenizer's tokens.
    tokenizer.model_max_length = 4096
    folder = tmp_path_factory.mktemp("model") / "tiny"
    saved(folder, llama(len(tokenizer), max_position_embeddings=4096), tokenizer)
    return f"hf/{folder}"


def test_a_model_is_probed(model):
    done = call("doctor", "--model", model)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^torch +\d", done.stdout, re.MULTILINE)
    for probe in ("shared prefixes", "alone or in a padded batch", "greedy text, twice", "near ties"):
        assert probe in done.stdout
    assert "labels as in float32" not in done.stdout


def test_another_dtype_is_compared_with_float32(model):
    done = call("doctor", "--model", model, "--dtype", "bfloat16")
    assert done.returncode == 0, done.stderr
    message = " ".join(done.stdout.split())
    assert re.search(r"labels as in float32 [.1]", message)
    assert re.search(r"near ties: \d+ in", message)


def test_weights_that_are_not_numbers_are_reported(tmp_path):
    import torch

    from tests.models.tiny import byte_level_tokenizer, llama, saved

    tokenizer = byte_level_tokenizer()
    broken = llama(len(tokenizer))
    with torch.no_grad():
        broken.lm_head.weight[7] = torch.nan
    done = call("doctor", "--model", f"hf/{saved(tmp_path / 'm', broken, tokenizer)}")
    assert done.returncode == 0, done.stderr
    n_not, n = re.search(r"not numbers for (\d+) of (\d+) next tokens", " ".join(done.stdout.split())).groups()
    assert n_not == n
    assert "trust neither scores nor texts" in " ".join(done.stdout.split())


def test_a_sample_that_is_too_long_for_the_model_is_not_a_disagreement(tmp_path):
    from tests.models.tiny import byte_level_tokenizer, llama, saved

    tokenizer = byte_level_tokenizer()
    small = saved(tmp_path / "m", llama(len(tokenizer)), tokenizer)
    done = call("doctor", "--model", f"hf/{small}", "--dtype", "bfloat16")
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"labels as in float32 .* items in \d+ sets \(\d+ too long to be asked\)", " ".join(done.stdout.split())
    )


def test_a_decoder_that_begins_with_what_its_config_names_is_probed(tmp_path):
    from tests.models.tiny import byte_level_tokenizer, saved, t5

    tokenizer = byte_level_tokenizer()
    model = t5(len(tokenizer))
    model.generation_config.decoder_start_token_id = None
    folder = saved(tmp_path / "m", model, tokenizer)
    done = call("doctor", "--model", f"hf/{folder}")
    assert done.returncode == 0, done.stderr
    assert "an encoder-decoder" in done.stdout


def test_weights_that_nothing_uses_are_named(tmp_path):
    from safetensors.torch import load_file, save_file

    from tests.models.tiny import byte_level_tokenizer, llama, saved

    tokenizer = byte_level_tokenizer()
    folder = saved(tmp_path / "m", llama(len(tokenizer)), tokenizer)
    weights = load_file(folder / "model.safetensors")
    name = "model.layers.0.self_attn.q_proj.weight"
    extra = {name.replace("weight", "lora_A.weight"): weights[name][:2].clone()}
    extra |= {"model.layers.9.mlp.up_proj.weight": weights["model.layers.0.mlp.up_proj.weight"].clone()}
    extra |= {"model.layers.0.mlp.up_proj.bias": weights["model.norm.weight"].clone()}
    save_file(weights | extra, folder / "model.safetensors", metadata={"format": "pt"})
    done = call("doctor", "--model", f"hf/{folder}", "--device-map", "auto")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "its files hold 3 weights that LlamaForCausalLM does not use" in shown
    assert all(key in shown for key in extra)


def test_a_model_that_there_is_not_is_one_line():
    assert "did you mean 'smollm2'?" in fault("doctor", "--model", "smolm2")
    assert "did you mean 'bfloat16'?" in fault("doctor", "--model", "smollm2", "--dtype", "bfloat")


def test_a_dtype_without_a_model_is_refused():
    assert "name one with --model" in fault("doctor", "--dtype", "bfloat16")
    assert "name one with --model" in fault("doctor", "--device-map", "auto")
