"""Reading tables, wide and long, and what is said of one that is at fault."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical.errors import UserError
from veridical.studies.validity import validity
from veridical.validity.cells import size_in_name
from veridical.validity.roles import RoleFlags, Roles, read_roles, with_flags
from veridical.validity.table_reading import read_table

ROLES = Roles(benchmarks=("bench",), controls=("check",), outcomes={"goal": ""})


def rows(n: int = 9, families: int = 3) -> list[dict[str, str]]:
    return [
        {
            "model": f"m{i}",
            "family": f"f{i % families}",
            "size": str(i + 1),
            "bench": f"{0.3 + 0.05 * i:.2f}",
            "check": f"{0.2 + 0.03 * ((i * 5) % 9):.2f}",
            "goal": f"{0.1 + 0.07 * ((i * 7) % 9):.2f}",
        }
        for i in range(n)
    ]


def write(path: Path, table: list[dict[str, str]]) -> Path:
    lines = [",".join(table[0]), *(",".join(row.values()) for row in table)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def changed(**cells: str) -> list[dict[str, str]]:
    """The rows with cells of the third changed."""
    table = rows()
    table[2] |= cells
    return table


def test_csv_parquet_json_and_long_tables_are_one(tmp_path) -> None:
    wide = changed(bench="")
    frame = pl.DataFrame(wide)
    write(tmp_path / "a.csv", wide)
    frame.with_columns(
        pl.col("size", "check", "goal").cast(pl.Float64), pl.col("bench").cast(pl.Float64, strict=False)
    ).write_parquet(tmp_path / "a.parquet")
    numbers = [
        {k: float(v) if k in ("bench", "check", "goal") and v else v or None for k, v in r.items()} for r in wide
    ]
    (tmp_path / "a.json").write_text(json.dumps(numbers))
    (tmp_path / "columns.json").write_text(json.dumps({k: [row[k] for row in numbers] for k in wide[0]}))
    long = [
        {"model": r["model"], "family": r["family"], "size": r["size"], "benchmark": name, "score": r[name]}
        for r in wide
        for name in ("bench", "check", "goal")
        if r[name]
    ]
    write(tmp_path / "long.csv", long)
    for name in ("a.csv", "a.parquet", "a.json", "columns.json", "long.csv"):
        table = read_table(tmp_path / name, ROLES)
        assert table.models == tuple(f"m{i}" for i in range(9))
        assert table.family_names == ("f0", "f1", "f2")
        assert table.names == ("bench", "check", "goal")
        np.testing.assert_allclose(table.size, np.arange(1.0, 10))
        assert np.isnan(table.scores[2, 0])
        assert np.isnan(table.scores).sum() == 1
        assert table.column("goal")[1] == 0.59


FAULTS = {
    "few models": (rows(7), {}, "7 models; at least 8"),
    "few families": (rows(9, 2), {}, "2 families (f0, f1); at least 3"),
    "text": (changed(bench="good"), {}, "line 4 (m2), column 'bench': 'good' is not a number"),
    "infinite": (changed(bench="inf"), {}, "line 4 (m2), column 'bench': 'inf' is not a finite number"),
    "a percentage among fractions": (changed(bench="40"), {}, "column 'bench': fractions and percentages mixed"),
    "a letter among sizes": (changed(size="3B"), {}, "column 'size': sizes in mixed units: 3B (m2, line 4) and 1 (m0"),
    "parameters among billions": (changed(size="3000000000"), {}, "sizes in mixed units: 3000000000 (m2, line 4)"),
    "no size": (changed(size="big"), {}, "line 4 (m2), column 'size': 'big' is not a size"),
    "an infinite size": (changed(size="1e999"), {}, "'1e999' is not a size"),
    "families that are models": (rows(), {"family": "model", "model": "model"}, "'model' is the model column and the"),
    "no family": (changed(family=""), {}, "line 4: no family in column 'family'"),
    "a model twice": (changed(model="m0"), {}, "model 'm0' has lines 2 and 4, and they differ"),
    "a control that is an outcome": (rows(), {"controls": ("goal",)}, "'goal' is a control and an outcome"),
    "a benchmark that is an outcome": (rows(), {"benchmarks": ("goal",)}, "'goal' is a benchmark and an outcome"),
    "a benchmark that is a control": (rows(), {"benchmarks": ("check",)}, "'check' is a benchmark and a control"),
    "a size that is a score": (rows(), {"benchmarks": ("size",)}, "'size' is the size column and a score"),
    "an unknown column": (rows(), {"benchmarks": ("bensh",)}, "unknown benchmark in"),
    "each the other's variant": (
        [row | {"other": row["bench"]} for row in rows()],
        {"variants": {"bench": "other", "other": "bench"}},
        "each is the reworked version of the other",
    ),
    "its own variant": (rows(), {"variants": {"bench": "bench"}}, "not a reworked version of itself"),
    "controls in two units": (
        [row | {"other": f"{100 * float(row['check']):.0f}"} for row in rows()],
        {"controls": ("check", "other")},
        "controls are averaged, and 'check' is in fractions",
    ),
}


@pytest.mark.parametrize(("table", "roles", "message"), FAULTS.values(), ids=FAULTS)
def test_what_is_wrong_and_where_is_said_in_one_line(tmp_path, table, roles, message) -> None:
    from dataclasses import replace

    with pytest.raises(UserError) as error:
        read_table(write(tmp_path / "scores.csv", table), replace(ROLES, **roles))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_sizes_at_odds_with_names_are_in_mixed_units(tmp_path) -> None:
    table = [row | {"model": f"org/net{i}-{i + 1}b", "size": str(i + 1)} for i, row in enumerate(rows())]
    assert read_table(write(tmp_path / "a.csv", table), ROLES).size[3] == 4
    table[3]["size"] = "4000"
    with pytest.raises(UserError, match=r"mixed units: 4000 \(org/net3-4b, line 5\)"):
        read_table(write(tmp_path / "b.csv", table), ROLES)


def test_low_percentages_are_taken_where_the_roles_say_so(tmp_path) -> None:
    table = [row | {"bench": str(10 * i + 10)} for i, row in enumerate(rows())]
    table[2]["bench"] = "0.4"
    path = write(tmp_path / "a.csv", table)
    with pytest.raises(UserError, match="fractions and percentages"):
        read_table(path, ROLES)
    from dataclasses import replace

    assert read_table(path, replace(ROLES, percent=("bench",))).column("bench")[2] == 0.4


def test_a_percentage_below_one_among_low_ones_is_not_a_fraction(tmp_path) -> None:
    table = [
        row | {"bench": str(share)} for row, share in zip(rows(), (0.3, 1.9, 8, 15, 20, 31, 40, 66, 74), strict=True)
    ]
    assert read_table(write(tmp_path / "a.csv", table), ROLES).column("bench")[0] == 0.3


def test_a_column_with_values_on_both_sides_of_one_is_not_mixed(tmp_path) -> None:
    table = [row | {"bench": str(0.3 * 2**i)} for i, row in enumerate(rows())]
    assert read_table(write(tmp_path / "a.csv", table), ROLES).column("bench")[1] == 0.6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,family,size,bench,bench\nm,f,1,1,1\n", "names a column twice: 'bench'"),
        ("model,family\nm,f,1\n", "line 2: 3 cells under 2 columns"),
        ("model,family,size\nm,f\n", "line 2: 2 cells under 3 columns"),
        ("model\nm\n", "no table: a header with tabs, commas or semicolons"),
        ("", "empty"),
        ("model,family,size,bench\n", "no rows"),
    ],
)
def test_a_file_that_is_not_a_table(tmp_path, text, message) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "a.csv", ROLES)


def test_a_second_score_in_a_long_table_is_refused(tmp_path) -> None:
    long = [{"model": "m", "benchmark": "bench", "score": "1"}] * 2
    with pytest.raises(UserError, match=r"line 3: model 'm' has a second score on 'bench' \(the first: line 2\)"):
        read_table(write(tmp_path / "a.csv", long), ROLES)


def test_an_identical_second_row_is_left_out_and_said(tmp_path) -> None:
    table = read_table(write(tmp_path / "a.csv", [*rows(), rows()[0]]), ROLES)
    assert len(table.models) == 9
    assert table.dropped == ("m0",)


def test_roles_from_yaml_with_flags_over_them(tmp_path) -> None:
    (tmp_path / "roles.yaml").write_text(
        "benchmarks: {a: social, b: }\noutcomes: {x: social, y: event}\nvariants: {b: a}\n"
        "items: {a: 100}\ncontrols: [c]\n"
    )
    roles = read_roles(tmp_path / "roles.yaml")
    assert roles.predictors == ("a", "b")
    assert roles.axes == {"a": "social"}
    assert roles.items == {"a": 100}
    assert roles.columns == ("a", "b", "c", "x", "y")
    over = with_flags(roles, ["s:a"], RoleFlags(benchmarks=["s:a", "b:event"], outcomes=["z"]))
    assert over.benchmarks == ("s:a", "b")
    assert over.axes["b"] == "event"
    assert dict(over.outcomes) == {"z": ""}
    assert over.controls == ("c",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("benchmark_columns: [a]", "unknown role"),
        ("benchmarks: [a, a]", "'a' is listed 2 times under benchmarks"),
        ("benchmarks: {a: x,\n  a: y}", r"line 2: 'a' is named twice"),
        ("benchmarks: [a]\nbenchmarks: [b]", r"line 2: 'benchmarks' is named twice"),
        ("benchmarks: {a: [x]}", r"benchmarks of 'a' must be one text, and is \['x'\]"),
        ("benchmarks: {a: 1}", r"benchmarks of 'a' must be the name of an axis, or nothing, and is '1'"),
        ("benchmarks: {a: .5, b: social}", r"benchmarks of 'a' must be the name of an axis"),
        ("benchmarks: {a: true}", r"benchmarks of 'a' must be the name of an axis"),
        ("outcomes: {x: 100}", r"outcomes of 'x' must be the name of an axis"),
        ("axes: {a: 1,000}", r"axes of 'a' must be the name of an axis"),
        ("benchmarks: [[a]]", "a name under benchmarks must be one text"),
        ("model: [a]", "model must be one text"),
        ("items: {a: 99999999999999999999}", "items of 'a' must be a whole number"),
        ("items: {a: many}", "items of 'a' must be a whole number"),
        ("- a", "give a mapping"),
        ("a: 1\nb: [", "line 2, column 5: not valid YAML"),
    ],
)
def test_roles_that_are_at_fault(tmp_path, text, message) -> None:
    (tmp_path / "roles.yaml").write_text(text)
    with pytest.raises(UserError, match=message):
        read_roles(tmp_path / "roles.yaml")


def test_a_flag_given_twice_is_refused() -> None:
    with pytest.raises(UserError, match="--benchmark 'a' is given 2 times"):
        with_flags(Roles(), ["a"], RoleFlags(benchmarks=["a", "a"]))
    with pytest.raises(UserError, match="--variant 'a' has 2 originals"):
        with_flags(Roles(), ["a"], RoleFlags(variants=["a=b", "a=c"]))
    with pytest.raises(UserError, match="write REWORKED=ORIGINAL"):
        with_flags(Roles(), ["a"], RoleFlags(variants=["a"]))


def test_families_are_suggested_and_never_assumed(tmp_path) -> None:
    table = [{k: v for k, v in row.items() if k != "family"} for row in rows()]
    table[0]["model"] = "org/Llama-2-7b"
    with pytest.raises(UserError, match=r"suggestions from names .org/Llama-2-7b is Llama"):
        validity(write(tmp_path / "a.csv", table), outcomes=["goal"])


@pytest.mark.parametrize(
    ("name", "size"), [("a/Llama-2-7b-hf", 7e9), ("b/x-350M", 3.5e8), ("c/Mixtral-8x7B", None), ("d/7up", None)]
)
def test_a_size_in_a_name(name, size) -> None:
    assert size_in_name(name) == size
