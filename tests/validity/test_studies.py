"""A folder of runs as a table of scores, with a table of models beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import veridical as vd
from tests.runs.toy import ToyModel, toy_suite
from veridical.errors import UserError
from veridical.items import Grouping, Item, Member, Suite
from veridical.studies.scores import StudyScores, read_study
from veridical.studies.validity import default_out, validity
from veridical.validity.reading import Raw
from veridical.validity.roles import Roles

N = 9


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "study"
    models = [ToyModel(name=f"hf/toys/Net{'ABC'[i % 3]}-{i + 1}b", weights=f"w{i}") for i in range(N)]
    vd.run(toy_suite(), model=models, prompts="plainly", inputs=[], out=out)
    return out


@pytest.mark.slow
def test_models_are_suggested_first_and_nothing_is_computed_on_a_guess(study: Path) -> None:
    file = study / "validity" / "models.csv"
    file.unlink(missing_ok=True)
    with pytest.raises(UserError, match=r"models\.csv is written: families and sizes are suggestions"):
        validity(study)
    suggested = pl.read_csv(file)
    assert dict(suggested.select("model", "family").iter_rows())["hf/toys/NetB-2b"] == "NetB"
    assert set(suggested["family"]) == {"NetA", "NetB", "NetC"}
    # The number of parameters that the model itself gives, not the one in its name.
    assert set(suggested["size"]) == {1_000}


@pytest.fixture
def described(study: Path) -> Path:
    """The study with a table of models in which sizes are put right and an outcome is added."""
    file = study / "validity" / "models.csv"
    if not file.is_file():
        with pytest.raises(UserError):
            read_study(study)
    table = pl.read_csv(file).with_columns(
        size=pl.Series([float(i + 1) for i in range(N)]), goal=pl.Series([0.1 * ((i * 4) % N) for i in range(N)])
    )
    table.write_csv(file)
    return study


@pytest.mark.slow
def test_measures_are_columns_and_the_table_of_models_may_hold_outcomes(described: Path) -> None:
    scores = read_study(described)
    analysis = validity(described, outcomes=["goal"], benchmarks=["toy/accuracy"], draws=99)
    assert analysis.record.models == N
    column = analysis.table.column("toy/accuracy")
    expected = {
        one.model: one.value
        for one in vd.open_study(described).records
        if one.measure == "accuracy" and not one.slice and one.against is None and one.answerer == "model"
        if one.input == "full"
    }
    assert dict(zip(analysis.table.models, column, strict=True)) == expected
    # Every set has two items, so the mean over sets is accuracy itself.
    np.testing.assert_allclose(scores.answers["toy/accuracy"].mean(axis=1), column)
    assert analysis.record.rankings[0].method == "bootstrap over 12 sets, the same for every model"
    assert [one.column for one in analysis.record.reliabilities] == ["toy/accuracy"]
    assert default_out(described) == described / "validity"


def test_measures_of_sets_stand_next_to_the_accuracy_of_the_same_answers(described: Path) -> None:
    scores = read_study(described)
    roles = scores.roles(Roles(outcomes={"goal": ""}))
    assert roles.variants == {
        f"toy/{measure}": "toy/accuracy"
        for measure in ("set_accuracy", "worst_of_set", "pair_consistency[pair=A&C]", "pair_consistency[pair=B&D]")
    }
    assert "toy/label_mass" in scores.measures
    assert set(roles.predictors) == {"toy/accuracy", *roles.variants}
    # What is to be predicted is no benchmark as well.
    assert "toy/set_accuracy" not in scores.roles(Roles(outcomes={"toy/set_accuracy": ""})).predictors


def test_a_measure_of_sets_may_be_an_outcome(described: Path) -> None:
    analysis = validity(described, outcomes=["toy/set_accuracy"], benchmarks=["toy/accuracy"], draws=99)
    assert list(analysis.record.outcomes) == ["toy/set_accuracy"]
    # The parts of the outcome, which nobody named, are left out and said.
    assert "toy/accuracy" in analysis.record.benchmarks
    assert not [name for name in analysis.record.columns if "pair_consistency[" in name]
    left_out = {note.where[0] for note in analysis.record.quality if note.kind == "composite"}
    assert {f"toy/pair_consistency[pair={pair}]" for pair in ("A&C", "B&D")} <= left_out


def seeds_and_variants() -> Suite:
    """The toy's sets as seeds, each with two variants."""
    toy = toy_suite(4)
    seeds = [item for item in toy.items if item.factors["group"] in "AB"]
    items, members = [], []
    for number, seed in enumerate(seeds):
        for role in ("seed", "variant", "variant"):
            text = f"{seed.fields['premise']} {role} {len(items)}"
            fields = {**seed.fields, "premise": text}
            item = Item(fields=fields, choices=seed.choices, gold=seed.gold, factors={"word_class": "noun"})
            items.append(item)
            members.append(Member(set=f"s{number}", item=item.id, role=role))
    groupings = (Grouping(name="seed", members=tuple(members)),)
    return toy_suite(4, name="swaps", measures="merge", items=tuple(items), groupings=groupings)


@pytest.mark.slow
def test_sv_is_a_column_at_half_and_at_all_of_the_variants(tmp_path: Path) -> None:
    models = [ToyModel(name=f"hf/toys/Net{'ABC'[i % 3]}-{i + 1}b", weights=f"w{i}") for i in range(8)]
    vd.run(seeds_and_variants(), model=models, prompts="plainly", inputs=[], out=tmp_path)
    with pytest.raises(UserError, match="suggestions"):
        read_study(tmp_path)
    scores = read_study(tmp_path)
    records = vd.open_study(tmp_path).records
    for share in (0.5, 1.0):
        expected = {
            one.model: one.value
            for one in records
            if one.measure == "seed_variant_accuracy" and dict(one.slice) == {"ct": share}
            if one.answerer == "model" and one.against is None and one.input == "full"
        }
        column = scores.raw.frame[f"swaps/seed_variant_accuracy[ct={share}]"].cast(pl.Float64)
        assert dict(zip(scores.raw.frame["model"], column, strict=True)) == expected
    assert [name for name in scores.measures if "[ct=" in name] == [
        "swaps/seed_variant_accuracy[ct=0.5]",
        "swaps/seed_variant_accuracy[ct=1.0]",
    ]


def test_each_measure_of_sets_stands_next_to_its_own_by_item() -> None:
    beside = {
        "evidence/pair_recovery": "evidence/accuracy",
        "paradox/zero-shot/aspectual_awareness_gap": "paradox/zero-shot/accuracy",
        "merge/seed_variant_accuracy[ct=0.5]": "merge/variant_accuracy",
        "paradox/zero-shot/pair_consistency[pair=A&C]": "paradox/zero-shot/accuracy",
    }
    names = (
        *beside,
        *dict.fromkeys(beside.values()),
        "merge/matching_correctness",
        "lone/set_accuracy",
        "merge/label_mass",
    )
    found = StudyScores(Raw("study", pl.DataFrame()), names, {}).roles(Roles())
    assert found.variants == beside
    assert set(found.benchmarks) == set(names) - {"merge/label_mass"}
    assert StudyScores(Raw("study", pl.DataFrame()), names, {}).roles(Roles(benchmarks=("a",))).benchmarks == ("a",)


def test_too_few_models_are_reported_before_a_table_of_them_is_asked_for(tmp_path: Path) -> None:
    models = [ToyModel(name=f"hf/toys/net{i}", weights=f"w{i}") for i in range(3)]
    vd.run(toy_suite(2), model=models, prompts="plainly", inputs=[], out=tmp_path)
    with pytest.raises(UserError, match="runs of 3 models; at least 8"):
        validity(tmp_path)
    assert not (tmp_path / "validity").exists()


@pytest.mark.slow
def test_models_that_were_asked_different_items_are_reported(tmp_path: Path) -> None:
    models = [ToyModel(name=f"hf/toys/Net{'ABC'[i % 3]}-{i + 1}b", weights=f"w{i}") for i in range(8)]
    for asked, limit in ((models[:4], None), (models[4:5], 2), (models[5:], None)):
        vd.run(toy_suite(4), model=asked, prompts="plainly", inputs=[], limit=limit, out=tmp_path)
    with pytest.raises(UserError, match="suggestions"):
        validity(tmp_path)
    notes = {note.where[0]: note.message for note in read_study(tmp_path).notes}
    assert "hf/toys/NetB-5b was asked" in notes["toy/accuracy"]
    assert "not one test for all" in notes["toy/accuracy"]
    assert "toy/accuracy" not in read_study(tmp_path).answers


def test_a_model_that_is_not_in_the_table_is_named(described: Path) -> None:
    file = described / "validity" / "models.csv"
    lines = [line for line in file.read_text().splitlines() if "NetC-9b" not in line]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"models\.csv: no row for hf/toys/NetC-9b"):
        validity(described)
