"""How measures are arranged: rows, references, columns, comparisons."""

from __future__ import annotations

from veridical.judge.measure import Measure
from veridical.report.comparisons import columns, comparisons
from veridical.report.presentation import presentation_of
from veridical.report.results import Results, contrast_name
from veridical.report.summary import summaries

PARADOX = presentation_of("imperfective")


def record(measure: str = "accuracy", value: float = 0.5, **more: object) -> Measure:
    key = {"suite": "s", "model": "m", "prompt": "zero-shot", "mode": "loglikelihood"}
    return Measure(**{**key, "measure": measure, "value": value, **more})


def test_measures_of_other_suites_are_left_aside() -> None:
    assert Results.of([record(), record(suite="other")], "s").measures == (record(),)


def test_references_are_constant_answers_restricted_inputs_and_simple_classifiers() -> None:
    results = Results.of(
        [
            record(),
            record(answerer="readout"),
            record(input="hypothesis_only"),
            record(answerer="text_words"),
            record(model="baseline", answerer="always:True"),
            record(model="baseline", answerer="majority"),
        ],
        "s",
    )
    assert [a.answerer for a in results.answers] == ["model", "readout"]
    assert [results.name(a) for a in results.references] == [
        "always True",
        "majority",
        "zero-shot · hypothesis only",
        "zero-shot · text words",
    ]
    assert results.models == ("m",)


def test_name_tells_the_mode_only_where_there_are_several() -> None:
    one = Results.of([record(mode="generate")], "s")
    two = Results.of([record(mode="generate"), record()], "s")
    assert [one.name(a) for a in one.answers] == ["zero-shot"]
    assert sorted(two.name(a) for a in two.answers) == ["zero-shot", "zero-shot · generate"]


def test_known_groups_come_in_their_order_and_others_after() -> None:
    given = ("completed", "later", "D", "A")
    results = Results.of([record(slice={"group": group}) for group in given], "s", PARADOX)
    assert results.groups == ("A", "D", "completed", "later")


def test_statuses_are_those_of_all_items_else_summed_over_groups() -> None:
    groups = [record(slice={"group": g}, statuses={"ok": 9, "tied": 1}) for g in "AB"]
    results = Results.of(groups, "s")
    assert results.statuses(results.answers[0]) == {"ok": 18, "tied": 2}
    whole = Results.of([*groups, record(statuses={"ok": 30})], "s")
    assert whole.statuses(whole.answers[0]) == {"ok": 30}


def test_first_table_leads_with_groups_tbr_and_gap() -> None:
    results = Results.of(
        [
            record("label_mass"),
            record("constant_share", slice={"label": "True"}),
            record("aspectual_awareness_gap"),
            record("tbr"),
            record("tbr", slice={"verb_class": "Creation"}),
            record(),
            *(record(slice={"group": group}, n_sets=110) for group in "CA"),
            record("mean_p_unknown", slice={"group": "C"}),
        ],
        "s",
        PARADOX,
    )
    first, second = summaries(results)
    assert [column.heading for column in first.columns] == ["A", "C", "TBR", "Gap ΔAA", "Accuracy"]
    assert first.columns[0].note == "interrupted accomplishment, n 110"
    assert [column.heading for column in second.columns] == ["Label mass", "Constant share", "P(Unknown), C"]
    ((_, (row,)),) = second.models
    assert [cell and dict(cell.slice) for cell in row.cells] == [{}, {"label": "True"}, {"group": "C"}]


def test_suite_without_groups_has_one_table() -> None:
    (table,) = summaries(
        Results.of([record("balanced_accuracy"), record("pair_recovery")], "s", presentation_of("evidence"))
    )
    assert [column.heading for column in table.columns] == ["Balanced accuracy", "Pair recovery"]


def test_contrast_and_its_adjusted_p_are_one_difference() -> None:
    raw = record("tbr", -0.3, prompt="dap", against={"prompt": "zero-shot"}, p=0.02, null="equal")
    adjusted = raw.model_copy(update={"p": 0.06, "null": "equal (Holm over 3 contrasts)"})
    within = record("tbr", 0.1, slice={"verb_class": "Creation"}, against={"verb_class": "Consumption"})
    results = Results.of([record(), record(prompt="dap"), raw, adjusted, within], "s", PARADOX)
    (row,) = comparisons(results)
    assert (row.heading, row.name) == ("m", "dap less zero-shot")
    assert row.cells["tbr", ""].measure == raw
    assert row.cells["tbr", ""].adjusted == adjusted
    assert columns(results, [row]) == [(("tbr", ""), "TBR")]


def test_agreement_stands_next_to_the_differences_of_the_same_models() -> None:
    difference = record("tbr", 0.2, against={"model": "n"})
    same = record("agreement", 0.9, against={"model": "n"})
    results = Results.of([record(), record(model="n"), difference, same], "s", PARADOX)
    (row,) = comparisons(results)
    assert row.name == "m less n"
    assert row.cells["agreement", ""].measure == same
    assert [heading for _, heading in columns(results, [row])] == ["TBR", "Agreement"]
    assert contrast_name(same) == "m and n"


def test_models_are_compared_under_the_prompt_they_share() -> None:
    contrast = record("tbr", 0.2, against={"model": "n"})
    (row,) = comparisons(Results.of([record(), record(model="n"), contrast], "s"))
    assert (row.heading, row.name) == ("zero-shot", "m less n")
