"""What proposes replacements: one small protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Slot:
    """A word in its sentence: characters [start, stop) of `text` are what a proposer does not get to see."""

    text: str
    start: int
    stop: int

    @property
    def word(self) -> str:
        """The word itself."""
        return self.text[self.start : self.stop]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A whole word, as it would stand in the slot, and its probability there."""

    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposal for one slot: the probability of the word that stands there, and candidates, best first.

    `original` is None where the proposer's tokenizer splits the word: it has no probability as one token, and the word
    is left alone. Candidates are whole words; pieces of words are not proposed.
    """

    original: float | None
    candidates: tuple[Candidate, ...] = ()


@runtime_checkable
class Proposer(Protocol):
    """Proposes words for slots. Equal slots get equal proposals, whatever else is asked in the same call."""

    @property
    def name(self) -> str:
        """As the user spelt it (`minilm-mlm`, `hf/ORG/NAME`, `smollm2`)."""

    @property
    def fingerprint(self) -> str:
        """Changes with the weights and the tokenizer; goes into what is made from the proposals."""

    def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
        """(position in `slots`, proposal with at most `top` candidates) for every slot, as they are computed."""
