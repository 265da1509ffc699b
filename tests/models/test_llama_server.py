"""A model behind llama-cpp-python's server, which runs the embedded weights: `make test-servers` installs it.

The same weights run here, so that its answers are known: they differ by how the two dequantise.
"""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import veridical
from veridical.models import ServerSettings
from veridical.models.hf import HuggingFaceModel
from veridical.models.sources import embedded_smollm2

PYTHON = Path(__file__).parents[2] / ".venv-servers" / "bin" / "python"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="the server is not installed: make test-servers"),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = ["--model", str(embedded_smollm2()), "--host", "127.0.0.1", "--port", str(port), "--n_ctx", "2048"]
    server = subprocess.Popen(
        [str(PYTHON), "-m", "llama_cpp.server", *given], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(600):
            assert server.poll() is None, "the server ended"
            try:
                urllib.request.urlopen(f"{address}/models", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def asked(model: str | HuggingFaceModel, mode: str, out: Path, **server: ServerSettings) -> pl.DataFrame:
    """The responses to 15 items of the imperfective suite."""
    study = veridical.run(
        "imperfective",
        model=model,
        mode=mode,  # type: ignore[arg-type]
        prompts="zero-shot",
        inputs=["full"],
        orders=1,
        limit=6,
        max_new_tokens=8,
        out=out,
        **server,  # type: ignore[arg-type]
    )
    assert study.failed == 0
    return study.responses.sort("item")


def test_first_tokens_have_the_probabilities_of_the_weights(
    url: str, smollm2: HuggingFaceModel, tmp_path: Path
) -> None:
    there = asked("openai/smollm2", "loglikelihood", tmp_path / "a", server=ServerSettings(url, concurrency=2))
    here = asked(smollm2, "loglikelihood", tmp_path / "b")
    assert there["label"].to_list() == here["label"].to_list()
    for one, other in zip(there["scores"], here["scores"], strict=True):
        # True and False are one token of the model's; Unknown begins with one that it has more tokens after.
        assert one.to_list()[:2] == pytest.approx(other.to_list()[:2], abs=0.4)
        assert one[2] > other[2]
    # A shift by one token would score the word before the answer, which is none of the labels.
    assert there["label_mass"].min() > 0.3


def test_texts_are_those_of_the_weights_but_for_near_ties(url: str, smollm2: HuggingFaceModel, tmp_path: Path) -> None:
    there = asked("openai/smollm2", "generate", tmp_path / "a", server=ServerSettings(url, concurrency=2))
    here = asked(smollm2, "generate", tmp_path / "b")
    same = [one == other for one, other in zip(there["text"], here["text"], strict=True)]
    assert sum(same) >= 12
