"""What `vary` writes: a suite file of seeds and variants, the counts beside it, and the same bytes every time."""

from __future__ import annotations

import json
import tracemalloc
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.variation.planted import OtherTags, Planted, problem, problems, texts, variants, varied
from veridical.errors import UserError
from veridical.suites.file_writer import write_suite
from veridical.suites.files import read_suite
from veridical.variation import builder
from veridical.variation.builder import stages_path, vary
from veridical.variation.nouns import Seed
from veridical.variation.protocol import Proposal, Slot
from veridical.variation.seeds import suite_seeds
from veridical.variation.settings import VariationSettings
from veridical.variation.stages import Stages
from veridical.variation.tagging import SpacyTagger

PAIRS = (
    ("A dog sleeps on the floor.", "The dog is tired."),
    ("A girl reads a book.", "The girl holds a book."),
    ("Nobody is here.", "It rains."),
)
WORDS = {
    "dog": {"cat": 0.3, "horse": 0.2},
    "girl": {"boy": 0.3},
    "book": {"letter": 0.2},
}
ANIMALS = "cat horse cow pig lion tiger rabbit bear wolf fox mouse goat boy girl man woman child baby kitten puppy"


def test_seeds_and_their_variants_stand_in_sets_with_their_roles(tagger: SpacyTagger, tmp_path: Path) -> None:
    made, suite = varied(problems(*PAIRS), Planted(WORDS), tagger, tmp_path)
    sets = suite.grouping("seed").sets()
    assert suite.groupings[0].name == "seed"
    assert [[member.role for member in members] for members in sets.values()] == [
        ["seed", "variant", "variant"],
        ["seed", "variant", "variant"],
        ["seed"],
    ]
    first = [suite.by_id[members[0].item] for members in sets.values()]
    assert [(item.fields["premise"], item.fields["hypothesis"]) for item in first] == list(PAIRS)
    assert list(sets) == [item.id for item in first]
    assert (suite.name, suite.measures, suite.labels) == ("toy-variants", "merge", problems(*PAIRS).frame.labels)
    assert (made.seeds, made.seeds_with_variants, made.variants) == (3, 2, 4)
    assert made.mean_variants == pytest.approx(4 / 3)
    assert [item.name for item in variants(suite)][:1] == ["p0: dog > cat"]


def test_the_bytes_are_those_of_write_suite(tagger: SpacyTagger, tmp_path: Path) -> None:
    varied(problems(*PAIRS), Planted(WORDS), tagger, tmp_path)
    out = tmp_path / "variants.jsonl"
    write_suite(read_suite(out), tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == out.read_bytes()


def test_same_input_proposer_and_seed_give_the_same_bytes(tagger: SpacyTagger, tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        varied(problems(*PAIRS), Planted(WORDS), tagger, tmp_path / name, VariationSettings(max_variants=1, seed=3))
        written.append([path.read_bytes() for path in sorted((tmp_path / name).iterdir())])
    assert written[0] == written[1]
    assert len(written[0]) == 2


def test_the_sixth_digit_of_a_probability_is_in_no_byte(tagger: SpacyTagger, tmp_path: Path) -> None:
    """As other numbers of threads give it."""
    written = []
    for more in (1, 1 + 4e-6, 1 - 4e-6):
        likely = {word: {new: p * more for new, p in liked.items()} for word, liked in WORDS.items()}
        made, _ = varied(problems(*PAIRS), Planted(likely), tagger, tmp_path)
        written.append([made.path.read_bytes(), stages_path(made.path).read_bytes()])
    assert written[0] == written[1] == written[2]


def test_chunks_change_nothing_but_the_calls(
    tagger: SpacyTagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, calls = [], []
    for chunk in (256, 1):
        monkeypatch.setattr(builder, "CHUNK", chunk)
        planted = Planted(WORDS)
        varied(problems(*PAIRS), planted, tagger, tmp_path)
        written.append([path.read_bytes() for path in sorted(tmp_path.iterdir())])
        calls.append(len(planted.asked))
    assert written[0] == written[1]
    assert calls == [1, 3]


def test_a_slot_is_asked_once_a_chunk(tagger: SpacyTagger, tmp_path: Path) -> None:
    premise = PAIRS[0][0]
    planted = Planted(WORDS)
    varied(problems((premise, "The dog is tired."), (premise, "The dog is awake.")), planted, tagger, tmp_path)
    (asked,) = planted.asked
    assert [slot.text for slot in asked].count(premise) == 1
    assert len(asked) == len(set(asked)) == 3


def test_productive_seeds_are_sampled_and_the_sample_has_a_seed(tagger: SpacyTagger, tmp_path: Path) -> None:
    planted = Planted({"dog": dict.fromkeys(ANIMALS.split(), 0.05)})

    def drawn(most: int, seed: int = 0) -> list[str]:
        made, suite = varied(
            problems(PAIRS[0]), planted, tagger, tmp_path, VariationSettings(max_variants=most, seed=seed)
        )
        assert made.stages[f"at most {most} a seed"].left == made.variants
        return [str(item.factors["replacement"]) for item in variants(suite)]

    everything = drawn(20)
    assert len(everything) > 10
    five = drawn(5)
    assert five == [word for word in everything if word in five]  # in the order in which they are proposed
    assert len(five) == 5
    assert five == drawn(5)
    assert len({tuple(drawn(5, seed)) for seed in range(6)}) > 1


def test_a_sample_does_not_depend_on_other_seeds(tagger: SpacyTagger, tmp_path: Path) -> None:
    planted = Planted({"dog": dict.fromkeys(ANIMALS.split()[:5], 0.05), "girl": {"boy": 0.2}})
    settings = VariationSettings(max_variants=2)
    _, alone = varied(problems(PAIRS[0]), planted, tagger, tmp_path, settings)
    _, together = varied(problems(PAIRS[1], PAIRS[0]), planted, tagger, tmp_path, settings)
    assert [pair for pair in texts(together) if "floor" in pair[0]] == texts(alone)


def test_no_variant_repeats_a_seed_or_another_variant(tagger: SpacyTagger, tmp_path: Path) -> None:
    pairs = (
        PAIRS[0],
        ("A cat sleeps on the floor.", "The cat is tired."),  # a variant of the first, and a later seed
        ("A bird sleeps on the floor.", "The bird is tired."),
    )
    planted = Planted({"dog": {"cat": 0.2, "horse": 0.2}, "bird": {"horse": 0.2}})
    made, suite = varied(problems(*pairs), planted, tagger, tmp_path)
    assert texts(suite) == [("A horse sleeps on the floor.", "The horse is tired.")]
    stage = made.stages["no problem of the file"]
    assert (stage.entered, stage.left) == (3, 1)


def test_a_seed_that_is_repeated_is_read_once_and_counted(tagger: SpacyTagger, tmp_path: Path) -> None:
    again = problem(*PAIRS[0], name="again")
    made, suite = varied(problems(PAIRS[0], again, PAIRS[2]), Planted({}), tagger, tmp_path)
    assert len(suite.items) == 2
    stage = made.stages["not read before"]
    assert (stage.entered, stage.left, stage.examples) == (3, 2, ["again"])


def test_the_counts_stand_next_to_the_file(tagger: SpacyTagger, tmp_path: Path) -> None:
    made, _ = varied(problems(*PAIRS), Planted(WORDS), tagger, tmp_path, VariationSettings(min_ratio=0.5))
    document = json.loads(stages_path(made.path).read_text())
    assert stages_path(made.path).name == "variants.jsonl.stages.json"
    assert (document["proposers"], document["tagger"]) == ([{"name": "planted", "fingerprint": "0"}], tagger.name)
    assert document["variants_by_proposer"] == {"planted": 4}
    assert document["settings"] == {
        "top": 100,
        "min_probability": 0.001,
        "min_ratio": 0.5,
        "max_variants": 20,
        "seed": 0,
        "limit": None,
    }
    assert (document["seeds"], document["seeds_with_variants"], document["variants"]) == (3, 2, 4)
    assert document["variants_by_word_class"] == {"noun": 4, "verb": 0, "adjective": 0, "adverb": 0}
    stages = {stage["stage"]: (stage["in"], stage["out"]) for stage in document["stages"]}
    assert list(stages) == [
        "not read before",
        "open-class word",
        "in both texts",
        "no part of a compound or contraction",
        "regular capitals",
        "capitals where a sentence begins",
        "no singular with a plural verb",
        "one fine tag at every occurrence",
        "one token of the proposer's",
        "capitals that fit",
        "proposed at every occurrence",
        "P(r) >= 0.001",
        "a whole word of letters",
        "not in the texts yet",
        "P(r) > 0.5 P(o)",
        "same word class in the sentence",
        "same fine tag in the sentence",
        "a mass without an article stays one",
        "no part of a compound of several words",
        "persons and genders as the pronouns have them",
        "no problem of the file",
        "at most 20 a seed",
    ]
    # Of dog sleeps floor tired, girl reads book holds, here rains: dog, girl, book. 2 + 1 + 1 replacements, each at
    # two places.
    assert stages["in both texts"] == (10, 3)
    assert stages["one token of the proposer's"] == (3, 3)
    assert stages["capitals that fit"] == (8, 8)
    assert stages["at most 20 a seed"] == (4, 4)
    assert document["nothing_left"] == []


def test_stages_that_nothing_reaches_are_counted_too(tagger: SpacyTagger, tmp_path: Path) -> None:
    made, suite = varied(problems(PAIRS[2]), Planted({}), tagger, tmp_path)
    assert len(suite.items) == 1
    last = list(made.stages)[-1]
    assert (last.name, last.entered, last.left) == ("at most 20 a seed", 0, 0)
    assert [warning.partition(":")[0] for warning in made.stages.warnings()] == [
        "nothing left at the stage 'in both texts'"
    ]


def test_a_proposer_that_finds_nothing_is_said(tagger: SpacyTagger, tmp_path: Path) -> None:
    made, _ = varied(problems(PAIRS[0]), Planted({}, at={}, originals={"dog": None}), tagger, tmp_path)
    assert made.stages.warnings() == [
        'nothing left at the stage "one token of the proposer\'s": 0 of 1 words; dropped, for example: dog (NN)'
    ]


def test_the_limit_takes_the_first_seeds(tagger: SpacyTagger, tmp_path: Path) -> None:
    out = tmp_path / "two.jsonl"
    made = vary(problems(*PAIRS), proposers=[Planted(WORDS)], tagger=tagger, out=out, limit=2)
    assert (made.seeds, made.variants) == (2, 4)


def test_a_stopped_run_leaves_nothing_behind(tagger: SpacyTagger, tmp_path: Path) -> None:
    class Stops(Planted):
        def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        varied(problems(*PAIRS), Stops(WORDS), tagger, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_slot_that_a_proposer_leaves_out_is_its_fault(tagger: SpacyTagger, tmp_path: Path) -> None:
    class Forgets(Planted):
        def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
            yield from list(super().propose(slots, top))[1:]

    with pytest.raises(RuntimeError, match="left 1 slots out"):
        varied(problems(PAIRS[0]), Forgets(WORDS), tagger, tmp_path)


def test_no_seed_at_all_is_reported(tagger: SpacyTagger, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="toy: no seed to vary"):
        vary(problems(PAIRS[0]), proposers=[Planted({})], tagger=tagger, out=tmp_path / "x.jsonl", limit=0)


def test_a_file_that_cannot_be_written_is_reported_before_anything_is_asked(
    tagger: SpacyTagger, tmp_path: Path
) -> None:
    planted = Planted(WORDS)
    with pytest.raises(UserError, match=r"cannot write .*nowhere.*choose another file"):
        vary(problems(*PAIRS), proposers=[planted], tagger=tagger, out=tmp_path / "nowhere" / "x.jsonl")
    assert planted.asked == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the ids of items, which must be compared."""
    monkeypatch.setattr(builder, "CHUNK", 20)
    classes = {"dog": "noun", "cat": "noun"}
    tagger = OtherTags(tags=dict.fromkeys(classes, "NN"), classes=classes)

    def peak(n: int) -> int:
        def read(stages: Stages) -> Iterator[Seed]:
            for number in range(n):
                premise = f"Here number {number} dog sleeps " + "and sleeps " * 40
                yield Seed(f"{number}", (problem(premise, "A dog sleeps"),))

        forgetful = Planted({"dog": {"cat": 0.3}})
        monkeypatch.setattr(forgetful, "asked", deque(maxlen=1))
        seeds = replace(problems(PAIRS[0]), read=read)
        tracemalloc.start()
        made = vary(seeds, proposers=[forgetful], tagger=tagger, out=tmp_path / "many.jsonl")
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert made.variants == n
        return highest

    peak(20)  # what is loaded at the first use
    grown = peak(320) - peak(60)
    # The items of a seed and its variant take 6 KB and more.
    assert grown < 260 * 1000


def test_variants_are_not_varied_again(tagger: SpacyTagger, tmp_path: Path) -> None:
    _, suite = varied(problems(*PAIRS), Planted(WORDS), tagger, tmp_path)
    with pytest.raises(UserError, match="holds variants already"):
        suite_seeds(suite)


def test_words_that_stand_more_than_once_in_a_text_are_counted(tagger: SpacyTagger, tmp_path: Path) -> None:
    pairs = (("A man helps another man.", "The man is helpful."), PAIRS[0])
    made, suite = varied(problems(*pairs), Planted({"man": {"woman": 0.3}, "dog": {"cat": 0.3}}), tagger, tmp_path)
    assert len(texts(suite)) == 2
    assert (made.targets, made.repeated_targets) == (2, 1)
    document = json.loads(stages_path(made.path).read_text())
    assert (document["targets"], document["repeated_targets"]) == (2, 1)
