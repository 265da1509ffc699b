"""What is varied and what comes of it: a seed, a word of it to replace, a replacement, and a variant."""

from __future__ import annotations

import math
from dataclasses import dataclass

from veridical.items import Item, Member
from veridical.variation.protocol import Slot


@dataclass(frozen=True, slots=True)
class Seed:
    """Items in which a word is replaced together: one problem, a verb's items, both endpoints of a pair.

    `members` are their places in the grouping that binds them, and empty for an item alone.
    """

    name: str
    items: tuple[Item, ...]
    members: tuple[Member, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text once, in the order in which the items' fields give them."""
        return tuple(dict.fromkeys(text for item in self.items for text in item.fields.values()))

    def side(self, fields: tuple[str, ...]) -> set[str]:
        """The texts in these fields of any of the items."""
        return {item.fields[field] for item in self.items for field in fields}


@dataclass(frozen=True, slots=True)
class Target:
    """A word to replace: its form in lower case, its one fine tag, its class, and everywhere that it stands free.

    `bare` says that it is a singular noun that stands somewhere without an article or what takes its place, `compound`
    that it somewhere is part of a compound written in several words (`X-ray machine`, `circle of friends`).
    """

    form: str
    tag: str
    word_class: str
    slots: tuple[Slot, ...]
    bare: bool = False
    compound: bool = False

    @property
    def repeated(self) -> bool:
        """Whether it stands more than once in a text: the replacement must fit there every time."""
        return len({slot.text for slot in self.slots}) < len(self.slots)

    def __str__(self) -> str:
        return f"{self.form} ({self.tag})"


@dataclass(frozen=True, slots=True)
class Odds:
    """The probabilities of the word and of its replacement at one occurrence."""

    original: float
    replacement: float


@dataclass(frozen=True, slots=True)
class WordPair:
    """A word, a replacement in lower case, and the odds at every occurrence of the word."""

    target: Target
    replacement: str
    odds: tuple[Odds, ...]

    @property
    def worst(self) -> Odds:
        """The occurrence that speaks least for the replacement, by the ratio of the two probabilities."""
        return min(self.odds, key=lambda odds: odds.replacement / odds.original if odds.original else float("inf"))

    @property
    def log_odds(self) -> float:
        """Log of P(r) / P(o) at the worst occurrence; infinite where the word has no probability at all."""
        worst = self.worst
        return math.log(worst.replacement / worst.original) if worst.original else math.inf

    @property
    def probability(self) -> float:
        """P(r) at the occurrence where it is least."""
        return min(odds.replacement for odds in self.odds)

    def __str__(self) -> str:
        return f"{self.target} > {self.replacement}"


@dataclass(frozen=True, slots=True)
class Variant:
    """A seed's items with one word replaced throughout."""

    pair: WordPair
    items: tuple[Item, ...]
    gain: float | None = None
    """What a judge makes of it: the change of a text's log-likelihood (natural log) where that falls most."""

    @property
    def rank(self) -> float:
        """Log of P(r), lowered by what the judge's log-likelihood falls; 0 without a judge.

        A rise counts for nothing: a frequent word that does not fit has one as well (docs/variation.md has how far
        each of these agrees with readers).
        """
        # Rounded: sums in another order differ in later digits, and would turn near ties.
        return 0.0 if self.gain is None else round(math.log(self.pair.probability) + min(self.gain, 0.0), 2)

    @property
    def target(self) -> Target:
        """The word that is replaced."""
        return self.pair.target

    @property
    def replacement(self) -> str:
        """The replacement, in lower case."""
        return self.pair.replacement

    def __str__(self) -> str:
        return str(self.pair)
