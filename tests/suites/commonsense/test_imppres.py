"""Implicature and Presupposition: rows of our own in the form of IMPPRES/implicature/quantifiers.jsonl and
IMPPRES/presupposition/change_of_state.jsonl of github.com/facebookresearch/Imppres, and of facebook/imppres on the hub.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import judged, of_file, published, read_jsonl, write_jsonl
from tests.suites.commonsense.test_copies import fake_datasets
from veridical.errors import UserError
from veridical.items import Suite
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy
from veridical.suites.commonsense.tasks.imppres import SCALES

IMPLICATURE = PUBLISHED / "imppres" / "implicature"
PRESUPPOSITION = PUBLISHED / "imppres" / "presupposition"
LABELS = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def implicature() -> Suite:
    return published("implicature", ".").suite


@pytest.fixture(scope="module")
def presupposition() -> Suite:
    return published("presupposition", ".").suite


def test_the_claim_is_put_after_the_premise_and_three_answers_are_scored(implicature: Suite) -> None:
    asked = {(item.fields["premise"], item.fields["hypothesis"]): pairs for item, pairs in requests(implicature)}
    context = (
        "Some lanterns flickered.\nClaim: Not all lanterns flickered.\nIs the claim true, false, or neither?\nAnswer:"
    )

    assert asked["Some lanterns flickered.", "Not all lanterns flickered."] == [
        (context, " true"),
        (context, " neither"),
        (context, " false"),
    ]


def test_a_pair_has_logical_and_pragmatic_gold(implicature: Suite) -> None:
    item = next(
        item
        for item in implicature.items
        if (item.fields["premise"], item.fields["hypothesis"]) == ("Mira watered all beds.", "Mira watered some beds.")
    )

    assert item.golds == {"logical": ("entailment",), "pragmatic": ("contradiction",)}
    assert item.gold == ("contradiction",)


def test_a_logician_and_a_pragmatist_are_distinguished_by_the_gold_system(implicature: Suite) -> None:
    """Each paradigm has six target pairs, on all of which the two readings differ, and six controls, on none."""
    logician = judged(implicature, lambda item: item.golds["logical"][0])
    pragmatist = judged(implicature, lambda item: item.golds["pragmatic"][0])

    assert logician("accuracy", system="logical").value == 1
    assert logician("accuracy", system="pragmatic").value == 0.5
    assert logician("accuracy").value == 0.5  # the pragmatic reading is the task's own
    assert logician("accuracy", item_type="target").value == 0
    assert pragmatist("accuracy", system="pragmatic").value == 1
    assert pragmatist("accuracy", system="logical").value == 0.5
    assert pragmatist("accuracy").value == 1


def test_sets_are_judged_by_each_gold_system(implicature: Suite) -> None:
    logician = judged(implicature, lambda item: item.golds["logical"][0])

    logical = logician("set_accuracy", system="logical")
    assert (logical.value, logical.n_sets) == (1, 3)
    assert logician("set_accuracy", system="pragmatic").value == 0
    assert logician("set_accuracy").value == 0


def test_paradigms_are_found_from_their_sentences(implicature: Suite) -> None:
    """Twelve ordered pairs of four sentences each: two paradigms of quantifiers and one of connectives."""
    sets = implicature.grouping("paradigm").sets()

    assert Counter(len(members) for members in sets.values()) == {12: 3}
    for members in sets.values():
        items = [implicature.by_id[member.item] for member in members]
        assert len({item.fields["premise"] for item in items}) == 4


def test_paradigms_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = read_jsonl(IMPLICATURE / "quantifiers.jsonl")
    mixed = [rows[(7 * place) % len(rows)] for place in range(len(rows))]  # 7 and 24 have no common divisor
    one = of_file("implicature", IMPLICATURE / "quantifiers.jsonl").suite
    other = of_file("implicature", write_jsonl(tmp_path / "quantifiers.jsonl", mixed)).suite

    assert one.content_hash == other.content_hash


def test_one_wrong_answer_costs_its_paradigm(implicature: Suite) -> None:
    wrong = next(item.id for item in implicature.items if item.factors["lexemes"] == "or - and")
    measured = judged(
        implicature,
        lambda item: next(x for x in LABELS if x not in item.gold) if item.id == wrong else item.gold[0],
    )

    assert measured("set_accuracy").value == pytest.approx(2 / 3)
    assert measured("accuracy").value == pytest.approx(35 / 36)


def test_the_hubs_columns_and_numbers_are_read_alike(tmp_path: Path) -> None:
    rows = read_jsonl(IMPLICATURE / "connectives.jsonl")
    for row in rows:
        row["premise"], row["hypothesis"] = row.pop("sentence1"), row.pop("sentence2")
        for name in ("gold_label_log", "gold_label_prag"):
            row[name] = LABELS.index(row[name])
    theirs = of_file("implicature", write_jsonl(tmp_path / "connectives.jsonl", rows)).suite

    assert theirs.content_hash == of_file("implicature", IMPLICATURE / "connectives.jsonl").suite.content_hash


def test_presuppositions_are_sets_by_their_paradigm(presupposition: Suite) -> None:
    sets = presupposition.grouping("paradigm").sets()

    assert {name: len(members) for name, members in sets.items()} == {"change_of_state 0": 11, "change_of_state 1": 11}


def test_a_presupposition_survives_embedding_and_controls_are_marked(presupposition: Suite) -> None:
    gold = {(item.fields["premise"], item.fields["hypothesis"]): item for item in presupposition.items}

    asked = gold["Did the guard stop snoring?", "The guard used to snore."]
    control = gold["Ada didn't stop whistling.", "Ada stopped whistling."]
    assert (asked.gold, asked.factors["embedding"], asked.factors["item_type"]) == (
        ("entailment",),
        "interrogative",
        "target",
    )
    assert (control.gold, control.factors["embedding"], control.factors["item_type"]) == (
        ("contradiction",),
        "negated",
        "control",
    )
    assert "presupposition" not in control.factors


def test_absent_fields_of_the_hub_are_not_factors(tmp_path: Path) -> None:
    rows = read_jsonl(PRESUPPOSITION / "change_of_state.jsonl")
    for row in rows:
        row.pop("control_item", None)
        for name in ("trigger", "trigger1", "trigger2", "presupposition"):
            row.setdefault(name, "Not_In_Example")
        row["gold_label"] = LABELS.index(row["gold_label"])
    theirs = of_file("presupposition", write_jsonl(tmp_path / "change_of_state.jsonl", rows)).suite

    assert theirs.content_hash == published("presupposition", ".").suite.content_hash


def test_the_hubs_parquet_files_are_found_by_their_configuration(tmp_path: Path) -> None:
    folder = tmp_path / "imppres" / "implicature_quantifiers"
    folder.mkdir(parents=True)
    rows = [
        {k: v for k, v in row.items() if k != "sentence1"} | {"premise": row["sentence1"]}
        for row in read_jsonl(IMPLICATURE / "quantifiers.jsonl")
    ]
    pl.DataFrame(rows).write_parquet(folder / "quantifiers-00000-of-00001.parquet")

    assert len(benchmark(TASKS["implicature"], Copy(folder=tmp_path)).suite.items) == 24


def test_every_scale_is_had_from_the_hub_which_names_its_only_split_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """facebook/imppres has, for instance, the one split `modals` in its configuration `implicature_modals`."""
    asked: list[str] = []

    def load(path: str, config: str, split: str | None) -> dict[str, list[dict[str, object]]]:
        assert (path, split) == ("facebook/imppres", None)
        asked.append(config)
        scale = config.removeprefix("implicature_")
        file = IMPLICATURE / f"{scale}.jsonl"
        return {scale: read_jsonl(file) if file.is_file() else []}

    fake_datasets(monkeypatch, load)
    suite = benchmark(TASKS["implicature"], Copy()).suite

    assert asked == [f"implicature_{scale}" for scale in SCALES]
    assert len(suite.items) == 36


@pytest.mark.parametrize(
    ("task", "file", "field"),
    [
        ("implicature", IMPLICATURE / "quantifiers.jsonl", "gold_label_log"),
        ("implicature", IMPLICATURE / "quantifiers.jsonl", "gold_label_prag"),
        ("presupposition", PRESUPPOSITION / "change_of_state.jsonl", "gold_label"),
    ],
)
@pytest.mark.parametrize("label", ["entailed", 3])
def test_an_unknown_label_is_named(task: str, file: Path, field: str, label: object, tmp_path: Path) -> None:
    rows = read_jsonl(file)
    rows[4][field] = label

    with pytest.raises(UserError, match=rf"{file.name}, line 5, field '{field}': unknown label '{label}'"):
        of_file(task, write_jsonl(tmp_path / file.name, rows))
