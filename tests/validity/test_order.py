"""No number depends on the order of a table's rows and columns."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from tests.validity.making import made, planted
from veridical.studies.validity import validity
from veridical.validity.analysis import Analysis, analyse
from veridical.validity.leave_family_out import gains
from veridical.validity.roles import Roles

ROLES = {
    "benchmarks": ("skill:deep", "idle:wide", "poor"),
    "controls": ("check",),
    "outcomes": ("needed:deep", "sized:wide"),
    "variants": ("copy=skill",),
}


def written(tmp_path, order, columns, name: str):
    """A file of ten families, more than are inner folds of their own, all of one size."""
    table = planted(10, 3)
    frame = pl.DataFrame({"model": table.models, "family": table.families, "size": table.size})
    frame = frame.with_columns(pl.Series(name, table.column(name)) for name in ("skill", "idle", "needed", "sized"))
    rng = np.random.default_rng(4)
    extra = {name: table.column("skill") + rng.normal(size=30) for name in ("copy", "poor", "check")}
    frame = frame.with_columns(pl.Series(name, column) for name, column in extra.items())
    path = tmp_path / name / "scores.csv"
    path.parent.mkdir()
    frame[order].select(columns(frame.columns)).write_csv(path)
    return path


def document(analysis: Analysis) -> dict:
    found = json.loads(analysis.record.model_dump_json())
    found.pop("source")
    return found


@pytest.mark.parametrize("named", [True, False])
def test_shuffled_rows_and_columns_give_the_same_document(tmp_path, named) -> None:
    rng = np.random.default_rng(1)
    given = ROLES if named else {"outcomes": ("needed",)}
    first = validity(written(tmp_path, list(range(30)), list, "plain"), **given, draws=99)
    shuffled = written(tmp_path, rng.permutation(30).tolist(), lambda names: rng.permutation(names).tolist(), "other")
    second = validity(shuffled, **given, draws=99)
    assert document(first) == document(second)
    assert first.predictions().equals(second.predictions())


def test_the_sign_of_a_gain_does_not_hang_on_which_family_stands_first() -> None:
    table = planted(12, 3)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(36)
        columns = {name: table.column(name)[order] for name in table.names}
        codes = np.array([int(table.families[row][1:]) for row in order])
        other = made(columns, codes, table.size[order], table.roles)
        for one, two in zip(gains(table, 99, 0)[0], gains(other, 99, 0)[0], strict=True):
            assert one.mae_gain == pytest.approx(two.mae_gain, rel=1e-9)


def test_p_does_not_depend_on_which_benchmark_is_named_first() -> None:
    table = planted(9, 4)
    columns = {name: table.column(name) for name in table.names}
    turned = Roles("model", "family", "size", benchmarks=("idle", "skill"), outcomes={"sized": "", "needed": ""})
    other = made(columns, table.family_codes, table.size, turned)
    first, second = (
        {(one.benchmark, one.outcome): one for one in analyse(of, draws=99).record.gains} for of in (table, other)
    )
    assert {key: one.test for key, one in first.items()} == {key: one.test for key, one in second.items()}
