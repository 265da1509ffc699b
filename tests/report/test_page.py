"""The page as text: what it holds, what it escapes, how it is written. What a browser makes of it is tested apart."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from tests.report.pages import HOSTILE, MANIFEST, SIZES, hostile_page
from tests.report.synthetic import MODELS, Study
from veridical.errors import UserError
from veridical.report import write_report
from veridical.report.html import page
from veridical.report.parts import script_json


class Outline(HTMLParser):
    """Collects ids, tables' rows, references to other files, and the JSON of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.handlers: list[str] = []
        self.words: list[str] = []
        self.tag = ""
        self.data = ""
        self._is_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        self._is_data = tag == "script" and ("type", "application/json") in attrs
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "srcset", "action"):
                self.references.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data += data
        elif self.tag not in ("script", "style"):
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._is_data = False


@pytest.fixture(scope="module")
def text(study: Study) -> str:
    verdicts = ["smollm2: answers True to 97 % of the items."]
    return page([study.suite], study.measures, study.frame, MANIFEST, SIZES, verdicts)


@pytest.fixture(scope="module")
def outline(text: str) -> Outline:
    return Outline(text)


def test_page_refers_to_nothing_outside_itself(outline: Outline) -> None:
    assert all(reference.startswith("#") for reference in outline.references)
    assert {reference[1:] for reference in outline.references} <= set(outline.ids)


def test_ids_are_unique(outline: Outline) -> None:
    assert len(outline.ids) == len(set(outline.ids))


def test_page_tells_who_what_and_when(outline: Outline) -> None:
    words = " ".join(" ".join(outline.words).split())
    for part in (*MODELS, "135M parameters", "imperfective 1.0.0", "100 items in 40 sets", "2026-01-31 12:00 UTC"):
        assert part in words
    assert "smollm2.settings.seed" in words


def test_verdict_stands_before_everything_measured(text: str) -> None:
    assert text.index("answers True to 97 %") < text.index('id="suite-0"')


def test_page_allows_only_the_scripts_it_names(text: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    allowed = html.unescape(policy[1])
    assert allowed.startswith("default-src 'none';")
    scripts = re.search(r"script-src ([^;]+);", allowed)
    assert scripts is not None
    assert "unsafe" not in scripts[1]
    assert scripts[1].count("sha256-") == 4


def test_page_without_figures_carries_no_chart_library(study: Study) -> None:
    measures = [m for m in study.measures if m.measure == "pair_consistency"]
    small = page([study.suite], measures, study.frame, {}, {})
    assert len(small) < 300_000
    assert "University of Washington" not in small


def test_licences_of_the_chart_library_go_with_it(text: str) -> None:
    assert "University of Washington Interactive Data Lab" in text
    assert "Mike Bostock" in text


def test_list_of_sets_holds_every_answer(study: Study, outline: Outline) -> None:
    sets = json.loads(outline.data)["sets"][0]
    assert [name for name, _ in sets["sets"]] == list(study.suite.grouping().sets())
    asked = study.frame.filter(study.frame["model"] != "baseline")
    held = sum(len(responses) for item in sets["answers"] for responses in item.values())
    assert held == len(asked)
    # One answer by name: the premise's item under the first column, as in the frame.
    item = study.suite.items[0]
    (row,) = asked.filter(
        item=item.id, model=MODELS[0], prompt="zero-shot", mode="loglikelihood", input="full"
    ).to_dicts()
    (response,) = sets["answers"][0]["0"]
    assert response["l"] == row["label"]
    assert response["r"] == int(row["label"] in item.gold)
    assert response["ll"] == [round(score, 3) for score in row["scores"]]


def test_hostile_text_ends_no_script_and_makes_no_element(study: Study, text: str) -> None:
    hostile = hostile_page(study)
    assert "<script>window.pwned" not in hostile
    assert "<img" not in Outline(hostile).data
    assert hostile.count("</script>") == text.count("</script>")
    assert not Outline(hostile).handlers
    assert "\u2028" not in Outline(hostile).data


def test_script_json_survives_the_round_trip() -> None:
    value = {"a": [HOSTILE, "<!--", "\u2029"]}
    embedded = str(script_json(value))
    assert not set("<>&\u2028\u2029") & set(embedded)
    assert json.loads(embedded) == value


def test_script_json_refuses_what_is_not_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json({"score": float("nan")})


def test_scores_that_are_not_finite_are_written_as_null(study: Study) -> None:
    first = study.frame.head(1).with_columns(scores=pl.Series([[float("nan"), float("-inf"), -1.0]]))
    small = page([study.suite], study.measures, first, {}, {})
    sets = json.loads(Outline(small).data)["sets"][0]
    assert [r["ll"] for item in sets["answers"] for rs in item.values() for r in rs] == [[None, None, -1.0]]


def test_long_text_is_shortened_and_says_so(study: Study) -> None:
    first = study.frame.head(1).with_columns(text=study.frame.head(1)["text"].fill_null("x" * 9_000))
    sets = json.loads(Outline(page([study.suite], study.measures, first, {}, {})).data)["sets"][0]
    (shown,) = (r["t"] for item in sets["answers"] for rs in item.values() for r in rs)
    assert shown.startswith("x" * 4_000 + " […")
    assert "9,000 characters" in shown


def test_report_is_written_whole_and_replaces_an_older_one(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    for _ in range(2):
        assert write_report(path, page([study.suite], study.measures, study.frame, MANIFEST, SIZES)) == path
        assert path.read_text("utf-8").rstrip().endswith("</html>")
        assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_path_that_cannot_be_written_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot write"):
        write_report(tmp_path / "file" / "report.html", "text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="cannot write"):
        write_report(tmp_path / "folder", "text")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_text_that_is_not_unicode_is_still_written(study: Study, tmp_path: Path) -> None:
    first = study.frame.head(1)
    path = write_report(tmp_path / "r.html", page([study.suite], study.measures, first, {"note": "\ud800"}, {}))
    assert path.stat().st_size > 1000
