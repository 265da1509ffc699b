"""What an error line advises works: from a checkout, and from a package that no index need have."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from veridical import installing
from veridical.installing import install_command


def test_from_a_checkout_the_checkout_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    monkeypatch.chdir(root)
    assert install_command("hf", "lm-eval") == "pip install '.[hf,lm-eval]'"
    monkeypatch.chdir(tmp_path)
    assert install_command("vary") == f"pip install '{root}[vary]'"


def test_elsewhere_the_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installing, "_PROJECT", tmp_path)
    required = ["numpy>=2", 'torch>=2.6; extra == "hf"', "gguf>=0.17 ; extra == 'hf'", 'spacy; extra == "vary"']
    monkeypatch.setattr(metadata, "requires", lambda name: required)
    assert install_command("hf") == "pip install 'torch>=2.6' 'gguf>=0.17'"


def test_another_project_around_the_package_is_not_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('name = "mine"\n')
    monkeypatch.setattr(installing, "_PROJECT", tmp_path)
    monkeypatch.setattr(metadata, "requires", lambda name: [])
    assert install_command("hf") == "pip install 'veridical[hf]'"
