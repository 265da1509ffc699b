"""The suite `imperfective`: what makes its golds true holds, and the checker sees it when it does not."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.suites import imperfective as checker
from tools.suites import leakage
from tools.suites.leakage import FEATURES, partitions, telicity_accuracy
from veridical.errors import UserError
from veridical.items import Item, Suite
from veridical.suites.imperfective import rules
from veridical.suites.imperfective.builder import Group, build_sets, build_suite
from veridical.suites.imperfective.lexicon import LEXICON, Lexicon, TelicEntry, read_lexicon
from veridical.suites.imperfective.sentences import VerbPhrase, fill, inflect, progressive, sentence

Sets = dict[str, dict[Group, Item]]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return read_lexicon()


@pytest.fixture(scope="module")
def sets(lexicon: Lexicon) -> Sets:
    return build_sets(lexicon)


@pytest.fixture(scope="module")
def suite(lexicon: Lexicon) -> Suite:
    return build_suite(lexicon)


def by_group(suite: Suite, group: str) -> dict[str, Item]:
    return {str(item.factors["verb"]): item for item in suite.items if item.factors["group"] == group}


# --- the suite as shipped


def test_every_group_has_one_item_a_verb(suite: Suite) -> None:
    counts = Counter(item.factors["group"] for item in suite.items)
    assert counts["A"] == counts["C"] == counts["completed"] >= 110
    assert counts["B"] == counts["D"] >= 110
    assert set(by_group(suite, "A")) == set(by_group(suite, "C")) == set(by_group(suite, "completed"))
    assert set(by_group(suite, "B")) == set(by_group(suite, "D"))
    assert not set(by_group(suite, "A")) & set(by_group(suite, "B"))


def test_every_telic_class_has_at_least_twenty_verbs(suite: Suite) -> None:
    classes = Counter(item.factors["verb_class"] for item in by_group(suite, "C").values())
    assert set(classes) == {"Creation", "Change_of_State", "Consumption", "Motion_to_Goal"}
    assert min(classes.values()) >= 20
    assert {item.factors["verb_class"] for item in by_group(suite, "D").values()} == {"Activity"}


@pytest.mark.parametrize(
    ("group", "gold", "condition", "telicity"),
    [
        ("A", "False", "interrupted", "telic"),
        ("B", "True", "interrupted", "atelic"),
        ("C", "Unknown", "ambiguous", "telic"),
        ("D", "True", "ambiguous", "atelic"),
        ("completed", "True", "completed", "telic"),
    ],
)
def test_group_fixes_gold_condition_and_telicity(
    suite: Suite, group: str, gold: str, condition: str, telicity: str
) -> None:
    for item in by_group(suite, group).values():
        assert item.gold == (gold,)
        assert item.factors["condition"] == condition
        assert item.factors["telicity"] == telicity
        assert item.labels == ("True", "False", "Unknown")


@pytest.mark.parametrize(("longer", "shorter", "join"), [("A", "C", " "), ("B", "D", " "), ("completed", "C", ", ")])
def test_ambiguous_premise_without_its_stop_begins_the_longer_one(
    suite: Suite, longer: str, shorter: str, join: str
) -> None:
    starts = by_group(suite, shorter)
    for verb, item in by_group(suite, longer).items():
        start = starts[verb].fields["premise"]
        assert start.endswith(".")
        assert start.count(".") == 1
        head, tail = item.fields["premise"][: len(start) - 1], item.fields["premise"][len(start) - 1 :]
        assert head + "." == start
        assert tail.startswith(join)
        assert tail[len(join)].isalpha()
        assert tail.endswith(".")


def test_hypothesis_is_the_premise_in_the_simple_past(suite: Suite) -> None:
    for group in ("C", "D"):
        for item in by_group(suite, group).values():
            premise, hypothesis = item.fields["premise"].split(), item.fields["hypothesis"].split()
            at = premise.index("was")
            assert premise[:at] == hypothesis[:at]
            assert premise[at + 1].rstrip(".").endswith("ing")
            assert premise[at + 2 :] == hypothesis[at + 1 :]


def test_interrupted_items_of_both_telicities_share_their_clauses(suite: Suite, lexicon: Lexicon) -> None:
    texts = {frame.id: frame.text for frame in lexicon.frame}
    uses: dict[str, Counter[str]] = {"A": Counter(), "B": Counter()}
    for group, count in uses.items():
        for item in by_group(suite, group).values():
            frame = str(item.factors["frame"])
            count[frame] += 1
            opening = texts[frame].split("{")[0]
            assert opening in item.fields["premise"]
    assert set(uses["A"]) == set(uses["B"])
    assert len(uses["A"]) >= 40
    assert max((uses["A"] + uses["B"]).values()) <= 6


def test_no_premise_is_asked_twice_and_no_subject_more_than_three_times(suite: Suite, lexicon: Lexicon) -> None:
    premises = [item.fields["premise"] for item in suite.items]
    assert len(set(premises)) == len(premises)
    subjects = Counter(entry.subject for entry in (*lexicon.telic, *lexicon.atelic))
    assert max(subjects.values()) <= 3


def test_sets_are_verbs_and_roles_are_groups(suite: Suite) -> None:
    grouping = suite.grouping()
    assert grouping.name == "verb"
    roles = Counter(tuple(m.role for m in members) for members in grouping.sets().values())
    assert set(roles) == {("A", "C", "completed"), ("B", "D")}
    assert sum(len(members) for members in grouping.sets().values()) == len(suite.items)
    for verb, members in grouping.sets().items():
        hypotheses = {suite.by_id[member.item].fields["hypothesis"] for member in members}
        assert len(hypotheses) == 1, verb


def test_hypothesis_only_input_withholds_the_premise(suite: Suite) -> None:
    assert suite.inputs["hypothesis_only"] == ("hypothesis",)


@pytest.mark.parametrize(
    ("verb", "ing", "past"),
    [
        ("write", "writing", "wrote"),
        ("eat", "eating", "ate"),
        ("swim", "swimming", "swam"),
        ("drive", "driving", "drove"),
        ("weave", "weaving", "wove"),
        ("chisel", "chiselling", "chiselled"),
        ("lay", "laying", "laid"),
        ("spin", "spinning", "spun"),
        ("cling", "clinging", "clung"),
        ("fly", "flying", "flew"),
        ("scurry", "scurrying", "scurried"),
    ],
)
def test_forms_of_irregular_verbs(lexicon: Lexicon, verb: str, ing: str, past: str) -> None:
    (entry,) = [e for e in (*lexicon.telic, *lexicon.atelic) if e.verb == verb]
    assert (entry.verb_phrase.ing, entry.verb_phrase.past) == (ing, past)


@pytest.mark.slow
def test_the_shipped_lexicon_passes_every_check(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # `python -m tools.suites.imperfective` takes all partitions, half a minute of them.
    monkeypatch.setattr(leakage, "partitions", lambda: partitions()[:2])
    assert checker.main() == 0
    assert "fails" not in capsys.readouterr().out


# --- sentence assembly


def test_sentence_joins_a_clause_by_a_space_or_by_its_own_comma() -> None:
    clause = progressive("the carpenter", VerbPhrase("build", "a gazebo"))
    assert sentence(clause) == "The carpenter was building a gazebo."
    assert sentence(clause, "when he died") == "The carpenter was building a gazebo when he died."
    assert sentence(clause, ", and he did it") == "The carpenter was building a gazebo, and he did it."


@pytest.mark.parametrize(
    ("pronoun", "text"), [("he", "he lost his way"), ("she", "she lost her way"), ("it", "it lost its way")]
)
def test_slots_follow_the_subjects_pronoun(pronoun: str, text: str) -> None:
    assert fill("{he} lost {his} way", pronoun) == text  # type: ignore[arg-type]


def test_unknown_slot_is_refused() -> None:
    with pytest.raises(ValueError, match="slot other than"):
        fill("{they} left", "he")


def test_inflector_is_asked_for_the_penn_tag() -> None:
    assert (inflect("run", "VBG"), inflect("run", "VBD")) == ("running", "ran")


# --- planted faults that reading refuses


def planted(tmp_path: Path, change: Callable[[str], str]) -> Path:
    text = LEXICON.read_text(encoding="utf-8")
    changed = change(text)
    assert changed != text
    path = tmp_path / "planted.toml"
    path.write_text(changed, encoding="utf-8")
    return path


ENTRY = """
[[telic]]
verb = "{verb}"
class = "Change_of_State"
subject = "the chef"
pronoun = "he"
object = "{object}"
frame = "{frame}"
completion = "and he managed it"
judgements = {{ in_an_hour = {inside}, for_an_hour = false, progressive_entails_past = false, \
singular_count_object = true }}
"""


def telic(verb: str = "ossify", object: str = "a bone", frame: str = "beam", inside: str = "true") -> str:
    return ENTRY.format(verb=verb, object=object, frame=frame, inside=inside)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (telic("cool", "the soup", inside="false"), ("cool", "judgements.in_an_hour")),
        (telic(object="bones"), ("ossify", "determiner")),
        (telic(frame="no_such_frame"), ("ossify", "frame", "no_such_frame")),
        (telic("build"), ("two entries", "build")),
        (telic().replace("pronoun", "pronuon"), ("ossify", "pronuon", "unknown field")),
        (telic().replace('"Change_of_State"', '"Change"'), ("ossify", "class")),
        ('[[frame]]\nid = "x"\ntext = "when {they} left"\nrules_out = "y"\n', ("[[frame]]", "(x)", "text", "slot")),
        ('[[frame]]\nid = "beam"\ntext = "when it ended"\nrules_out = "y"\n', ("twice", "beam")),
        ("[[telic\n", ("TOML",)),
    ],
)
def test_faulty_entry_is_refused_by_file_entry_and_field(tmp_path: Path, extra: str, words: tuple[str, ...]) -> None:
    path = planted(tmp_path, lambda text: text + extra)
    with pytest.raises(UserError) as caught:
        read_lexicon(path)
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_atelic_entry_judged_to_culminate_is_refused(tmp_path: Path) -> None:
    old = "in_an_hour = false, for_an_hour = true"
    path = planted(tmp_path, lambda text: text.replace(old, "in_an_hour = true, for_an_hour = true", 1))
    with pytest.raises(UserError, match=r"\[\[atelic\]\] number 1 \(fly\): judgements.in_an_hour"):
        read_lexicon(path)


def test_missing_lexicon_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none.toml: cannot be read"):
        read_lexicon(tmp_path / "none.toml")


# --- planted faults that the checker finds


def failing(findings: list[rules.Finding]) -> set[str]:
    return {finding.check for finding in findings if finding.fails}


def with_telic(lexicon: Lexicon, change: Callable[[TelicEntry], TelicEntry]) -> Lexicon:
    return lexicon.model_copy(update={"telic": tuple(change(entry) for entry in lexicon.telic)})


def test_completion_that_repeats_the_verb_is_found(lexicon: Lexicon) -> None:
    def change(entry: TelicEntry) -> TelicEntry:
        return entry.model_copy(update={"completion": "and it was built"}) if entry.verb == "build" else entry

    (finding,) = checker.completions(with_telic(lexicon, change))
    assert finding.fails
    assert finding.found == "build: built"


def test_overused_frame_is_found(lexicon: Lexicon) -> None:
    crowded = iter(range(7))

    def change(entry: TelicEntry) -> TelicEntry:
        return entry.model_copy(update={"frame": "beam"}) if next(crowded, None) is not None else entry

    found = failing(list(checker.frame_balance(with_telic(lexicon, change))))
    assert "uses of a frame, at most" in found
    assert "telic against atelic uses" in found


def test_frame_of_one_telicity_is_found(lexicon: Lexicon) -> None:
    def change(entry: TelicEntry) -> TelicEntry:
        return entry.model_copy(update={"frame": "heart"}) if entry.frame == "landmine" else entry

    assert failing(list(checker.frame_balance(with_telic(lexicon, change)))) == {"frames of one telicity"}


def test_mostly_deadly_frames_are_found(lexicon: Lexicon) -> None:
    deadly = {"rules_out": "the agent dies while the event is going on"}
    changed = lexicon.model_copy(update={"frame": tuple(f.model_copy(update=deadly) for f in lexicon.frame)})
    assert failing(list(checker.frame_balance(changed))) == {"frames that kill"}


def test_overused_subject_is_found(lexicon: Lexicon) -> None:
    changed = with_telic(lexicon, lambda entry: entry.model_copy(update={"subject": "the nurse"}))
    assert failing(list(checker.subject_uses(changed))) == {"uses of a subject, at most"}


def test_telic_entry_that_fails_in_an_hour_is_found(lexicon: Lexicon) -> None:
    def change(entry: TelicEntry) -> TelicEntry:
        if entry.verb != "build":
            return entry
        return entry.model_copy(update={"judgements": entry.judgements.model_copy(update={"in_an_hour": False})})

    (finding,) = checker.judgements(with_telic(lexicon, change))
    assert finding.fails
    assert finding.found == "build"


def test_too_few_verbs_of_a_class_are_found(lexicon: Lexicon) -> None:
    consumption = [entry for entry in lexicon.telic if entry.verb_class == "Consumption"][:10]
    smaller = lexicon.model_copy(update={"telic": tuple(e for e in lexicon.telic if e not in consumption)})
    assert failing(list(checker.verb_counts(smaller))) == {"telic verbs", "verbs of Consumption"}


def test_wrong_form_is_found_by_the_independent_inflector(lexicon: Lexicon) -> None:
    pytest.importorskip("pyinflect")

    def change(entry: TelicEntry) -> TelicEntry:
        forms = entry.forms.model_copy(update={"past": "buildt"})
        return entry.model_copy(update={"forms": forms}) if entry.verb == "build" else entry

    (finding,) = checker.verb_forms(with_telic(lexicon, change))
    assert finding.fails
    assert finding.found == "build VBD: buildt"


def test_absent_inflector_is_said_and_not_held_against_the_suite(
    lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyinflect", None)
    (finding,) = checker.verb_forms(lexicon)
    assert finding.verdict == "skipped"
    assert "not installed" in finding.found


def changed_item(sets: Sets, verb: str, group: Group, **update: object) -> Sets:
    item = sets[verb][group]
    return {**sets, verb: {**sets[verb], group: item.model_copy(update=update)}}


def test_duplicate_premise_is_found(sets: Sets) -> None:
    faulty: Sets = {**sets, "again": sets["build"]}
    (finding,) = rules.duplicates(faulty)
    assert finding.fails
    assert "pergola" in finding.found


def test_wrong_gold_is_found(sets: Sets) -> None:
    (finding,) = rules.golds(changed_item(sets, "build", "C", gold=("True",)))
    assert finding.fails
    assert finding.found == "build C"


def test_broken_prefix_and_second_hypothesis_are_found(sets: Sets) -> None:
    fields = {"premise": "The carpenter was building a shed when he died.", "hypothesis": "He built it."}
    faulty = changed_item(sets, "build", "A", fields=fields)
    (prefix,), (hypothesis,) = rules.prefixes(faulty), rules.hypotheses(faulty)
    assert (prefix.found, hypothesis.found) == ("build A", "build")


def test_missing_item_is_found(sets: Sets) -> None:
    faulty: Sets = {**sets, "build": {"A": sets["build"]["A"]}}
    (finding,) = rules.shapes(faulty)
    assert finding.found == "build"


def test_unequal_lengths_are_found(sets: Sets, lexicon: Lexicon) -> None:
    longer = with_telic(lexicon, lambda e: e.model_copy(update={"phrase": "one day in the hot summer of 1976"}))
    assert failing(list(checker.lengths(build_sets(longer)))) == {"mean words, A and B", "mean words, C and D"}


@pytest.mark.slow
def test_surface_cue_for_telicity_is_found(lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leakage, "partitions", lambda: partitions()[:2])
    cued = with_telic(lexicon, lambda entry: entry.model_copy(update={"phrase": "towards completion"}))
    findings = list(checker.leakage(build_sets(cued)))
    assert len(findings) == 12
    assert all(finding.fails for finding in findings)


@pytest.mark.parametrize("features", FEATURES, ids=lambda features: features.name)
def test_leakage_of_a_planted_word_is_total_and_of_none_is_chance(features: object) -> None:
    telic = [k % 2 == 0 for k in range(80)]
    groups = [str(k // 2) for k in range(80)]
    cued = [f"{'zebra' if t else 'tulip'} stood there" for t in telic]
    same = ["it stood there"] * 80
    assert telicity_accuracy(cued, telic, groups, features) == 1.0  # type: ignore[arg-type]
    assert telicity_accuracy(same, telic, groups, features) == 0.5  # type: ignore[arg-type]


def test_one_letter_word_is_seen_by_the_word_classifier() -> None:
    telic = [k % 2 == 0 for k in range(80)]
    cued = [f"it had {'a' if t else 'the'} cart" for t in telic]
    bare = [text.replace(" the", "") for text in cued]
    (words,) = [features for features in FEATURES if features.analyzer == "word"]
    groups = [str(k // 2) for k in range(80)]
    assert telicity_accuracy(cued, telic, groups, words) == 1.0
    assert telicity_accuracy(bare, telic, groups, words) == 1.0


def test_leakage_is_cut_by_five_and_ten_folds_stratified_and_not() -> None:
    kinds = Counter((type(cut).__name__, cut.get_n_splits(), cut.shuffle) for cut in partitions())
    assert kinds == {
        (kind, folds, shuffled): 1
        for kind in ("GroupKFold", "StratifiedGroupKFold")
        for folds in (5, 10)
        for shuffled in (False, True)
    }


def test_failing_check_gives_exit_status_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = rules.Finding("verbs", "3", ">= 110", "fails")
    monkeypatch.setattr(checker, "check", lambda lexicon: [fault])
    assert checker.main() == 1
    assert "fails" in capsys.readouterr().out


def test_unreadable_lexicon_gives_exit_status_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> Lexicon:
        raise UserError("lexicon at fault")

    monkeypatch.setattr(checker, "read_lexicon", refuse)
    assert checker.main() == 1
    assert "lexicon at fault" in capsys.readouterr().out
