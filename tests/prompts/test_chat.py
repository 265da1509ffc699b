"""Chat rendering against real tokenizers, small ones, and transformers' own `apply_chat_template`."""

from __future__ import annotations

from datetime import datetime

import pytest

from veridical.errors import UserError
from veridical.prompts import chat
from veridical.prompts.chat import (
    PINNED_DATE,
    Rendered,
    adds_special_tokens,
    delimiter,
    joined,
    render,
)
from veridical.prompts.template import Conversation, Message, PlainText
from veridical.prompts.template_arguments import parse_template_arguments

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

ASK = Conversation((Message("system", "Be strict."), Message("user", "Did he run?")))
PREFILLED = Conversation((*ASK.messages, Message("assistant", "Label: ")))

PLAIN = (
    "{{ bos_token }}{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
TRIMS = PLAIN.replace("m['content']", "m['content'] | trim")
REJECTS_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + PLAIN
)
DROPS_SYSTEM = PLAIN.replace("{% for m in messages %}", "{% for m in messages if m['role'] != 'system' %}")
ENDS_ON_USER = (
    "{% if messages[-1]['role'] == 'assistant' %}{{ raise_exception('The user has the last word') }}{% endif %}" + PLAIN
)
DATED = "{% set today = strftime_now('%d %b %Y') %}Today: {{ today }}.\n" + PLAIN
DATED_BY_DEFAULT = (
    "{% if not date_string is defined %}{% set date_string = strftime_now('%Y-%m-%d') %}{% endif %}"
    "Today: {{ date_string }}.\n" + PLAIN
)
THINKS = PLAIN.replace("[assistant]{% endif %}", "[assistant]{% if enable_thinking %}<think>{% endif %}{% endif %}")


def tokenizer(template: str | dict[str, str] | None, adds_bos: bool = True) -> transformers.PreTrainedTokenizerFast:
    words = ["<unk>", "<s>", "</s>", "[system]", "[user]", "[assistant]", "Be", "strict", "Did", "he", "run", ".", "?"]
    model = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if adds_bos:
        model.post_processor = tokenizers.processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", words.index("<s>"))]
        )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    fast.chat_template = template
    return fast


def ids(rendered: Rendered, fast: transformers.PreTrainedTokenizerFast) -> list[int]:
    return list(fast(rendered.text, add_special_tokens=adds_special_tokens(rendered))["input_ids"])


def test_a_chat_is_what_transformers_renders() -> None:
    fast = tokenizer(PLAIN)
    messages = [{"role": m.role, "content": m.content} for m in ASK.messages]
    expected = fast.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert render(ASK, fast) == Rendered(expected, (), special_tokens_already=True, opens_turn=True)


def test_trap_10_a_rendered_chat_has_one_bos() -> None:
    fast = tokenizer(PLAIN, adds_bos=True)
    rendered = render(ASK, fast)
    assert ids(rendered, fast).count(fast.bos_token_id) == 1
    messages = [{"role": m.role, "content": m.content} for m in ASK.messages]
    assert ids(rendered, fast) == fast.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]


@pytest.mark.parametrize(("adds_bos", "n_bos"), [(True, 1), (False, 0)])
def test_trap_11_plain_text_has_the_bos_that_its_tokenizer_adds(adds_bos: bool, n_bos: int) -> None:
    fast = tokenizer(PLAIN, adds_bos=adds_bos)
    for context, template in ((PlainText("Did he run?"), PLAIN), (ASK, None)):
        fast.chat_template = template
        rendered = render(context, fast)
        assert ids(rendered, fast).count(fast.bos_token_id) == n_bos
        assert ids(rendered, fast)[:1] == [fast.bos_token_id] * n_bos or n_bos == 0


@pytest.mark.parametrize("template", [REJECTS_SYSTEM, DROPS_SYSTEM], ids=["raises", "drops in silence"])
def test_trap_12_a_template_without_a_system_role_gets_it_in_the_user_turn_and_says_so(template: str) -> None:
    rendered = render(ASK, tokenizer(template))
    assert rendered.text == "<s>[user]Be strict.\n\nDid he run?</s>[assistant]"
    assert rendered.notes == ("system_folded",)


def test_trap_12_nothing_is_noted_where_the_system_role_is_taken() -> None:
    assert render(ASK, tokenizer(PLAIN)).notes == ()


def test_a_template_that_rejects_the_conversation_altogether_is_a_user_error() -> None:
    with pytest.raises(UserError, match=r"chat template.*No, thanks"):
        render(ASK, tokenizer("{{ raise_exception('No, thanks') }}"))
    with pytest.raises(UserError, match="leaves out the text of the user turn"):
        render(ASK, tokenizer("{{ bos_token }}[user]"))
    with pytest.raises(UserError, match="nothing to ask"):
        render(Conversation(()), tokenizer(PLAIN))


@pytest.mark.parametrize("template", [PLAIN, TRIMS], ids=["keeps", "trims"])
@pytest.mark.parametrize("prefill", ["Label: ", "Label:\n", "Label:", " Label: \n "])
def test_trap_13_a_prefill_is_continued_with_its_trailing_white_space(template: str, prefill: str) -> None:
    rendered = render(Conversation((*ASK.messages, Message("assistant", prefill))), tokenizer(template))
    kept = prefill.lstrip() if template is TRIMS else prefill
    assert rendered.text == f"<s>[system]Be strict.</s>[user]Did he run?</s>[assistant]{kept}"
    assert rendered == Rendered(rendered.text, (), special_tokens_already=True, opens_turn=False)


def test_trap_13_a_template_that_cannot_be_left_open_gets_the_prefill_after_its_generation_prefix() -> None:
    rendered = render(PREFILLED, tokenizer(ENDS_ON_USER))
    assert rendered.text == "<s>[system]Be strict.</s>[user]Did he run?</s>[assistant]Label: "
    assert rendered.notes == ("prefill_appended",)


@pytest.mark.parametrize(
    ("template", "date"), [(DATED, "26 Jul 2024"), (DATED_BY_DEFAULT, "2024-07-26")], ids=["set", "by default"]
)
def test_trap_14_a_template_that_inserts_the_date_gets_a_constant_one(template: str, date: str) -> None:
    rendered = render(ASK, tokenizer(template))
    assert rendered.text == f"Today: {date}.\n<s>[system]Be strict.</s>[user]Did he run?</s>[assistant]"
    assert rendered.notes == ("date_pinned",)


def test_trap_14_a_date_that_the_user_gives_is_taken() -> None:
    rendered = render(ASK, tokenizer(DATED_BY_DEFAULT), {"date_string": "1 May 2020"})
    assert rendered.text.startswith("Today: 1 May 2020.\n")
    assert rendered.notes == ()


@pytest.mark.parametrize("source", ["\n  x\n{{ 1 }}", "  {% if true %}a{% endif %}\n", "{%- if true %} b{% endif -%} "])
def test_trap_14_pinning_the_date_changes_nothing_else(source: str) -> None:
    fast = tokenizer(PLAIN)
    dated = source + "{{ strftime_now('%Y') }}"
    messages = [{"role": "user", "content": "x"}]
    now = fast.apply_chat_template(messages, chat_template=dated, tokenize=False)
    pinned = fast.apply_chat_template(messages, chat_template=chat._pinned(dated, PINNED_DATE), tokenize=False)
    assert now.endswith(str(datetime.now().year))
    assert pinned == now[:-4] + "2024"


@pytest.mark.parametrize("format", ["%d %b %Y", "%A, %B %d, %Y", "%Y-%m-%d %H:%M:%S", "%-d.%-m.%y", "no directive"])
def test_trap_14_the_clock_that_stands_still_knows_every_format(format: str) -> None:
    source = chat._pinned(f"{{{{ strftime_now('{format}') }}}}", PINNED_DATE)
    text = tokenizer(PLAIN).apply_chat_template(
        [{"role": "user", "content": "x"}], chat_template=source, tokenize=False
    )
    assert text == PINNED_DATE.strftime(format)


def test_a_tokenizer_without_a_template_gets_plain_text_and_says_so() -> None:
    rendered = render(ASK, tokenizer(None))
    assert rendered == Rendered("Be strict.\n\nDid he run?\n\nAnswer:", ("no_chat_template",))
    assert delimiter(rendered, "True") == " "
    assert render(PREFILLED, tokenizer(None)).text == "Be strict.\n\nDid he run?\n\nAnswer: Label: "


def test_of_several_templates_the_default_is_taken() -> None:
    assert render(ASK, tokenizer({"default": PLAIN, "tool_use": DATED})) == render(ASK, tokenizer(PLAIN))
    with pytest.raises(UserError, match="none is the default"):
        render(ASK, tokenizer({"rag": PLAIN, "tool_use": PLAIN}))


def test_template_arguments_reach_the_template() -> None:
    assert render(ASK, tokenizer(THINKS), {"enable_thinking": True}).opens_thinking
    closed = render(ASK, tokenizer(THINKS), parse_template_arguments(["enable_thinking=false"]))
    assert not closed.opens_thinking
    assert closed.text.endswith("[assistant]")


def test_template_arguments_are_json_where_they_can_be() -> None:
    given = ["a=false", "b=3", "c=low", 'd="3"', "e=x=y", "f=True", "g="]
    assert parse_template_arguments(given) == {
        "a": False, "b": 3, "c": "low", "d": "3", "e": "x=y", "f": True, "g": "",
    }  # fmt: skip


@pytest.mark.parametrize("pair", ["enable_thinking", "=true", "a b=1", "messages=[]", "chat_template=x"])
def test_a_template_argument_that_makes_no_sense_is_a_user_error(pair: str) -> None:
    with pytest.raises(UserError, match="--template-arg"):
        parse_template_arguments([pair])


@pytest.mark.parametrize(
    ("rendered", "continuation", "expected"),
    [
        (Rendered("[assistant]", (), True, opens_turn=True), "True", ""),
        (Rendered("[assistant]Label: ", (), True), "True", ""),
        (Rendered("[assistant]Label:\n", (), True), "True", ""),
        (Rendered("[assistant]Label:", (), True), "True", " "),
        (Rendered('[assistant]{"label": "', (), True), "True", ""),
        (Rendered("Answer:"), "True", " "),
        (Rendered("Answer: "), "True", ""),
        (Rendered("Answer:"), " True", ""),
        (Rendered(""), "True", ""),
    ],
)
def test_what_joins_a_context_and_a_continuation(rendered: Rendered, continuation: str, expected: str) -> None:
    assert delimiter(rendered, continuation) == expected


def test_plain_text_is_put_as_it_stands() -> None:
    assert render(PlainText(" Did he \n"), tokenizer(REJECTS_SYSTEM)) == Rendered(" Did he \n")


@pytest.mark.parametrize(
    ("context", "between", "text", "join"),
    [
        ("Answer:", " ", "Answer:", " "),
        ("It ends in a space. ", " ", "It ends in a space.", "  "),
        ("", " ", "", " "),
        ("was the", "", "was the", ""),
        ("Answer:", None, "Answer:", " "),
    ],
)
def test_a_delimiter_that_is_given_follows_white_space_that_the_context_ends_in(
    context: str, between: str | None, text: str, join: str
) -> None:
    """The white space is scored with the continuation, so that nothing of the text is lost."""
    assert joined(Rendered(context), "yes", between) == (Rendered(text), join)
