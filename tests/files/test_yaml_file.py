"""YAML: scalars stay as they are written, and what a document cannot mean is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.files.scalars import decimal_number, truth_value, whole_number
from veridical.files.yaml_file import read_yaml
from veridical.studies.recipe_file import read_recipe
from veridical.validity.roles import read_roles

RETYPED = ("01172", "1:30", "no", "yes", "on", "True", "1_000", "0x10", "0b1", "0o7", "1e3", "1.0e+3", ".5", "1.10")
RETYPED_TOO = (
    "2024-01-01",
    "2024-01-01 10:00:00",
    "'~'",
    '"null"',
    "none",
    ".nan",
    ".inf",
    "=",
    "1,000",
    "0.",
    "12e03",
)


def read(tmp_path: Path, text: str) -> object:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    return read_yaml(tmp_path / "a.yaml")


@pytest.mark.parametrize("scalar", [*RETYPED, *RETYPED_TOO])
def test_what_yaml_would_retype_stays_as_written_as_value_key_and_item(scalar: str, tmp_path: Path) -> None:
    text = scalar.strip("\"'")
    assert read(tmp_path, f"a: {scalar}\nb: [{scalar.replace(',', ';')}]\n{scalar}: c\n") == {
        "a": text,
        "b": [text.replace(",", ";")],
        text: "c",
    }


ABSENT = ("", "~", "null", "Null", "NULL")


@pytest.mark.parametrize("absent", ABSENT)
def test_a_key_without_a_value_has_none_and_an_empty_text_is_a_text(absent: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"a: {absent}\nb: ''\nc: {{d: {absent}, e: \"\"}}\n") == {
        "a": None,
        "b": "",
        "c": {"d": None, "e": ""},
    }


@pytest.mark.parametrize("absent", ABSENT)
def test_an_absent_axis_is_no_axis_in_roles_and_recipes_alike(absent: str, tmp_path: Path) -> None:
    columns = f"{{evidence/a: {absent}, evidence/b: '~', evidence/c: X}}"
    (tmp_path / "roles.yaml").write_text(f"benchmarks: {columns}\noutcomes: {columns}\nfamily: {absent}\n")
    roles = read_roles(tmp_path / "roles.yaml")
    assert roles.axes == {"evidence/b": "~", "evidence/c": "X"}
    assert roles.outcomes == {"evidence/a": "", "evidence/b": "~", "evidence/c": "X"}
    assert roles.family == ""
    (tmp_path / "recipe.yaml").write_text(
        "schema: veridical.recipe/1\nname: small\n"
        f"models: [{{name: smollm2, family: {absent}, billions: {absent}, dtype: {absent}, ours: {absent}}}]\n"
        f"steps: [{{ask: {{suites: [evidence], orders: {absent}, shots: {absent}, mode: {absent}}}, vary: {absent}}},\n"
        f"  {{validity: {{benchmarks: {columns}, outcomes: {columns}, controls: {absent}}}}}]\n"
    )
    recipe = read_recipe(tmp_path / "recipe.yaml")
    validity, ask, (model,) = recipe.steps[1].validity, recipe.steps[0].ask, recipe.models
    assert validity is not None
    assert validity.benchmarks == validity.outcomes == roles.outcomes
    assert validity.controls == ()
    assert (model.family, model.billions, model.dtype, model.ours) == ("", None, None, False)
    assert ask is not None
    assert (ask.orders, ask.shots, ask.mode) == (None, 0, ("loglikelihood",))


@pytest.mark.parametrize("absent", ABSENT[1:])
@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (
            "\nbenchmarks: [a, {}]",
            "line 2: an entry of a list without a value; a text such as ~ or null needs quotation",
        ),
        ("variants: {{a: {}}}", "variants of 'a' must be the name of a column, and has no value"),
        ("items: {{a: {}}}", "items of 'a' must be a whole number from 1 to 1,000,000,000, and has no value"),
        ("jointly: {{a: {}}}", "jointly of 'a' must be a list of benchmarks, and has no value"),
    ],
)
def test_where_an_absent_value_would_mean_nothing_it_is_refused(
    absent: str, roles: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "roles.yaml").write_text(roles.format(absent))
    with pytest.raises(UserError) as error:
        read_roles(tmp_path / "roles.yaml")
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("wrong: ~", "unknown key 'wrong'"),
        ("title: ~\nmodels: ~", "models: is missing"),
        ("steps: [~]", "line 4: an entry"),
    ],
)
def test_an_absent_value_in_a_recipe_hides_no_fault(key: str, words: str, tmp_path: Path) -> None:
    parts = {"models": "models: [{name: smollm2}]", "steps": "steps: [{ask: {suites: [evidence]}}]"}
    rest = [line for name, line in parts.items() if name not in key]
    (tmp_path / "a.yaml").write_text("\n".join(("schema: veridical.recipe/1", "name: small", *rest, key)))
    with pytest.raises(UserError) as error:
        read_recipe(tmp_path / "a.yaml")
    assert words in str(error.value)


ALIASES_OF_ALIASES = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no: 1\nno: 2\n", "line 2: 'no' is named twice"),
        ("a: !!int 5\n", "line 1: the tag"),
        ("a: !!python/object:os.system x\n", "line 1: the tag"),
        ("a: 1\n? [b]\n: 2\n", "line 2: a key must be a text"),
        ("a: &x [1, *x]\n", "line 1: a value that contains itself"),
        ("a: &x {b: 1}\nc: {<<: *x}\n", "line 2: '<<'"),
        ("a: 1\n---\nb: 2\n", "not valid YAML"),
        ("a: [\n", "not valid YAML"),
        ("a: *x\n", "line 1, column 4: not valid YAML: an alias"),
        ("[" * 5000, "YAML"),
        (
            "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40)),
            "too many values",
        ),
    ],
)
def test_what_a_document_cannot_mean_is_refused_with_its_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        read(tmp_path, text)
    assert words in str(error.value)


def test_an_alias_is_the_value_that_it_names(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &x [no, 01]\nb: *x\n") == {"a": ["no", "01"], "b": ["no", "01"]}


def test_counts_and_names_of_roles_are_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "roles.yaml"
    path.write_text("items: {A: 01172}\nbenchmarks: [no, 1e3, 2024-01-01]\ncontrols: {~: }\nmodel: on\n")
    roles = read_roles(path)
    assert roles.items == {"A": 1172}
    assert roles.benchmarks == ("no", "1e3", "2024-01-01")
    assert roles.controls == ("~",)
    assert roles.model == "on"


@pytest.mark.parametrize("count", ["1:30", "1_000", "0x10", "1e3", "12.0", "1,000", "no", "~", "0", "-3", "''", "٣"])
def test_what_is_not_written_as_a_count_is_refused_as_one(count: str, tmp_path: Path) -> None:
    path = tmp_path / "roles.yaml"
    path.write_text(f"items:\n  A: {count}\n", encoding="utf-8")
    with pytest.raises(UserError, match="items of 'A' must be a whole number from 1 to"):
        read_roles(path)


RECIPE = """\
schema: veridical.recipe/1
name: small
models: [{{name: smollm2, family: no, billions: {billions}, ours: {ours}}}]
steps: [{{ask: {{suites: [evidence], orders: {orders}, max_new_tokens: {tokens}}}}}]
"""
SOUND = {"billions": "0.135", "ours": "true", "orders": "~", "tokens": "0064"}


def test_fields_of_a_recipe_are_converted_by_rule(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(RECIPE.format(**SOUND))
    recipe = read_recipe(path)
    assert (recipe.models[0].family, recipe.models[0].billions, recipe.models[0].ours) == ("no", 0.135, True)
    ask = recipe.steps[0].ask
    assert ask is not None
    assert (ask.orders, ask.max_new_tokens) == (None, 64)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"tokens": "1_000"}, "steps[1].ask.max_new_tokens: a whole number in decimal digits is needed"),
        ({"tokens": "1:30"}, "steps[1].ask.max_new_tokens: a whole number"),
        ({"tokens": "12.0"}, "steps[1].ask.max_new_tokens: a whole number"),
        ({"orders": "yes"}, "steps[1].ask.orders: a whole number"),
        ({"billions": "1:30"}, "models[1].billions: a number in decimal digits is needed"),
        ({"billions": ".nan"}, "models[1].billions: a number"),
        ({"ours": "yes"}, "models[1].ours: true or false is needed"),
        ({"ours": "1"}, "models[1].ours: true or false is needed"),
    ],
)
def test_a_field_of_another_kind_is_refused_with_its_place(change: dict[str, str], place: str, tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(RECIPE.format(**{**SOUND, **change}))
    with pytest.raises(UserError) as error:
        read_recipe(path)
    assert place in str(error.value)


def test_rules_of_conversion() -> None:
    assert [whole_number(text) for text in ("0", "01172", "-2", "+5")] == [0, 1172, -2, 5]
    assert [decimal_number(text) for text in ("7.6", "1e3", ".5", "010")] == [7.6, 1000.0, 0.5, 10.0]
    assert (truth_value("true"), truth_value("false")) == (True, False)
    for convert in (whole_number, decimal_number, truth_value):
        for text in ("", " 1", "1_0", "1:30", "0x10", "no", "nan", "inf", "１"):
            with pytest.raises(ValueError, match="needed"):
                convert(text)
