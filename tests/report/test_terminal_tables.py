"""The tables that a run prints."""

from __future__ import annotations

import re

import polars as pl
import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.report.synthetic import Study, measures_of
from veridical.judge.measure import Measure
from veridical.report.terminal import render


def printed(study: Study, width: int, measures: list[Measure] | None = None, verdicts: tuple[str, ...] = ()) -> str:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(render([study.suite], measures or study.measures, verdicts))
    return capture.get()


@pytest.mark.parametrize("width", [100, 90, 80, 72, 60, 50])
def test_no_line_is_wider_than_the_terminal(study: Study, width: int) -> None:
    lines = printed(study, width, verdicts=("A sentence. " * 20,)).splitlines()
    assert max(map(cell_len, lines)) <= width


def test_wide_terminal_gets_a_hundred_columns(study: Study) -> None:
    assert max(map(cell_len, printed(study, 200, verdicts=()).splitlines())) <= 100


@pytest.mark.parametrize("width", [100, 80])
def test_nothing_is_cut_with_an_ellipsis(study: Study, width: int) -> None:
    assert "…" not in printed(study, width)


def test_output_carries_no_escape_codes_without_colour(study: Study) -> None:
    assert "\x1b" not in printed(study, 100)


def test_every_column_fits_in_a_hundred(study: Study) -> None:
    text = printed(study, 100)
    assert re.search(r"prompt +A +B +C +D +completed +TBR +gap ΔAA +mass +not ok", text)
    assert "Left out" not in text


def test_narrow_terminal_drops_columns_in_the_stated_order_and_says_so(study: Study) -> None:
    assert "Left out at this width: mass, not ok, completed.\n" in printed(study, 76)
    assert "Left out at this width: mass, not ok, completed, intervals.\n" in printed(study, 60)


def hand_made(prompt: str, **more: object) -> list[Measure]:
    key = {"suite": "imperfective", "model": "m", "prompt": prompt, "mode": "loglikelihood", **more}
    groups = {"A": 0.47, "B": 0.85, "C": 0.02, "D": 0.98}
    statuses = {"ok": 98, "unparsed": 2}
    found = [
        Measure(**key, measure="accuracy", slice={"group": g}, value=v, n_sets=100, statuses=statuses)
        for g, v in groups.items()
    ]
    found.append(Measure(**key, measure="tbr", value=0.98, low=0.93, high=0.994, level=0.95))
    found.append(Measure(**key, measure="aspectual_awareness_gap", value=0.0, low=-0.04, high=0.04))
    found.append(Measure(**key, measure="label_mass", value=0.871))
    return found


def test_row_holds_the_measures_of_its_answering(study: Study) -> None:
    text = printed(study, 100, hand_made("zero-shot"))
    numbers = r"\.47 +\.85 +\.02 +\.98 +\.98 \[\.93, \.99\] +\.00 \[−\.04, \.04\] +\.87 +8$"
    assert re.search(rf"^ +zero-shot +{numbers}", text, re.MULTILINE)
    assert "Intervals: 95%." in text
    assert "Not ok: zero-shot: unparsed 8." in text


def test_baselines_stand_below_a_rule(study: Study) -> None:
    measures = [
        *hand_made("", model="baseline", mode="", answerer="always:True"),
        *hand_made("zero-shot", input="hypothesis_only"),
        *hand_made("zero-shot"),
    ]
    lines = [line.strip() for line in printed(study, 100, measures).splitlines()]
    rules = [i for i, line in enumerate(lines) if line.startswith("───")]
    own, always, withheld = (
        next(i for i, line in enumerate(lines) if line.startswith(start))
        for start in ("zero-shot", "always True", "m · hypothesis only")
    )
    assert rules[0] < own < rules[1] < always < withheld


def test_constant_answer_that_repeats_by_prompt_is_one_row(study: Study) -> None:
    measures = [
        *hand_made("zero-shot"),
        *hand_made("zero-shot", answerer="always:True"),
        *hand_made("dap", answerer="always:True"),
    ]
    rows = [line for line in printed(study, 100, measures).splitlines() if line.startswith("always True")]
    assert len(rows) == 1


def test_modes_are_distinguished(study: Study) -> None:
    text = printed(study, 100)
    assert "\nsmollm2\n" in text
    assert "\nsmollm2 · generate\n" in text


def test_prompts_and_models_are_compared(study: Study) -> None:
    text = printed(study, 100)
    assert "Accuracy, group C" in text
    assert re.search(r"^ +dap less zero-shot +[+−]?\d?\.\d\d \[", text, re.MULTILINE)
    assert re.search(r"^ +smollm2 less", text, re.MULTILINE)


def test_agreement_of_models_has_lines_of_its_own(study: Study) -> None:
    text = printed(study, 100)
    below = text.partition("Agreement: share of items with the same label")[2]
    assert re.search(r"^ +smollm2 and hf/example/Larger-1.7B-Instruct +\.\d\d \[\.\d\d, \.\d\d\]", below, re.MULTILINE)


def test_verdicts_come_last(study: Study) -> None:
    assert printed(study, 100, verdicts=("m: answers True.",)).rstrip().endswith("m: answers True.")


def test_markup_in_names_is_printed_as_it_stands(study: Study) -> None:
    text = printed(study, 100, hand_made("[bold red]x[/]", model="[link=a]m"))
    assert "[bold red]x[/]" in text
    assert "[link=a]m" in text


def of_measures(study: Study, name: str) -> Study:
    """The study, with its suite judged by another measure set."""
    return study._replace(suite=study.suite.model_copy(update={"measures": name}))


def test_suite_of_other_measures_gets_a_row_a_measure(study: Study) -> None:
    key = {"suite": "imperfective", "model": "m", "prompt": "p", "mode": "loglikelihood"}
    measures = [
        Measure(**key, measure="balanced_accuracy", value=0.65, low=0.6, high=0.7, n_sets=49, statuses={"ok": 98}),
        Measure(**key, measure="pair_recovery", slice={"kind": "Favors"}, value=None, n_sets=1),
    ]
    text = printed(of_measures(study, "accuracy"), 80, measures)
    assert re.search(r"Balanced accuracy +\.65 \[\.60, \.70\] +49 +0", text)
    assert re.search(r"pair recovery kind Favors +– +1 +0", text)


def test_many_slices_are_left_to_the_page(study: Study) -> None:
    key = {"suite": "imperfective", "model": "m", "prompt": "p", "mode": "loglikelihood"}
    whole = Measure(**key, measure="pair_recovery", value=0.5)
    slices = [Measure(**key, measure="pair_recovery", slice={"kind": i}, value=0.5) for i in range(60)]
    assert "60 measures by slice are in the page." in printed(of_measures(study, "accuracy"), 100, [whole, *slices])


def test_what_was_not_answered_is_bounded_below_the_table(study: Study) -> None:
    """10 of 20 C answers missing: all of them True or none moves TBR by half."""
    broken = study.frame.with_columns(
        pl.when((pl.col("prompt") == "dap") & pl.col("item").is_in(ambiguous(study)[:10]))
        .then(pl.lit("unparsed"))
        .otherwise(pl.col("status"))
        .alias("status")
    ).with_columns(pl.when(pl.col("status") == "ok").then(pl.col("label")).alias("label"))
    text = " ".join(printed(study, 100, measures_of(study.suite, broken)).split())
    found = re.search(r"Bounds, smollm2[^:]*dap[^:]*: .*?TBR (\S+) to (\S+),", text)
    assert found
    assert float(found[2]) - float(found[1]) == pytest.approx(0.5)


def ambiguous(study: Study) -> list[str]:
    return [item.id for item in study.suite.items if item.factors["group"] == "C"]


def test_rows_over_fewer_items_are_named(study: Study) -> None:
    part = study.frame.filter((pl.col("prompt") != "dap") | ~pl.col("item").is_in(ambiguous(study)))
    smaller = study.suite.narrowed({item.id for item in study.suite.items if item.id not in ambiguous(study)})
    records = [
        *(m for m in measures_of(study.suite, study.frame) if m.prompt != "dap"),
        *(m for m in measures_of(smaller, part.filter(prompt="dap")) if m.prompt == "dap"),
    ]
    text = " ".join(printed(study, 100, records).split())
    assert "Not all rows are over the same items:" in text
    assert "Not all rows" not in printed(study, 100)
