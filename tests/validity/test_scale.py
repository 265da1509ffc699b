"""Whether scores are fractions or percentages: said by cells and roles, else assumed and said so."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from veridical.errors import UserError
from veridical.validity.analysis import analyse
from veridical.validity.results import Validity
from veridical.validity.roles import Roles
from veridical.validity.table_reading import read_table

FRACTION, PERCENTAGE = 1 - (0.45 - 0.255) / 999 / 0.06, 1 - (0.0045 - 0.0000255) / 999 / 0.000006
"""Kuder-Richardson 21 of 0.1, 0.2, …, 0.8 of 1,000 items, worked out by hand for fractions and for percentages.

The mean is .45 and the mean square .255, the variance of 1 … 8 is 6 (divided by n - 1).
"""


def record(path: Path, cells: list[str], *, percent: tuple[str, ...] = (), long: bool = False) -> Validity:
    rows = [("model", "benchmark", "score"), *((f"m{i}", "lo", cell) for i, cell in enumerate(cells))]
    wide = [("model", "lo"), *((f"m{i}", cell) for i, cell in enumerate(cells))]
    (path / "t.csv").write_text("\n".join(map(",".join, rows if long else wide)) + "\n", encoding="utf-8")
    roles = Roles(benchmarks=("lo",), items={"lo": 1000}, percent=percent)
    return analyse(read_table(path / "t.csv", roles), draws=99).record


def inseparable(shares: list[float]) -> int:
    counts = [round(share * 1000) for share in shares]
    limits = (
        confint_proportions_2indep(b, 1000, a, 1000, compare="diff", method="newcomb")
        for a, b in combinations(counts, 2)
    )
    return sum(low <= 0 <= high for low, high in limits)


@pytest.mark.parametrize(
    ("cells", "percent", "long", "top", "words"),
    [
        ("0.{}%", (), False, 100, "; percentages"),
        ("0.{} %", (), False, 100, "; percentages"),
        ("0.{}%", (), True, 100, "; percentages"),
        ("0.{}", ("lo",), False, 100, "; percentages"),
        ("0.{}", ("lo",), True, 100, "; percentages"),
        ("0.{}", (), False, 1, "; fractions of 1 (assumed: none is above 1)"),
        ("{}0", (), False, 100, "; percentages (assumed: some are above 1)"),
        ("{}0%", (), False, 100, "; percentages"),
    ],
)
def test_reliability_and_ranks_are_of_the_scale_that_cells_or_roles_say(
    tmp_path: Path, cells: str, percent: tuple[str, ...], long: bool, top: int, words: str
) -> None:
    written = [cells.format(i) for i in range(1, 9)]
    found = record(tmp_path, written, percent=percent, long=long)
    shares = [float(cell.rstrip("% ")) / top for cell in written]
    (reliable,), (ranked,) = found.reliabilities, found.rankings
    assert reliable.value == pytest.approx(PERCENTAGE if shares[0] == pytest.approx(0.001) else FRACTION)
    assert ranked.inseparable == inseparable(shares)
    assert reliable.method.endswith(words)
    assert ranked.method.endswith(words)
    assert [note.kind for note in found.quality if note.kind == "scale"] == ["scale"] * ("assumed" in words)


def test_a_column_of_small_percentages_is_at_the_floor(tmp_path: Path) -> None:
    (note,) = [one for one in record(tmp_path, [f"0.{i}%" for i in range(1, 9)]).quality if one.kind == "floor"]
    assert "8 of 8 models are at the floor of 0 to 100" in note.message
    assert not [one for one in record(tmp_path, [f"0.{i}" for i in range(1, 9)]).quality if one.kind == "floor"]


@pytest.mark.parametrize("cells", [["-0.1", *"2345678"], ["101", *"2345678"]])
def test_scores_on_neither_scale_have_no_interval_and_that_is_the_reason(tmp_path: Path, cells: list[str]) -> None:
    found = record(tmp_path, [*cells])
    assert found.reliabilities == ()
    assert found.rankings[0].method == "no interval: neither fractions of 1 nor percentages"


def test_controls_in_percent_and_in_fractions_are_not_averaged(tmp_path: Path) -> None:
    rows = [f"m{i},f{i % 3},{i + 1},{10 + i},0.{i + 1}%,0.{i + 1},{20 + i}" for i in range(8)]
    (tmp_path / "t.csv").write_text("\n".join(("model,family,size,b,low,share,high", *rows)), encoding="utf-8")
    read_table(tmp_path / "t.csv", Roles(benchmarks=("b",), controls=("low", "high")))
    with pytest.raises(UserError, match="'share' is in fractions"):
        read_table(tmp_path / "t.csv", Roles(benchmarks=("b",), controls=("low", "share")))


def test_the_mean_of_two_percentages_is_a_percentage(tmp_path: Path) -> None:
    rows = [f"m{i},lo,0.{i}%\nm{i},lo,0.{i + 2}%" for i in range(8)]
    (tmp_path / "t.csv").write_text("\n".join(("model,benchmark,score", *rows)), encoding="utf-8")
    table = read_table(tmp_path / "t.csv", Roles(duplicates="mean", items={"lo": 10}, benchmarks=("lo",)))
    assert table.column("lo").tolist() == pytest.approx([0.1 + 0.1 * i for i in range(8)])
    assert table.roles.percent == ("lo",)
