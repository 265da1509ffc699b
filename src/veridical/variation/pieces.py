"""Pieces of contractions: tokenizers cut `aren't` into `aren`, `'`, `t`, and taggers read a verb in what is left."""

from __future__ import annotations

from veridical.variation.words import form

_CUT_BEFORE_T = """
ain aren couldn daren didn doesn don hadn hasn isn mayn mightn mustn needn oughtn shan shouldn wasn weren wouldn
"""
"""What is left of a negated auxiliary without its `'t`."""
_CLITICS = "ll ve re nt em tis twas"
_WITHOUT_APOSTROPHE = """
arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt neednt shouldnt wasnt werent wont wouldnt
im ive youre youve youll theyre theyve theyll weve hes shes thats whats lets gonna wanna gotta gimme lemme kinda
"""
PIECES = frozenset(f"{_CUT_BEFORE_T} {_CLITICS} {_WITHOUT_APOSTROPHE}".split())
"""Forms that are a piece of a contraction, or a contraction without its apostrophe, wherever they stand."""

_AMBIGUOUS = frozenset({"ca", "haven", "sha", "wo", "won"})
"""Pieces before `'t` or `n't` alone: `won the match` and `a haven` are words."""

_APOSTROPHES = ("'", "\u2019", "\u02bc", "`", "\u2018")


def is_piece(text: str, start: int, stop: int) -> bool:
    """Whether characters [start, stop) of a text are a piece of a contraction, also of one written with spaces.

    `aren ' t`, `won 't` and `we ' ll` are; in `The team won.` the verb is a word.
    """
    word = form(text[start:stop])
    if word in PIECES:
        return True
    after = text[stop:].lstrip().lower().removeprefix("n").lstrip()
    rest = after[1:].lstrip()
    return word in _AMBIGUOUS and after.startswith(_APOSTROPHES) and rest[:1] == "t" and not rest[1:2].isalpha()
