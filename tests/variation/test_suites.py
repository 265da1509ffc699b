"""Variants of the built-in suites keep what makes them: telicity, and one statement of evidence for two targets."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.variation.planted import Planted, variants, varied
from veridical import inflector
from veridical.errors import UserError
from veridical.installing import install_command
from veridical.items import Grouping, Item, Suite
from veridical.suites.evidence.surface import LABEL_WORD
from veridical.suites.imperfective import rules
from veridical.suites.registry import load
from veridical.variation.designs import is_count_noun
from veridical.variation.seeds import Seeds, suite_seeds
from veridical.variation.tagging import SpacyTagger


def part(name: str, grouping: str, *sets: str, every: int = 1) -> Suite:
    """A built-in suite cut down to these sets of a grouping, or to every so many."""
    suite = load(name)
    kept = sets or tuple(suite.grouping(grouping).sets())[::every]
    members = tuple(member for member in suite.grouping(grouping).members if member.set in kept)
    ids = {member.item for member in members}
    fields = {field: getattr(suite, field) for field in Suite.model_fields}
    parts = {
        "groupings": (Grouping(name=grouping, members=members),),
        "items": tuple(item for item in suite.items if item.id in ids),
    }
    return Suite.model_validate({**fields, **parts})


def only(name: str, *sets: str) -> Seeds:
    return suite_seeds(part(name, "verb", *sets))


def premises(suite: Suite, word: str) -> dict[str, list[str]]:
    """Premises of the variants by replacement, for one word."""
    found: dict[str, list[str]] = {}
    for item in variants(suite):
        if item.factors["word"] == word:
            found.setdefault(str(item.factors["replacement"]), []).append(item.fields["premise"])
    return found


def test_an_object_is_replaced_in_all_items_of_its_verb(tagger: SpacyTagger, tmp_path: Path) -> None:
    seeds = only("imperfective", "translate")
    before = {item.name: item.fields for item in seeds.frame.items}
    planted = Planted({"play": {"novel": 0.3}})
    _, suite = varied(seeds, planted, tagger, tmp_path)
    found = variants(suite)
    assert len(before) == len(found) == 3
    for item in found:
        name = item.name.partition(":")[0]
        assert item.fields == {field: text.replace("play", "novel") for field, text in before[name].items()}
        assert item.gold == next(seed.gold for seed in seeds.frame.items if seed.name == name)
    # The verb's items bind their variants too: the same roles, and a cluster for each seed's set.
    sets = suite.grouping("verb").sets()
    assert {name: [member.role for member in members] for name, members in sets.items()} == {
        "translate": ["A", "C", "completed"],
        "translate: play > novel": ["A", "C", "completed"],
    }
    assert {member.cluster for member in suite.grouping("seed").members} == {"translate"}
    assert suite.labels == ("True", "False", "Unknown")
    assert suite.prompts == load("imperfective").prompts


def test_the_verb_is_never_replaced_and_never_brought_in(tagger: SpacyTagger, tmp_path: Path) -> None:
    suite = part("imperfective", "verb", every=4)
    forms = {
        word: {"built": 0.2, "walked": 0.2, "building": 0.2, "walk": 0.2}
        for item in suite.items
        for word in item.fields["hypothesis"].lower().rstrip(".").split()
    }
    made, written = varied(suite_seeds(suite), Planted(forms), tagger, tmp_path)
    hypotheses = {seed.name: seed.fields["hypothesis"] for seed in suite.items}
    assert made.stages["not the suite's verb"].entered > 40
    for item in variants(written):
        verb = str(item.factors["verb"])
        old = hypotheses[item.name.partition(":")[0]].split()
        new = item.fields["hypothesis"].split()
        assert len(old) == len(new)
        changed = [a for a, b in zip(old, new, strict=True) if a != b]
        assert all(not word.lower().startswith(verb[:3]) or item.factors["word"] in word.lower() for word in changed)
        assert str(item.factors["replacement"]) not in {verb, f"{verb}ed", f"{verb}ing"}


def test_a_count_noun_stays_one(tagger: SpacyTagger, tmp_path: Path) -> None:
    planted = Planted({"play": {"novel": 0.3, "poetry": 0.3, "information": 0.3, "books": 0.3}})
    made, suite = varied(only("imperfective", "translate"), planted, tagger, tmp_path)
    assert set(premises(suite, "play")) == {"novel"}
    assert made.stages["a singular count noun stays one"].examples == [
        "play (NN) > poetry",
        "play (NN) > information",
    ]


def test_a_person_stays_a_person_and_a_thing_a_thing(tagger: SpacyTagger, tmp_path: Path) -> None:
    liked = {"novel": 0.3, "child": 0.3, "teacher": 0.3, "museum": 0.3}
    seeds = only("imperfective", "translate")
    (subject,) = {item.fields["premise"].split()[1] for item in seeds.frame.items}
    made, suite = varied(seeds, Planted({"play": liked, subject: liked}), tagger, tmp_path)
    assert set(premises(suite, "play")) == {"novel", "museum"}
    assert set(premises(suite, subject)) == {"child", "teacher"}
    assert made.stages["a person stays a person, a thing a thing"].dropped == 4


@pytest.mark.parametrize(
    ("word", "counts"),
    [("lighthouse", True), ("house", True), ("song", True), ("water", False), ("bread", False), ("furniture", False)],
)
def test_count_nouns_are_reported_from_masses(word: str, counts: bool) -> None:
    assert is_count_noun(word) is counts


def test_without_the_inflector_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    is_count_noun.cache_clear()
    inflector.lemminflect.cache_clear()
    with pytest.raises(UserError, match=rf"lemminflect.*is missing: {re.escape(install_command('vary'))}"):
        is_count_noun("lighthouse")


@pytest.mark.slow
def test_the_checkers_rules_hold_for_every_variant(tagger: SpacyTagger, tmp_path: Path) -> None:
    """With replacements for every word there is."""
    suite = part("imperfective", "verb", every=4)
    words = {word for item in suite.items for word in item.fields["hypothesis"].lower().rstrip(".").split()}
    liked = {"house": 0.1, "boy": 0.1, "owl": 0.1, "old": 0.1, "quickly": 0.1, "water": 0.1}
    made, written = varied(suite_seeds(suite), Planted(dict.fromkeys(words, liked)), tagger, tmp_path)
    assert made.variants > 100
    sets: dict[str, dict[str, Item]] = {}
    for member in written.grouping("verb").members:
        sets.setdefault(member.set, {})[member.role] = written.by_id[member.item]
    for rule in rules.ITEM_RULES:
        assert [found for found in rule(sets) if found.fails] == []  # type: ignore[arg-type]
    assert {str(item.factors["word_class"]) for item in variants(written)} <= {"noun", "adjective", "verb"}
    assert not any(item.factors["word_class"] == "adverb" for item in variants(written))
    assert not any(" a owl" in text or " an house" in text for item in written.items for text in item.fields.values())


def test_a_variant_that_breaks_a_rule_of_the_checker_is_dropped(
    tagger: SpacyTagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_novel(sets: rules.VerbSets) -> list[rules.Finding]:
        faults = [item.name for items in sets.values() for item in items.values() if "novel" in item.fields["premise"]]
        return [rules.none_of("prefix property", faults, "novel")]

    monkeypatch.setattr(rules, "ITEM_RULES", (*rules.ITEM_RULES, no_novel))
    planted = Planted({"play": {"novel": 0.3, "song": 0.3}})
    made, suite = varied(only("imperfective", "translate"), planted, tagger, tmp_path)
    assert set(premises(suite, "play")) == {"song"}
    assert made.stages["the suite's checker"].examples == ["play (NN) > novel"]


def test_the_complement_of_a_quadruple_stays(tagger: SpacyTagger, tmp_path: Path) -> None:
    suite = part("imperfective-quads", "quad", every=4)
    words = {word for item in suite.items for word in item.fields["hypothesis"].lower().rstrip(".").split()}
    liked = {"boy": 0.1, "house": 0.1, "old": 0.1}
    made, written = varied(suite_seeds(suite), Planted(dict.fromkeys(words, liked)), tagger, tmp_path)
    assert made.variants > 20
    seeds = {item.name: item for item in suite.items}
    for item in variants(written):
        seed = seeds[item.name.partition(":")[0]]
        verb = next(
            position
            for position, (one, other) in enumerate(
                zip(seed.fields["premise"].split(), seed.fields["hypothesis"].split(), strict=False)
            )
            if one != other
        )
        assert item.fields["hypothesis"].split()[verb:] == seed.fields["hypothesis"].split()[verb:]


def evidence_words(suite: Suite) -> set[str]:
    return {word.lower().strip(".,;:()%") for item in suite.items for word in item.fields["evidence"].split()}


@pytest.mark.parametrize(("name", "grouping"), [("evidence", "pair"), ("evidence-development", "evidence")])
def test_evidence_is_verbatim_in_every_endpoint_of_a_variant(
    tagger: SpacyTagger, tmp_path: Path, name: str, grouping: str
) -> None:
    suite = part(name, grouping, every=6)
    liked = {"cats": 0.1, "house": 0.1, "green": 0.1, "favour": 0.1, "targets": 0.1}
    made, written = varied(suite_seeds(suite), Planted(dict.fromkeys(evidence_words(suite), liked)), tagger, tmp_path)
    assert made.variants > 10
    seeds = suite.grouping(grouping).sets()
    for copy, members in written.grouping(grouping).sets().items():
        items = [written.by_id[member.item] for member in members]
        original = seeds[copy.partition(": ")[0]] if copy not in seeds else seeds[copy]
        assert [member.role for member in members] == [member.role for member in original]
        assert len({item.fields["evidence"] for item in items}) == 1
        assert [item.gold for item in items] == [suite.by_id[member.item].gold for member in original]
    for item in variants(written):
        word, replacement = str(item.factors["word"]), str(item.factors["replacement"])
        everything = " ".join(item.fields.values()).lower()
        assert replacement in everything
        assert f" {word} " not in f" {everything} "
        assert "reasoning" not in item.factors
        assert LABEL_WORD.search(replacement) is None
    assert "reasoning" in written.items[0].factors


def one_problem(evidence: str, target: str) -> Suite:
    """A suite of evidence with one item."""
    fields = {
        "background": "A city has people.",
        "evidence": evidence,
        "target": target,
        "condition": "It is at peace.",
    }
    item = Item(fields=fields, choices=load("evidence").items[0].choices, gold=("Favors",))
    parts = {field: getattr(load("evidence"), field) for field in Suite.model_fields}
    return Suite.model_validate({**parts, "items": (item,), "groupings": ()})


def test_a_count_noun_of_evidence_stays_one(tagger: SpacyTagger, tmp_path: Path) -> None:
    suite = one_problem("The house by the river is old.", "The house is near the river.")
    planted = Planted({"house": {"castle": 0.3, "furniture": 0.3, "information": 0.3}})
    made, written = varied(suite_seeds(suite), planted, tagger, tmp_path)
    assert [item.factors["replacement"] for item in variants(written)] == ["castle"]
    stage = made.stages["a singular count noun stays one"]
    assert (stage.entered, stage.left) == (3, 1)


@pytest.mark.parametrize(
    ("evidence", "kept"),
    [
        ("They found the rice there.", True),
        ("They found three kilos of rice there.", False),
        ("They found 40% rice there.", False),
        ("They found 12 rice there.", False),
        ("They found a rice there.", False),
        ("They found the price of rice there.", True),
        ("They found a good rice there.", True),
    ],
)
def test_a_noun_that_is_counted_or_measured_is_left_alone(
    tagger: SpacyTagger, tmp_path: Path, evidence: str, kept: bool
) -> None:
    suite = one_problem(evidence, "The rice was there.")
    made, _ = varied(suite_seeds(suite), Planted({"rice": {"wheat": 0.3, "castle": 0.2}}), tagger, tmp_path)
    stage = made.stages["no noun behind a number, a measure or a/an"]
    assert ("rice (NN)" not in stage.examples) is kept
    assert (made.variants > 0) is kept


@pytest.mark.slow
def test_a_word_that_another_field_inflects_is_left_alone(tagger: SpacyTagger, tmp_path: Path) -> None:
    """A claim about wardens is no longer that of the evidence where `warden` alone is replaced."""
    fields = {
        "background": "A city posts wardens and lamps.",
        "evidence": "The warden lit a lamp in the street.",
        "target": "The lamp and the warden are in the street.",
        "condition": "The city is at peace.",
    }
    item = Item(fields=fields, choices=load("evidence").items[0].choices, gold=("Favors",))
    parts = {field: getattr(load("evidence"), field) for field in Suite.model_fields}
    suite = Suite.model_validate({**parts, "items": (item,), "groupings": ()})
    liked = {word: {"house": 0.3} for word in ("warden", "lamp", "street")}
    made, written = varied(suite_seeds(suite), Planted(liked), tagger, tmp_path)
    stage = made.stages["no other inflection of it in the texts"]
    assert (stage.entered, stage.left, stage.examples) == (3, 1, ["warden (NN)", "lamp (NN)"])
    assert [item.factors["word"] for item in variants(written)] == ["street"]
    assert made.variants == 1
