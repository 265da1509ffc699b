"""A suite with planted answers and its measures, made once; a browser where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.report.synthetic import MODELS, Study, make_frame, make_suite, measures_of


@pytest.fixture(scope="session")
def study() -> Study:
    suite = make_suite(20)
    frame = make_frame(suite, MODELS)
    return Study(suite, frame, measures_of(suite, frame))


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
