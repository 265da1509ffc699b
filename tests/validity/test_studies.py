"""A folder of runs as a table of scores, with a table of models beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import veridical as vd
from tests.runs.toy import ToyModel, toy_suite
from veridical.errors import UserError
from veridical.validity.analysis import default_out, validity
from veridical.validity.roles import Roles
from veridical.validity.studies import read_study

N = 9


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "study"
    models = [ToyModel(name=f"hf/toys/Net{'ABC'[i % 3]}-{i + 1}b", weights=f"w{i}") for i in range(N)]
    vd.run(toy_suite(), model=models, prompts="plainly", inputs=[], out=out)
    return out


def test_models_are_suggested_first_and_nothing_is_computed_on_a_guess(study: Path) -> None:
    file = study / "validity" / "models.csv"
    file.unlink(missing_ok=True)
    with pytest.raises(UserError, match=r"models\.csv is written: families and sizes are suggestions"):
        validity(study)
    suggested = pl.read_csv(file)
    assert dict(suggested.select("model", "family").iter_rows())["hf/toys/NetB-2b"] == "NetB"
    assert set(suggested["family"]) == {"NetA", "NetB", "NetC"}
    # The number of parameters that the model itself told, not the one in its name.
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


def test_measures_are_columns_and_the_table_of_models_may_hold_outcomes(described: Path) -> None:
    scores = read_study(described)
    analysis = validity(described, outcomes=["goal"], benchmarks=["toy/accuracy"], draws=99)
    assert analysis.record.models == N
    column = analysis.table.column("toy/accuracy")
    told = {
        one.model: one.value
        for one in vd.open_study(described).records
        if one.measure == "accuracy" and not one.slice and one.against is None and one.answerer == "model"
        if one.input == "full"
    }
    assert dict(zip(analysis.table.models, column, strict=True)) == told
    # Every set has two items, so the mean over sets is accuracy itself.
    np.testing.assert_allclose(scores.answers["toy/accuracy"].mean(axis=1), column)
    assert analysis.record.rankings[0].method == "bootstrap over 12 sets, the same for every model"
    assert [one.column for one in analysis.record.reliabilities] == ["toy/accuracy"]
    assert default_out(described) == described / "validity"


def test_measures_of_sets_stand_beside_the_accuracy_of_the_same_answers(described: Path) -> None:
    scores = read_study(described)
    assert scores.roles(Roles()).variants == {
        name: "toy/accuracy"
        for name in scores.raw.frame.columns
        if name in {f"toy/{measure}" for measure in ("set_accuracy", "worst_of_set", "pair_consistency")}
    }
    assert "toy/set_accuracy" in scores.roles(Roles()).variants


def test_a_model_that_is_not_in_the_table_is_named(described: Path) -> None:
    file = described / "validity" / "models.csv"
    lines = [line for line in file.read_text().splitlines() if "NetC-9b" not in line]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"models\.csv: no row for hf/toys/NetC-9b"):
        validity(described)
