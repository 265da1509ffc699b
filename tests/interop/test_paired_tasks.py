"""Tasks and runs that share the values of a field and no items are compared by it."""

from __future__ import annotations

import json

import pytest
from scipy.stats import binomtest

from tests.interop.sampled import choice_record, write_results, write_samples
from veridical.cli import main
from veridical.interop.imports.importing import import_logs
from veridical.runs.load import open_runs
from veridical.studies.judged import Judgement
from veridical.studies.study import write_page

RIGHT, WRONG = (-1.0, -2.0, -3.0), (-2.0, -1.0, -3.0)
ORIGINAL, SHUFFLED = "rrrrrrrrwwrr", "rrwwwwwwrwrr"
"""Right on both 4, on the first alone 6, on the second alone 1, on neither 1."""


def task(folder, name, pattern, text, **fields):
    records = [
        choice_record(number, RIGHT if letter == "r" else WRONG, 0, text=f"{text} {number}", **fields)
        for number, letter in enumerate(pattern)
    ]
    write_samples(folder, records, task=name)
    return records


def two_tasks(folder, first=ORIGINAL, second=SHUFFLED):
    task(folder, "winogrande", first, "as it was")
    task(folder, "winogrande_shuffled", second, "turned round")
    return folder


def between(judgement, **against):
    found = [m for m in judgement.records if m.against == against and m.measure != "agreement"]
    return [m for m in found if "Holm" not in m.null]


def test_two_tasks_of_one_model_are_paired_by_their_document_numbers(tmp_path):
    done = import_logs("lm-eval", two_tasks(tmp_path / "logs"), tmp_path / "run", model="m")
    judgement = Judgement(done.study.runs, sets="doc_id")
    (found,) = between(judgement, suite="winogrande_shuffled")
    assert (found.suite, found.model, found.measure, found.paired) == ("winogrande", "m", "accuracy", True)
    assert found.value == pytest.approx(10 / 12 - 5 / 12)
    assert found.p == pytest.approx(binomtest(6, 7).pvalue)
    assert found.interval.startswith("Newcombe")
    assert "McNemar" in found.null
    assert found.n_sets == 12
    assert found.low < found.value < found.high
    assert any("compared over the 12 values of doc_id" in message for message in judgement.verdicts)
    assert not between(Judgement(done.study.runs), suite="winogrande_shuffled")


def test_terminal_page_and_json_name_the_other_task(tmp_path, capsys):
    import_logs("lm-eval", two_tasks(tmp_path / "logs"), tmp_path / "run", model="m")
    assert main(["judge", str(tmp_path / "run"), "--sets", "doc_id"]) == 0
    printed = capsys.readouterr().out
    assert "winogrande less winogrande shuffled" in printed
    assert "+.42" in printed
    page = write_page(tmp_path / "page.html", Judgement(tuple(open_runs([tmp_path / "run"])), sets="doc_id"))
    assert "winogrande less winogrande shuffled" in page.read_text()
    assert main(["judge", str(tmp_path / "run"), "--sets", "doc_id", "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert {"suite": "winogrande_shuffled"} in [one["against"] for one in measures]


def test_a_document_without_an_answer_widens_the_bounds_and_is_not_right(tmp_path):
    """Of 12 documents the shuffled task has no answer to the first, which the original has right."""
    two_tasks(tmp_path / "logs")
    path = next((tmp_path / "logs").glob("samples_winogrande_shuffled*"))
    first, *rest = path.read_text().splitlines()
    record = json.loads(first)
    record["filtered_resps"] = [["nan", "False"]] * 3
    path.write_text("\n".join([json.dumps(record), *rest]) + "\n")
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run", model="m")
    (found,) = between(Judgement(done.study.runs, sets="doc_id"), suite="winogrande_shuffled")
    assert found.value == pytest.approx(10 / 12 - 4 / 12)
    assert (found.bound_low, found.bound_high) == (pytest.approx(5 / 12), pytest.approx(6 / 12))
    assert found.statuses["non_finite"] == 1


def test_two_runs_of_one_task_without_an_item_in_common_are_paired_by_the_field(tmp_path):
    """The model's log of the original and its log of the shuffled form, under one task name."""
    for name, pattern in (("original", ORIGINAL), ("shuffled", SHUFFLED)):
        task(tmp_path / name, "winogrande", pattern, name)
        write_results(tmp_path / name, {"winogrande": {"acc,none": pattern.count("r") / 12}}, name)
        import_logs("lm-eval", tmp_path / name, tmp_path / f"run-{name}")
    judgement = Judgement(tuple(open_runs([tmp_path / "run-original", tmp_path / "run-shuffled"])), sets="doc_id")
    (found,) = between(judgement, model="shuffled")
    assert (found.suite, found.value, found.p) == (
        "winogrande",
        pytest.approx(5 / 12),
        pytest.approx(binomtest(6, 7).pvalue),
    )
    assert not any("not compared" in message for message in judgement.verdicts)


def test_runs_of_one_model_with_a_task_each_are_paired_across_them(tmp_path):
    task(tmp_path / "a", "winogrande", ORIGINAL, "as it was")
    task(tmp_path / "b", "winogrande_shuffled", SHUFFLED, "turned round")
    for name in "ab":
        import_logs("lm-eval", tmp_path / name, tmp_path / f"run-{name}", model="m")
    judgement = Judgement(tuple(open_runs([tmp_path / "run-a", tmp_path / "run-b"])), sets="doc_id")
    (found,) = [m for m in judgement.records if m.against and "Holm" not in (m.null or "")]
    assert found.against["suite"] == "winogrande_shuffled"
    assert found.value == pytest.approx(5 / 12)


def test_sets_of_several_items_are_right_where_every_item_is(tmp_path):
    """Passages of two: right on both are 1 of 2 and 0 of 2."""
    for name, pattern in (("one", "rrrw"), ("two", "rwrw")):
        records = [
            choice_record(number, RIGHT if letter == "r" else WRONG, 0, passage=f"p{number // 2}", text=name)
            for number, letter in enumerate(pattern)
        ]
        write_samples(tmp_path / "logs", records, task=name)
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run", model="m")
    (found,) = between(Judgement(done.study.runs, sets="passage"), suite="two")
    assert (found.measure, found.value, found.n_sets) == ("set_accuracy", 0.5, 2)


def test_tasks_of_other_lengths_are_not_paired_by_their_numbers(tmp_path):
    """Every task numbers its documents from 0: 12 documents and 8 share 8 numbers, and mean nothing by it."""
    done = import_logs("lm-eval", two_tasks(tmp_path / "logs", second="rrwwwwww"), tmp_path / "run", model="m")
    judgement = Judgement(done.study.runs, sets="doc_id")
    assert not between(judgement, suite="winogrande_shuffled")


def test_many_tasks_that_are_numbered_alike_are_counted_and_not_compared(tmp_path):
    """Nine subjects of 12 documents make 36 pairs."""
    for number in range(9):
        task(tmp_path / "logs", f"subject_{number}", ORIGINAL, f"subject {number}")
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run", model="m")
    judgement = Judgement(done.study.runs, sets="doc_id")
    assert not [m for m in judgement.records if m.against]
    assert any("36 pairs of tasks or runs share" in message for message in judgement.verdicts)
