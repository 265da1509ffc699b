"""Reads what a reply claims: the forms and clauses, applied to every mention of a label."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from veridical.prompts.clauses import concluded, denied, governed
from veridical.prompts.forms import FORMS, Form
from veridical.prompts.mentions import Finder, Mention, plain
from veridical.prompts.objects import answers, json_objects
from veridical.prompts.weighing import Claim, weighed

_WINDOW = 200
"""Characters before a label in which a form must begin."""

_LOOSE_OBJECT = re.compile(r"\{\s{0,200}[\"']?\w{1,200}[\"']?\s{0,200}:")
_LOOSE_KEY = re.compile(r"[\"']?\b(?:label|answer|final_answer)\b[\"']?\s{0,20}:\s{0,20}[\"']?\Z", re.IGNORECASE)
_LOOSE_END = re.compile(r"\.?[\"']?\s{0,200}(?:[,}]|\Z)")
_CONCEDED = frozenset({"true", "right", "correct", "granted", "agreed", "fair", "sure"})
"""Words that, before a comma, may grant something that a `but` then turns: `True, he began, but he stopped.`"""
_BUT = re.compile(
    r"[^.!?\n]{0,400}?[,;.—–-]\s?(?:but|however|yet|nevertheless|nonetheless|still|though|although)\b|\.\s(?:but|however)\b",
    re.IGNORECASE,
)
_TURNED = re.compile(r"[\"')\]]{0,2}[,;—–-]{0,2}\s{1,3}(?:but|however|yet|though|although|except)\b", re.IGNORECASE)
_REST_OF_SENTENCE = re.compile(r"[^.!?\n]{0,400}")
_CONTRARY = re.compile(r"\b(?:otherwise|opposite|contrary|different(?:ly)?)\b", re.IGNORECASE)
_TWO_WORDS = re.compile(r"[^\w\n]{1,4}\w[\w'-]*[^\w\n]{1,4}\w")


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


class Reader:
    """The forms, made ready for one set of labels."""

    def __init__(self, labels: tuple[str, ...], texts: Mapping[str, str]) -> None:
        self._finder = Finder(labels, texts)

    def read(self, reply: str) -> tuple[list[Claim], set[str]]:
        """The claims of a reply that count, and the labels that it mentions."""
        objects, rest, unread = self._objects(plain(reply))
        text = self._finder.unmarked(rest)
        mentions = self._finder.mentions(text)
        claims = [claim for mention in mentions if (claim := self._claim(text, mention)) is not None]
        mentioned = {m.label for m in (*mentions, *self._finder.mentions(unread)) if m.counts}
        claims = _less_enumerated(text, claims, mentions, mentioned)
        return weighed(text, [*objects, *claims], self._finder.is_label), mentioned

    def _claim(self, text: str, mention: Mention) -> Claim | None:
        """What a mention claims, by the first form that fits it."""
        if mention.listed:
            return None
        for pattern in _PATTERNS:
            form = pattern.form
            if form.letters not in (None, mention.is_letter):
                continue
            before = pattern.before.search(text, max(0, mention.left - _WINDOW), mention.left)
            if before is None or (end := _end(text, mention, pattern)) < 0:
                continue
            start = _words(text, before)
            if form.name == "closing":
                if not concluded(text, before.start() + 1):
                    return None
            elif form.governed:
                if governed(text, start, mention.left, end, remark=form.rank == "remark"):
                    return None
            elif denied(text, start):
                return None
            if form.rank == "opening" and _conceded(text, mention):
                return None
            if form.name == "i_answer" and self._turned(text, mention):
                return None
            mark = text[mention.right :].lstrip(" \t\"')]$")[:1] if mention.right < len(text) else ""
            complete = _opening_stands(text, mention, mark) if form.rank == "opening" else mark in tuple(".!}<\n")
            return Claim(mention.label, form.name, form.rank, complete, mention.right, mark)
        return None

    def _turned(self, text: str, mention: Mention) -> bool:
        """Whether what one would say is turned: `I lean towards False, but the answer is Unknown`.

        That is so where the sentence goes on with a `but` and names another label, or says that it is
        otherwise. Doubt alone (`but I am not sure`) leaves an answer what it is.
        """
        turn = _TURNED.match(text, mention.right)
        rest = _REST_OF_SENTENCE.match(text, turn.end()) if turn else None
        if rest is None:
            return False
        return bool(_CONTRARY.search(rest[0])) or any(m.label != mention.label for m in self._finder.mentions(rest[0]))

    def _objects(self, text: str) -> tuple[list[Claim], str, str]:
        """What JSON objects claim, the text outside them, and answers in them that are not a label."""
        claims: list[Claim] = []
        outside, unread = [], []
        read: dict[str, str | None] = {}
        position = 0
        for start, end, value in json_objects(text):
            for answer in answers(value):
                if answer not in read:
                    read[answer] = self._finder.alone(answer)
                if label := read[answer]:
                    claims.append(Claim(label, "json", "claim", True, end))
                else:
                    unread.append(answer)
            outside.append(text[position:start])
            position = end
        rest = "\n".join([*outside, text[position:]])
        if not claims and (opening := _LOOSE_OBJECT.search(rest)):
            claims, rest = self._loose_object(rest, opening.start())
        return claims, rest, "\n".join(unread)

    def _loose_object(self, text: str, start: int) -> tuple[list[Claim], str]:
        """What an object that is not quite JSON claims (single quotes, a comma too many, no last brace), and
        the text outside it."""
        end = text.rfind("}", start) + 1
        inside = text[start : end or None]
        claims = [
            Claim(mention.label, "loose_json", "claim", end > 0, start + mention.end)
            for mention in self._finder.mentions(inside)
            if _LOOSE_KEY.search(inside, max(0, mention.start - 80), mention.start)
            and _LOOSE_END.match(inside, mention.end)
        ]
        return claims, f"{text[:start]}\n{text[start + len(inside) :]}"


def _end(text: str, mention: Mention, pattern: _Pattern) -> int:
    """Where a claim ends whose form this is, -1 where what follows the label does not fit it.

    The text of a choice may follow a letter in brackets. Words of the form after the label are part of the claim.
    """
    after = pattern.after.match(text, mention.right)
    if after is not None:
        return after.end() if pattern.form.name == "is_right" else mention.right
    goes_on = pattern.form.goes_on and mention.is_letter and mention.wrapped
    return mention.right if goes_on and text[mention.right : mention.right + 1] in (" ", "\t") else -1


def _words(text: str, before: re.Match[str]) -> int:
    """Where a claim's own words begin, without the white space and punctuation that its form takes in."""
    start = before.start()
    while start < before.end() and not (text[start].isalnum() or text[start] in "\\<"):
        start += 1
    return start


def _conceded(text: str, mention: Mention) -> bool:
    """Whether a word that opens a reply only grants something, which the sentence or the next one turns."""
    if mention.written.casefold() not in _CONCEDED or text[mention.right : mention.right + 1] not in (",", ";"):
        return False
    return _BUT.match(text, mention.right) is not None


def _opening_stands(text: str, mention: Mention, mark: str) -> bool:
    """Whether an opening is the answer wherever the reply is cut off after it.

    A letter may begin a list of options, a comma a list of labels, and a granted point what a `but` turns.
    """
    rest = text[mention.right :][:_WINDOW].lstrip(" \t\"')]$")
    if re.match(r"[,;]?\s*(?:because|since)\b", rest, re.IGNORECASE):
        return True
    if mention.is_letter:
        return False
    if mark in (":", ";", "—", "–", "(", "-"):
        return bool(rest[1:].strip())
    return mark == "," and mention.written.casefold() not in _CONCEDED and _TWO_WORDS.match(rest) is not None


def _less_enumerated(text: str, claims: list[Claim], mentions: list[Mention], mentioned: set[str]) -> list[Claim]:
    """The claims without openings of a reply that goes through the options one by one."""
    openings = [claim for claim in claims if claim.rank == "opening"]
    if not openings:
        return claims
    first = openings[0]
    others = {m.label for m in mentions if m.right != first.end and text[m.right : m.right + 1] == first.mark == ":"}
    if (first.form == "opening_letter" and len(mentioned) > 1) or others - {first.label}:
        return [claim for claim in claims if claim.rank != "opening"]
    return claims
