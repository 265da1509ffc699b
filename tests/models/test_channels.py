"""Thinking is found on token ids, whatever decoding does to its markers."""

from __future__ import annotations

import pytest

from tests.models import tiny
from veridical.models.channels import channel_tokens
from veridical.prompts.channels import CHANNELS, opens_thinking
from veridical.prompts.chat import Rendered
from veridical.prompts.parsing import parse

NLI = ("True", "False", "Unknown")
HARMONY = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>")


def tokenizer_with(*special: str):
    tokenizer = tiny.byte_level_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    return tokenizer


def written(tokenizer, text: str) -> str:
    """What is stored of a reply that consists of the tokens of `text`."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return channel_tokens(tokenizer).text(ids, lambda part: tokenizer.decode(part, skip_special_tokens=True))


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel.name)
def test_special_markers_survive_as_tokens_though_decoding_drops_them(channel) -> None:
    tokenizer = tokenizer_with(channel.open, channel.close)
    ids = tokenizer(f"{channel.open}{channel.header}False.{channel.close}True", add_special_tokens=False)["input_ids"]
    assert channel.open not in tokenizer.decode(ids, skip_special_tokens=True)
    text = written(tokenizer, f"{channel.open}{channel.header}The answer is False.{channel.close}True")
    assert parse(text, NLI).label == "True"
    assert parse(written(tokenizer, f"{channel.open}{channel.header}Answer: True"), NLI).status == "truncated"
    assert parse(written(tokenizer, f"Answer: False{channel.close}True"), NLI, thinking_open=True).label == "True"


def test_named_channels_are_distinguished_by_their_headers() -> None:
    tokenizer = tokenizer_with(*HARMONY)
    analysis = "<|channel|>analysis<|message|>Answer: True."
    final = "<|start|>assistant<|channel|>final<|message|>False"
    assert parse(written(tokenizer, f"{analysis}<|end|>{final}"), NLI).label == "False"
    assert parse(written(tokenizer, final), NLI).label == "False"
    assert parse(written(tokenizer, "<|channel|>final<|message|>False"), NLI).label == "False"
    assert parse(written(tokenizer, analysis), NLI).status == "truncated"
    assert parse(written(tokenizer, f"{analysis}<|end|>"), NLI).status == "truncated"
    commentary = "<|start|>assistant<|channel|>commentary<|message|>Answer: Unknown<|end|>"
    assert parse(written(tokenizer, f"{analysis}<|end|>{commentary}{final}"), NLI).label == "False"


def test_the_end_of_a_message_does_not_end_a_reply_of_several() -> None:
    tokenizer = tokenizer_with(*HARMONY)
    end = tokenizer.convert_tokens_to_ids("<|end|>")
    assert channel_tokens(tokenizer).message_ends == {end}
    assert channel_tokens(tokenizer_with("<|end|>")).message_ends == frozenset()


def test_a_tokenizer_without_markers_decodes_as_before() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    assert written(tokenizer, "the answer <think> is it") == "the answer <think> is it"


@pytest.mark.parametrize(
    ("context", "open_"),
    [
        ("<|assistant|><think>\n", True),
        ("[THINK]", True),
        ("<|START_THINKING|>", True),
        ("<|channel>thought\n", True),
        ("<|start|>assistant<|channel|>analysis<|message|>", True),
        ("<|start|>assistant<|channel|>final<|message|>", False),
        ("<think>\n\n</think>\n\n", False),
        ("<|assistant|>", False),
    ],
)
def test_a_context_that_leaves_thinking_open_is_known(context: str, open_: bool) -> None:
    assert opens_thinking(context) is open_
    assert Rendered(context).opens_thinking is open_
