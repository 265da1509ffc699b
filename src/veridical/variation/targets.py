"""The words of a seed that are replaced: open-class, in both texts, standing free, with one fine tag."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from veridical.variation.designs import Design
from veridical.variation.nouns import Seed, Target
from veridical.variation.pieces import is_piece
from veridical.variation.protocol import Slot
from veridical.variation.settings import TagEquality
from veridical.variation.stages import Stages
from veridical.variation.tagging import TaggedTokens, Token
from veridical.variation.words import begins_sentence, casing, form, is_word

_JOINERS = frozenset("-\u2010\u2011\u2012\u2013_/'\u2019@&+.\\")
_BEFORE_A_NOUN = frozenset({"DT", "JJ", "JJR", "JJS", "NN", "PRP$"})
_PLURAL_VERB = "VBP"
_WITHIN_A_PHRASE = frozenset({"JJ", "JJR", "JJS", "NN", "NNP", "VBG", "VBN", "HYPH", "RB"})
_DETERMINERS = frozenset({"DT", "PDT", "WDT", "PRP$", "WP$", "POS", "CD"})
_AFTER_A_PART = frozenset({"NN", "NNS", "NNP", "NNPS", "HYPH", "POS"})
"""What stands behind a noun that is a part of another's phrase."""
_BEFORE_A_MODIFIER = frozenset({"IN", "DT", "JJ", "PRP$"})
_VERB_TAGS = ("VB", "MD")
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_CLITICS = frozenset({"'s", "\u2019s"})


@dataclass(frozen=True, slots=True)
class _Found:
    """An occurrence of a form."""

    slot: Slot
    token: Token
    free: bool
    takes_plural: bool
    bare: bool
    compound: bool


def find_targets(
    seed: Seed, tokens: Mapping[str, TaggedTokens], design: Design, stages: Stages, equality: TagEquality = "fine"
) -> list[Target]:
    """The targets of a seed, in the order of its texts. Every rule is a stage, which counts the seed's words.

    With the equality `coarse` the occurrences of a word share its class, and may have several fine tags.

    An occurrence inside a compound, a hyphenated word or a contraction does not count as one of the word: it stays as
    it is.
    """
    found: dict[str, list[_Found]] = {}
    for text in seed.texts:
        for position, token in enumerate(tokens[text]):
            if is_word(token.text):
                slot = Slot(text, token.start, token.stop)
                where = (text, tokens[text], position)
                occurrence = _Found(
                    slot,
                    token,
                    _stands_free(*where),
                    _takes_plural(*where),
                    _is_bare(*where[1:]),
                    _is_compound(*where[1:]),
                )
                found.setdefault(form(token.text), []).append(occurrence)
    first, second = (seed.side(fields) for fields in design.sides)

    def in_both(occurrences: list[_Found]) -> bool:
        return any(o.slot.text in first for o in occurrences) and any(o.slot.text in second for o in occurrences)

    words = list(found.items())
    words = stages.sift("open-class word", "words", words, lambda w: any(o.token.word_class for o in w[1]), _show)
    words = stages.sift("in both texts", "words", words, lambda w: in_both(w[1]), _show)
    free = [(word, [o for o in occurrences if o.free]) for word, occurrences in words]
    free = stages.sift("no part of a compound or contraction", "words", free, lambda w: in_both(w[1]), lambda w: w[0])
    regular = stages.sift(
        "regular capitals", "words", free, lambda w: all(casing(o.slot.word) for o in w[1]), lambda w: w[0]
    )
    # `Filipino`, `Finnish`: not a name by its tag, and what replaces it has no capital there.
    usual = stages.sift(
        "capitals where a sentence begins", "words", regular, lambda w: not any(map(_is_named, w[1])), lambda w: w[0]
    )
    # `A couple are walking`: of most singular nouns that cannot be said.
    agreeing = stages.sift(
        "no singular with a plural verb", "words", usual, lambda w: not any(o.takes_plural for o in w[1]), _show
    )
    if equality == "fine":
        tagged = stages.sift("one fine tag at every occurrence", "words", agreeing, lambda w: _one_tag(w[1]), _show)
    else:
        tagged = stages.sift("one word class at every occurrence", "words", agreeing, lambda w: _one_class(w[1]), _show)
    targets = [
        Target(
            word,
            occurrences[0].token.tag,
            occurrences[0].token.word_class,
            tuple(o.slot for o in occurrences),
            any(o.bare for o in occurrences),
            any(o.compound for o in occurrences),
        )
        for word, occurrences in tagged
    ]
    for rule in design.word_rules:
        targets = stages.sift(rule.name, "words", targets, partial(rule.keep, seed))
    return targets


def _is_named(occurrence: _Found) -> bool:
    slot = occurrence.slot
    return casing(slot.word) == "title" and not begins_sentence(slot.text, slot.start)


def _takes_plural(text: str, tokens: TaggedTokens, position: int) -> bool:
    """Whether a singular noun is the subject of a plural verb that follows it: alone, from its sentence's beginning.

    Behind anything else (`men in the room are`, `the boy and the girl are`) the verb is another's.
    """
    following = tokens[position + 1 : position + 2]
    if tokens[position].tag != "NN" or not following or following[0].tag != _PLURAL_VERB:
        return False
    first = position
    while first and tokens[first - 1].tag in _BEFORE_A_NOUN:
        first -= 1
    return begins_sentence(text, tokens[first].start)


def _is_bare(tokens: TaggedTokens, position: int) -> bool:
    """Whether a singular noun is the head of its phrase and has no article, number or possessive: `heavy machinery`."""
    following = tokens[position + 1 : position + 2]
    if tokens[position].tag != "NN" or (following and following[0].tag in _AFTER_A_PART):
        return False
    first = position
    while first and tokens[first - 1].tag in _WITHIN_A_PHRASE:
        first -= 1
    return not (first and tokens[first - 1].tag in _DETERMINERS)


def _is_compound(tokens: TaggedTokens, position: int) -> bool:
    """Whether a word's sense may be one with its neighbour's, so that it is not to be replaced alone.

    That is a noun next to a noun (`X-ray machine`) or before `of` (`circle of friends`), and a participle that is read
    as the first part of a noun (`by revolving funds`) with its noun.
    """
    if not any(token.tag.startswith(_VERB_TAGS) for token in tokens):
        return False  # the tagger took the verb for a noun (`A DOG sleeps.`), or there is none
    if tokens[position].tag in _NOUNS:
        following = tokens[position + 1 : position + 2]
        neighbours = (*tokens[max(0, position - 1) : position], *following)
        if any(token.tag in _NOUNS for token in neighbours) or any(token.text.lower() == "of" for token in following):
            return True
        return position > 0 and _is_modifier(tokens, position - 1)
    return _is_modifier(tokens, position)


def _is_modifier(tokens: TaggedTokens, position: int) -> bool:
    """Whether a participle in `ing` stands between a preposition, determiner or adjective and a noun."""
    around = (*tokens[max(0, position - 1) : position], *tokens[position + 1 : position + 2])
    if tokens[position].tag != "VBG" or len(around) < 2:
        return False
    return around[0].tag in _BEFORE_A_MODIFIER and around[1].tag in _NOUNS


def _one_class(occurrences: list[_Found]) -> bool:
    return len({o.token.word_class for o in occurrences}) == 1 and bool(occurrences[0].token.word_class)


def _one_tag(occurrences: list[_Found]) -> bool:
    kinds = {(o.token.tag, o.token.word_class) for o in occurrences}
    return len(kinds) == 1 and all(word_class for _, word_class in kinds)


def _show(word: tuple[str, list[_Found]]) -> str:
    return f"{word[0]} ({', '.join(dict.fromkeys(o.token.tag or 'no tag' for o in word[1]))})"


def _stands_free(text: str, tokens: TaggedTokens, position: int) -> bool:
    """Whether a token is a word of its own: no part of `guitar-player`, `don't`, `don ' t`, `cannot`.

    A noun before the clitic of `the dog's` stands free: whatever replaces it takes the clitic as well.
    """
    token = tokens[position]
    if is_piece(text, token.start, token.stop):
        return False
    following = tokens[position + 1 : position + 2]
    owns = token.word_class == "noun" and any(
        clitic.start == token.stop and clitic.text.lower() in _CLITICS for clitic in following
    )
    return not _joined(text[: token.start][-2:][::-1]) and (owns or not _joined(text[token.stop : token.stop + 2]))


def _joined(adjacent: str) -> bool:
    """Whether a word goes on into the characters next to it, which are given nearest first."""
    if not adjacent:
        return False
    if adjacent[0].isalnum() or unicodedata.category(adjacent[0]).startswith("M"):
        return True
    if adjacent[0] in "-\u2010\u2011":
        return True
    return adjacent[0] in _JOINERS and adjacent[1:].isalnum()
