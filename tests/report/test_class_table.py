"""Accuracy by verb class and group as a table: one model's, and the mean over models."""

from __future__ import annotations

from veridical.judge.measure import Measure
from veridical.report.results import Results
from veridical.suites.imperfective.class_table import class_tables


def accuracy(model: str, value: float, prompt: str = "zero-shot", **where: str) -> Measure:
    key = {"suite": "s", "model": model, "prompt": prompt, "mode": "loglikelihood"}
    return Measure(**key, measure="accuracy", slice=where, value=value)


def model(name: str, creation: float, motion: float, activities: float) -> list[Measure]:
    return [
        accuracy(name, (creation + motion) / 2, group="A"),
        accuracy(name, creation, group="A", verb_class="Creation"),
        accuracy(name, motion, group="A", verb_class="Motion_to_Goal"),
        accuracy(name, activities, group="B"),
    ]


def test_one_model_has_its_own_accuracies() -> None:
    (table,) = class_tables(Results.of(model("m", 0.2, 0.4, 0.9), "s"))
    assert table.headings == ("verb class", "A", "B")
    assert table.rows == (("Creation", ".20", "–"), ("Motion to Goal", ".40", "–"), ("Activity", "–", ".90"))


def test_several_models_have_their_mean_and_range() -> None:
    measures = [*model("m", 0.1, 0.4, 0.9), *model("n", 0.2, 0.6, 1.0), *model("o", 0.24, 0.5, 0.8)]
    (table,) = class_tables(Results.of(measures, "s"))
    assert table.rows[0] == ("Creation", ".18 (.10–.24)", "–")
    assert table.rows[1] == ("Motion to Goal", ".50 (.40–.60)", "–")
    assert table.rows[2] == ("Activity", "–", ".90 (.80–1.00)")
    assert "3 models" in table.caption


def test_each_prompt_has_a_table() -> None:
    measures = [*model("m", 0.1, 0.4, 0.9), accuracy("m", 0.5, "dap", group="A", verb_class="Creation")]
    assert [table.title.rsplit(", ")[-1] for table in class_tables(Results.of(measures, "s"))] == ["zero-shot", "dap"]


def test_a_suite_without_classes_has_no_table() -> None:
    assert class_tables(Results.of([accuracy("m", 0.5, group="A")], "s")) == []
