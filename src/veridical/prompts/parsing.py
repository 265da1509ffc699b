r"""From a reply to an answer, or to the reason why there is none.

`FORMS` is the one table of what is read. Three kinds of form, in the order in which they are looked for:

- a *wrapper* stands directly around a label (`**True**`, `"True"`) and is taken off;
- an *object* is JSON, read for its label and then set aside, so that nothing inside its reasoning is read;
- a *claim* gives an answer in the text that is left: `Answer: True`, `\boxed{True}`, a sentence that is the
  label and nothing else. An *opening* (`True, because ...`) is read only where nothing else claims anything.

A label that a sentence merely mentions is never taken. Claims that disagree make a reply `ambiguous`, as does
prose that mentions several labels; one mention in prose is `unparsed`.

A reply that was cut off is `truncated` unless its answer had been completed before the cut: an object or a
box that was closed, or a claim that a full stop or a line break had ended. A thinking block that was never
closed is always `truncated`, whatever stands in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from veridical.items import Status

LABEL = "<label>"
"""Stands for any of the labels in a form's pattern."""


@dataclass(frozen=True, slots=True)
class Form:
    """One accepted form of reply: its pattern, and an example that answers `label`.

    In the pattern `<label>` stands for any label. Patterns ignore case and work by line. An `object` has no
    pattern where it is read by a JSON parser.
    """

    name: str
    kind: Literal["wrapper", "object", "claim", "opening"]
    pattern: str
    example: str
    label: str = "True"


# Where a sentence begins and ends. A full stop inside a line begins one only after a word of two letters or
# more, so that initials do not, and no single letter is read there (see `_Reader`).
_LINE = r"^[ \t>#*•_-]*(?:\d{1,2}[.)][ \t]*)?"
_BEGIN = rf"(?:{_LINE}|(?<=\w{{2}}[.!?])[ \t]+)"
_END = r"(?=[*_]*[ \t]*(?:$|[.!](?=[\s*_]|$)))"
_END_OR_BECAUSE = r"(?=[*_]*(?:[ \t]*(?:$|[.!;](?=[\s*_]|$))|,?[ \t]+(?:because|since)\b|[ \t]*[—–(]))"
_NOUN = r"(?:answer|label|verdict|judge?ment|conclusion|classification|choice)"

FORMS: tuple[Form, ...] = (
    Form("bold", "wrapper", r"\*{1,3}[ \t]*<label>(\.?)[ \t]*\*{1,3}", "**True**"),
    Form("italic", "wrapper", r"(?<!\w)_{1,3}<label>(\.?)_{1,3}(?!\w)", "_True_"),
    Form("code", "wrapper", r"`{1,3}[ \t]*<label>(\.?)[ \t]*`{1,3}", "`True`"),
    Form("double_quoted", "wrapper", r'"[ \t]*<label>(\.?)[ \t]*"', '"True"'),
    Form("single_quoted", "wrapper", r"(?<!\w)'[ \t]*<label>(\.?)[ \t]*'(?!\w)", "'True'"),
    Form("curly_quoted", "wrapper", r"[“‘«][ \t]*<label>(\.?)[ \t]*[”’»]", "“True”"),
    Form("parenthesised", "wrapper", r"(?<!\w)\([ \t]*<label>(\.?)[ \t]*\)", "(True)"),
    Form("bracketed", "wrapper", r"(?<!\w)\[[ \t]*<label>(\.?)[ \t]*\]", "[True]"),
    Form("dollar", "wrapper", r"\${1,2}[ \t]*<label>(\.?)[ \t]*\${1,2}", "$True$"),
    Form("latex_inline", "wrapper", r"\\\([ \t]*<label>(\.?)[ \t]*\\\)", r"\(True\)"),
    Form("latex_display", "wrapper", r"\\\[\s*<label>(\.?)\s*\\\]", r"\[True\]"),
    Form(
        "latex_text",
        "wrapper",
        r"\\(?:text|textbf|textit|textrm|mathrm|mathbf)\{[ \t]*<label>(\.?)[ \t]*\}",
        r"\text{True}",
    ),
    Form("json", "object", "", '{"reasoning": "It {may} be so. The answer is Perhaps.", "label": "True"}'),
    Form(
        "loose_json",
        "object",
        r"[\"']?\b(?:label|answer|final_answer)\b[\"']?\s*:\s*[\"']?<label>\.?[\"']?\s*(?=[,}]|\Z)",
        "{'reasoning': 'He hadn't stopped.', 'label': 'True',}",
    ),
    Form("boxed", "claim", r"\\boxed\{\s*<label>\.?\s*\}", r"So it is $\boxed{True}$, as shown"),
    Form(
        "marked",
        "claim",
        rf"\b{_NOUN}\b[*_\"']*\s*[:=][*_]*\s*(?:option[ \t]+)?<label>{_END_OR_BECAUSE}",
        "After all that, **Answer:** True",
    ),
    Form(
        "the_answer_is",
        "claim",
        rf"\b{_NOUN}\b(?: (?:here|then|therefore))? (?:is|must be|should be|would be)[ \t]*:?[ \t]*"
        rf"(?:option[ \t]+)?<label>{_END_OR_BECAUSE}",
        "So the answer is True.",
    ),
    Form(
        "the_hypothesis_is",
        "claim",
        rf"{_BEGIN}(?:(?:so|thus|hence|therefore|in conclusion|overall),? )?"
        rf"the (?:hypothesis|statement) is(?: therefore| thus)? <label>{_END_OR_BECAUSE}",
        "It does not follow. Therefore, the hypothesis is True.",
    ),
    Form("tagged", "claim", r"<(?:final_)?answer>\s*<label>\.?\s*</", "<answer>True</answer>"),
    Form("option", "claim", rf"{_BEGIN}option[ \t]+<label>(?=[*_]*[ \t]*(?:$|[.:]))", "Option True"),
    Form("alone", "claim", rf"{_BEGIN}<label>{_END}", "True."),
    Form(
        "opening",
        "opening",
        rf"{_LINE}<label>[*_]*(?:\)[ \t]|[ \t]*[:;—–]|[ \t]+-[ \t]|,?[ \t]+(?:because|since)\b)",
        "True, because it says so.",
    ),
)
"""Every accepted form, each with an example of its own."""

_LAYERS = 8
"""How many wrappers around one label are taken off."""
_OBJECT = re.compile(r"\{\s*[\"']?\w+[\"']?\s*:")
_KEYS = frozenset({"label", "answer", "final_answer"})
_THINKING = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINKING_START = re.compile(r"<(?:think|thinking)>", re.IGNORECASE)
_THINKING_END = re.compile(r"</(?:think|thinking)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says. `label` is set exactly where `status` is `ok`; `form` names its form."""

    status: Status
    label: str | None = None
    form: str = ""


@dataclass(frozen=True, slots=True)
class _Claim:
    label: str
    form: str
    complete: bool  # ended before the reply did, so that a cut cannot have changed it


def parse(text: str, labels: Sequence[str], finish: str = "stop", *, thinking_open: bool = False) -> Parsed:
    """The answer that `text`, the whole of a reply, gives among `labels`.

    `finish` is the finish reason (`length`: the reply was cut off). `thinking_open` says that the context had
    opened a thinking block, so that the reply begins inside it. Never raises; any text is some status.
    """
    reader = _reader(tuple(dict.fromkeys(labels)))
    cut = finish == "length"
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    said, thinking_unclosed = _without_thinking(text, thinking_open)
    if thinking_unclosed:
        return Parsed(Status.TRUNCATED)
    if not said.strip():
        return Parsed(Status.TRUNCATED if cut else Status.EMPTY)
    claims, rest = reader.claims(said)
    if cut:
        claims = [claim for claim in claims if claim.complete]
    claimed = {claim.label for claim in claims}
    if len(claimed) == 1:
        return Parsed(Status.OK, claims[0].label, claims[0].form)
    if claimed:
        return Parsed(Status.AMBIGUOUS)
    if cut:
        return Parsed(Status.TRUNCATED)
    return Parsed(Status.AMBIGUOUS if len(reader.mentioned(rest)) > 1 else Status.UNPARSED)


def _without_thinking(text: str, thinking_open: bool) -> tuple[str, bool]:
    """The text outside thinking blocks, and whether one was never closed."""
    said = _THINKING.sub("", text)
    closed = list(_THINKING_END.finditer(said))  # what the context opened is closed here
    if thinking_open and not closed:
        return "", True
    said = said[closed[-1].end() :] if closed else said
    return said, _THINKING_START.search(said) is not None


@lru_cache(maxsize=256)
def _reader(labels: tuple[str, ...]) -> _Reader:
    return _Reader(labels)


class _Reader:
    """The forms, made ready for one set of labels."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        labels = tuple(label for label in labels if label.strip())
        # Labels that differ in case alone are told apart by it.
        self._any_case = len({_spaced(label).casefold() for label in labels}) == len(labels)
        self._labels = {self._key(label): label for label in labels}
        flags = re.MULTILINE | re.IGNORECASE
        # Longest first: `Not True` before `True`.
        longest_first = sorted(labels, key=len, reverse=True)
        any_label = "|".join(r"\s+".join(map(re.escape, label.split())) for label in longest_first) or r"(?!)"
        any_label = any_label if self._any_case else f"(?-i:{any_label})"
        bounded = rf"(?P<label>(?<!\w)(?:{any_label})(?!\w))"
        inside = rf"(?P<label>{any_label})"  # a wrapper is its own boundary (`_True_`)
        self._patterns = {
            form.name: re.compile(form.pattern.replace(LABEL, inside if form.kind == "wrapper" else bounded), flags)
            for form in FORMS
            if form.pattern
        }
        self._mention = re.compile(bounded, flags)

    def claims(self, text: str) -> tuple[list[_Claim], str]:
        """What the text claims, and the text that nothing was read from."""
        claims, rest, unread = self._objects(text)
        rest = self._unwrapped(rest)
        for form in FORMS:
            if form.kind == "claim" or (form.kind == "opening" and not claims):
                claims += self._matches(form, rest)
        return claims, f"{rest}\n{unread}"

    def mentioned(self, text: str) -> set[str]:
        """The labels that stand in the text as words.

        "a" and "I" are words too: a single letter counts only where it is written as its label is.
        """
        written = {match["label"] for match in self._mention.finditer(text)}
        return {
            label for word in written if (label := self._label(word)) is not None and (len(label) > 1 or label == word)
        }

    def _key(self, label: str) -> str:
        return _spaced(label).casefold() if self._any_case else _spaced(label)

    def _label(self, written: str) -> str | None:
        # None where case folding and the matching of regular expressions differ (dotless i and the like).
        return self._labels.get(self._key(written))

    def _unwrapped(self, text: str) -> str:
        """The text with the wrappers taken off its labels, layer by layer."""
        for _ in range(_LAYERS):
            before = text
            for form in FORMS:
                if form.kind == "wrapper":
                    text = self._patterns[form.name].sub(r"\g<label>\2", text)
            if text == before:
                break
        return text

    def _matches(self, form: Form, text: str) -> Iterator[_Claim]:
        for match in self._patterns[form.name].finditer(text):
            label = self._label(match["label"])
            inside_a_line = match.start() > 0 and text[match.start() - 1] != "\n"
            if label is None or (form.name == "alone" and len(label) == 1 and inside_a_line):
                continue  # "by Jo A. Smith": inside a line a single letter needs a form
            after = text[match.end("label") :].lstrip("*_ \t")
            yield _Claim(label, form.name, form.kind == "claim" and after[:1] in tuple(".!}<\n"))

    def _objects(self, text: str) -> tuple[list[_Claim], str, str]:
        """What JSON objects claim, the text outside them, and answers in them that are no label."""
        claims: list[_Claim] = []
        outside, unread = [], []
        position = 0
        for start, end, value in _json_objects(text):
            for answer in _answers(value):
                if label := self._answer(answer):
                    claims.append(_Claim(label, "json", True))
                else:
                    unread.append(answer)
            outside.append(text[position:start])
            position = end
        rest = "\n".join([*outside, text[position:]])
        if not claims and (opening := _OBJECT.search(rest)):
            claims, rest = self._loose_object(rest, opening.start())
        return claims, rest, "\n".join(unread)

    def _loose_object(self, text: str, start: int) -> tuple[list[_Claim], str]:
        """What an object that is not quite JSON claims (single quotes, a comma too many, no last brace), and
        the text outside it."""
        end = text.rfind("}", start) + 1
        inside = text[start : end or None]
        claims = [
            _Claim(label, "loose_json", end > 0)
            for match in self._patterns["loose_json"].finditer(inside)
            if (label := self._label(match["label"])) is not None
        ]
        return claims, f"{text[:start]}\n{text[start + len(inside) :]}"

    def _answer(self, value: str) -> str | None:
        match = self._patterns["alone"].fullmatch(self._unwrapped(value.strip()).rstrip(".! "))
        return self._label(match["label"]) if match else None


def _spaced(label: str) -> str:
    return " ".join(label.split())


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that a key given twice is seen twice."""


def _json_objects(text: str) -> Iterator[tuple[int, int, _Pairs]]:
    """(start, end, value) of every outermost JSON object in the text, left to right."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, strict=False)  # line breaks in strings are common
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield position, end, value
        position = text.find("{", end)


def _answers(value: _Pairs) -> Iterator[str]:
    """What stands under a key that names the answer, in the object or in objects inside it."""
    pending = [value]
    while pending:
        for key, inner in pending.pop():
            if isinstance(inner, _Pairs):
                pending.append(inner)
            elif key.strip().casefold() in _KEYS and isinstance(inner, str | bool):
                yield str(inner)
