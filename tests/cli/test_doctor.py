"""`veridical doctor --model`: what a model's answers depend on besides the question."""

from __future__ import annotations

import re

import pytest

from tests.cli.test_bad_input import call, fault


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
    told = " ".join(done.stdout.split())
    assert re.search(r"labels as in float32 [.1]", told)
    assert re.search(r"near ties: \d+ in", told)


def test_a_model_that_there_is_not_is_one_line():
    assert "did you mean 'smollm2'?" in fault("doctor", "--model", "smolm2")
    assert "did you mean 'bfloat16'?" in fault("doctor", "--model", "smollm2", "--dtype", "bfloat")


def test_a_dtype_without_a_model_is_refused():
    assert "name one with --model" in fault("doctor", "--dtype", "bfloat16")
