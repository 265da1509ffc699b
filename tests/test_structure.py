"""The structure of the package: imports between folders run downwards, and modules form no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
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


def imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The package's modules that a module names in its imports: at its head, in functions, and for types."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module


def test_modules_form_no_circle() -> None:
    source = ROOT / "src"
    modules = {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (source / "veridical").rglob("*.py")
    }
    graph = {name: set(imported(path, modules)) & modules.keys() - {name} for name, path in modules.items()}
    assert len(graph["veridical.cli.app"]) > 3
    # A circle raises CycleError, which names its modules.
    assert len(list(TopologicalSorter(graph).static_order())) == len(modules)
