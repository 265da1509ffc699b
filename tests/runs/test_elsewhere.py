"""Answers that were given elsewhere, judged and written with a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import veridical as vd
from tests.report.synthetic import make_suite

SUITE = make_suite(verbs=4)


def response(item: vd.Item, label: str | None, status: str = "ok") -> vd.Response:
    return vd.Response(
        suite=SUITE.name, item=item.id, model="mine", prompt="theirs", mode="generate", status=status, label=label
    )


def test_items_without_a_response_stay_in_the_denominator() -> None:
    """Of 4 items of group C two are answered rightly and two not at all: .50, and 1.00 at best."""
    ambiguous = [item for item in SUITE.items if item.factors["group"] == "C"]
    judged = vd.judge_responses(SUITE, [response(item, "Unknown") for item in ambiguous[:2]])
    (found,) = [
        record
        for record in judged.records
        if (record.model, record.measure, dict(record.slice)) == ("mine", "accuracy", {"group": "C"})
    ]
    assert (found.value, found.bound_low, found.bound_high) == (0.5, 0.5, 1.0)
    assert found.statuses["missing"] == 2
    assert judged.measures.filter(model="mine", measure="accuracy").height > 0


def test_baselines_and_chance_stand_next_to_the_answers() -> None:
    judged = vd.judge_responses(SUITE, [response(item, "True") for item in SUITE.items])
    answerers = {record.answerer for record in judged.records}
    assert {"model", "always:True", "chance"} <= answerers
    assert any("True" in verdict for verdict in judged.verdicts)


def test_the_page_and_the_measures_are_written(tmp_path: Path) -> None:
    judged = vd.judge_responses(SUITE, [response(item, item.gold[0]) for item in SUITE.items])
    page = judged.write(tmp_path / "theirs")
    assert page == tmp_path / "theirs" / "report.html"
    assert "mine" in page.read_text("utf-8")
    written = json.loads((tmp_path / "theirs" / "measures.json").read_text("utf-8"))
    assert len(written) == len(judged.records)


def test_responses_to_another_suite_are_refused() -> None:
    other = response(SUITE.items[0], "True").model_copy(update={"suite": "another"})
    with pytest.raises(vd.UserError, match="no response is to suite 'imperfective'"):
        vd.judge_responses(SUITE, [other])
