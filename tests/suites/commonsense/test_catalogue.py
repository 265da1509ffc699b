"""The catalogue names what its modules define, and imports a module only when a benchmark of it is asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from veridical.suites.commonsense import tasks
from veridical.suites.commonsense.catalogue import MODULES, TASKS

from ...models import tiny

PREFIX = "veridical.suites.commonsense.tasks."


def imported_by(code: str) -> list[str]:
    """The benchmark modules that a fresh process has imported after some code."""
    listing = f"import sys; print(*(name for name in sys.modules if name.startswith({PREFIX!r})))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{listing}"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_the_names_of_a_module_are_those_that_it_defines() -> None:
    for module, names in MODULES.items():
        assert tuple(task.name for task in import_module(PREFIX + module).TASKS) == names
    assert [task.name for task in TASKS.values()] == list(TASKS)
    assert len(TASKS) == sum(map(len, MODULES.values()))


def test_every_module_is_in_the_catalogue() -> None:
    assert {module.name for module in iter_modules(tasks.__path__)} == set(MODULES)


@pytest.mark.slow
def test_running_imperfective_imports_no_benchmark(tmp_path: Path) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = tiny.saved(tmp_path / "model", tiny.llama(len(tokenizer)), tokenizer)
    words = [
        "run",
        "imperfective",
        "--model",
        f"hf/{model}",
        "--out",
        str(tmp_path / "study"),
        "--limit",
        "1",
        "--prompt",
        "zero-shot",
    ]
    run = f"try:\n    app({words!r})\nexcept SystemExit as end:\n    assert not end.code"
    assert imported_by(f"from veridical.cli.app import app\n{run}") == []
    assert (tmp_path / "study").is_dir()


def test_a_benchmark_imports_its_own_module_alone() -> None:
    look_up = "from veridical.suites.registry import benchmarks; benchmarks()['piqa-rup']"
    assert imported_by(look_up) == [f"{PREFIX}piqa"]
    assert imported_by("from veridical.suites.registry import benchmarks; assert 'piqa' in benchmarks()") == []
