"""Logs whose numbers contradict each other, or of which less is better, are not believed in silence."""

from __future__ import annotations

import html
import json

import pytest

from tests.cli.test_bad_input import call
from tests.interop.sampled import choice_record, text_record, write_results, write_samples
from tests.interop.test_denominators import accuracies, log, sample, task_of
from veridical.errors import UserError
from veridical.interop.imports.direction import declared_way, is_lower_better, says_lower
from veridical.interop.imports.importing import import_logs
from veridical.runs.provenance import Imported

RIGHT, WRONG = (-1.0, -2.0, -3.0), (-2.0, -1.0, -3.0)


def altered(n_altered: int, start: int = 18):
    """24 records of which 18 are right by their log-likelihoods, and `n_altered` more by the harness's own acc."""
    records = [choice_record(n, RIGHT if n < 18 else WRONG, 0) for n in range(24)]
    for record in records[start : start + n_altered]:
        record["acc"] = 1.0
    return records


# Samples and the reported number altered together


@pytest.mark.parametrize("n_altered", [1, 3, 6])
def test_both_accuracies_stand_in_the_first_line(tmp_path, n_altered):
    """18 of 24 is .750; 19, 21 and 24 of 24 are .792, .875 and 1.000."""
    own = {1: ".792", 3: ".875", 6: "1.000"}[n_altered]
    write_samples(tmp_path / "logs", altered(n_altered))
    write_results(tmp_path / "logs", {"small": {"acc,none": (18 + n_altered) / 24}})
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    first = done.study.judgement.notices[0]
    assert own in first
    assert ".750 of 24 by its log-likelihoods" in first
    assert f"{n_altered} of 24 answers differ" in first
    page = html.unescape(done.study.report.read_text())
    assert first in page
    assert page.index(first) < page.index("right on")


def test_both_accuracies_stand_in_terminal_and_json_of_import_and_judge(tmp_path):
    write_samples(tmp_path / "logs", altered(3))
    write_results(tmp_path / "logs", {"small": {"acc,none": 0.875}})
    document = json.loads(call("import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "run", "--json").stdout)
    line = document["notices"][0]
    assert ".875" in line
    assert ".750" in line
    assert json.loads(call("judge", tmp_path / "run", "--json").stdout)["notices"][0] == line
    assert " ".join(call("judge", tmp_path / "run").stdout.split()).startswith(line)


def test_log_likelihoods_that_are_not_numbers_are_not_ok_whatever_acc_says(tmp_path):
    """6 of 24 are NaN with acc 1; 4 of the rest are altered, so that the harness's acc judges: 12 + 4 are right."""
    records = [choice_record(n, RIGHT if n < 12 else WRONG, 0) for n in range(24)]
    for n in (*range(12, 18), *range(20, 24)):
        records[n]["acc"] = 1.0
    for record in records[12:18]:
        record["filtered_resps"] = [["nan", "False"]] * 3
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    assert task_of(done).judged_by == "acc"
    assert accuracies(done) == {
        "as-logged": (round(16 / 24, 6), round(16 / 24, 6), round(22 / 24, 6), {"ok": 18, "non_finite": 6})
    }
    assert any("6 non finite" in notice for notice in done.study.judgement.notices)


# One line for all tasks


def test_what_is_so_of_several_tasks_is_one_line(tmp_path):
    for task in ("one", "two", "three"):
        write_samples(tmp_path / "logs", altered(0), task=task)
    write_results(tmp_path / "logs", {task: {"acc,none": 0.9} for task in ("one", "two", "three")})
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    (notice,) = done.study.judgement.notices
    for task in ("one", "two", "three"):
        assert (
            f"{task}: acc (as-logged) is reported as 0.9, and the scores of the 24 answers in the log come to 0.75"
            in notice
        )
    assert notice.count("altered") == 1


def test_notices_of_runs_imported_before_are_read_as_they_are():
    document = {
        "harness": "HELM",
        "tasks": [{"suite": "a", "records": 1, "judged_by": "acc", "notices": ["a: b", "a: b"]}],
    }
    origin = Imported.model_validate(document)
    assert (origin.notices, origin.account) == (("a: b", "a: b"), "")


# Less is better


@pytest.mark.parametrize(
    ("name", "lower"),
    [
        ("toxicity", True),
        ("max_toxicity_score", True),
        ("pct_stereotype", True),
        ("biasRate", True),
        ("hallucination_rate", True),
        ("attack_success", True),
        ("wer", True),
        ("false_positive_rate", True),
        ("error", True),
        ("harmlessness", False),
        ("non_toxic", False),
        ("bias_detection_accuracy", False),
        ("harmonic_mean", False),
        ("answer", False),
        ("lossless", False),
        ("error_match", False),
        ("pharmacy", False),
        ("acc_norm", False),
    ],
)
def test_names_say_which_way_is_better(name, lower):
    assert says_lower(name) is lower
    assert is_lower_better("mean", name, {}) is lower
    assert not is_lower_better("mean", name, {name: True})
    assert is_lower_better("mean", name, {"mean": False})


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ({"higher_is_better": False}, False),
        ({"params": {"lower_is_better": "true"}}, False),
        ({"options": {"direction": "maximize"}}, True),
        ({"direction": "min"}, False),
        ({"name": "x"}, None),
        ({"higher_is_better": None}, None),
    ],
)
def test_declarations_say_which_way_is_better(said, way):
    assert declared_way(said) is way


@pytest.mark.parametrize("metric", ["mean", "accuracy"])
def test_the_names_in_notices_are_usable_with_metric(tmp_path, metric):
    """Match is 2 of 4 and toxicity 3 of 4, so that 1 of 4 is right by it."""
    samples = [sample(n, scores={"match": {"value": "CCII"[n]}, "toxicity": {"value": float(n < 3)}}) for n in range(4)]
    path = log(tmp_path / "log.json", samples, 0.5)
    document = json.loads(path.read_text())
    document["results"]["scores"].append({"name": "toxicity", "metrics": {metric: {"name": metric, "value": 0.75}}})
    path.write_text(json.dumps(document))
    for place, name in enumerate(("toxicity", f"{metric} (toxicity)", f"{metric},toxicity")):
        done = import_logs("inspect", path, tmp_path / f"run{place}", metric=name)
        assert {reading: one[0] for reading, one in accuracies(done).items()} == {"toxicity": 0.25}
        assert done.study.judgement.suites[0].title.endswith(f"right by {metric} (toxicity, 0 is right)")
    for name in ("match", "accuracy (match)"):
        done = import_logs("inspect", path, tmp_path / f"run-{name[:5]}", metric=name)
        assert {reading: one[0] for reading, one in accuracies(done).items()} == {"match": 0.5}
    with pytest.raises(UserError, match=r"called 'toxic', did you mean|known: accuracy \(match\)"):
        import_logs("inspect", path, tmp_path / "none", metric="toxic")


def test_metrics_are_named_as_lm_eval_names_them(tmp_path):
    records = [text_record(n, "4", float(n < 3), filter=name) for name in ("strict", "loose") for n in range(4)]
    path = write_samples(tmp_path / "logs", records)
    for place, name in enumerate(("exact_match,strict", "exact_match (strict)", "strict")):
        done = import_logs("lm-eval", path, tmp_path / f"run{place}", metric=name)
        assert {reading: one[0] for reading, one in accuracies(done).items()} == {"strict": 0.75}


@pytest.mark.parametrize(
    ("scorer", "spec"),
    [("toxicity", {}), ("judge", {"scorers": [{"name": "judge", "options": {"higher_is_better": False}}]})],
)
@pytest.mark.parametrize("metric", ["mean", "accuracy"])
def test_a_scorer_of_which_less_is_better_is_not_read_as_accuracy(tmp_path, scorer, spec, metric):
    """3 of 4 are 1: by what less is better of 1 of 4 is right."""
    samples = [sample(n, scores={scorer: {"value": float(n < 3)}}) for n in range(4)]
    path = log(tmp_path / "log.json", samples, scorer=scorer, **spec)
    document = json.loads(path.read_text())
    document["results"]["scores"][0]["metrics"] = {metric: {"name": metric, "value": 0.75}}
    path.write_text(json.dumps(document))
    done = import_logs("inspect", path, tmp_path / "run")
    assert (task_of(done).judged_by, task_of(done).judged) == ("", 0)
    assert any(f"of {metric} ({scorer}) less is better" in notice for notice in done.imported[0][2].notices)
    turned = import_logs("inspect", path, tmp_path / "turned", metric=metric)
    assert accuracies(turned)[scorer][0] == 0.25
    assert any("right where it is 0" in notice for notice in turned.study.judgement.notices)


def test_beside_a_scorer_of_which_more_is_better_the_other_is_named_and_not_judged(tmp_path):
    samples = [
        sample(n, scores={"match": {"value": "C" if n < 2 else "I"}, "toxicity": {"value": 1.0}}) for n in range(4)
    ]
    done = import_logs("inspect", log(tmp_path / "log.json", samples), tmp_path / "run")
    assert list(accuracies(done)) == ["match"]
    assert any("toxicity: not judged" in notice for notice in done.study.judgement.notices)
