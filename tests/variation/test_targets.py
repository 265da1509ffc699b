"""Which words are replaced, on sentences where one sees it."""

from __future__ import annotations

import unicodedata

import pytest

from tests.variation.planted import problem
from veridical.variation.designs import PROBLEMS
from veridical.variation.nouns import Seed, Target
from veridical.variation.stages import Stages
from veridical.variation.tagging import SpacyTagger
from veridical.variation.targets import find_targets


def targets(tagger: SpacyTagger, premise: str, hypothesis: str, stages: Stages | None = None) -> list[Target]:
    seed = Seed("s", (problem(premise, hypothesis),))
    tokens = dict(zip(seed.texts, tagger.tag(seed.texts), strict=True))
    return find_targets(seed, tokens, PROBLEMS, stages or Stages())


@pytest.mark.parametrize(
    ("premise", "hypothesis", "words"),
    [
        # Shared words of the four open classes, each with its class.
        (
            "The tall man slowly climbs a steep hill.",
            "A tall man slowly climbs something.",
            {"tall": "adjective", "man": "noun", "slowly": "adverb", "climbs": "verb"},
        ),
        # In one text alone; function words, names and auxiliaries in both.
        ("John has a dog in Paris.", "John has been in Paris.", {}),
        # Another inflection is another form.
        ("A dog is running.", "Some dogs run.", {}),
        # Capital letters: one word.
        ("Cats run in the park.", "Many cats run here.", {"cats": "noun", "run": "verb"}),
        ("A DOG sleeps.", "The dog rests.", {"dog": "noun"}),
        # Capitals that follow no rule.
        ("The iPad is on the desk.", "An iPad is on a desk.", {"desk": "noun"}),
        # A capital letter within a sentence is a name's, whatever the tag; at its beginning it is none's.
        ("A Filipino man reads a book.", "The Filipino man is tired.", {"man": "noun"}),
        (
            "Spicy food is on a desk.",
            "Spicy food is on the desk.",
            {"spicy": "adjective", "food": "noun", "desk": "noun"},
        ),
        ("He reads. Cats run in the park.", "Many cats run here.", {"cats": "noun", "run": "verb"}),
        # Two fine tags: a noun here, a verb there.
        ("They walk to the park.", "They went for a walk in the park.", {"park": "noun"}),
        # Numbers and negation are none of the open classes.
        ("Two men are not asleep.", "Two men are not awake.", {"men": "noun"}),
    ],
)
def test_shared_open_class_words_are_targets(
    tagger: SpacyTagger, premise: str, hypothesis: str, words: dict[str, str]
) -> None:
    assert {target.form: target.word_class for target in targets(tagger, premise, hypothesis)} == words


def test_every_occurrence_is_a_slot_in_the_order_of_the_texts(tagger: SpacyTagger) -> None:
    premise, hypothesis = "A man helps another man.", "The man is helpful."
    (target,) = targets(tagger, premise, hypothesis)
    assert [(slot.text, slot.start, slot.word) for slot in target.slots] == [
        (premise, 2, "man"),
        (premise, 20, "man"),
        (hypothesis, 4, "man"),
    ]
    assert target.tag == "NN"


@pytest.mark.parametrize(
    ("premise", "hypothesis", "free"),
    [
        # A hyphenated compound, before and after; a derivative; a slash.
        ("A guitar-player holds a guitar.", "The guitar is old.", [24]),
        ("The bass-guitar is next to a guitar.", "The guitar is old.", [29]),
        ("The guitarist holds a guitar.", "The guitar is old.", [22]),
        ("The guitar/piano room has a guitar.", "The guitar is old.", [28]),
        # Quotation marks, brackets and a full stop beside a word make no compound of it.
        ("The 'guitar' is old.", "The guitar is old.", [5]),
        ('The (guitar) is "old".', "The guitar is old.", [5]),
        # The possessive clitic goes with whatever noun is there; plural possessives too.
        ("The guitar's neck is long.", "The guitar is old.", [4]),
        ("The guitar\u2019s neck is long.", "The guitar is old.", [4]),
        ("Those guitars' necks are long.", "The guitars are old.", [6]),
    ],
)
def test_a_word_inside_a_compound_is_left_alone(
    tagger: SpacyTagger, premise: str, hypothesis: str, free: list[int]
) -> None:
    found = [t for t in targets(tagger, premise, hypothesis) if t.form.startswith("guitar")]
    assert [slot.start for target in found for slot in target.slots if slot.text == premise] == free


@pytest.mark.parametrize(
    ("premise", "hypothesis", "left_alone"),
    [
        ("A well-known singer sings.", "She is well-known.", {"well", "known"}),
        ("Let's go.", "They let's go.", {"let"}),
        ("They cannot go.", "He cannot go.", {"not", "can"}),
        ("I wanna go.", "They wanna go.", {"wan", "na"}),
        ("A half- and full-time job.", "A half- and full-time post.", {"half", "full", "time"}),
        ("See example.com for news.", "The news is on example.com.", {"example", "com"}),
    ],
)
def test_parts_of_contractions_and_hyphenated_words_are_not_targets(
    tagger: SpacyTagger, premise: str, hypothesis: str, left_alone: set[str]
) -> None:
    assert left_alone.isdisjoint(target.form for target in targets(tagger, premise, hypothesis))


def test_composed_and_decomposed_letters_are_one_word(tagger: SpacyTagger) -> None:
    premise, hypothesis = "A café is open.", unicodedata.normalize("NFD", "The café is busy.")
    (target,) = targets(tagger, premise, hypothesis)
    assert target.form == "café"
    assert [slot.word for slot in target.slots] == ["café", unicodedata.normalize("NFD", "café")]


def test_every_rule_counts_what_went_in_and_out(tagger: SpacyTagger) -> None:
    stages = Stages()
    targets(tagger, "They walk to the old guitar-park.", "A walk in the old park with them.", stages)
    assert [(stage.name, stage.entered, stage.left) for stage in stages] == [
        # they walk to the old guitar park in with them ("A" is one letter)
        ("open-class word", 10, 4),
        ("in both texts", 4, 3),
        ("no part of a compound or contraction", 3, 2),
        ("regular capitals", 2, 2),
        ("capitals where a sentence begins", 2, 2),
        ("no singular with a plural verb", 2, 2),
        ("one fine tag at every occurrence", 2, 1),
    ]
    assert stages["one fine tag at every occurrence"].examples == ["walk (VBP, NN)"]
    assert stages["no part of a compound or contraction"].examples == ["park"]


@pytest.mark.parametrize(
    ("premise", "hypothesis", "found"),
    [
        # A pair, a team: a singular that is many, as no other singular is.
        ("A couple are walking.", "A couple is outside.", False),
        ("It rains. A young couple are wet.", "The couple is wet.", False),
        ("Here our couple are not seated.", "The couple is wet.", True),  # not from the beginning: whose the verb is
        ("A couple is walking.", "The couple walks.", True),
        # The verb is another's.
        ("The boy and the couple are here.", "The couple is here.", True),
        ("Men beside the couple are here.", "The couple is here.", True),
    ],
)
def test_a_singular_with_a_plural_verb_is_left_alone(
    tagger: SpacyTagger, premise: str, hypothesis: str, found: bool
) -> None:
    assert ("couple" in {target.form for target in targets(tagger, premise, hypothesis)}) == found
