"""Which of a reply's claims count: final ones before others, and none that is taken back or follows a new question."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Rank = Literal["decisive", "claim", "opening", "remark"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A label that a reply asserts, by a form of some rank (`prompts.forms`); it ends at `end`.

    `complete`: it had ended before the reply did, so that a cut cannot have changed it. `mark`: the character that
    follows it. An object stands outside the text of the other claims.
    """

    label: str
    form: str
    rank: Rank
    complete: bool
    end: int
    mark: str = ""

    @property
    def is_object(self) -> bool:
        """Whether a JSON object, or something like one, makes the claim."""
        return self.form in ("json", "loose_json")


_RUN_ON = re.compile(
    r"^[ \t#]{0,8}(?:question|q|premise|hypothesis|passage|context|problem|input|user|human"
    r"|instruction)[ \t]?\d{0,3}[ \t]?:",
    re.MULTILINE | re.IGNORECASE,
)
_MOST_TURNS = 200
"""Words of correction that are looked at, the last ones of a reply: more is a loop."""
_START = re.compile(
    r"(?:^|[.!?;:,…—–-][\"')\]]{0,2}\s{1,4})[^\w\n]{0,3}(?:(?:no|oh|hm{1,3}|but|actually|or|well|ok|okay),? ){0,2}\Z",
    re.MULTILINE | re.IGNORECASE,
)
"""What stands before such words: a clause of their own begins."""
_TAKEN_BACK = re.compile(
    r"(?:wait\b(?=\s{0,2}[,.!:…—–-]|\s(?:a|no|but|i|that|let|the)\b)|hold on\b|scratch that|strike that"
    r"|never ?mind|on (?:second|further|closer) (?:thought|reflection|inspection|reading)|(?:up)?on reflection"
    r"|thinking again|reconsidering|let me (?:re(?!cap|peat|state|mind|spond|port|iterate)\w+|correct|double.?check"
    r"|think again|try again|start over|fix|change)|i (?:(?:would|want|need|have|must|'d|like|will|to) ){0,3}"
    r"(?:take (?:that|it) back|correct myself|reconsider|retract|withdraw|changed? my (?:mind|answer)"
    r"|made an? (?:mistake|error)|was (?:wrong|mistaken)|misread|misspoke|stand corrected|meant?\b)|correction\b|oops\b"
    r"|my (?:mistake|bad|apologies)|sorry\b|apologies\b|(?:i'm |only |just )?(?:kidding|joking)\b)",
)
"""Words by which a reply takes back what it said before, and an example each in the tests."""
_CALLED_WRONG = re.compile(
    r"(?:that|this|it)(?:'s| is| was| would be)(?: (?:all|quite|just|simply|clearly|obviously|of course))? "
    r"(?:wrong|incorrect|mistaken|not (?:right|correct|true|so)|a mistake|an error|false|nonsense)\b"
    r"(?! (?:to|that|about|if|because|since|as)\b)",
)
_NEGATIVE = re.compile(
    r"\A(?:false|no|not\b.*|contradict\w*|contradiction|challenges?|refute\w*|wrong.*|incorrect|unsupported|unknown|neutral"
    r"|unresolved)\Z",
    re.IGNORECASE,
)
"""Labels that a sentence such as "That is wrong." may explain: of the others it says the opposite."""
_TURN = re.compile(r"(?:actually|hm{1,3}|no|rather|instead)\b(?=[,.:; —–…-])")
"""Words after which another answer is in the place of those before, though they alone take nothing back."""


def weighed(text: str, claims: Sequence[Claim], is_label: Callable[[str], bool]) -> list[Claim]:
    """The claims that count. They are the answer where they agree."""
    ordered = sorted(claims, key=lambda claim: claim.end)
    ordered = _before_run_on(text, ordered)
    ordered = _not_taken_back(text, ordered)
    ordered = _after_the_turn(text, ordered, is_label)
    strong = [claim for claim in ordered if claim.rank in ("decisive", "claim")]
    if decisive := [claim for claim in strong if claim.rank == "decisive"]:
        return decisive
    if not strong:
        return ordered
    # A remark that follows and says something else does not support what was claimed.
    return strong + [c for c in ordered if c.rank == "remark" and c.end > strong[-1].end]


def _begun(pattern: re.Pattern[str], text: str, start: int) -> Iterator[re.Match[str]]:
    """The last matches of a pattern that begin a clause."""
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text  # a letter or two of other alphabets grow
    for match in deque(pattern.finditer(lower, start), _MOST_TURNS):
        if _START.search(text, max(0, match.start() - 40), match.start()):
            yield match


def _before_run_on(text: str, claims: list[Claim]) -> list[Claim]:
    first = min((c.end for c in claims if c.complete and not c.is_object and c.rank != "opening"), default=len(text))
    run_on = _RUN_ON.search(text, first)
    if run_on is None:
        return claims
    return [claim for claim in claims if claim.is_object or claim.end <= run_on.start()]


def _not_taken_back(text: str, claims: list[Claim]) -> list[Claim]:
    """The claims less those before the last words that take back."""
    prose = [claim for claim in claims if not claim.is_object]
    if not prose:
        return claims
    last = max((match.end() for match in _begun(_TAKEN_BACK, text, prose[0].end)), default=0)
    kept = [claim for claim in claims if claim.is_object or claim.end >= last]
    for wrong in _begun(_CALLED_WRONG, text, prose[0].end):
        kept = [
            claim
            for claim in kept
            if claim.is_object or claim.end > wrong.end() or _NEGATIVE.match(claim.label) is not None
        ]
    return kept


def _after_the_turn(text: str, claims: list[Claim], is_label: Callable[[str], bool]) -> list[Claim]:
    """The claims less those before a turn that another answer follows."""
    prose = [claim for claim in claims if not claim.is_object]
    if len({claim.label for claim in prose}) < 2:
        return claims
    for turn in _begun(_TURN, text, prose[0].end):
        if turn[0].split()[-1].lower() == "no" and is_label("no"):
            continue
        after = [claim for claim in prose if claim.end >= turn.end() and claim.rank in ("decisive", "claim")]
        if after:
            return [claim for claim in claims if claim.is_object or claim.end >= turn.end()]
    return claims
