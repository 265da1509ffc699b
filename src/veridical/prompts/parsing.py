r"""From a reply to an answer, or to the reason why there is none.

Thinking is taken out first (`prompts.channels`), then JSON objects are read for their label and set aside
(`prompts.objects`), so that nothing inside their reasoning is read. In the text that is left every mention of a
label is looked at: what stands around it (`prompts.forms`), and whether its sentence asserts it (`prompts.clauses`).

A label that a sentence merely mentions is never taken. Claims that disagree make a reply `ambiguous`, as does
prose that mentions several labels; one mention in prose is `unparsed`. A claim that announces a final answer
outweighs those before it; what comes after an answer and a line such as `Question:` is a run-on and is not read.

A reply that was cut off is `truncated` unless its answer had been completed before the cut: an object or a
box that was closed, or a claim that a full stop or a line break had ended. Thinking that was never closed is always
`truncated`, whatever stands in it. Time is linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from veridical.prompts.channels import said
from veridical.prompts.clauses import governed
from veridical.prompts.forms import FORMS, WRAPPERS, Form
from veridical.prompts.objects import answers, json_objects
from veridical.status import Status
from veridical.unicode_text import compatible

MOST_MENTIONS = 200
"""Mentions of labels that are looked at, from the beginning of a reply and from its end: more is a loop."""
_LAYERS = 8
"""How many wrappers around one label are taken off."""
_WINDOW = 200
"""Characters before a label in which a form must begin."""

_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‘’‚", "'"), "。": ".", **dict.fromkeys("\u200b\u2060\ufeff\u00ad")}
)
_EMPHASIS = re.compile(r"[*`]+|(?<![^\W_])_+|_+(?![^\W_])")
_LISTED = re.compile(
    r"[\"')\]$}]{0,3}(?:\s{0,3}[,/|]\s{0,3}(?:or |and |nor )?|\s{1,3}(?:or|and|nor|vs\.?) )[\"'(\[${]{0,3}\Z",
    re.IGNORECASE,
)
_RUN_ON = re.compile(
    r"^[ \t#]{0,8}(?:question|q|premise|hypothesis|passage|context|problem|input|user|human"
    r"|instruction)[ \t]?\d{0,3}[ \t]?:",
    re.MULTILINE | re.IGNORECASE,
)
_LOOSE_OBJECT = re.compile(r"\{\s{0,200}[\"']?\w{1,200}[\"']?\s{0,200}:")
_LOOSE_KEY = re.compile(r"[\"']?\b(?:label|answer|final_answer)\b[\"']?\s{0,20}:\s{0,20}[\"']?\Z", re.IGNORECASE)
_LOOSE_END = re.compile(r"\.?[\"']?\s{0,200}(?:[,}]|\Z)")
_ARTICLE = re.compile(
    r"[ \t]+(?!(?:and|or|is|because|since|fits|as|given|would|must|based|due|here|in|if|unless|provided)\b)[a-z]"
)


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
    decisive: bool
    complete: bool  # ended before the reply did, so that a cut cannot have changed it
    end: int


@dataclass(frozen=True, slots=True)
class _Mention:
    """A label at [start, end); [left, right) holds the wrappers around it. `listed`: one of several with commas."""

    label: str
    written: str
    start: int
    end: int
    left: int
    right: int
    listed: bool = False

    @property
    def wrapped(self) -> bool:
        return self.right > self.end


def parse(
    text: str,
    labels: Sequence[str],
    finish: str = "stop",
    *,
    thinking_open: bool = False,
    texts: Mapping[str, str] | None = None,
) -> Parsed:
    """The answer that `text`, the whole of a reply, gives among `labels`.

    `finish` is the finish reason (`length`: the reply was cut off). `thinking_open` says that the context had
    opened thinking, so that the reply begins inside it. `texts` holds, by label, the text of a choice, which is read as
    its label where a reply repeats it. Texts and labels are compared in normal form KC. Never raises; any text is some
    status.
    """
    cut = finish == "length"
    answer, unclosed = said(text, thinking_open)
    if unclosed:
        return Parsed(Status.TRUNCATED)
    if not answer.strip():
        return Parsed(Status.TRUNCATED if cut else Status.EMPTY)
    reader = _reader(tuple(dict.fromkeys(labels)), tuple((texts or {}).items()))
    claims, mentioned = reader.read(_plain(answer))
    if cut:
        claims = [claim for claim in claims if claim.complete]
    claimed = {claim.label for claim in claims}
    if len(claimed) == 1:
        return Parsed(Status.OK, claims[0].label, claims[0].form)
    if claimed:
        return Parsed(Status.AMBIGUOUS)
    if cut:
        return Parsed(Status.TRUNCATED)
    return Parsed(Status.AMBIGUOUS if len(mentioned) > 1 else Status.UNPARSED)


def _plain(text: str) -> str:
    """The text with one kind of line break, of quotation marks, and of each character that has several forms."""
    return compatible(text.replace("\r\n", "\n").replace("\r", "\n")).translate(_QUOTES)


@lru_cache(maxsize=256)
def _reader(labels: tuple[str, ...], texts: tuple[tuple[str, str], ...]) -> _Reader:
    return _Reader(labels, dict(texts))


@dataclass(frozen=True, slots=True)
class _Pattern:
    form: Form
    before: re.Pattern[str]
    after: re.Pattern[str]


_PATTERNS = tuple(
    _Pattern(
        form,
        re.compile(rf"(?:{form.before})\Z", re.MULTILINE | re.IGNORECASE),
        re.compile(form.after, re.IGNORECASE),
    )
    for form in FORMS
)


class _Reader:
    """The forms, made ready for one set of labels."""

    def __init__(self, labels: tuple[str, ...], texts: Mapping[str, str]) -> None:
        names = {_spaced(_plain(label)): label for label in labels if label.strip()}
        for label, text in texts.items():
            if len(spaced := _spaced(_plain(text))) > 1 and label in labels:
                names.setdefault(spaced, label)
        # Labels that differ in case alone are distinguished by it.
        self._any_case = len({name.casefold() for name in names}) == len(names)
        self._labels = {self._key(name): label for name, label in names.items()}
        self._keeps_marks = any(_EMPHASIS.search(name) for name in names)
        # Longest first: `Not True` before `True`.
        longest_first = sorted(names, key=len, reverse=True)
        any_label = "|".join(r"\s{1,9}".join(map(re.escape, name.split())) for name in longest_first) or r"(?!)"
        flags = re.IGNORECASE if self._any_case else 0
        self._mention = re.compile(rf"(?<![^\W_])(?:{any_label})(?![^\W_])", flags)

    def read(self, text: str) -> tuple[list[_Claim], set[str]]:
        """What the text claims, and the labels that it mentions where it claims nothing."""
        claims, rest, unread = self._objects(text)
        if not self._keeps_marks:
            rest = _EMPHASIS.sub("", rest)
        mentions = self._mentions(rest)
        openings: list[_Claim] = []
        for mention in mentions:
            if (claim := self._claim(rest, mention)) is not None:
                (openings if claim.form.startswith("opening") else claims).append(claim)
        mentioned = {mention.label for mention in (*mentions, *self._mentions(unread)) if _counts(mention)}
        if openings and openings[0].form == "opening_letter" and len(mentioned) > 1:
            openings = []  # the options are gone through one by one
        return self._weighed(rest, claims, openings), mentioned

    def _weighed(self, text: str, claims: list[_Claim], openings: list[_Claim]) -> list[_Claim]:
        """The claims that count: final ones before others, others before openings, and none from a run-on."""
        claims = claims or openings
        first = min((claim.end for claim in claims if claim.complete and claim.form != "json"), default=len(text))
        if (run_on := _RUN_ON.search(text, first)) is not None:
            claims = [claim for claim in claims if claim.end <= run_on.start() or claim.form == "json"]
        return [claim for claim in claims if claim.decisive] or claims

    def _mentions(self, text: str) -> list[_Mention]:
        """The labels that stand in the text as words, left to right."""
        spans = [match.span() for match in self._mention.finditer(text)]
        if len(spans) > 2 * MOST_MENTIONS:
            spans = spans[:MOST_MENTIONS] + spans[-MOST_MENTIONS:]
        found: list[_Mention] = []
        listed: set[int] = set()
        for start, end in spans:
            label = self._label(text[start:end])
            left, right = _unwrapped(text, start, end)
            # None where case folding and the matching of regular expressions differ (dotless i and the like).
            if label is None or (left == start and _is_article(text, start, end)):
                continue
            if "_" in (text[left - 1 : left], text[right : right + 1]):
                continue
            if found and start - found[-1].end < 24 and _LISTED.match(text, found[-1].end, start):
                listed |= {len(found) - 1, len(found)}
            found.append(_Mention(label, text[start:end], start, end, left, right))
        return [
            _Mention(m.label, m.written, m.start, m.end, m.left, m.right, place in listed)
            for place, m in enumerate(found)
        ]

    def _claim(self, text: str, mention: _Mention) -> _Claim | None:
        """What a mention claims, by the first form that fits it."""
        if mention.listed:
            return None
        letter = len(mention.written) == 1
        for pattern in _PATTERNS:
            form = pattern.form
            if form.letters not in (None, letter):
                continue
            before = pattern.before.search(text, max(0, mention.left - _WINDOW), mention.left)
            if before is None or not self._ends(text, mention, pattern, letter):
                continue
            if form.governed and governed(text, _words(text, before), mention.left, mention.right):
                return None
            after = text[mention.right :].lstrip(" \t\"')]$")[:1] if mention.right < len(text) else ""
            complete = form.rank != "opening" and after in tuple(".!}<\n")
            return _Claim(mention.label, form.name, form.rank == "decisive", complete, mention.right)
        return None

    def _ends(self, text: str, mention: _Mention, pattern: _Pattern, letter: bool) -> bool:
        """Whether what follows a mention fits a form; the text of a choice may follow a letter in brackets."""
        if pattern.after.match(text, mention.right):
            return True
        return (
            pattern.form.goes_on
            and letter
            and mention.wrapped
            and text[mention.right : mention.right + 1] in (" ", "\t")
        )

    def _key(self, name: str) -> str:
        return _spaced(name).casefold() if self._any_case else _spaced(name)

    def _label(self, written: str) -> str | None:
        return self._labels.get(self._key(written))

    def _objects(self, text: str) -> tuple[list[_Claim], str, str]:
        """What JSON objects claim, the text outside them, and answers in them that are not a label."""
        claims: list[_Claim] = []
        outside, unread = [], []
        read: dict[str, str | None] = {}
        position = 0
        for start, end, value in json_objects(text):
            for answer in answers(value):
                if answer not in read:
                    read[answer] = self._answer(answer)
                if label := read[answer]:
                    claims.append(_Claim(label, "json", False, True, end))
                else:
                    unread.append(answer)
            outside.append(text[position:start])
            position = end
        rest = "\n".join([*outside, text[position:]])
        if not claims and (opening := _LOOSE_OBJECT.search(rest)):
            claims, rest = self._loose_object(rest, opening.start())
        return claims, rest, "\n".join(unread)

    def _loose_object(self, text: str, start: int) -> tuple[list[_Claim], str]:
        """What an object that is not quite JSON claims (single quotes, a comma too many, no last brace), and
        the text outside it."""
        end = text.rfind("}", start) + 1
        inside = text[start : end or None]
        claims = [
            _Claim(mention.label, "loose_json", False, end > 0, start + mention.end)
            for mention in self._mentions(inside)
            if _LOOSE_KEY.search(inside, max(0, mention.start - 80), mention.start)
            and _LOOSE_END.match(inside, mention.end)
        ]
        return claims, f"{text[:start]}\n{text[start + len(inside) :]}"

    def _answer(self, value: str) -> str | None:
        """The label that a value is, with wrappers and a full stop around it."""
        text = (value if self._keeps_marks else _EMPHASIS.sub("", value)).strip()[:_WINDOW]
        for start, end in [match.span() for match in self._mention.finditer(text)][:1]:
            left, right = _unwrapped(text, start, end)
            if not text[:left].strip() and not text[right:].strip(".! "):
                return self._label(text[start:end])
        return None


def _is_article(text: str, start: int, end: int) -> bool:
    """Whether a single letter is the word "a" or "I": a word in lower case follows."""
    return text[start:end] in ("a", "A", "i", "I") and _ARTICLE.match(text, end) is not None


def _counts(mention: _Mention) -> bool:
    """Whether a mention in prose is one: a single letter is written as its label is."""
    return len(mention.written) > 1 or mention.written == mention.label


def _words(text: str, before: re.Match[str]) -> int:
    """Where a claim's own words begin, without the white space and punctuation that its form takes in."""
    start = before.start()
    while start < before.end() and not (text[start].isalnum() or text[start] in "\\<"):
        start += 1
    return start


def _unwrapped(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the wrappers around a label begin and end, layer by layer; a full stop may stand inside them."""
    for _ in range(_LAYERS):
        left = start
        while left > 0 and start - left < 3 and text[left - 1] in " \t\n":
            left -= 1
        right = end + (text[end : end + 1] == ".")
        while right < len(text) and right - end < 4 and text[right] in " \t\n":
            right += 1
        for wrapper in _LONGEST_FIRST:
            if text.endswith(wrapper.open, 0, left) and text.startswith(wrapper.close, right):
                start, end = left - len(wrapper.open), right + len(wrapper.close)
                break
        else:
            return start, end
    return start, end


_LONGEST_FIRST = tuple(sorted(WRAPPERS, key=lambda wrapper: -len(wrapper.open)))


def _spaced(label: str) -> str:
    return " ".join(label.split())
