"""From a proposer's words to variants: filters, each a stage with its counts.

The rules are those of MERE (arXiv 2510.24295). Defined by Veridical are the numbers (top 100, P(r) >= 0.001), the
equality of fine tags in the filled sentence, the casing and the articles, the ratio that loosens P(r) > P(o), and the
limit of variants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from veridical.items import Factor, Item
from veridical.variation.dictionary import is_listed
from veridical.variation.filling import Filled, fill
from veridical.variation.nouns import Odds, Seed, Target, Variant, WordPair
from veridical.variation.pieces import PIECES
from veridical.variation.protocol import Candidate, Proposal, Slot
from veridical.variation.settings import TagEquality, VariationSettings
from veridical.variation.stages import Stages
from veridical.variation.tagging import TaggedTokens, Tagger
from veridical.variation.words import casing, form, is_word

DIGITS = 4
"""Significant digits of the probabilities that are stored."""


def offered(
    target: Target, proposals: Mapping[Slot, Proposal], settings: VariationSettings, stages: Stages
) -> list[WordPair]:
    """The replacements of a word that are proposed wherever it stands.

    A candidate with capitals that the word there has not (`Paris` for `city`) is a name, or an abbreviation.
    """
    by_slot: list[dict[str, float]] = []
    for slot in target.slots:
        candidates = proposals[slot].candidates[: settings.top]
        fitting = stages.sift("capitals that fit", "proposals", candidates, partial(_fits, slot), partial(_shown, slot))
        by_slot.append(_likeliest(fitting))
    words = dict.fromkeys(word for found in by_slot for word in found)
    everywhere = stages.sift(
        "proposed at every occurrence",
        "replacements",
        words,
        lambda word: all(word in found for found in by_slot),
        lambda word: f"{target} > {word}",
    )
    return [
        WordPair(
            target,
            word,
            tuple(Odds(_original(proposals[s]), f[word]) for s, f in zip(target.slots, by_slot, strict=True)),
        )
        for word in everywhere
    ]


def _fits(slot: Slot, candidate: Candidate) -> bool:
    return casing(candidate.word) in ("lower", casing(slot.word))


def _shown(slot: Slot, candidate: Candidate) -> str:
    return f"{slot.word} > {candidate.word}"


def _likeliest(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Probability by form; of two spellings of one form the likelier counts."""
    found: dict[str, float] = {}
    for candidate in candidates:
        word = form(candidate.word)
        found[word] = max(candidate.probability, found.get(word, 0.0))
    return found


def _original(proposal: Proposal) -> float:
    if proposal.original is None:
        raise ValueError("a word without a probability cannot be a target")
    return proposal.original


def plausible(
    pairs: Sequence[WordPair], seed_words: frozenset[str], settings: VariationSettings, stages: Stages
) -> list[WordPair]:
    """The pairs that pass what needs no tagger. `seed_words` are the forms of all words in the seed's texts."""
    least, ratio = settings.min_probability, settings.min_ratio
    rules: tuple[tuple[str, Callable[[WordPair], bool]], ...] = (
        (f"P(r) >= {least:g}", lambda pair: all(odds.replacement >= least for odds in pair.odds)),
        ("a whole word of letters", lambda pair: is_word(pair.replacement) and pair.replacement not in PIECES),
        ("not in the texts yet", lambda pair: pair.replacement not in seed_words),
        (
            f"P(r) > {'' if ratio == 1 else f'{ratio:g} '}P(o)",
            lambda pair: all(odds.replacement > ratio * odds.original for odds in pair.odds),
        ),
    )
    kept = list(pairs)
    for name, holds in rules:
        kept = stages.sift(name, "replacements", kept, holds)
    return kept


def tagged_alike(
    pairs: Sequence[WordPair],
    filled: Mapping[WordPair, Mapping[str, Filled]],
    tags: Mapping[str, TaggedTokens],
    stages: Stages,
    equality: TagEquality = "fine",
) -> list[WordPair]:
    """The pairs whose replacement is one token, of the word's class and fine tag, wherever it is filled in.

    The class is the tagger's in the sentence, and the dictionary must know the word in it: names in lower case
    (`churchill`) are tagged as nouns. With the equality `coarse` the class is enough.
    """

    def read(pair: WordPair) -> list[tuple[str, str]]:
        """(fine tag, class) of the replacement at every occurrence; empty where it is not a single token."""
        found = []
        for text in filled[pair].values():
            there = {(token.start, token.stop): (token.tag, token.word_class) for token in tags[text.text]}
            found += [there.get(span, ("", "")) for span in text.spans]
        return found

    def show(pair: WordPair) -> str:
        return f"{pair} ({', '.join(dict.fromkeys(tag or 'no token' for tag, _ in read(pair)))})"

    def same_class(pair: WordPair) -> bool:
        wanted = pair.target.word_class
        return all(found == wanted for _, found in read(pair)) and is_listed(pair.replacement, wanted)

    def same_tag(pair: WordPair) -> bool:
        return all(tag == pair.target.tag for tag, _ in read(pair))

    kept = stages.sift("same word class in the sentence", "replacements", pairs, same_class, show)
    if equality == "fine":
        kept = stages.sift("same fine tag in the sentence", "replacements", kept, same_tag, show)
    return kept


def fill_all(pairs: Sequence[WordPair], tokens: Mapping[str, TaggedTokens]) -> dict[WordPair, dict[str, Filled]]:
    """Every text in which a pair's word stands, with the replacement in it, by the text as it was."""
    return {
        pair: {
            text: fill(text, tokens[text], pair.target, pair.replacement)
            for text in dict.fromkeys(slot.text for slot in pair.target.slots)
        }
        for pair in pairs
    }


def tag_filled(filled: Mapping[WordPair, Mapping[str, Filled]], tagger: Tagger) -> dict[str, TaggedTokens]:
    """The tokens of every filled text, each tagged once."""
    texts = list(dict.fromkeys(text.text for by_text in filled.values() for text in by_text.values()))
    return dict(zip(texts, tagger.tag(texts), strict=True))


def _rounded(probability: float) -> float:
    """To `DIGITS` significant digits: sums in another order, by more threads, differ in the sixth and later ones."""
    return float(f"{probability:.{DIGITS}g}")


def make_variant(seed: Seed, pair: WordPair, filled: Mapping[str, Filled], dropped: frozenset[str]) -> Variant:
    """The seed's items with the filled texts, their gold as it was, and what was replaced among their factors.

    A human label distribution is the seed's own and is not passed on.
    """
    worst = pair.worst
    own: dict[str, Factor] = {
        "word_class": pair.target.word_class,
        "word": pair.target.form,
        "replacement": pair.replacement,
        "p_original": _rounded(worst.original),
        "p_replacement": _rounded(worst.replacement),
    }
    items = tuple(
        Item(
            fields={name: filled[text].text if text in filled else text for name, text in item.fields.items()},
            choices=item.choices,
            gold=item.gold,
            golds=item.golds,
            factors={**{name: value for name, value in item.factors.items() if name not in dropped}, **own},
            name=f"{item.name or seed.name}: {pair.target.form} > {pair.replacement}",
        )
        for item in seed.items
    )
    return Variant(pair, items)
