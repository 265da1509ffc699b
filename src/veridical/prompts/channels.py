"""Separates thinking and answer in a reply's text, by the markers that models put around them.

`CHANNELS` is the one table of markers. Where a tokenizer has a marker as a token of its own, `models.channels` finds
it on token ids, before decoding can lose it, and writes it as `OPEN` and `CLOSE`; here decoded text is read, from
our own runs and from logs. One pass over the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

OPEN, CLOSE = "<think>", "</think>"
"""How a stored reply marks thinking, whatever the model's own markers are."""


@dataclass(frozen=True, slots=True)
class Channel:
    """Markers around thinking, and an example whose answer is True. `header` is what the model writes after `open`."""

    name: str
    open: str
    close: str
    example: str
    header: str = ""


CHANNELS: tuple[Channel, ...] = (
    Channel("think", "<think>", "</think>", "<think>False?</think>True"),
    Channel("thinking", "<thinking>", "</thinking>", "<thinking>Answer: False</thinking>\nTrue"),
    Channel("thought", "<thought>", "</thought>", "<thought>False.</thought>True"),
    Channel("reasoning", "<reasoning>", "</reasoning>", "<reasoning>False.</reasoning>\n<answer>True</answer>"),
    Channel("seed", "<seed:think>", "</seed:think>", "<seed:think>False</seed:think>True"),
    Channel("mistral", "[THINK]", "[/THINK]", "[THINK]The answer is False.[/THINK]True"),
    Channel("cohere", "<|START_THINKING|>", "<|END_THINKING|>", "<|START_THINKING|>False<|END_THINKING|>True"),
    Channel("kimi", "◁think▷", "◁/think▷", "◁think▷False◁/think▷True"),
    Channel(
        "thought_block", "<|begin_of_thought|>", "<|end_of_thought|>", "<|begin_of_thought|>A<|end_of_thought|>True"
    ),
    Channel("gemma", "<|channel>", "<channel|>", "<|channel>thought\nFalse<channel|>True", header="thought"),
    Channel("medgemma", "<unused94>", "<unused95>", "<unused94>thought\nFalse<unused95>True", header="thought"),
    Channel(
        "granite",
        "Here is my thought process:",
        "Here is my response:",
        "Here is my thought process: False. Here is my response: True",
    ),
)
"""Every pair of markers. Harmony's channels, which have names, are read by `_named_channels`."""

_FRAMES = re.compile(
    r"<\|(?:START|END)_(?:RESPONSE|TEXT)\|>|</?response>|<\|(?:begin|end)_of_solution\|>", re.IGNORECASE
)
"""Markers around the answer itself: they are taken off."""

# Looked at first, so that text full of what a marker begins with costs little.
_BEGINNING = "|".join(sorted({re.escape(marker[:2]) for c in CHANNELS for marker in (c.open, c.close)}))
_MARKERS = re.compile(
    rf"(?={_BEGINNING})(?:"
    + "|".join(
        f"(?P<open_{channel.name}>{re.escape(channel.open)})|(?P<close_{channel.name}>{re.escape(channel.close)})"
        for channel in CHANNELS
    )
    + ")",
    re.IGNORECASE,
)

# Harmony: <|start|>assistant<|channel|>analysis<|message|> ... <|end|>, and what is left where decoding lost the
# markers: analysis ... assistantfinal ...
_NAMED = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>[ \t]{0,4}(\w{1,20})[^<\n]{0,200}<\|message\|>")
_NAMED_END = re.compile(r"<\|(?:end|return|call|start)\|>(?:assistant)?")
_BARE = re.compile(r"assistant(analysis|commentary|final)")
_BARE_START = re.compile(r"\A\s{0,8}(analysis|commentary|final)(?=[A-Z0-9\"'“(\[{*\\])")
FINAL = "final"
"""The channel of harmony's that holds the answer."""


def opens_thinking(context: str) -> bool:
    """Whether a context leaves thinking open, so that the reply begins inside it."""
    end = context.rstrip()[-300:]
    named = [match for match in _NAMED.finditer(end) if match.end() == len(end)]
    return any(match[1] != FINAL for match in named) or any(
        end.endswith((channel.open, f"{channel.open}{channel.header}")) for channel in CHANNELS
    )


def said(text: str, thinking_open: bool = False) -> tuple[str, bool]:
    """The text outside thinking, and whether thinking was never closed (there is then no answer to read).

    `thinking_open` says that the context had opened thinking.
    """
    if "<|channel|>" in text:
        return _named_channels(text, thinking_open)
    if _BARE.search(text) or _BARE_START.match(text):
        return _bare_channels(text)
    inside, closing, position = thinking_open, "", 0
    kept: list[str] = []
    for kind, name, start, end in _marks(text):
        if kind == "open" and not inside:
            kept.append(text[position:start])
            inside, closing = True, name
        elif kind == "close" and not inside:
            kept.clear()  # the context had opened what is closed here
            position = end
        elif kind == "close" and closing in ("", name):
            inside, position = False, end
    if not inside:
        kept.append(text[position:])
    return _FRAMES.sub("\n", "".join(kept)), inside


def _marks(text: str) -> Iterator[tuple[str, str, int, int]]:
    """(open or close, channel, start, end) of every marker."""
    for match in _MARKERS.finditer(text):
        kind, _, name = (match.lastgroup or "").partition("_")
        yield kind, name, match.start(), match.end()


def _named_channels(text: str, thinking_open: bool) -> tuple[str, bool]:
    """What harmony's final channel says; thinking is unclosed where there is none."""
    headers = list(_NAMED.finditer(text))
    if not headers:
        return "", True  # cut off within the header
    before = "" if thinking_open else _NAMED_END.sub("\n", text[: headers[0].start()])
    ends = [*(header.start() for header in headers[1:]), len(text)]
    parts = [
        _NAMED_END.split(text[header.end() : end], maxsplit=1)[0]
        for header, end in zip(headers, ends, strict=True)
        if header[1] == FINAL
    ]
    return "\n".join([before, *parts]), not parts


def _bare_channels(text: str) -> tuple[str, bool]:
    """The same where decoding lost the markers, and only the channels' names are left."""
    first = _BARE_START.match(text)
    headers = [*([first] if first else []), *_BARE.finditer(text, first.end() if first else 0)]
    ends = [*(header.start() for header in headers[1:]), len(text)]
    parts = [text[header.end() : end] for header, end in zip(headers, ends, strict=True) if header[1] == FINAL]
    return "\n".join(parts), not parts
