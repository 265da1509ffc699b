"""A prompt whose templates fail says which prompt and which part, whatever went wrong."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from veridical.prompts.template import Conversation, Message, PlainText, Prompt

PARTS = ("system", "user", "assistant")

FAILING = [
    "{{ 1 / 0 }}",
    "{{ q + 1 }}",
    "{{ q.missing }}",
    "{{ none_such }}",
    "{{ labels[7] }}",
    "{{ q | int('x', 'y', 'z', 0) }}",
    "{{ range(10 ** 9) | list }}",
    "{{ q() }}",
    r'{{ "\ud800" }}',
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
]

NO_TEMPLATES = [
    "{{ q",
    "{% if q %}",
    "{{ q | none_such }}",
    "{% none_such %}",
    "{% include 'x' %}",
    "{% include 'x' ignore missing %}",
    "{% import 'x' as x %}",
    "{% from 'x' import y %}",
    "{% extends 'x' %}",
    "{{ " + "(" * 3000 + ")" * 3000 + " }}",
    "{% for i in q %}" * 30 + "{% endfor %}" * 30,
]


def prompt(part: str, template: str) -> Prompt:
    parts: dict[str, Any] = {"user": "{{ q }}", part: template}
    return Prompt(name="ask", **parts)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("template", FAILING)
def test_a_template_that_fails_on_an_item_names_prompt_and_part(template: str, part: str) -> None:
    with pytest.raises(ValueError, match=rf"prompt 'ask', {part} part: \S"):
        prompt(part, template).render({"q": "one"}, ("yes", "no"))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("template", NO_TEMPLATES, ids=lambda template: template[:20])
def test_what_is_not_a_template_is_refused_with_prompt_and_part(template: str, part: str) -> None:
    with pytest.raises(ValidationError, match=rf"template '{part}' of prompt 'ask': \w"):
        prompt(part, template)


@pytest.mark.parametrize(
    "parts",
    [{"user": ""}, {"user": " \n", "system": "\t"}],
    ids=["user", "white space"],
)
def test_a_prompt_that_asks_nothing_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="prompt 'ask' is empty"):
        Prompt(name="ask", **parts)


def test_a_plain_prompt_is_put_as_it_stands_and_may_be_empty() -> None:
    assert Prompt(name="ask", user="", plain=True).render({}, ()) == PlainText("")
    assert Prompt(name="ask", user=" {{ q }} ", plain=True).render({"q": "one"}, ()) == PlainText(" one ")


def test_a_delimiter_goes_with_a_plain_prompt() -> None:
    assert Prompt(name="ask", user="x", plain=True, delimiter="").delimiter == ""
    with pytest.raises(ValidationError, match="prompt 'ask' has a delimiter, which goes with a plain prompt"):
        Prompt(name="ask", user="x", delimiter=" ")


def test_one_part_is_enough() -> None:
    assert Prompt(name="ask", user="", system="{{ q }}").render({"q": "one"}, ()) == Conversation(
        (Message("system", "one"),)
    )
