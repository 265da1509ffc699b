"""The text that `minilm-mlm` learns from: which files, whose, and how sentences are read from them.

Every source may be used and passed on for any purpose. None of the text goes into the package or the repository.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEAST_WORDS, MOST_WORDS, MOST_WORDS_OF_LINE = 4, 40, 64
HELD_OUT = 25
"""One document in so many is held out, by the hash of its text: sentences of one document stay on one side."""

Read = Callable[[Path], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Source:
    """A file, the SHA-256 that it must have, its licence, and what reads its documents."""

    file: str
    sha256: str
    licence: str
    read: Read


def _lines(path: Path) -> Iterator[Any]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in content.decode().split("\n"):
        if line:
            yield json.loads(line)


def _continued(context: str, ending: str) -> str:
    return f"{context.rstrip()} {ending.strip()}"


def hellaswag(path: Path) -> Iterator[str]:
    """One document a question: the context with its right ending, then the other endings that are whole sentences."""
    seen: set[int] = set()
    for line in _lines(path):
        question = line["doc"]
        if question["ind"] in seen:
            continue
        seen.add(question["ind"])
        # "Removing ice from car: Then, the man ...": the topic is no part of the sentence.
        context = question["query"].partition(": ")[2] or question["query"]
        right, endings = question["gold"], [ending.strip() for ending in question["choices"]]
        others = [ending for number, ending in enumerate(endings) if number != right and ending[:1].isupper()]
        yield "\n".join([_continued(context, endings[right]), *others])


def piqa(path: Path) -> Iterator[str]:
    for line in _lines(path):
        goal = line["query"].partition("Question: ")[2].strip()
        yield "\n".join([goal, *(choice.strip() for choice in line["choices"])])


def social(path: Path) -> Iterator[str]:
    for line in _lines(path):
        context, _, rest = line["query"].partition("Context: ")[2].partition("\nQuestion: ")
        yield f"{context}\n{rest.partition(chr(10))[0]}"


def questions(path: Path) -> Iterator[str]:
    for line in _lines(path):
        yield line["query"].partition("Question: ")[2].partition("\n")[0]


def continued(path: Path) -> Iterator[str]:
    """A question or cause with every choice after it, where the two make one sentence."""
    for line in _lines(path):
        yield "\n".join(_continued(line["query"], choice) for choice in line["choices"])


def options(path: Path) -> Iterator[str]:
    """A sentence with a name or noun in place of a blank, one for each option."""
    for line in _lines(path):
        yield "\n".join(_continued(context, line["continuation"]) for context in line["context_options"])


def minimal_pairs(path: Path) -> Iterator[str]:
    for line in _lines(path):
        yield line["sentence_good"]


def situations(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield f"{row['sd_situation']}\n{row['sd_utterance']}"


def plain_pairs(path: Path) -> Iterator[str]:
    """Texts and hypotheses of a tab-separated table: only to measure on, never to learn from."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield f"{row['Text']}\n{row['Hypothesis']}"


APACHE, CC_BY = "Apache-2.0", "CC BY 4.0"

SOURCES = (
    Source(
        "hellaswag_requests/rc_5shot/requests.jsonl.gz",
        "56d56b471e1fbcb9b8efb79672ac382041b46a0b69425a24d23439de2df4bef0",
        APACHE,
        hellaswag,
    ),
    Source(
        "mosaic_gauntlet/piqa.jsonl",
        "d2870e73aec5154df3faf259b7700876e11608eebdf69e9d6667435673dbe4e0",
        APACHE,
        piqa,
    ),
    Source(
        "mosaic_gauntlet/siqa.jsonl",
        "2722a2c30a08dfaee4c5210eeb318dc82c73d675bda32a920b749ae4e2b89598",
        APACHE,
        social,
    ),
    Source(
        "mosaic_gauntlet/commonsense_qa.jsonl",
        "2771f63f8127c0725b1f6b0ef2cd2ef6469168ae5875fc8d276b25b4f32c8c1a",
        APACHE,
        questions,
    ),
    Source(
        "mosaic_gauntlet/openbook_qa.jsonl",
        "adb2e5c7f8db810ddad4d6b2bf53dcc86dcc545499f7aafcaf42a8e179476c09",
        APACHE,
        continued,
    ),
    Source(
        "mosaic_gauntlet/copa.jsonl",
        "595dca44dec54c849490bd403a3e24a29e3b944065783222ebb0eb1a55298846",
        APACHE,
        continued,
    ),
    Source(
        "mosaic_gauntlet/winogrande.jsonl",
        "ea1592526f3bfdd0948ed3acb1b4dfa3f83d23698917118688ee1df7f8d4b8d7",
        APACHE,
        options,
    ),
    Source(
        "mosaic_gauntlet/winograd_wsc.jsonl",
        "746336c27cd2e39a554cb1b8b4869d0f1ae2577ac5bfe799842d26bca5a5bf5e",
        APACHE,
        options,
    ),
    Source(
        "blimp/blimp_first100_per_paradigm.jsonl",
        "ead1f5f844df06f079e0f8ff714412ca06234d11a151b0e9a91e29d5398ef280",
        CC_BY,
        minimal_pairs,
    ),
    Source(
        "cei/data_deflection-misdirection.csv",
        "8d8dee7c0e3fdd2b7600525a42f6a87ba3fa6e6e4829f55ab50b8a2928a13e2d",
        CC_BY,
        situations,
    ),
    Source(
        "cei/data_mixed-signals.csv",
        "b04243e9d9fbd26122df8be08de15b465f7586c19910825a04d539463fc973d4",
        CC_BY,
        situations,
    ),
    Source(
        "cei/data_passive-aggression.csv",
        "c93bec836e31833df9adec7742f158326cd3a49cd867d706aba85b1343d25418",
        CC_BY,
        situations,
    ),
    Source(
        "cei/data_sarcasm-irony.csv",
        "c0567efba1902536d4e4806d0c116f3e5abbf418bbb54716592c15b60af6037e",
        CC_BY,
        situations,
    ),
    Source(
        "cei/data_strategic-politeness.csv",
        "0b53e230ff7154fedd23e5e3cc732f988bdc14c4ea33d1e4234f2f8e57826ab3",
        CC_BY,
        situations,
    ),
)

APART = Source(
    "nli_negation/SNLI.txt",
    "962685f85f1580fe562b82bbb160b7d789103d62d6ed8c7444186bbe0cba92c5",
    "MIT",
    plain_pairs,
)
"""Of another origin than all the text learned from: what the loss is measured on a second time."""


@dataclass(frozen=True, slots=True)
class Text:
    """The sentences to learn from, and those held out, by the file that they are from."""

    learned: tuple[str, ...]
    held_out: dict[str, tuple[str, ...]]


def read(folder: Path, lines: bool = False) -> Text:
    """Every source under `folder`, with or without whole lines (see `sentences`).

    Raises SystemExit for a file that is not the one named.
    """
    learned: dict[str, None] = {}
    held_out: dict[str, dict[str, None]] = {}
    for source in SOURCES:
        for document in _documents(folder, source):
            digest = int(hashlib.sha256(document.encode()).hexdigest(), 16)
            side = held_out.setdefault(source.file, {}) if digest % HELD_OUT == 0 else learned
            side.update(dict.fromkeys(sentences(document, lines)))
    apart = {s: None for document in _documents(folder, APART) for s in sentences(document, lines)}
    held_out[APART.file] = apart
    kept = {file: tuple(some) for file, some in held_out.items()}
    unseen = {sentence for some in kept.values() for sentence in some}
    return Text(tuple(sentence for sentence in learned if sentence not in unseen), kept)


def sentences(document: str, lines: bool) -> Iterator[str]:
    """The sentences of a document, of 4 to 40 words in plain English letters.

    With `lines`, each line of up to 64 words that has several of them follows whole: so that words are also learned
    from the sentences around their own, and places are seen that no single sentence reaches.
    """
    for line in document.translate(_PLAIN).split("\n"):
        words = line.split()
        found = [sentence for sentence in re.split(r"(?<=[.!?])\s+", " ".join(words)) if sentence.isascii()]
        yield from (s for s in found if LEAST_WORDS <= len(s.split()) <= MOST_WORDS)
        if lines and len(found) > 1 and line.isascii() and len(words) <= MOST_WORDS_OF_LINE:
            yield " ".join(words)


_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2014": ", "})


def _documents(folder: Path, source: Source) -> Iterator[str]:
    path = folder / source.file
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != source.sha256:
        raise SystemExit(f"{path} is not the file that was learned from: its SHA-256 is {found}, not {source.sha256}")
    return source.read(path)
