"""A template that does not come to an end, or fills memory, is an error in a line."""

from __future__ import annotations

import resource
import signal
import time

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from veridical.errors import UserError
from veridical.prompts import bounded
from veridical.prompts.chat import render
from veridical.prompts.template import Conversation, Message, Prompt

NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
ENDLESS = {
    "nested loops": (NESTED, "runs for more than"),
    "a text times a number": ("{{ 'x' * 10 ** 11 }}", "memory"),
    "a text that is wide": ("{{ 'x'.center(10 ** 11) }}", "memory"),
    "a text that doubles": (
        "{% set n = namespace(t='x') %}{% for i in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t }}",
        "memory|runs for more|characters",
    ),
    "much text": ("{% for a in range(99999) %}{{ 'x' * 200 }}{% endfor %}", "characters"),
    "a list of lists": ("{{ ([1] * 10 ** 10) | length }}", "memory"),
}


class Template:
    """A tokenizer with a chat template, as transformers renders it."""

    def __init__(self, source: str) -> None:
        self.chat_template = source

    def apply_chat_template(self, conversation, /, *, chat_template, **arguments):
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        return environment.from_string(chat_template).render(messages=conversation, **arguments)


@pytest.fixture(autouse=True)
def short(monkeypatch) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 0.3)


@pytest.mark.parametrize("name", ENDLESS)
def test_a_prompts_template_is_stopped(name) -> None:
    source, says = ENDLESS[name]
    before = time.perf_counter()
    with pytest.raises(ValueError, match=f"prompt 'p', user part: it .*({says})"):
        Prompt(name="p", user=source).render({}, ())
    assert time.perf_counter() - before < 8
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


@pytest.mark.parametrize("name", ENDLESS)
def test_a_chat_template_is_stopped(name) -> None:
    source, says = ENDLESS[name]
    with pytest.raises(UserError, match=f"chat template does not come to an end: it .*({says})"):
        render(Conversation((Message("user", "a"),)), Template(source))


@pytest.mark.parametrize("source", ["{{ 1 / 0 }}", "{{ 'a' + 1 }}", "{{ messages.x.y }}", "{{ none() }}"])
def test_whatever_a_chat_template_raises_is_a_line(source) -> None:
    with pytest.raises(UserError, match="chat template does not take this conversation"):
        render(Conversation((Message("user", "a"),)), Template(source))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("{{ premis }}", "no field 'premis', did you mean 'premise'?"),
        ("{{ zzz }}", "no field 'zzz'; there are prem"),
    ],
)
def test_a_field_that_is_not_there_is_named_with_the_nearest(source, says) -> None:
    with pytest.raises(ValueError, match="user part") as caught:
        Prompt(name="p", user=source).render({"premise": "a"}, ())
    assert says in str(caught.value)


def test_templates_of_the_package_need_no_limits() -> None:
    from veridical.prompts.template import _compiled
    from veridical.suites.registry import BUILT_IN, load

    for suite in ("imperfective", "evidence"):
        assert suite in BUILT_IN
        for prompt in load(suite).prompts:
            assert not _compiled(prompt.user)[1] or "for" in prompt.user
