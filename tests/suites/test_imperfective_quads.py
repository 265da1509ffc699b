"""The suite `imperfective-quads`: what its items say, what its reader refuses, what its checker catches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.suites.imperfective_quads import (
    Cue,
    duplicate_texts,
    is_bare,
    quadruples,
    surface_cues,
    unshared_words,
    variety_faults,
    violations,
)
from tools.suites.leakage import Spread
from veridical.errors import UserError
from veridical.items import Grouping, Item, Member, Suite
from veridical.suites.imperfective.quads import (
    ROLES,
    Quad,
    TelicityJudgement,
    build_item,
    build_suite,
    load_quads,
    read_lexicon,
)
from veridical.suites.imperfective.sentences import Forms

KITE = """
version = "0"

[[quad]]
id = "sew-kite"
verb = "sew"
subject = "The captain"
pronoun = "she"
telic = "a kite"
atelic = "under a lamp"
interruption = "when she fell ill and died"
rules_out = "died"
verb_class = "Creation"
telicity_by = "object"
in_an_hour = { telic = true, atelic = false }
for_an_hour = { telic = false, atelic = true }
"""


@pytest.fixture
def kite(tmp_path: Path) -> Quad:
    return read_lexicon(written(tmp_path, KITE)).quad[0]


def written(folder: Path, text: str) -> Path:
    path = folder / "quads.toml"
    path.write_text(text, encoding="utf-8")
    return path


def suite_of(quad: Quad, **replaced: Item) -> Suite:
    """The four items of one entry, some of them replaced by role, past the builder's own guarantees."""
    items = {role.name: build_item(quad, role) for role in ROLES} | replaced
    members = tuple(Member(set=quad.id, item=item.id, role=name) for name, item in items.items())
    whole = build_suite([quad], "0")
    return whole.model_copy(
        update={"items": tuple(items.values()), "groupings": (Grouping(name="quad", members=members),)}
    )


def of_sets(found: list[str]) -> list[str]:
    """The faults of single quadruples, without those of the suite's size."""
    return [fault for fault in found if fault.startswith("sew-kite: ")]


def test_shipped_suite_keeps_every_promise() -> None:
    assert violations(read_lexicon().quad, load_quads()) == []


def test_shipped_suite_is_quadruples_in_lexicon_order() -> None:
    suite, quads = load_quads(), read_lexicon().quad
    sets = suite.grouping("quad").sets()
    assert list(sets) == [quad.id for quad in quads]
    assert all([member.role for member in members] == ["A", "B", "C", "D"] for members in sets.values())
    assert len(suite.items) == 4 * len(quads) >= 4 * 72
    assert suite.name == "imperfective-quads"
    assert suite.labels == ("True", "False", "Unknown")


def test_four_items_say_what_the_entry_says(kite: Quad) -> None:
    texts = {i.factors["group"]: (i.fields["premise"], i.fields["hypothesis"], i.gold) for i in suite_of(kite).items}
    assert texts == {
        "A": (
            "The captain was sewing a kite when she fell ill and died.",
            "The captain sewed a kite.",
            ("False",),
        ),
        "B": (
            "The captain was sewing under a lamp when she fell ill and died.",
            "The captain sewed under a lamp.",
            ("True",),
        ),
        "C": ("The captain was sewing a kite.", "The captain sewed a kite.", ("Unknown",)),
        "D": ("The captain was sewing under a lamp.", "The captain sewed under a lamp.", ("True",)),
    }


def test_factors_name_the_two_crossed_conditions(kite: Quad) -> None:
    (interrupted_atelic,) = (i for i in suite_of(kite).items if i.name == "sew-kite-B")
    assert interrupted_atelic.factors == {
        "group": "B",
        "telicity": "atelic",
        "verb_class": "Creation",
        "verb": "sew",
        "condition": "interrupted",
        "telicity_by": "object",
        "n_words": 13,
    }


def test_bare_verb_is_an_atelic_complement(kite: Quad) -> None:
    bare = kite.model_copy(update={"atelic": ""})
    assert {role.name: bare.premise(role) for role in ROLES}["D"] == "The captain was sewing."
    assert of_sets(violations([bare], suite_of(bare))) == []


def test_given_forms_replace_the_inflectors(kite: Quad) -> None:
    other = kite.model_copy(update={"forms": Forms(past="sewed up")})
    assert other.hypothesis(ROLES[0]) == "The captain sewed up a kite."


READING_FAULTS = {
    "not TOML": ("[[quad", "not valid TOML"),
    "no entries": ('version = "0"\n', "field 'quad': it is missing"),
    "no version": (KITE.replace('version = "0"', ""), "field 'version': it is missing"),
    "missing field": (
        KITE.replace('telic = "a kite"\n', "", 1),
        "entry 'sew-kite' (number 1), field 'telic': it is missing",
    ),
    "misspelt field": (KITE.replace("interruption", "interuption"), "field 'interuption': unknown field"),
    "extra field": (KITE + 'colour = "red"\n', "entry 'sew-kite' (number 1), field 'colour': unknown field"),
    "unknown reason": (KITE.replace('"died"', '"paused"'), "field 'rules_out': 'paused' is not one of"),
    "unknown class": (KITE.replace('"Creation"', '"Activity"'), "field 'verb_class': 'Activity' is not one of"),
    "half a judgement": (
        KITE.replace("{ telic = true, atelic = false }", "{ telic = true }"),
        "field 'in_an_hour.atelic': it is missing",
    ),
    "empty subject": (KITE.replace('"The captain"', '""'), "field 'subject': the text is empty"),
    "no verb": (KITE.replace('"sew"', '""'), "entry 'sew-kite' (number 1), field 'verb'"),
    "same id twice": (
        KITE + KITE[KITE.index("[[quad]]") :],
        "entry 'sew-kite' (number 2), field 'id': used before",
    ),
}


@pytest.mark.parametrize(("text", "fault"), READING_FAULTS.values(), ids=READING_FAULTS)
def test_reader_names_file_entry_and_field(tmp_path: Path, text: str, fault: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as refused:
        read_lexicon(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert fault in str(refused.value)
    assert "\n" not in str(refused.value)


def test_missing_file_is_the_users_fault(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.toml: cannot be read"):
        read_lexicon(tmp_path / "nowhere.toml")


def test_repeated_item_is_the_users_fault(tmp_path: Path) -> None:
    twin = KITE[KITE.index("[[quad]]") :].replace("sew-kite", "sew-kite-again")
    with pytest.raises(UserError, match="the same content"):
        load_quads(written(tmp_path, KITE + twin))


ENTRY_FAULTS = {
    "complements are one": ({"atelic": "a kite"}, "telic and atelic complement are the same"),
    "complements are far apart": (
        {"atelic": "under a lamp in the old part of the town"},
        "9 words of one complement are not in the other; at most 4 may differ",
    ),
    "a death is not recorded": (
        {"rules_out": "abandoned"},
        "the interruption says 'died', 'rules_out' is 'abandoned', not 'died'",
    ),
    "telic phrase is atelic": (
        {"for_an_hour": TelicityJudgement(telic=True, atelic=True)},
        "the telic verb phrase must pass 'in an hour' and fail 'for an hour'",
    ),
    "atelic phrase is telic": (
        {"in_an_hour": TelicityJudgement(telic=True, atelic=True)},
        "the atelic verb phrase must fail 'in an hour' and pass 'for an hour'",
    ),
    "form is wrong": ({"forms": Forms(past="sewd")}, "VBD of 'sew' is 'sewd'"),
    "interruption repeats the verb": (
        {"interruption": "when she died, and nobody sewed again"},
        "the interruption repeats the verb: sewed",
    ),
    "pronoun changes": ({"interruption": "when he fell ill and died"}, "pronoun he in the interruption"),
    "interruption has its own full stop": (
        {"interruption": "when she died."},
        "must begin with 'when' and have no full stop",
    ),
    "interruption is not a when clause": ({"interruption": "until she died"}, "must begin with 'when'"),
}


@pytest.mark.parametrize(("update", "fault"), ENTRY_FAULTS.values(), ids=ENTRY_FAULTS)
def test_checker_catches_a_faulty_entry(kite: Quad, update: dict[str, object], fault: str) -> None:
    faulty = kite.model_copy(update=update)
    found = of_sets(violations([faulty], suite_of(faulty)))
    assert any(fault in line for line in found)


def with_premise(item: Item, premise: str) -> Item:
    return item.model_copy(update={"fields": {**item.fields, "premise": premise}})


def test_checker_catches_a_wrong_gold(kite: Quad) -> None:
    wrong = build_item(kite, ROLES[2]).model_copy(update={"gold": ("True",)})
    found = of_sets(violations([kite], suite_of(kite, C=wrong)))
    assert found == ["sew-kite: gold of C is ('True',), not ('Unknown',)"]


def test_checker_catches_an_interruption_that_differs_across_telicity(kite: Quad) -> None:
    other = with_premise(build_item(kite, ROLES[1]), "The captain was sewing under a lamp when she died.")
    found = of_sets(violations([kite], suite_of(kite, B=other)))
    assert found == ["sew-kite: B is not D and the interruption: ' when she died.' follows"]


def test_checker_catches_a_premise_that_is_not_a_prefix(kite: Quad) -> None:
    other = with_premise(build_item(kite, ROLES[2]), "The captain was busy sewing a kite.")
    found = of_sets(violations([kite], suite_of(kite, C=other)))
    assert len(found) == 2
    assert found[0].startswith("sew-kite: A is not C and the interruption")
    assert found[1] == "sew-kite: premise of C is 'The captain was busy sewing a kite.'"


def test_checker_catches_another_subject_in_the_hypothesis(kite: Quad) -> None:
    item = build_item(kite, ROLES[3])
    other = item.model_copy(update={"fields": {**item.fields, "hypothesis": "The pilot sewed under a lamp."}})
    found = of_sets(violations([kite], suite_of(kite, D=other)))
    assert found == ["sew-kite: hypothesis of D is 'The pilot sewed under a lamp.'"]


def test_checker_catches_a_missing_role(kite: Quad) -> None:
    whole = suite_of(kite)
    members = whole.grouping("quad").members[:3]
    cut = whole.model_copy(update={"groupings": (Grouping(name="quad", members=members),)})
    (four,) = quadruples([kite], cut)
    assert set(four.items) == {"A", "B", "C"}
    with pytest.raises(KeyError, match="'D'"):
        violations([kite], cut)


def test_checker_counts_variety(kite: Quad) -> None:
    thrice = [kite.model_copy(update={"id": f"kite-{n}", "atelic": "under a lamp in the yard"}) for n in range(3)]
    assert list(variety_faults(thrice)) == [
        "3 quadruples; at least 70 are promised",
        "1 verbs; at least 50 are promised",
        "1 interruptions; at least 30 are promised",
        "0 quadruples with a bare atelic member; at least 10 are promised",
        "3 quadruples of class Creation; at least 8 are promised",
        "'sew' stands 3 times, more than 2",
        "'The captain' stands 3 times, more than 2",
        "only 0 of 3 quadruples have complements within one word of each other",
        "the agent dies in 3 of 3 quadruples, more than 40%",
    ]


def test_checker_catches_duplicate_texts(kite: Quad) -> None:
    whole = suite_of(kite)
    doubled = whole.model_copy(update={"items": (*whole.items, whole.items[0])})
    assert list(duplicate_texts(doubled)) == [
        "premise stands 2 times: 'The captain was sewing a kite when she fell ill and died.'",
        "hypothesis stands 3 times: 'The captain sewed a kite.'",
    ]


def test_a_planted_cue_is_found_whole(kite: Quad) -> None:
    many = [
        kite.model_copy(update={"id": f"kite-{n}", "subject": f"Captain {n}", "verb": verb})
        for n, verb in enumerate(("sew", "buy", "hide", "sell", "lift", "hold", "paint", "throw", "want", "keep"))
    ]
    cues = surface_cues(quadruples(many, build_suite(many, "0")))
    assert len(cues) == 6
    assert {(cue.accuracy.lowest, cue.gap) for cue in cues} == {(1.0, 1.0)}


def test_gap_of_a_cue_is_what_a_responder_with_that_cue_alone_would_get() -> None:
    """Of ten C and ten D it takes six each for what they are: True to 6 of D and 4 of C, a gap of .6 - .4."""
    assert Cue("", "", Spread(0.6, 0.6, 0.6)).gap == pytest.approx(0.6 - 0.4)


UNSHARED = {
    "a place is left": ("a mural in the hall", "in the hall", (2, 0)),
    "nothing is left": ("a scarf", "", (2, 0)),
    "one preposition for another": ("through the rope", "at the rope", (1, 1)),
    "a preposition is added": ("the Channel", "in the Channel", (0, 1)),
    "the order changes": ("the truck with hay", "hay onto the truck", (2, 2)),
    "nothing is shared": ("a kite", "under that lamp", (2, 3)),
}


@pytest.mark.parametrize(("telic", "atelic", "words"), UNSHARED.values(), ids=UNSHARED)
def test_unshared_words_are_counted_on_either_side(kite: Quad, telic: str, atelic: str, words: tuple[int, int]) -> None:
    quad = kite.model_copy(update={"telic": telic, "atelic": atelic})
    assert unshared_words(quad) == words
    assert is_bare(quad) == (words[1] == 0)


def test_whoever_does_not_read_the_complement_never_gets_both_of_a_pair() -> None:
    """Without the complement A reads as B and C as D, and the golds of the two differ."""
    for four in quadruples(read_lexicon().quad, load_quads()):
        quad, gold = four.quad, {role: item.gold for role, item in four.items.items()}
        for telic, atelic in (("A", "B"), ("C", "D")):
            for field in ("premise", "hypothesis"):
                blind = four.text(field, telic).replace(f" {quad.telic}", "", 1)
                assert blind == four.text(field, atelic).replace(f" {quad.atelic}" if quad.atelic else "", "", 1)
            assert gold[telic] != gold[atelic]


@pytest.mark.slow
def test_surface_gives_little_of_telicity_away() -> None:
    """The mean over partitions stays at .60; one partition of some 160 texts strays by a few texts from its mean."""
    for cue in surface_cues(quadruples(read_lexicon().quad, load_quads())):
        assert cue.accuracy.mean <= 0.60, cue
        assert cue.accuracy.highest <= 0.65, cue
