"""What a browser makes of the page: it draws, it filters, and nothing in it runs but its own scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.pages import HOSTILE, MANIFEST, SIZES, hostile_page
from tests.report.synthetic import PROMPTS, Study, answer, frame_of, make_suite, measures_of, planted
from veridical import Response, judge_responses
from veridical.report.html import page


class Opened:
    """A page in a browser window, with what it said and asked for."""

    def __init__(self, browser: Any, path: Path, width: int = 1100) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.window = browser.new_page(viewport={"width": width, "height": 800})
        self.window.on("console", lambda message: self.complaints.append(message.text))
        self.window.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.window.on("request", lambda request: self.requests.append(request.url))
        self.window.goto(path.as_uri())
        self.window.set_default_timeout(10_000)
        self.window.locator(".list > details").first.wait_for()
        for chart in self.window.locator(".chart").all():
            chart.locator("svg.marks").wait_for()

    def count(self, selector: str) -> int:
        return int(self.window.locator(selector).count())


@pytest.fixture(scope="module")
def report(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page([study.suite], study.measures, study.frame, MANIFEST, SIZES, ["One sentence."]), "utf-8")
    return path


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    opened = Opened(browser, report)
    yield opened
    opened.window.close()


def test_page_draws_its_figures_without_complaint_and_without_a_request(opened: Opened, report: Path) -> None:
    assert opened.count(".chart svg.marks") == 4
    assert opened.requests == [report.as_uri()]
    assert opened.complaints == []


@pytest.mark.parametrize("width", [400, 800, 1600])
def test_page_is_never_wider_than_the_window(browser: Any, report: Path, width: int) -> None:
    opened = Opened(browser, report, width)
    assert opened.window.evaluate("document.documentElement.scrollWidth") <= width
    opened.window.close()


def test_sets_open_to_premise_gold_and_answers(opened: Opened, study: Study) -> None:
    first = opened.window.locator(".list > details").first
    assert first.locator("article").count() == 0  # nothing is built before it is opened
    first.locator("summary").click()
    first.locator("article").first.wait_for()
    assert first.locator("article").count() == 3
    text = first.inner_text()
    assert study.suite.items[0].fields["premise"] in text
    assert study.suite.items[0].fields["hypothesis"] in text
    assert "log P(Unknown)" in text


def test_sets_open_by_keyboard(opened: Opened) -> None:
    summary = opened.window.locator(".list > details > summary").first
    summary.focus()
    opened.window.keyboard.press("Enter")
    opened.window.locator(".list > details[open] article").first.wait_for()  # built when the browser says it is open
    assert opened.count(".list > details[open] article") == 3


def shown(opened: Opened) -> str:
    return str(opened.window.locator(".count").inner_text())


def choose(opened: Opened, label: str, value: str) -> None:
    opened.window.get_by_label(label, exact=True).select_option(label=value)


def test_filters_agree_with_the_frame(opened: Opened, study: Study) -> None:
    assert shown(opened) == "40 of 40 sets"
    choose(opened, "In group", "C")
    assert shown(opened) == "20 of 40 sets"
    choose(opened, "Answers of", "smollm2 · dap")
    choose(opened, "Show", "any wrong")
    answers = study.frame.filter(model="smollm2", prompt="dap", mode="loglikelihood")
    ambiguous = {item.id for item in study.suite.items if item.factors["group"] == "C"}
    wrong = sum(label != "Unknown" for item, label in answers.select("item", "label").iter_rows() if item in ambiguous)
    assert 0 < wrong < 20
    assert shown(opened) == f"{wrong} of 40 sets"
    choose(opened, "Show", "all right")
    assert shown(opened) == f"{20 - wrong} of 40 sets"
    choose(opened, "Show", "any not ok")
    assert shown(opened) == "0 of 40 sets"


def test_search_finds_words_anywhere_in_a_set(opened: Opened) -> None:
    opened.window.get_by_label("Search").fill("KETTLE storm")
    opened.window.get_by_text("5 of 40 sets").wait_for()
    assert opened.count(".list > details") == 5


def test_tooltip_tells_the_value(opened: Opened) -> None:
    opened.window.locator("#chart-0-groups .mark-symbol path").first.hover()
    opened.window.wait_for_selector("#vg-tooltip-element.visible")
    assert "accuracy" in opened.window.locator("#chart-0-groups").inner_html()
    assert "[" in opened.window.locator("#vg-tooltip-element").inner_text()


def test_no_script_of_hostile_text_runs(browser: Any, study: Study, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(hostile_page(study), "utf-8")
    opened = Opened(browser, path)
    window = opened.window
    window.locator(".list > details > summary").first.click()
    window.locator(".more > summary").first.click()
    window.locator("#chart-0-groups .mark-symbol path").first.hover()
    window.wait_for_selector("#vg-tooltip-element.visible")
    assert window.evaluate("typeof window.pwned") == "undefined"
    assert opened.count("img") == 0
    assert opened.requests == [path.as_uri()]
    assert opened.complaints == []
    # It is there to be read, as text.
    assert HOSTILE.replace("\u2028", "") in window.locator("article").first.inner_text().replace("\u2028", "")
    window.close()


def test_policy_stops_a_script_that_escaping_had_missed(opened: Opened) -> None:
    opened.window.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.pwned = 1";
            document.body.append(script);
            const image = document.createElement("div");
            image.innerHTML = "<img src=x onerror='window.pwned = 1'>";
            document.body.append(image);
        }"""
    )
    opened.window.wait_for_timeout(200)
    assert opened.window.evaluate("typeof window.pwned") == "undefined"


def test_two_thousand_items_stay_fast(browser: Any, tmp_path: Path) -> None:
    suite = make_suite(400)
    rows = [
        row
        for number, prompt in enumerate(PROMPTS)
        for row in answer(suite, {"model": "m", "prompt": prompt, "mode": "generate"}, planted(0.5, 0.1), seed=number)
    ]
    frame = frame_of(rows)
    path = tmp_path / "report.html"
    path.write_text(page([suite], measures_of(suite, frame)[:60], frame, {}, {}), "utf-8")
    opened = Opened(browser, path)
    assert opened.count(".list > details") == 40
    took = opened.window.evaluate(
        """() => {
            const start = performance.now();
            const selects = document.querySelectorAll(".controls select");
            for (const select of selects) select.dispatchEvent(new Event("change"));
            return performance.now() - start;
        }"""
    )
    assert took < 1500  # three passes over 2,000 items, on a slow and busy machine
    opened.window.locator(".sets button").click()
    assert opened.count(".list > details") == 80
    opened.window.close()


def test_what_was_not_answered_is_neither_drawn_nor_counted_as_wrong(browser: Any, tmp_path: Path) -> None:
    """Of three sets of group C one is right, one wrong and one cut off."""
    suite = make_suite(verbs=3)
    ambiguous = [item for item in suite.items if item.factors["group"] == "C"]
    given = [("ok", "Unknown"), ("ok", "True"), ("truncated", None)]
    answers = [
        Response(suite=suite.name, item=item.id, model="mine", mode="generate", status=status, label=label)
        for item, (status, label) in zip(ambiguous, given, strict=True)
    ]
    opened = Opened(browser, judge_responses(suite, answers).write(tmp_path))
    choose(opened, "In group", "C")
    found = {}
    for show in ("all right", "any wrong", "any not ok"):
        choose(opened, "Show", show)
        found[show] = (shown(opened), opened.window.locator(".list .chip").last.get_attribute("class"))
    assert found == {
        "all right": ("1 of 6 sets", "chip right"),
        "any wrong": ("1 of 6 sets", "chip wrong"),
        "any not ok": ("1 of 6 sets", "chip not-ok"),
    }
    chip = opened.window.locator(".chip.not-ok").first
    assert chip.inner_text() == "C truncated ?"
    assert chip.evaluate("node => getComputedStyle(node).outlineStyle") == "dashed"
    hatched = opened.window.locator("#chart-0-groups [stroke-dasharray='2,3']")
    assert hatched.count() >= 1
    assert "not ok" in opened.window.locator("#chart-0-groups").inner_text()
    assert opened.complaints == []
    opened.window.close()
