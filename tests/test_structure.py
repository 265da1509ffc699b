"""The house: imports between folders run downwards, as the contract in pyproject.toml says."""

from __future__ import annotations

from pathlib import Path

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parent.parent


def test_imports_between_folders_run_downwards() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == EXIT_STATUS_SUCCESS


def test_an_import_that_runs_upwards_is_found(tmp_path: Path) -> None:
    """The contract with two of its layers exchanged is broken."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    exchanged = text.replace('"studies",\n  "variation"', '"variation",\n  "studies"')
    assert exchanged != text
    (tmp_path / "pyproject.toml").write_text(exchanged, "utf-8")
    assert lint_imports(config_filename=str(tmp_path / "pyproject.toml"), no_cache=True) != EXIT_STATUS_SUCCESS
