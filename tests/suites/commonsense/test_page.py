"""docs/benchmarks.md says what the definitions say."""

from __future__ import annotations

from .page import PAGE, filled


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == filled(page), "run python -m tests.suites.commonsense.page"
