"""Where an answer begins: what a template leaves out or open there is noted, and a header can be added."""

from __future__ import annotations

from typing import Any

import pytest

from veridical.errors import UserError
from veridical.prompts.chat import render
from veridical.prompts.template import Conversation, Message
from veridical.prompts.template_arguments import parse_template_arguments

from .test_chat import ASK, PREFILLED, tokenizer

TURN = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</s>{% endfor %}"
OPENS = TURN + "{% if add_generation_prompt %}<assistant>{% endif %}"
INSTRUCTION = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %} {{ m['content'] }}</s>"
    "{% else %}[INST] {{ m['content'] }} [/INST]{% endif %}{% endfor %}"
)
SWITCHED = (
    OPENS
    + "{% if add_generation_prompt and enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
)
OFF_BY_DEFAULT = OPENS + "{% if add_generation_prompt and thinking | default(false) %}<think>{% endif %}"
CHANNELS = TURN.replace("</s>", "<|end|>") + "{% if add_generation_prompt %}<assistant>{% endif %}{# <|channel|> #}"

CASES: dict[str, tuple[str, dict[str, Any], tuple[str, ...], str]] = {
    # template, arguments, the notes, and how the text ends
    "no generation prompt": (TURN, {}, ("no_generation_prompt",), "run?</s>"),
    "a header of the user's": (TURN, {"generation_header": "<model>"}, (), "run?</s><model>"),
    "the template's own header": (TURN, {"generation_header": "auto"}, (), "run?</s><assistant>"),
    "a generation prompt": (OPENS, {}, (), "run?</s><assistant>"),
    "nothing to add": (OPENS, {"generation_header": "auto"}, (), "run?</s><assistant>"),
    "a template without a header": (INSTRUCTION, {}, (), "run? [/INST]"),
    "thinking by default": (SWITCHED, {}, ("thinking_left_to_model",), "<assistant>"),
    "thinking asked for": (SWITCHED, {"enable_thinking": True}, ("thinking_left_to_model",), "<assistant>"),
    "thinking turned off": (SWITCHED, {"enable_thinking": False}, (), "<assistant><think></think>"),
    "thinking closed by a header": (SWITCHED, {"generation_header": "<think></think>"}, (), "<think></think>"),
    "a header that closes nothing": (
        SWITCHED,
        {"generation_header": "So: "},
        ("thinking_left_to_model",),
        "<assistant>So: ",
    ),
    "thinking off by default": (OFF_BY_DEFAULT, {}, (), "<assistant>"),
    "channels": (CHANNELS, {}, ("thinking_left_to_model",), "<assistant>"),
    "a channel by a header": (
        CHANNELS,
        {"generation_header": "<|channel|>final<|message|>"},
        (),
        "<assistant><|channel|>final<|message|>",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_left_out_or_open_before_an_answer_is_noted(case: str) -> None:
    template, arguments, notes, end = CASES[case]
    rendered = render(ASK, tokenizer(template), arguments)
    assert rendered.notes == notes
    assert rendered.text.endswith(end)
    assert rendered.opens_turn


def test_an_open_thinking_block_is_known_and_a_header_closes_it() -> None:
    template = OPENS + "{% if add_generation_prompt %}<think>\n{% endif %}"
    assert render(ASK, tokenizer(template)).opens_thinking
    assert not render(ASK, tokenizer(template), {"generation_header": "</think>\n\n"}).opens_thinking


def test_a_prefilled_answer_stands_after_the_header() -> None:
    rendered = render(PREFILLED, tokenizer(TURN), {"generation_header": "<model>"})
    assert rendered.text.endswith("run?</s><model>Label: ")
    assert not rendered.opens_turn


def test_a_question_that_says_what_a_reply_says_is_distinguished_from_it() -> None:
    conversation = Conversation((Message("user", "OK or not? OK"),))
    assert render(conversation, tokenizer(TURN), {"generation_header": "auto"}).text.endswith("OK</s><assistant>")


def test_a_header_without_a_template_is_refused() -> None:
    with pytest.raises(UserError, match="generation header goes with a chat template"):
        render(ASK, tokenizer(None), {"generation_header": "x"})


def test_the_flag_takes_line_breaks_and_goes_with_other_arguments() -> None:
    assert parse_template_arguments(["a=1"], r"</think>\n\n") == {"a": 1, "generation_header": "</think>\n\n"}
    assert parse_template_arguments([], None) == {}
