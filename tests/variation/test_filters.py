"""Every filter, on sentences where the right answer can be seen, with planted preferences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.variation.planted import Planted, problems, texts, variants, varied
from veridical.variation.filters import fill
from veridical.variation.nouns import Target
from veridical.variation.protocol import Slot
from veridical.variation.settings import VariationSettings
from veridical.variation.tagging import SpacyTagger

DOG = ("A dog sleeps on the floor.", "The dog is tired.")


def replaced(tagger: SpacyTagger, folder: Path, planted: Planted, pair: tuple[str, str] = DOG) -> set[str]:
    """The replacements that are left."""
    _, suite = varied(problems(pair), planted, tagger, folder)
    return {str(item.factors["replacement"]) for item in variants(suite)}


def test_a_likelier_word_of_the_same_kind_replaces_the_word_everywhere(tagger: SpacyTagger, tmp_path: Path) -> None:
    made, suite = varied(problems(DOG), Planted({"dog": {"cat": 0.3}}), tagger, tmp_path)
    assert texts(suite) == [("A cat sleeps on the floor.", "The cat is tired.")]
    (variant,) = variants(suite)
    assert variant.gold == ("entailment",)
    assert variant.factors == {
        "source": "toy",
        "label": "entailment",
        "proposer": "planted",
        "sample_seed": 0,
        "word_class": "noun",
        "word": "dog",
        "replacement": "cat",
        "p_original": 0.01,
        "p_replacement": 0.3,
    }
    assert (made.seeds, made.variants, made.by_word_class["noun"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("liked", "stage", "why"),
    [
        ({"cat": 0.0009}, "P(r) >= 0.001", "improbable"),
        ({"cat": 0.01}, "P(r) > P(o)", "only as likely as the word"),
        ({"##s": 0.2, "▁s": 0.2}, "a whole word of letters", "pieces of words"),
        ({".": 0.2, "2nd": 0.2, "dog-cat": 0.2}, "a whole word of letters", "punctuation, digits, hyphens"),
        ({"floor": 0.2, "tired": 0.2}, "not in the texts yet", "in the premise or in the hypothesis"),
        ({"Fido": 0.2, "DNA": 0.2}, "capitals that fit", "a name, an abbreviation"),
        ({"quickly": 0.2}, "same word class in the sentence", "an adverb"),
        ({"dogs": 0.2, "men": 0.2}, "same fine tag in the sentence", "plurals"),
    ],
)
def test_each_filter_drops_its_own(
    tagger: SpacyTagger, tmp_path: Path, liked: dict[str, float], stage: str, why: str
) -> None:
    made, suite = varied(problems(DOG), Planted({"dog": liked}), tagger, tmp_path)
    assert texts(suite) == [], why
    dropped = made.stages[stage]
    assert (dropped.left, dropped.dropped) == (0, len(liked) * (2 if stage == "capitals that fit" else 1)), why
    assert any(stage in warning for warning in made.stages.warnings())


def test_inflection_holds(tagger: SpacyTagger, tmp_path: Path) -> None:
    pair = ("A man painted the old wall.", "Somebody painted a wall.")
    liked = {"painted": {"washed": 0.2, "wash": 0.2, "washing": 0.2, "washes": 0.2}}
    assert replaced(tagger, tmp_path, Planted(liked), pair) == {"washed"}


def test_a_replacement_is_proposed_at_every_occurrence(tagger: SpacyTagger, tmp_path: Path) -> None:
    _, hypothesis = DOG
    planted = Planted(
        {"dog": {"cat": 0.3, "horse": 0.2}},
        at={("dog", hypothesis): {"cat": 0.3, "bird": 0.2}},
    )
    made, suite = varied(problems(DOG), planted, tagger, tmp_path)
    assert texts(suite) == [("A cat sleeps on the floor.", "The cat is tired.")]
    stage = made.stages["proposed at every occurrence"]
    assert (stage.entered, stage.left) == (3, 1)


def test_the_word_is_beaten_at_every_occurrence(tagger: SpacyTagger, tmp_path: Path) -> None:
    _, hypothesis = DOG
    planted = Planted({"dog": {"cat": 0.3, "horse": 0.3}}, at={("dog", hypothesis): {"cat": 0.005, "horse": 0.02}})
    _, suite = varied(problems(DOG), planted, tagger, tmp_path)
    (variant,) = variants(suite)
    # The probabilities shown are those where the replacement does worst.
    assert (variant.factors["replacement"], variant.factors["p_replacement"]) == ("horse", 0.02)


def test_an_occurrence_is_hidden_one_at_a_time(tagger: SpacyTagger, tmp_path: Path) -> None:
    pair = ("A man helps another man.", "The man is helpful.")
    planted = Planted({"man": {"woman": 0.3}})
    _, suite = varied(problems(pair), planted, tagger, tmp_path)
    asked = [slot for call in planted.asked for slot in call]
    assert [(slot.start, slot.stop) for slot in asked] == [(2, 5), (20, 23), (4, 7)]
    assert all(slot.text in pair for slot in asked)
    assert texts(suite) == [("A woman helps another woman.", "The woman is helpful.")]


def test_a_word_that_the_proposer_splits_is_left_alone(tagger: SpacyTagger, tmp_path: Path) -> None:
    planted = Planted({"dog": {"cat": 0.3}, "sleeps": {"sits": 0.3}}, originals={"dog": None})
    made, suite = varied(problems(("A dog sleeps here.", "One dog sleeps.")), planted, tagger, tmp_path)
    assert {item.factors["word"] for item in variants(suite)} == {"sleeps"}
    stage = made.stages["one token of the proposer's"]
    assert (stage.entered, stage.left, stage.examples) == (2, 1, ["dog (NN)"])


def test_the_ratio_loosens_and_says_so(tagger: SpacyTagger, tmp_path: Path) -> None:
    planted = Planted({"dog": {"cat": 0.006, "horse": 0.004}})
    made, suite = varied(problems(DOG), planted, tagger, tmp_path, VariationSettings(min_ratio=0.5))
    assert {item.factors["replacement"] for item in variants(suite)} == {"cat"}
    assert made.stages["P(r) > 0.5 P(o)"].dropped == 1
    assert suite.title == "Minimal variants of toy, proposed by planted, where P(r) > 0.5 P(o)"


def test_only_the_top_candidates_count(tagger: SpacyTagger, tmp_path: Path) -> None:
    planted = Planted({"dog": {"cat": 0.3, "horse": 0.2, "bird": 0.1}})
    _, suite = varied(problems(DOG), planted, tagger, tmp_path, VariationSettings(top=2))
    assert {item.factors["replacement"] for item in variants(suite)} == {"cat", "horse"}


@pytest.mark.parametrize(
    ("pair", "word", "new", "expected"),
    [
        # Articles before the replaced word, and no other.
        (DOG, "dog", "animal", ("An animal sleeps on the floor.", "The animal is tired.")),
        (
            ("An old dog and a cat sat.", "A cat and an old dog sat."),
            "old",
            "big",
            ("A big dog and a cat sat.", "A cat and a big dog sat."),
        ),
        (("He waited an hour.", "An hour passed."), "hour", "year", ("He waited a year.", "A year passed.")),
        (("A man got a dog.", "A dog is there."), "dog", "uncle", ("A man got an uncle.", "An uncle is there.")),
        (("A man got a dog.", "A dog is there."), "dog", "unicorn", ("A man got a unicorn.", "A unicorn is there.")),
        (("A DOG SLEEPS.", "A dog rests."), "dog", "owl", ("AN OWL SLEEPS.", "An owl rests.")),
        (("There's a\n dog here.", "A dog is here."), "dog", "owl", ("There's an\n owl here.", "An owl is here.")),
        # Capital letters, each as it was.
        (("Dogs bark.", "The dogs bark, DOGS bark."), "dogs", "men", ("Men bark.", "The men bark, MEN bark.")),
        # Repeated words; punctuation beside them; a contraction and a possessive elsewhere and beside.
        (
            ("The dog, a dog's dog, didn't bark!", "Was it the (dog)?"),
            "dog",
            "cat",
            ("The cat, a cat's cat, didn't bark!", "Was it the (cat)?"),
        ),
        # The compound keeps its parts.
        (
            ("The dog-lover has a dog.", "A dog is loved by a dog-lover."),
            "dog",
            "cat",
            ("The dog-lover has a cat.", "A cat is loved by a dog-lover."),
        ),
        # Characters of any length in UTF-8 or UTF-16 shift nothing.
        (
            ("🙂🙂 The naïve dog – “old” – sleeps…", "A dog\u00a0sleeps 🙂"),
            "dog",
            "cat",
            ("🙂🙂 The naïve cat – “old” – sleeps…", "A cat\u00a0sleeps 🙂"),
        ),
    ],
)
def test_what_is_written(
    tagger: SpacyTagger, pair: tuple[str, str], word: str, new: str, expected: tuple[str, str]
) -> None:
    written = []
    for text in pair:
        (tokens,) = tagger.tag([text])
        slots = tuple(
            Slot(text, t.start, t.stop) for t in tokens if t.text.lower() == word and text[t.stop : t.stop + 1] != "-"
        )
        filled = fill(text, tokens, Target(word, "NN", "noun", slots), new)
        assert [filled.text[start:stop].lower() for start, stop in filled.spans] == [new] * len(slots)
        written.append(filled.text)
    assert tuple(written) == expected


def test_a_letter_that_looks_like_an_article_is_none(tagger: SpacyTagger) -> None:
    text = "Plan A works."
    (tokens,) = tagger.tag([text])
    slot = Slot(text, 7, 12)
    assert fill(text, tokens, Target("works", "VBZ", "verb", (slot,)), "appeals").text == "Plan A appeals."


def test_the_same_word_with_and_without_a_capital_is_one_replacement(tagger: SpacyTagger, tmp_path: Path) -> None:
    """A cased model offers `Horses` at the head of a sentence and `horses` inside it."""
    pair = ("Cats run in the park.", "Many cats run here.")
    planted = Planted({}, at={("cats", pair[0]): {"Horses": 0.2, "horses": 0.02}, ("cats", pair[1]): {"horses": 0.3}})
    _, suite = varied(problems(pair), planted, tagger, tmp_path)
    assert texts(suite) == [("Horses run in the park.", "Many horses run here.")]
    assert variants(suite)[0].factors["p_replacement"] == 0.2


@pytest.mark.parametrize(
    ("text", "word", "new", "expected"),
    [
        ('A "dog" sleeps.', "dog", "owl", 'An "owl" sleeps.'),
        ("He saw an \u201cowl\u201d there.", "owl", "dog", "He saw a \u201cdog\u201d there."),
        ("He saw an (owl) there.", "owl", "dog", "He saw a (dog) there."),
        ("He saw a 'dog' there.", "dog", "owl", "He saw an 'owl' there."),
        ('He saw a ["dog"] there.', "dog", "owl", 'He saw an ["owl"] there.'),
        ("He saw a *dog* there.", "dog", "owl", "He saw an *owl* there."),
        # What closes, or ends a sentence, stands between an article and nothing.
        ("They chose plan (a) owl.", "owl", "dog", "They chose plan (a) dog."),
        ("He got an A. Dogs bark.", "Dogs", "owls", "He got an A. Owls bark."),
        ("She saw the 'dog' there.", "dog", "owl", "She saw the 'owl' there."),
    ],
)
def test_an_article_is_repaired_across_what_opens_a_quotation(
    tagger: SpacyTagger, text: str, word: str, new: str, expected: str
) -> None:
    (tokens,) = tagger.tag([text])
    slot = Slot(text, text.index(word), text.index(word) + len(word))
    assert fill(text, tokens, Target(word.lower(), "NN", "noun", (slot,)), new).text == expected


@pytest.mark.parametrize(
    ("text", "word", "tag", "new", "expected"),
    [
        ("The bosses' dog sleeps.", "bosses", "NNS", "men", "The men's dog sleeps."),
        ("The ladies\u2019 dog sleeps.", "ladies", "NNS", "children", "The children\u2019s dog sleeps."),
        ("The ladies' dog sleeps.", "ladies", "NNS", "girls", "The girls' dog sleeps."),
        ("The children's dog sleeps.", "children", "NNS", "girls", "The girls' dog sleeps."),
        ("The children's dog sleeps.", "children", "NNS", "men", "The men's dog sleeps."),
        ("THE CHILDREN'S DOG SLEEPS.", "CHILDREN", "NNS", "girls", "THE GIRLS' DOG SLEEPS."),
        ("THE LADIES' DOG SLEEPS.", "LADIES", "NNS", "men", "THE MEN'S DOG SLEEPS."),
        # A singular in s has either, and keeps what it has.
        ("The boss' dog sleeps.", "boss", "NN", "chief", "The chief's dog sleeps."),
        ("The boss' dog sleeps.", "boss", "NN", "princess", "The princess' dog sleeps."),
        ("The chief's dog sleeps.", "chief", "NN", "princess", "The princess's dog sleeps."),
        # A verb, and the end of a quotation.
        ("The man's sleeping.", "man", "NN", "boss", "The boss's sleeping."),
        ("He said 'the dogs' and left.", "dogs", "NNS", "men", "He said 'the men' and left."),
        ("He said \u2018the dogs\u2019 and left.", "dogs", "NNS", "men", "He said \u2018the men\u2019 and left."),
    ],
)
def test_a_possessive_is_that_of_the_new_word(
    tagger: SpacyTagger, text: str, word: str, tag: str, new: str, expected: str
) -> None:
    (tokens,) = tagger.tag([text])
    slot = Slot(text, text.index(word), text.index(word) + len(word))
    filled = fill(text, tokens, Target(word.lower(), tag, "noun", (slot,)), new)
    assert filled.text == expected
    assert [filled.text[start:stop].lower() for start, stop in filled.spans] == [new]


@pytest.mark.parametrize(
    ("pair", "word", "kept"),
    [
        # "A piece of large ball" is no English; "the ball" is.
        (("They push a piece of large machinery.", "Machinery is pushed."), "machinery", {"equipment"}),
        (("They push the machinery.", "The machinery is pushed."), "machinery", {"equipment", "ball"}),
        (("They push the machinery.", "Some new machinery is pushed."), "machinery", {"equipment", "ball"}),
        (("They push the machinery.", "They need food and machinery."), "machinery", {"equipment"}),
        # Captions leave articles out before count nouns too.
        (("Box near a house.", "A box is old."), "box", {"equipment", "ball"}),
    ],
)
def test_a_mass_without_an_article_stays_one(
    tagger: SpacyTagger, tmp_path: Path, pair: tuple[str, str], word: str, kept: set[str]
) -> None:
    assert replaced(tagger, tmp_path, Planted({word: {"equipment": 0.3, "ball": 0.3}}), pair) == kept
