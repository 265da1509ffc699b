"""A backend is one module and one row of the table of providers: the module below is all that a new one needs."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from veridical.cli import main
from veridical.models.providers import PROVIDERS, Provider

# A service that tokenises itself: it is sent messages, and gives the label in its name the whole probability.
BACKEND = textwrap.dedent("""
    from veridical.models.model_source import ModelSource
    from veridical.models.protocol import ChoiceScore, Fingerprint, Outcome, Request
    from veridical.status import Status


    def locate(spec, rest):
        return ModelSource(spec, "remote", rest, provider="constant")


    def load(source, settings):
        return Constant(source, settings)


    class Constant:
        n_parameters = None
        modes = ("loglikelihood", "generate")

        def __init__(self, source, settings):
            self.name = source.spec
            self.label = source.location
            self.fingerprint = Fingerprint({"label": self.label, "dtype": settings.dtype})

        def prepare(self, query, settings=None):
            (context,) = query.contexts
            return Request(messages=context.messages, continuations=query.continuations, settings=settings)

        def answer(self, requests):
            for position, request in enumerate(requests):
                if request.scores_choices:
                    scores = tuple(
                        ChoiceScore(0.0 if text.strip() == self.label else -9.0, 1, len(text), len(text.encode()))
                        for text in request.continuations
                    )
                    yield position, Outcome(Status.OK, scores)
                else:
                    yield position, Outcome(Status.OK, text=f"Answer: {self.label}", n_tokens=2, finish="stop")
""")


@pytest.fixture
def constant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend `constant`, installed as a user's package would be."""
    (tmp_path / "constant_backend.py").write_text(BACKEND)
    monkeypatch.syspath_prepend(str(tmp_path))
    row = Provider("constant", ("constant/LABEL",), "constant_backend:locate", "constant_backend:load")
    monkeypatch.setitem(PROVIDERS, row.name, row)


@pytest.mark.usefixtures("constant")
@pytest.mark.parametrize("mode", ["loglikelihood", "generate"])
def test_a_module_and_a_row_are_enough_to_ask_store_judge_and_report(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    words = ["run", "imperfective", "--limit", "4", "--prompt", "zero-shot", "--mode", mode, "--orders", "1"]
    assert main([*words, "--model", "constant/Unknown", "--dtype", "bfloat16", "--out", str(out), "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    accuracy = {
        one["slice"]["group"]: one["value"]
        for one in measures
        if one["measure"] == "accuracy" and set(one["slice"]) == {"group"} and one["answerer"] == "model"
    }
    # Interrupted accomplishments (A) are False and uninterrupted ones (C) Unknown; all else is True.
    assert accuracy == {"A": 0, "B": 0, "C": 1, "D": 0, "completed": 0}
    (manifest,) = out.glob("*/manifest.json")
    entry = json.loads(manifest.read_text())["model"]
    assert (entry["name"], entry["fingerprint"]) == ("constant/Unknown", {"label": "Unknown", "dtype": "bfloat16"})
    assert "constant/Unknown" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("constant")
def test_its_names_stand_in_the_messages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "imperfective", "--model", "constant/"]) == 2
    assert "names nothing after the provider: write constant/LABEL" in capsys.readouterr().err
    assert main(["run", "imperfective", "--model", "constnat/LABEL/x"]) == 2
    assert "did you mean 'constant'" in capsys.readouterr().err
