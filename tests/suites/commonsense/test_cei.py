"""CEI: rows of our own with some of the columns of data_mixed-signals.csv (CC BY 4.0), and the real scenarios."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import REAL, judged, named, of_file, published, read_csv, write_csv
from veridical.errors import UserError
from veridical.items import Suite
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy

EMOTIONS = {"joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"}
FILE = PUBLISHED / "cei" / "data_mixed-signals.csv"


@pytest.fixture(scope="module")
def real() -> Suite:
    if not (REAL / "cei").is_dir():
        pytest.skip("the public CEI scenarios are not beside the checkout")
    return benchmark(TASKS["cei"], Copy(folder=REAL / "cei")).suite


def test_the_scenario_is_put_and_eight_emotions_are_scored() -> None:
    asked = {item.name: pairs for item, pairs in requests(published("cei").suite)}

    assert asked["mixed-signals 3"][0] == (
        "Situation: The hedge was cut without a word, and the neighbour comes over.\n"
        "Speaker: gardener\nListener: neighbour\n"
        "The speaker says: Lovely and bright in here now, isn't it.\n"
        "Which of these does the speaker feel above all: joy, trust, fear, surprise, sadness, disgust, anger or "
        "anticipation?\nAnswer:",
        " joy",
    )
    assert {text for _, text in asked["mixed-signals 3"]} == {f" {emotion}" for emotion in EMOTIONS}


def test_annotators_are_a_distribution_over_labels_and_their_majority_is_gold() -> None:
    items = named(published("cei").suite)

    assert items["mixed-signals 7"].human == pytest.approx({"joy": 2 / 3, "surprise": 1 / 3})
    assert items["mixed-signals 7"].gold == ("joy",)
    assert items["mixed-signals 7"].factors["agreement"] == "majority"
    assert items["mixed-signals 3"].human == {"anger": 1}
    assert items["mixed-signals 3"].factors["agreement"] == "unanimous"


def test_a_three_way_tie_is_named_and_its_gold_is_the_adjudication() -> None:
    tied = named(published("cei").suite)["mixed-signals 8"]

    assert tied.factors["agreement"] == "split"
    assert tied.gold == ("trust",)
    assert tied.golds.get("majority", ()) == ()
    assert tied.human == pytest.approx({"sadness": 1 / 3, "trust": 1 / 3, "anticipation": 1 / 3})


def test_ties_are_not_judged_by_the_majority() -> None:
    measured = judged(published("cei").suite, lambda item: "trust")

    assert (measured("accuracy").value, measured("accuracy").n_items) == (0.25, 4)
    assert (measured("accuracy", system="majority").value, measured("accuracy", system="majority").n_items) == (0, 3)
    assert measured("accuracy", agreement="split").value == 1


def test_without_the_published_gold_a_tie_has_none_and_keeps_its_distribution(tmp_path: Path) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "gold_standard"} for row in read_csv(FILE)]
    items = named(of_file("cei", write_csv(tmp_path / "data_mixed-signals.csv", rows)).suite)

    assert {name: item.gold for name, item in items.items()} == {
        "mixed-signals 3": ("anger",),
        "mixed-signals 7": ("joy",),
        "mixed-signals 8": (),
    }
    assert len(items["mixed-signals 8"].human) == 3


def test_two_subtypes_may_use_one_id() -> None:
    assert {"mixed-signals 3", "sarcasm-irony 3"} <= set(named(published("cei").suite))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sl_plutchik_primary_ann2": "boredom"}, r"line 2, field 'sl_plutchik_primary_ann2': unknown label 'boredom'"),
        ({"gold_standard": "joy"}, r"line 2, field 'gold_standard': 'joy' is not what most annotators named, 'anger'"),
        ({"gold_standard": "wrath"}, r"line 2, field 'gold_standard': unknown label 'wrath'"),
        ({"sd_utterance": ""}, r"line 2, field 'sd_utterance': it is blank"),
    ],
)
def test_a_row_at_fault_is_named(change: dict[str, str], message: str, tmp_path: Path) -> None:
    rows = read_csv(FILE)
    rows[0] |= change

    with pytest.raises(UserError, match=message):
        of_file("cei", write_csv(tmp_path / "data_mixed-signals.csv", rows))


def test_a_blank_annotation_is_not_a_vote(tmp_path: Path) -> None:
    rows = read_csv(FILE)
    rows[1]["sl_plutchik_primary_ann2"] = ""
    item = named(of_file("cei", write_csv(tmp_path / "data_mixed-signals.csv", rows)).suite)["mixed-signals 7"]

    assert item.human == {"joy": 1}


def test_the_300_real_scenarios_have_the_golds_and_votes_of_their_files(real: Suite) -> None:
    rows = {
        f"{path.stem.removeprefix('data_')} {row['id']}": row
        for path in sorted((REAL / "cei").glob("data_*.csv"))
        for row in read_csv(path)
    }
    items = named(real)

    assert len(rows) == len(items) == 300
    assert {name: item.gold[0] for name, item in items.items()} == {n: r["gold_standard"] for n, r in rows.items()}
    for name, row in rows.items():
        counts = Counter(row[f"sl_plutchik_primary_ann{k}"] for k in (1, 2, 3))
        assert items[name].human == pytest.approx({e: float(Fraction(n, 3)) for e, n in counts.items()})


def test_94_of_the_300_real_scenarios_are_three_way_ties(real: Suite) -> None:
    """The data sheet says 31.3 %."""
    assert Counter(item.factors["agreement"] for item in real.items) == {"split": 94, "majority": 163, "unanimous": 43}
    assert sum(bool(item.golds.get("majority")) for item in real.items) == 206
    assert Counter(item.factors["subtype"] for item in real.items).most_common()[-1][1] == 60
