"""A proposer whose preferences are planted, and problems as one writes them down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from veridical.items import Choice, Item, Suite
from veridical.prompts.template import Prompt
from veridical.suites.files import read_suite
from veridical.variation.builder import Varied, vary
from veridical.variation.designs import PROBLEMS
from veridical.variation.nouns import Seed
from veridical.variation.protocol import Candidate, Proposal, Slot
from veridical.variation.seeds import Seeds
from veridical.variation.settings import VariationSettings
from veridical.variation.tagging import TaggedTokens, Tagger, Token

LABELS = ("entailment", "neutral", "contradiction")
CHOICES = tuple(Choice(label=label, continuation=label) for label in LABELS)

ORIGINAL = 0.01
"""The probability of the word that stands there, where nothing else is planted."""


@dataclass
class Planted:
    """Proposes, for a word in lower case, what is planted for it: replacement to probability.

    `at` plants for one place alone, named by word and text. `originals` holds the probability of words, None for one
    that the tokenizer splits. `asked` lists the slots of every call.
    """

    words: Mapping[str, Mapping[str, float]]
    at: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    originals: Mapping[str, float | None] = field(default_factory=dict)
    name: str = "planted"
    fingerprint: str = "0"
    asked: list[tuple[Slot, ...]] = field(default_factory=list)

    def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
        self.asked.append(tuple(slots))
        for position, slot in reversed(list(enumerate(slots))):  # in no order that anything may rely on
            word = slot.word.lower()
            liked = self.at.get((word, slot.text), self.words.get(word, {}))
            best = sorted(liked.items(), key=lambda pair: -pair[1])[:top]
            original = self.originals.get(word, ORIGINAL)
            yield position, Proposal(original, tuple(Candidate(*pair) for pair in best) if original else ())


@dataclass(frozen=True)
class OtherTags:
    """A tagger with tags of its own: splits at spaces, and says what `tags` and `classes` hold, else `X` and ""."""

    tags: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    name: str = "other"

    def tag(self, texts: Iterable[str]) -> Iterator[TaggedTokens]:
        for text in texts:
            start, tokens = 0, []
            for word in text.split(" "):
                tokens.append(Token(word, start, self.tags.get(word, "X"), self.classes.get(word, "")))
                start += len(word) + 1
            yield tuple(tokens)


def problem(premise: str, hypothesis: str, label: str = "entailment", name: str = "") -> Item:
    return Item(
        fields={"premise": premise, "hypothesis": hypothesis},
        choices=CHOICES,
        gold=(label,),
        factors={"source": "toy", "label": label},
        name=name,
    )


def problems(*pairs: tuple[str, str] | Item) -> Seeds:
    """Seeds of premises and hypotheses, with the simplest of prompts."""
    items = [pair if isinstance(pair, Item) else problem(*pair, name=f"p{n}") for n, pair in enumerate(pairs)]
    frame = Suite(
        name="toy",
        version="1",
        labels=LABELS,
        prompts=(Prompt(name="ask", user="{{ premise }} {{ hypothesis }}"),),
        items=tuple(items[:1]),
    )
    return Seeds("toy", PROBLEMS, frame, lambda stages: (Seed(item.name, (item,)) for item in items))


def varied(
    seeds: Seeds, proposer: Planted, tagger: Tagger, folder: Path, settings: VariationSettings | None = None
) -> tuple[Varied, Suite]:
    """What `vary` makes, and the suite that it wrote."""
    out = folder / "variants.jsonl"
    made = vary(seeds, proposers=[proposer], tagger=tagger, out=out, settings=settings)
    return made, read_suite(out)


def variants(suite: Suite) -> list[Item]:
    """The variants of a suite, in their order."""
    return [suite.by_id[member.item] for member in suite.grouping("seed").members if member.role == "variant"]


def texts(suite: Suite) -> list[tuple[str, str]]:
    """Premise and hypothesis of every variant."""
    return [(item.fields["premise"], item.fields["hypothesis"]) for item in variants(suite)]
