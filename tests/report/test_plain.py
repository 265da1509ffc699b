"""Names from files and models neither steer the terminal nor break a table."""

from __future__ import annotations

import pytest
from rich.console import Console

from veridical.items import Choice, Item, Suite
from veridical.judge.measure import Measure
from veridical.prompts.template import Prompt
from veridical.report.plain import plain
from veridical.report.terminal import render

HOSTILE = "a\x1b[31mb\x07c\u202ed\x9be\nf"
SHOWN = r"a\x1b[31mb\x07c\u202ed\x9be\nf"


def suite(name: str) -> Suite:
    item = Item(fields={"q": "one"}, choices=(Choice(label="yes", continuation="yes"),))
    return Suite(name=name, version=name, prompts=(Prompt(name="p", user="{{ q }}"),), items=(item,))


def measures(name: str, kind: str) -> list[Measure]:
    key = {"suite": name, "prompt": name, "mode": "loglikelihood", "answerer": "model", "input": name}
    rows = [
        Measure(**key, model=model, measure=measure, slice=where, value=0.5, statuses={"ok": 2, "unparsed": 1})
        for model in (name, f"{name}2")
        for measure, where in ((kind, {}), (name, {name: name}), ("accuracy", {"group": name}), ("accuracy", {}))
    ]
    contrast = rows[0].model_copy(update={"against": {"model": f"{name}2"}, "value": 0.1})
    agreement = contrast.model_copy(update={"measure": "agreement"})
    return [*rows, *(row.model_copy(update={"input": "full"}) for row in rows), contrast, agreement]


def printed(name: str, kind: str) -> str:
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(render([suite(name)], measures(name, kind), [f"{name}: answers."]))
    return capture.get()


@pytest.mark.parametrize("kind", ["balanced_accuracy", "tbr"], ids=["generic", "imperfective"])
def test_control_characters_in_any_name_are_shown_as_escapes(kind: str) -> None:
    text = printed(HOSTILE, kind)
    assert text.replace("\n", "").isprintable()
    assert f"{SHOWN}: answers." in text
    # The same table as that of names which have those escapes as plain letters: a line break breaks nothing.
    assert text == printed(SHOWN, kind)


@pytest.mark.parametrize("kind", ["balanced_accuracy", "tbr"], ids=["generic", "imperfective"])
@pytest.mark.parametrize("name", ["[red]x", "x[/]", "[/x]", "[link=a]b"])
def test_a_name_is_not_markup(name: str, kind: str) -> None:
    """Brackets are as wide as any letters: the tables are those of a name with other letters in their place."""
    letters = name.translate(dict.fromkeys(map(ord, "[]/="), "q"))
    assert printed(name, kind).translate(dict.fromkeys(map(ord, "[]/="), "q")) == printed(letters, kind)


def test_a_measure_without_such_names_is_left_as_it_is() -> None:
    row = measures("plain", "tbr")[0]
    assert plain(row) is row


def test_names_are_escaped_wherever_a_measure_holds_them() -> None:
    row = measures(HOSTILE, "tbr")[-2]
    shown = plain(row.model_copy(update={"slice": {HOSTILE: HOSTILE, "n": 3}}))
    assert (shown.suite, shown.model, shown.against) == (SHOWN, SHOWN, {"model": f"{SHOWN}2"})
    assert shown.slice == {SHOWN: SHOWN, "n": 3}
