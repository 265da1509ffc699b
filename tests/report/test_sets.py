"""How many sets a page lists: as many as a browser can take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import veridical
from tests.runs.toy import ToyModel, toy_suite
from veridical.report import html
from veridical.report.presentation import presentation_of
from veridical.report.results import Results
from veridical.report.sets import TEXT_LIMIT, set_list


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> veridical.Study:
    out = tmp_path_factory.mktemp("sets") / "study"
    return veridical.run(toy_suite(60), model=ToyModel(), mode=["loglikelihood", "generate"], out=out)


def listed(study: veridical.Study, most: int, **texts: Any) -> dict[str, Any]:
    (suite,) = study.judgement.suites
    results = Results.of(study.judgement.records, suite.name, presentation_of(suite.measures))
    frame = study.responses.with_columns(**texts) if texts else study.responses
    return set_list(suite, results, frame, most)


@pytest.mark.parametrize("most", [1, 20_000, 100_000])
def test_sets_are_listed_while_there_is_room(study: veridical.Study, most: int) -> None:
    found = listed(study, most)
    # 120 sets of 2 items, in the suite's order; the first always, whatever its size.
    names = [name for name, _ in found["sets"]]
    assert names == list(study.judgement.suites[0].grouping().sets())[: len(names)]
    assert found["left_out"] == 120 - len(names)
    size = len(json.dumps(found, separators=(",", ":"), ensure_ascii=False))
    if most == 1:
        assert len(names) == 1
    else:
        assert 0.6 * most < size < 1.2 * most
        assert 0 < len(names) < 120


def test_all_sets_are_listed_where_they_fit(study: veridical.Study) -> None:
    found = listed(study, 10_000_000)
    assert (len(found["sets"]), len(found["items"]), found["left_out"]) == (120, 240, 0)


def test_long_texts_count_as_far_as_they_are_shown(study: veridical.Study) -> None:
    import polars as pl

    found = listed(study, 200_000, text=pl.lit("x" * 100_000))
    # An item has 4 + 5 responses (orders and prompts of two modes), each with the part of the text that is shown.
    assert len(found["sets"]) == pytest.approx(200_000 / (2 * 9 * TEXT_LIMIT), abs=1)


def test_the_suites_of_a_page_share_the_room(
    tmp_path: Path, study: veridical.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms: list[int] = []
    real = html.set_list
    monkeypatch.setattr(html, "MOST_CHARACTERS", 30_000)
    monkeypatch.setattr(html, "set_list", lambda *given: rooms.append(given[-1]) or real(*given))
    veridical.run([toy_suite(5), toy_suite(6, name="b"), toy_suite(7, name="c")], model=ToyModel(), out=tmp_path)
    assert set(rooms) == {10_000}
