"""A suite file is read by strict types, unknown names are refused with the nearest, in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.suites.test_files import BOILED, HEADER, SANG, fault, written
from veridical.errors import LONGEST
from veridical.suites.files import read_suite

ASK: dict[str, Any] = {"name": "ask", "user": "{{ premise }}"}


def prompt(**values: Any) -> dict[str, Any]:
    return {**HEADER, "prompts": [{**ASK, **values}]}


def item(**values: Any) -> dict[str, Any]:
    return {**BOILED, **values}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (prompt(orders=True), "prompts[0].orders': a whole number is needed, this is true"),
        (prompt(orders="2"), "prompts[0].orders': a whole number is needed, this is the text '2'"),
        (prompt(orders=1.5), "prompts[0].orders': a whole number is needed, this is 1.5"),
        (prompt(orders=-1), "prompts[0].orders': a number of at least 0 is needed, this is -1"),
        (prompt(orders=10**9), "prompts[0].orders': a number of at most 1000 is needed, this is 1000000000"),
        (prompt(reasons="yes"), "prompts[0].reasons': true or false is needed, this is the text 'yes'"),
        (prompt(reasons=1), "prompts[0].reasons': true or false is needed, this is 1"),
        (prompt(user=5), "prompts[0].user': text is needed, this is 5"),
        (prompt(user=None), "prompts[0].user': text is needed, this is null"),
        (prompt(answer="lable"), "prompts[0].answer': 'lable' is not one of 'label' or 'json'"),
        (prompt(glosses=["a"]), "prompts[0].glosses': an object is needed, this is a list"),
        (prompt(glosses={"Tru": "it follows"}), "prompts[0].glosses': unknown label 'Tru', did you mean 'True'?"),
        (prompt(sytem="x"), "prompts[0].sytem': unknown field, did you mean 'system'?"),
        ({**HEADER, "name": 5}, "name': text is needed, this is 5"),
        ({**HEADER, "labels": "True"}, "labels': a list is needed, this is the text 'True'"),
        ({**HEADER, "labels": [True, False]}, "labels[0]': text is needed, this is true"),
        ({**HEADER, "prompts": {"ask": {}}}, "prompts': a list is needed, this is an object"),
        ({**HEADER, "verson": "1"}, "verson': unknown field, did you mean 'version'?"),
        ({**HEADER, "items": True}, "items': the number of items is needed here"),
    ],
)
def test_a_header_is_strict(header, words, tmp_path: Path) -> None:
    assert words in fault(written(tmp_path, header, BOILED, SANG))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (item(gold="Unknown"), "gold': a list is needed, this is the text 'Unknown'"),
        (item(fields={"premise": 5}), "fields.premise': text is needed, this is 5"),
        (item(human={"True": "1"}), "human.True': a number is needed, this is the text '1'"),
        (item(human={"True": True}), "human.True': a number is needed, this is true"),
        (item(factors={"verb": ["fill"]}), "factors.verb': one of text, "),
        (item(factors={"verb": None}), "factors.verb': one of text, "),
        (item(name=7), "name': text is needed, this is 7"),
        (item(feilds={}), "feilds': unknown field, did you mean 'fields'?"),
        (
            item(gold=["True"], choices=[{"label": "True", "continuaton": ""}]),
            "continuaton': unknown field, did you mean 'conti",
        ),
        (item(sets=[{"grouping": "verb", "set": 5}]), "sets[0].set': text is needed, this is 5"),
        (item(sets=[{"grouping": "verb", "set": "a", "order": True}]), "sets[0].order': "),
        (item(gold=["Unknwon"]), "gold': unknown label 'Unknwon', did you mean 'Unknown'?"),
    ],
)
def test_an_item_is_strict(line, words, tmp_path: Path) -> None:
    found = fault(written(tmp_path, HEADER, line, SANG))
    assert words in found
    assert "Input should" not in found
    assert "Python" not in found


@pytest.mark.parametrize(
    "user", ["{# nothing #}Is it so?", "Well?", "{% if nothing is defined %}{{ nothing }}{% endif %}So?"]
)
def test_a_prompt_that_shows_nothing_of_the_items_is_refused(user, tmp_path: Path) -> None:
    said = fault(written(tmp_path, prompt(user=user), BOILED, SANG))
    assert "prompt 'ask' reads the same for every item, though the items differ" in said
    assert "as {{ " in said
    read_suite(written(tmp_path, prompt(user=user), BOILED))  # of one item nothing can be said


def test_items_that_differ_in_their_choices_alone_are_asked(tmp_path: Path) -> None:
    choices = [[{"label": label, "continuation": f"{verb} {label}"} for label in HEADER["labels"]] for verb in "ab"]
    read_suite(
        written(
            tmp_path,
            prompt(user="Well?"),
            *({**one, "choices": c} for one, c in zip((BOILED, SANG), choices, strict=True)),
        )
    )


def test_factors_keep_their_types(tmp_path: Path) -> None:
    factors = {"n": 1, "x": 1.5, "flag": True, "kind": "1"}
    suite = read_suite(written(tmp_path, HEADER, item(factors=factors), SANG))
    assert suite.items[0].factors == factors
    assert [type(value) for value in suite.items[0].factors.values()] == [int, float, bool, str]


@pytest.mark.parametrize("value", ["x" * 100_000, ["y"] * 50_000, {"z" * 50_000: 1}])
def test_what_stands_in_a_file_is_not_repeated_whole(value, tmp_path: Path) -> None:
    for line in (item(name=value, factors=5), item(gold=[str(value)]), {**BOILED, str(value): 1}):
        assert len(fault(written(tmp_path, HEADER, line, SANG))) <= LONGEST


# Templates are tried when a file is read


@pytest.mark.parametrize(
    ("user", "line", "words"),
    [
        ("{{ premis }}", 2, "prompt 'ask', user part: there is no field 'premis', did you mean 'premise'?"),
        ("{% if premise %}{{ labls }}{% endif %}", 2, "there is no field 'labls', did you mean 'labels'?"),
        ("{{ premise[0] }}{{ 1 / (hypothesis|length - 9) }}", 3, "division by zero"),
        ("{{ extra }}", 3, "there is no field 'extra'"),
    ],
)
def test_a_template_that_cannot_be_rendered_is_refused_with_file_and_line(user, line, words, tmp_path: Path) -> None:
    """`Uma sang.` has nine letters; only the first item has a field `extra`."""
    first = item(fields={**BOILED["fields"], "extra": "x"})
    said = fault(written(tmp_path, prompt(user=user), first, SANG))
    assert said.startswith(f"line {line}: ")
    assert words in said


@pytest.mark.parametrize(
    "user",
    ["{{ extra if extra is defined }}{{ premise }}", "{% if extra is defined %}{{ extra }}{% endif %}{{ premise }}"],
)
def test_a_field_that_a_template_asks_for_first_may_be_absent(user, tmp_path: Path) -> None:
    assert len(read_suite(written(tmp_path, prompt(user=user), BOILED, SANG)).items) == 2
