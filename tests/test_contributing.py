"""The suite that CONTRIBUTING.md walks through is built, judged and shown, and nothing of the package knows of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from tests.judge.judging import frame
from veridical.judge import judge, judge_baselines, names, register
from veridical.judge.chance import chance_levels
from veridical.judge.registry import measure_set
from veridical.judge.verdict import verdicts
from veridical.report.html import page
from veridical.report.terminal import render

ROOT = Path(__file__).parents[1]


@pytest.fixture
def antonyms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL)
    (source,) = [block for block in blocks if block.startswith("# antonyms.py")]
    (tmp_path / "antonyms.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(names, "MEASURE_SETS", dict(names.MEASURE_SETS))
    register("antonyms", "antonyms:MEASURE_SET")
    import antonyms

    yield antonyms
    del sys.modules["antonyms"]


def test_the_example_is_judged_and_shown_by_what_it_names(antonyms: ModuleType) -> None:
    suite = antonyms.build()
    ids = {one.fields["hypothesis"]: one for one in suite.items}
    named = suite.model_copy(
        update={"items": tuple(one.model_copy(update={"name": text}) for text, one in ids.items())}
    )
    # Both sentences of both pairs are affirmed, one of four answers is another word for nothing.
    answers = dict.fromkeys(ids, "yes") | {"The tea is cold.": "no"}
    responses = frame(named, answers, prompt="ask")
    measures = [*judge(named, responses), *judge_baselines(named), *chance_levels(named)]
    by_name = {m.measure: m for m in measures if m.answerer == "model" and not m.slice}
    assert by_name["both_affirmed"].value == 0.5
    assert by_name["set_accuracy"].value == 0.5
    guess = next(m for m in measures if m.answerer == "chance" and m.measure == "both_affirmed")
    assert guess.value == 0.25

    rules = {named.name: measure_set(named.measures).rules}
    (sentence,) = verdicts(measures, rules)
    assert "affirms a sentence and its opposite in 50 %" in sentence

    console = Console(width=90, color_system=None)
    with console.capture() as capture:
        console.print(render([named], measures, [sentence]))
    assert re.search(r"prompt +accuracy +both", capture.get())

    html = page([named], measures, responses, {}, {}, [sentence])
    assert "Share of pairs of which both sentences are affirmed" in html
    assert "No pair of antonyms holds together." in html
    assert "Pairs of which both are affirmed" in html
