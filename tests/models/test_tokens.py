"""The join of context and continuation.

| what the texts do | what is scored |
| --- | --- |
| the join is a word boundary | the continuation's own tokens |
| one token spans the join | that token and what follows, marked `joined`; never nothing |
| the context is empty | every token, after the beginning (or end) of text |
| the text is a rendered chat | no special token is added to it |
| the text is plain | what the tokenizer's own rule puts before it, once |
"""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import normalizers, pre_tokenizers

from veridical.models.tokens import TextEncoder
from veridical.prompts.chat import Rendered, delimiter
from veridical.prompts.template import PlainText

from . import tiny

CHAT = Rendered("<|user|>is it true<|end|><|assistant|>", special_tokens_already=True, opens_turn=True)


def pieces(encoder: TextEncoder, tokens: tuple[int, ...]) -> str:
    return str(encoder.tokenizer.decode(list(tokens)))


@pytest.fixture(params=["byte-level", "sentencepiece"])
def encoder(request: pytest.FixtureRequest) -> TextEncoder:
    return TextEncoder(
        tiny.byte_level_tokenizer() if request.param == "byte-level" else tiny.sentencepiece_tokenizer(bos=False)
    )


def test_a_token_that_spans_the_join_is_scored_with_the_continuation() -> None:
    """Trap 1: such a token left an empty continuation, which scored 0 and won."""
    encoder = TextEncoder(tiny.byte_level_tokenizer())
    whole = encoder.tokenizer("the carpenter", add_special_tokens=False)["input_ids"]
    first = encoder.tokenizer.decode(whole[:1])
    assert len(first) > 1, "the fixture must merge its first letters"
    context, continuation = first[:-1], "the carpenter"[len(first) - 1 :]
    sequence = encoder.sequence(Rendered(context), "", continuation)
    assert sequence.joined
    assert sequence.continuation == tuple(whole)
    # Nothing of the context stands alone any more: it is predicted from the beginning of text.
    assert sequence.context == (encoder.tokenizer.bos_token_id,)
    # A continuation that the context's last token swallows whole is still scored.
    swallowed = encoder.sequence(Rendered(f"x {first[:-1]}"), "", first[-1])
    assert swallowed.joined
    assert swallowed.continuation


def test_context_and_continuation_spell_the_whole_text(encoder: TextEncoder) -> None:
    """Traps 2, 3 and 5: what is scored is the text as the tokenizer writes it, its one space included."""
    rendered = Rendered("The answer is")
    join = delimiter(rendered, "unknown")
    assert join == " "
    sequence = encoder.sequence(rendered, join, "unknown")
    joint = encoder.tokenizer("The answer is unknown", add_special_tokens=False)["input_ids"]
    assert [*sequence.context, *sequence.continuation] == joint
    assert pieces(encoder, sequence.continuation).strip() == "unknown"


def test_the_join_adds_no_second_space(encoder: TextEncoder) -> None:
    for rendered, continuation in [(Rendered("The answer is "), "A"), (Rendered("The answer is"), " A"), (CHAT, "A")]:
        assert delimiter(rendered, continuation) == ""


def test_a_sentencepiece_continuation_after_a_chat_gets_no_space_of_its_own() -> None:
    """Trap 2: encoded alone, the continuation would begin with a space that the text does not have."""
    encoder = TextEncoder(tiny.sentencepiece_tokenizer())
    sequence = encoder.sequence(CHAT, "", "unknown")
    assert pieces(encoder, sequence.continuation) == "unknown"
    alone = tuple(encoder.tokenizer("unknown", add_special_tokens=False)["input_ids"])
    assert encoder.tokenizer.convert_ids_to_tokens(alone[0]).startswith("▁")
    assert not encoder.tokenizer.convert_ids_to_tokens(sequence.continuation[0]).startswith("▁")


@pytest.mark.parametrize("tokenizer", [tiny.byte_level_tokenizer(bos=True), tiny.sentencepiece_tokenizer()])
def test_plain_text_gets_the_beginning_of_text_once_and_a_chat_gets_none(tokenizer: Any) -> None:
    """Traps 10 and 11."""
    encoder = TextEncoder(tokenizer)
    begin = tokenizer.bos_token_id
    plain = encoder.sequence(Rendered("the river"), " ", "runs")
    assert plain.context[0] == begin
    assert plain.context.count(begin) == 1
    chat = encoder.sequence(Rendered(f"<s>{CHAT.text}", special_tokens_already=True), "", "true")
    assert chat.context.count(begin) == 1
    assert encoder.sequence(CHAT, "", "true").context.count(begin) == 0


def test_a_tokenizer_without_a_rule_adds_nothing() -> None:
    encoder = TextEncoder(tiny.byte_level_tokenizer(bos=False))
    assert encoder.sequence(Rendered("the river"), " ", "runs").context.count(encoder.tokenizer.bos_token_id) == 0


def test_an_end_of_text_that_the_tokenizer_appends_does_not_stand_before_the_continuation() -> None:
    from tokenizers import processors

    tokenizer = tiny.byte_level_tokenizer()
    ids = [("<s>", tokenizer.bos_token_id), ("</s>", tokenizer.eos_token_id)]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=ids)
    encoder = TextEncoder(tokenizer)
    sequence = encoder.sequence(Rendered("the river"), " ", "runs")
    assert sequence.context[0] == tokenizer.bos_token_id
    assert tokenizer.eos_token_id not in (*sequence.context, *sequence.continuation)


def test_the_first_token_is_scored_from_the_beginning_of_text() -> None:
    """Trap 6: without something before it the first token went unscored."""
    encoder = TextEncoder(tiny.byte_level_tokenizer())
    sequence = encoder.sequence(Rendered(""), "", "the river runs")
    assert sequence.context == (encoder.tokenizer.bos_token_id,)
    assert pieces(encoder, sequence.continuation) == "the river runs"


def test_characters_and_bytes_are_counted_without_the_join() -> None:
    sequence = TextEncoder(tiny.byte_level_tokenizer()).sequence(Rendered("a naïve"), " ", "café")
    assert (sequence.n_chars, sequence.n_bytes) == (4, 5)


@pytest.mark.parametrize("rendered", [Rendered("The answer is"), CHAT], ids=["plain", "chat"])
@pytest.mark.parametrize("kind", ["byte level", "sentencepiece", "space before every text"])
def test_an_unconditional_score_has_the_same_tokens_as_after_a_context(kind: str, rendered: Rendered) -> None:
    encoder = TextEncoder(
        tiny.byte_level_tokenizer() if kind == "byte level" else tiny.sentencepiece_tokenizer(bos=kind.endswith("text"))
    )
    if kind == "space before every text":
        backend = encoder.tokenizer.backend_tokenizer
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    for choice in ("unknown", "True"):
        join = delimiter(rendered, choice)
        after = encoder.sequence(rendered, join, choice)
        assert not after.joined
        whole = encoder.tokenizer(rendered.text + join + choice, add_special_tokens=False)["input_ids"]
        alone = encoder.unconditional(after, choice, join)
        assert list(alone.continuation) == whole[len(whole) - len(alone.continuation) :]
        assert alone.continuation == after.continuation
        assert alone.context == (encoder.tokenizer.bos_token_id,)
        assert (alone.n_chars, alone.n_bytes) == (len(choice), len(choice))


def test_an_unconditional_score_has_nothing_of_the_context_in_a_joined_token() -> None:
    encoder = TextEncoder(tiny.byte_level_tokenizer())
    whole = encoder.tokenizer("the carpenter", add_special_tokens=False)["input_ids"]
    first = encoder.tokenizer.decode(whole[:1])
    rest = "the carpenter"[len(first) - 1 :]
    joined = encoder.sequence(Rendered(first[:-1]), "", rest)
    assert joined.joined
    assert pieces(encoder, encoder.unconditional(joined, rest, "").continuation) == rest


def test_generated_text_keeps_its_spaces() -> None:
    encoder = TextEncoder(tiny.byte_level_tokenizer())
    ids = tuple(encoder.tokenizer(" True , or not .", add_special_tokens=False)["input_ids"])
    assert encoder.decode(ids) == " True , or not ."


def test_plain_text_contexts_go_to_the_model_as_they_are() -> None:
    from veridical.prompts.chat import render

    assert render(PlainText("a  b\n"), tiny.byte_level_tokenizer()).text == "a  b\n"
