"""The figures as Vega-Lite specifications."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import altair as alt
import pytest

from tests.report.synthetic import MODELS, Study
from veridical.judge.measure import Measure
from veridical.report.charts import charts
from veridical.report.drawing import series_marks
from veridical.report.presentation import presentation_of
from veridical.report.results import Results
from veridical.suites.imperfective.figures import trade_off_chart
from veridical.suites.imperfective.scale_figure import family_of, scale_chart

PARADOX = presentation_of("imperfective")
SIZES = {MODELS[0]: 134_515_008, MODELS[1]: 1_711_376_384}


@pytest.fixture(scope="module")
def specs(study: Study) -> dict[str, dict[str, Any]]:
    return charts(PARADOX, Results.of(study.measures, study.suite.name, PARADOX), SIZES)


def rows(spec: dict[str, Any], *fields: str) -> Iterator[dict[str, Any]]:
    """The data rows of a specification that have all of `fields`, each once."""
    for values in spec["datasets"].values() if "datasets" in spec else ():
        yield from (row for row in values if all(field in row for field in fields))
    for layer in (spec, *spec["layer"]):
        for row in layer.get("data", {}).get("values", ()):
            if all(field in row for field in fields):
                yield row


def test_every_figure_is_drawn_where_there_is_something_to_draw(specs: dict[str, Any]) -> None:
    assert set(specs) == {"groups", "verb-classes", "trade-off", "scale"}


@pytest.mark.parametrize("name", ["groups", "verb-classes", "trade-off", "scale"])
def test_figure_is_a_valid_vega_lite_specification(specs: dict[str, Any], name: str) -> None:
    alt.Chart.from_dict(specs[name])  # validates against the schema


@pytest.mark.parametrize("name", ["groups", "verb-classes", "trade-off", "scale"])
def test_figure_has_a_title_and_nothing_to_load(specs: dict[str, Any], name: str) -> None:
    assert specs[name]["title"]["text"]
    assert '"url"' not in json.dumps(specs[name])


def domains(spec: dict[str, Any], *channels: str) -> set[tuple[float, ...]]:
    encodings = [layer["encoding"] for layer in spec["layer"]]
    scales = [e[channel].get("scale", {}) for e in encodings for channel in channels if channel in e]
    return {tuple(scale["domain"]) for scale in scales if "domain" in scale}


def test_rates_are_drawn_from_nought_to_one(specs: dict[str, Any]) -> None:
    assert domains(specs["groups"], "y") == {(0, 1)}
    assert domains(specs["verb-classes"], "x") == {(0, 1)}
    assert domains(specs["trade-off"], "x", "y") == {(0, 1)}


def test_points_are_the_measures(study: Study, specs: dict[str, Any]) -> None:
    own = [m for m in study.measures if m.measure == "accuracy" and m.against is None and m.answerer == "model"]
    measured = {
        (m.model, round(m.value or 0, 9), round(m.low or 0, 9), round(m.high or 0, 9))
        for m in own
        if set(m.slice) == {"group"}
    }
    drawn = {
        (row["model"], round(row["value"], 9), round(row["low"], 9), round(row["high"], 9))
        for row in rows(specs["groups"], "value")
        if row["model"] in MODELS
    }
    assert drawn == measured


def partly_answered(group: str, value: float, least: float, most: float) -> Measure:
    key = {"suite": "s", "model": "m", "prompt": "zero-shot", "mode": "generate", "measure": "accuracy"}
    return Measure(**key, slice={"group": group}, value=value, bound_low=least, bound_high=most)


def test_what_was_not_answered_is_drawn_apart_from_wrong() -> None:
    """Of C .40 is right and .60 not ok; of D all is answered, and nothing is right."""
    measures = [partly_answered("C", 0.4, 0.4, 1.0), partly_answered("D", 0.0, 0.0, 0.0)]
    spec = charts(PARADOX, Results.of(measures, "s", PARADOX), {})["groups"]
    (hatched,) = [layer for layer in spec["layer"] if "strokeDash" in layer["mark"]]
    bars = [(row["value"], row["bound_low"], row["bound_high"]) for row in spec["datasets"][hatched["data"]["name"]]]
    assert bars == [(0.4, 0.4, 1.0)]
    assert "not ok" in " ".join(spec["title"]["subtitle"])


def test_nothing_is_hatched_where_all_is_answered() -> None:
    measures = [partly_answered("C", 0.4, 0.4, 0.4), partly_answered("D", 1.0, 1.0, 1.0)]
    spec = charts(PARADOX, Results.of(measures, "s", PARADOX), {})["groups"]
    assert not [layer for layer in spec["layer"] if "strokeDash" in layer["mark"]]
    assert "not ok" not in " ".join(spec["title"]["subtitle"])


def simple(prompt: str, c: float, d: float, model: str = "m") -> list[Measure]:
    key = {"suite": "s", "model": model, "prompt": prompt, "mode": "loglikelihood"}
    return [
        Measure(**key, measure="accuracy", slice={"group": "C"}, value=c),
        Measure(**key, measure="accuracy", slice={"group": "D"}, value=d),
        Measure(**key, measure="tbr", value=1 - c),
    ]


def test_trade_off_lines_start_at_the_zero_shot_point_of_the_same_model() -> None:
    measures = [*simple("zero-shot", 0.02, 0.98), *simple("dap", 0.36, 0.99), *simple("dap", 0.9, 0.9, "other")]
    spec = trade_off_chart(Results.of(measures, "s"))
    assert spec is not None
    lines = {(row["series"], row["d_start"], row["c_start"]) for row in rows(spec, "d_start")}
    # The other model has no zero-shot answers: its line has no length.
    assert lines == {("m · zero-shot", 0.98, 0.02), ("m · dap", 0.98, 0.02), ("other · dap", 0.9, 0.9)}


def test_one_point_is_not_a_trade_off() -> None:
    assert trade_off_chart(Results.of(simple("zero-shot", 0.02, 0.98), "s")) is None


def test_scale_curve_needs_two_models_of_known_size() -> None:
    measures = [*simple("zero-shot", 0.0, 1.0, "small"), *simple("zero-shot", 0.5, 1.0, "large")]
    results = Results.of(measures, "s")
    assert scale_chart(results, {"small": 1_500_000_000}) is None
    spec = scale_chart(results, {"small": 1_500_000_000, "large": 7_000_000_000})
    assert spec is not None
    assert {(row["size"], row["value"]) for row in rows(spec, "size")} == {(1.5e9, 1.0), (7e9, 0.5)}
    assert spec["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"


def test_suite_of_other_measures_has_no_figure() -> None:
    measure = Measure(suite="s", model="m", prompt="p", mode="loglikelihood", measure="seed_accuracy", value=0.5)
    assert charts(PARADOX, Results.of([measure], "s", PARADOX), {}) == {}


def test_specifications_are_strict_json_of_vega_lite(specs: dict[str, dict[str, Any]]) -> None:
    assert sorted(specs) == ["groups", "scale", "trade-off", "verb-classes"]
    for spec in specs.values():
        json.dumps(spec, allow_nan=False)
        assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("hf/Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-Instruct"),
        ("hf/Qwen/Qwen2.5-0.5B-Instruct", "Qwen2.5-Instruct"),
        ("hf/EleutherAI/pythia-70m", "pythia"),
        ("hf/EleutherAI/pythia-1.4b-deduped", "pythia-deduped"),
        ("smollm2", "smollm2"),
        ("gguf/folder/7B", "7B"),
        ("hf/google/gemma-2-9b-it", "gemma-2-it"),
        ("hf/org/model-v1b2", "model-v1b2"),
    ],
)
def test_family_is_the_name_without_its_size(name: str, family: str) -> None:
    assert family_of(name) == family


def test_scale_curve_joins_models_of_one_family_alone() -> None:
    sizes = {"hf/a/one-1B": 10**9, "hf/a/one-7B": 7 * 10**9, "hf/b/two-3B": 3 * 10**9}
    measures = [one for name in sizes for one in simple("zero-shot", 0.5, 1.0, name)]
    spec = scale_chart(Results.of(measures, "s"), sizes)
    assert spec is not None
    line = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "line")
    assert {one["field"] for one in line["encoding"]["detail"]} == {"setting", "family"}
    families = {row["model"]: row["family"] for row in rows(spec, "size")}
    assert families == {"hf/a/one-1B": "one", "hf/a/one-7B": "one", "hf/b/two-3B": "two"}


@pytest.mark.parametrize("n", [2, 6, 7, 20, 30])
def test_no_two_models_are_drawn_alike(n: int) -> None:
    measures = [one for i in range(n) for one in simple("zero-shot", 0.5, 1.0, f"m{i}")]
    colour, shape = (one.to_dict() for one in series_marks(Results.of(measures, "s")))
    colours = dict(zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True))
    shapes = dict(zip(shape["scale"]["domain"], shape["scale"]["range"], strict=True))
    by_series = colour["field"] == "series"
    names = [f"m{i} · zero-shot" if by_series else f"m{i}" for i in range(n)]
    looks = {(colours[name] if by_series else "", shapes[name]) for name in names}
    assert len(looks) == n
