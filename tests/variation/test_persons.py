"""Men, women and persons stay what the pronouns of a text have them to be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.variation.planted import Planted, variants, varied
from tests.variation.test_suites import part
from veridical.suites.registry import load
from veridical.variation.persons import fits, gender_of, pronouns
from veridical.variation.seeds import suite_seeds
from veridical.variation.tagging import SpacyTagger

GENDERS = {"he": "male", "him": "male", "his": "male", "she": "female", "her": "female", "hers": "female"}


@pytest.mark.parametrize(
    ("gender", "nouns"),
    [
        ("male", "man men king kings brother brothers waiter policeman policemen schoolboys grandfather boys heroes"),
        ("female", "woman women queen queens wife wives lady ladies stepsister policewoman policewomen actresses"),
        ("either", "person people child children teacher judges secretaries beekeeper salesperson midwife midwives"),
        (None, "store stores table human's ottoman malady boat cat ship dress dresses knives lies mist"),
    ],
)
def test_genders_of_nouns(gender: str | None, nouns: str) -> None:
    assert {noun: gender_of(noun) for noun in nouns.split()} == dict.fromkeys(nouns.split(), gender)


def test_pronouns_are_found_as_words() -> None:
    assert pronouns("The heron at the shed was here, hissing.") == frozenset()
    assert pronouns("When HE fell, she, whose dog barked, left.") == {"male", "female", "either"}


@pytest.mark.parametrize(
    ("noun", "replacement", "text", "expected"),
    [
        ("sister", "brother", "My sister was crossing the road when a car struck her dead.", False),
        ("sister", "cousin", "My sister was crossing the road when a car struck her dead.", True),
        ("sister", "queen", "My sister was crossing the road when a car struck her dead.", True),
        ("trader", "store", "The trader was selling a rug until she went bankrupt.", False),
        ("trader", "store", "The trader was selling a rug until the market closed.", True),
        ("trader", "man", "The trader was selling a rug until she went bankrupt.", False),
        ("trader", "woman", "The trader was selling a rug until she went bankrupt.", True),
        ("trader", "man", "The trader was selling a rug.", True),
        ("traders", "stores", "The traders were selling rugs until they left.", False),
        ("clerk", "desk", "The clerk who left was writing a letter.", False),
        ("king", "boy", "The king was building her a house.", True),
        # Either pronoun may be the noun's.
        ("teacher", "woman", "The teacher was writing to her when he died.", False),
        ("ship", "boat", "The ship was crossing when she sank.", True),
        ("ship", "king", "The ship was crossing when she sank.", False),
    ],
)
def test_a_replacement_fits_the_pronouns(noun: str, replacement: str, text: str, expected: bool) -> None:
    assert fits(noun, replacement, [text]) is expected


@pytest.mark.parametrize(("name", "grouping"), [("imperfective", "verb"), ("imperfective-quads", "quad")])
def test_no_variant_of_the_suite_has_a_pronoun_of_the_other_gender(
    tagger: SpacyTagger, tmp_path: Path, name: str, grouping: str
) -> None:
    """Man and woman, king and queen, and a store are proposed for every word."""
    seeds = suite_seeds(part(name, grouping, every=6))
    words = {word for item in seeds.frame.items for word in re.findall(r"\w+", item.fields["hypothesis"].lower())}
    liked = dict.fromkeys(("man", "woman", "king", "queen", "store", "teacher"), 0.1)
    made, written = varied(seeds, Planted(dict.fromkeys(words, liked)), tagger, tmp_path)
    checked = 0
    for item in variants(written):
        replacement, text = str(item.factors["replacement"]), item.fields["premise"].lower()
        found = {GENDERS[word] for word in re.findall(r"\w+", text) if word in GENDERS}
        if replacement in ("man", "king", "woman", "queen") and found:
            other = "female" if replacement in ("man", "king") else "male"
            seed_gender = gender_of(str(item.factors["word"]))
            assert other not in found or seed_gender not in (None, "either", other), item
            checked += 1
    stage = made.stages["persons and genders as the pronouns have them"]
    assert checked > 10
    assert 0 < stage.left < stage.entered


@pytest.mark.parametrize("name", ["imperfective", "imperfective-quads"])
def test_the_subjects_of_the_suite_are_known(name: str) -> None:
    """Before the verb, where `he` or `she` may refer to it: a name, or a noun for a person."""
    unknown = set()
    for item in load(name).items:
        if not pronouns(item.fields["premise"]) & {"male", "female"}:
            continue
        subject = re.match(r"(.*?) (?:was|were|is|are|had been|has been|have been) ", item.fields["premise"])
        words = subject[1].split() if subject else []
        if words and words[-1].islower() and not any(map(gender_of, words)):
            unknown.add(" ".join(words))
    assert unknown == set()
