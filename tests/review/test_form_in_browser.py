"""The form in a browser: it works from a file, by keyboard, keeps what was entered, and runs no script but its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.review.making import LABELS, make_item, make_suite
from veridical.review.blinding import blinded
from veridical.review.form import form
from veridical.review.key import ReviewKey
from veridical.review.reading import Ratings, read_ratings

HOSTILE = "</dd></script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>'\"&\u2028"


class Opened:
    """A form in a window, with what it said and asked for."""

    def __init__(self, browser: Any, path: Path, before: str = "") -> None:
        self.context = browser.new_context(viewport={"width": 900, "height": 800})
        if before:
            self.context.add_init_script(before)
        self.path = path
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.reopen()

    def reopen(self) -> None:
        self.window = self.context.new_page()
        self.window.set_default_timeout(10_000)
        self.window.on("console", lambda message: self.complaints.append(message.text))
        self.window.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.window.on("request", lambda request: self.requests.append(request.url))
        self.window.goto(self.path.as_uri())

    @property
    def count(self) -> str:
        return str(self.window.locator("#count").inner_text())

    def saved(self, folder: Path, how: str = "button") -> Path:
        with self.window.expect_download() as info:
            if how == "keys":
                self.window.keyboard.press("Control+s")
            else:
                self.window.get_by_role("button", name="Save CSV").click()
        target = folder / info.value.suggested_filename
        info.value.save_as(target)
        return target


def write_form(folder: Path, measures: str, n_sets: int = 4) -> tuple[Path, ReviewKey]:
    key, (sheet,) = blinded(make_suite(measures, n_sets=n_sets, per_set=2), 1)
    path = folder / "form.html"
    path.write_text(form(sheet, "rater-1.csv"), "utf-8")
    return path, key


@pytest.fixture
def scales(browser: Any, tmp_path: Path) -> Iterator[tuple[Opened, ReviewKey]]:
    path, key = write_form(tmp_path, "imperfective")
    opened = Opened(browser, path)
    yield opened, key
    opened.context.close()


def group(opened: Opened, entry: int, question: str) -> Any:
    return opened.window.locator("article").nth(entry).get_by_role("group", name=question)


def row_of(ratings: Ratings, key: ReviewKey, row: str, question: str) -> int:
    return int(ratings.codes[question][key.ids[row][1], 0])


def test_a_form_asks_for_nothing_and_does_not_complain(scales: tuple[Opened, ReviewKey]) -> None:
    opened, _ = scales
    assert opened.requests == [opened.path.as_uri()]
    assert opened.complaints == []
    assert opened.count == "0 of 24"


def test_every_choice_has_a_name_within_a_named_question(scales: tuple[Opened, ReviewKey]) -> None:
    opened, _ = scales
    first = opened.window.get_by_role("article", name="1 of 8")
    for question in ("grammatical", "native speaker", "same event|one and the same"):
        choices = first.get_by_role("group", name=re.compile(question))
        assert [choices.get_by_role("radio", name=value, exact=True).count() for value in "12345"] == [1] * 5
    assert first.get_by_role("textbox", name="Comment (optional)").count() == 1


def test_the_form_can_be_filled_in_by_keyboard_alone_and_is_read_back(
    scales: tuple[Opened, ReviewKey], tmp_path: Path
) -> None:
    opened, key = scales
    keys = opened.window.keyboard
    opened.window.locator("input").first.focus()
    for digit in "543" + "21":
        keys.press(digit)
    assert opened.count == "5 of 24"
    keys.press("Delete")  # nothing is there to be cleared in the sixth question
    keys.press("Shift+Tab")  # the clear button of the fifth
    keys.press("Shift+Tab")  # the chosen answer of the fifth
    keys.press("Delete")
    assert opened.count == "4 of 24"
    path = opened.saved(tmp_path, "keys")
    assert path.name == "rater-1.csv"
    assert "20 of 24 questions open" in opened.window.get_by_role("status").inner_text()
    ratings = read_ratings([path], key)
    first, second = (opened.window.locator("article").nth(entry).get_attribute("data-id") for entry in (0, 1))
    names = [question.name for question in key.questions]
    assert [row_of(ratings, key, first, name) for name in names] == [4, 3, 2]
    assert [row_of(ratings, key, second, name) for name in names] == [1, -1, -1]
    assert int((ratings.codes["grammar"] >= 0).sum()) == 2


def test_a_comment_with_quotes_commas_and_line_breaks_comes_back(
    scales: tuple[Opened, ReviewKey], tmp_path: Path
) -> None:
    opened, key = scales
    text = 'He said "no", twice;\nthen é – 漢'
    opened.window.get_by_label("Comment (optional)").nth(0).fill(text)
    opened.window.get_by_label("Comment (optional)").nth(1).fill("=1+1")
    opened.window.get_by_role("radio", name="3", exact=True).first.check()
    ratings = read_ratings([opened.saved(tmp_path)], key)
    ids = [opened.window.locator("article").nth(entry).get_attribute("data-id") for entry in (0, 1)]
    assert ratings.comments == {(key.ids[ids[0]][1], 1): text, (key.ids[ids[1]][1], 1): "=1+1"}


def test_what_was_entered_is_there_when_the_form_is_opened_again(scales: tuple[Opened, ReviewKey]) -> None:
    opened, _ = scales
    opened.window.locator("article").nth(2).get_by_role("radio", name="4", exact=True).nth(1).check()
    opened.window.get_by_label("Comment (optional)").nth(2).fill("odd")
    opened.window.close()
    opened.reopen()
    assert opened.count == "1 of 24"
    entry = opened.window.locator("article").nth(2)
    assert entry.get_by_role("radio", name="4", exact=True).nth(1).is_checked()
    assert entry.get_by_label("Comment (optional)").input_value() == "odd"
    opened.window.on("dialog", lambda dialog: dialog.accept())
    opened.window.get_by_role("button", name="Start over").click()
    opened.window.reload()
    assert opened.count == "0 of 24"


def test_the_next_open_question_is_found(scales: tuple[Opened, ReviewKey]) -> None:
    opened, _ = scales
    first = opened.window.locator("fieldset").first
    first.get_by_role("radio", name="5", exact=True).check()
    opened.window.get_by_role("button", name="Next open question").click()
    focused = opened.window.evaluate("document.activeElement.name")
    assert focused == opened.window.locator("fieldset").nth(1).locator("input").first.get_attribute("name")


def test_going_on_to_another_entry_shows_its_texts(scales: tuple[Opened, ReviewKey]) -> None:
    opened, _ = scales
    opened.window.locator("input").first.focus()
    for _ in range(6):
        opened.window.keyboard.press("5")
    third = opened.window.locator("article").nth(2)
    assert third.evaluate("node => node.contains(document.activeElement)")
    assert third.locator("dt").first.evaluate("node => node.getBoundingClientRect().top >= 0")


def test_a_browser_that_keeps_nothing_says_so_and_still_saves(browser: Any, tmp_path: Path) -> None:
    path, key = write_form(tmp_path, "merge")
    denied = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied'); } });"
    opened = Opened(browser, path, denied)
    assert "save the CSV file before you close" in opened.window.get_by_role("alert").inner_text()
    opened.window.get_by_role("radio", name="no", exact=True).first.check()
    ratings = read_ratings([opened.saved(tmp_path)], key)
    assert sorted(ratings.codes["fluent"].ravel().tolist()) == [-1, -1, -1, 1]
    opened.context.close()


def test_digits_pick_labels_by_their_place(browser: Any, tmp_path: Path) -> None:
    path, key = write_form(tmp_path, "accuracy")
    opened = Opened(browser, path)
    opened.window.locator("input").first.focus()
    opened.window.keyboard.press("3")
    opened.window.keyboard.press("9")  # no such place: nothing happens
    assert opened.count == "1 of 8"
    row = opened.window.locator("article").first.get_attribute("data-id")
    assert row_of(read_ratings([opened.saved(tmp_path)], key), key, row, "label") == LABELS.index("contradiction")
    opened.context.close()


def test_no_script_of_hostile_text_runs(browser: Any, tmp_path: Path) -> None:
    labels = ("a", HOSTILE)
    items = tuple(make_item(f"{HOSTILE}{n}", HOSTILE, "a", labels) for n in range(2))
    update = {"items": items, "labels": labels, "groupings": ()}
    suite = make_suite("accuracy").model_copy(update=update)
    prompt = suite.prompts[0].model_copy(update={"glosses": {"a": HOSTILE}})
    key, (sheet,) = blinded(suite.model_copy(update={"prompts": (prompt,)}), 1)
    path = tmp_path / "form.html"
    path.write_text(form(sheet, "rater-1.csv"), "utf-8")
    opened = Opened(browser, path)
    window = opened.window
    window.locator("input").nth(1).check()
    assert window.evaluate("typeof window.pwned") == "undefined"
    assert window.locator("img").count() == 0
    assert opened.requests == [path.as_uri()]
    assert opened.complaints == []
    assert HOSTILE.replace("\u2028", "") in window.locator("dd").nth(1).inner_text().replace("\u2028", "")
    ratings = read_ratings([opened.saved(tmp_path)], key)
    assert sorted(ratings.codes["label"].ravel().tolist()) == [-1, 1]
    opened.context.close()


def test_policy_stops_a_script_that_escaping_had_missed(scales: tuple[Opened, ReviewKey]) -> None:
    opened, _ = scales
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


@pytest.mark.parametrize("width", [360, 900])
def test_the_form_is_never_wider_than_the_window(scales: tuple[Opened, ReviewKey], width: int) -> None:
    opened, _ = scales
    opened.window.set_viewport_size({"width": width, "height": 700})
    assert opened.window.evaluate("document.documentElement.scrollWidth") <= width
