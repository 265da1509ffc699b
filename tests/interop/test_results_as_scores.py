"""Results without samples become a table of scores."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.test_bad_input import call, fault
from veridical.errors import UserError
from veridical.interop.imports.score_table import import_scores, read_scores
from veridical.validity.roles import Roles
from veridical.validity.table_reading import read_table

LOGS = Path(__file__).parents[3] / "shared" / "data" / "lm_eval_logs"


def lm_eval(path: Path, model: str, acc: float, *, shots: int = 5) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "results": {
            "arc": {
                "acc,none": acc,
                "acc_stderr,none": 0.01,
                "acc_norm,none": acc + 0.1,
                "acc_norm_stderr,none": "N/A",
            },
            "gsm8k": {"exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.02, "alias": "gsm8k"},
        },
        "versions": {"arc": 1.0, "gsm8k": 3},
        "n-shot": {"arc": shots, "gsm8k": 8},
        "n-samples": {"arc": {"original": 100, "effective": 40}},
        "higher_is_better": {"arc": {"acc": True, "acc_norm": True}},
        "config": {"model": "hf", "model_args": f"pretrained={model}"},
    }
    path.write_text(json.dumps(document))
    return path


def test_every_number_of_lm_eval_is_a_row_with_what_stands_next_to_it(tmp_path) -> None:
    lm_eval(tmp_path / "logs" / "results_2025-01-01T00-00-00.json", "org/net", 0.25)
    import_scores(tmp_path / "logs", tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["benchmark"], r["metric"], r["score"], r["stderr"], r["n"], r["shots"]) for r in rows] == [
        ("arc", "acc", "0.25", "0.01", "40", "5"),
        ("arc", "acc_norm", "0.35", "", "40", "5"),
        ("gsm8k", "exact_match,strict-match", "0.5", "0.02", "", "8"),
    ]
    assert {r["model"] for r in rows} == {"org/net"}
    assert [r["higher_is_better"] for r in rows] == ["True", "True", ""]


def test_the_table_is_one_that_validity_reads(tmp_path) -> None:
    for i in range(9):
        lm_eval(tmp_path / "logs" / f"m{i}" / "results_2025-01-01T00-00-00.json", f"org/net{i}", 0.1 + 0.05 * i)
    import_scores(tmp_path / "logs", tmp_path / "scores.csv")
    table = read_table(tmp_path / "scores.csv", Roles())
    assert len(table.models) == 9
    assert table.names == ("arc/acc", "arc/acc_norm", "gsm8k")
    assert table.column("arc/acc")[0] == 0.1


def test_lighteval_inspect_and_every_eval_ever_are_read(tmp_path) -> None:
    documents = {
        "lighteval": {
            "config_general": {"model_name": "org/a"},
            "results": {"lighteval|gsm8k|4": {"em": 0.5, "em_stderr": 0.1}, "all": {"em": 0.5, "em_stderr": 0.1}},
            "versions": {"lighteval|gsm8k|4": 0},
            "config_tasks": {
                "lighteval|gsm8k": {
                    "effective_num_docs": 7,
                    "metric": [{"metric_name": "em", "higher_is_better": True}],
                }
            },
        },
        "inspect": {
            "eval": {"model": "org/b", "task": "popularity"},
            "results": {
                "completed_samples": 9,
                "scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.6}, "stderr": {"value": 0.05}}}],
            },
        },
        "eee": {
            "schema_version": "0.2.0",
            "model_info": {"id": "org/c", "name": "c"},
            "evaluation_results": [
                {
                    "evaluation_name": "Toxicity",
                    "metric_config": {"lower_is_better": True},
                    "score_details": {
                        "score": 0.7,
                        "uncertainty": {"standard_error": {"value": 0.02}, "num_samples": 30},
                    },
                }
            ],
        },
        "other": {"name": "a file that is no result"},
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    (tmp_path / "broken.json").write_text("{")
    found = read_scores(tmp_path)
    named = {(s.model, s.benchmark, s.metric): (s.score, s.stderr, s.n, s.higher_is_better) for s in found.scores}
    assert named == {
        ("org/a", "lighteval|gsm8k", "em"): (0.5, 0.1, 7, True),
        ("org/a", "all", "em"): (0.5, 0.1, None, None),
        ("org/b", "popularity", "accuracy,match"): (0.6, 0.05, 9, None),
        ("org/c", "Toxicity", "score"): (0.7, 0.02, 30, False),
    }
    damaged, other = sorted(found.skipped, reverse=True)
    assert other == "a JSON file that holds no results"
    assert damaged.startswith(f"file that cannot be read: {tmp_path / 'broken.json'}: not valid JSON (line 1: ")
    assert set(found.skipped.values()) == {1}


@pytest.mark.parametrize("n", [1, 2])
def test_damaged_results_alone_are_named_with_the_reason(tmp_path, n) -> None:
    for name in "ab"[:n]:
        (tmp_path / f"{name}.json").write_text('{"results": {"t": {"acc,none": 0.5')
    named = r"no results can be read here: file that cannot be read: .*a\.json: not valid"
    with pytest.raises(UserError, match=named) as e:
        read_scores(tmp_path)
    assert ("(and 1 more)" in str(e.value)) == (n == 2)


def test_scores_that_are_not_finite_are_left_out_and_counted(tmp_path) -> None:
    path = lm_eval(tmp_path / "results.json", "m", 0.5)
    path.write_text(path.read_text().replace("0.5,", "Infinity,", 1))
    found = read_scores(path)
    assert all(score.score < 1 for score in found.scores)
    assert sum(found.skipped.values()) >= 1


def test_what_is_not_a_result_is_refused_and_nothing_is_written_over(tmp_path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    with pytest.raises(UserError, match="no results of lm-evaluation-harness, lighteval, Inspect or every_eval_ever"):
        import_scores(tmp_path / "a.json", tmp_path / "out.csv")
    path = lm_eval(tmp_path / "results.json", "m", 0.5)
    with pytest.raises(UserError, match=r"name a \.csv file"):
        import_scores(path, tmp_path / "out")
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(UserError, match=r"exists already; choose another --out"):
        import_scores(path, tmp_path / "there.csv")
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_lm_eval_without_samples_says_which_command_reads_it(tmp_path) -> None:
    path = lm_eval(tmp_path / "logs" / "results_2025-01-01T00-00-00.json", "m", 0.5)
    refused = call("import", "lm-eval", path.parent, "--out", tmp_path / "run")
    assert refused.returncode == 2
    assert f"veridical import scores {path.parent} --out scores.csv" in fault(refused)
    done = call("import", "scores", path.parent, "--out", tmp_path / "scores.csv")
    assert done.returncode == 0, done.stderr
    assert "3 scores of 1 model on 2 benchmarks" in done.stdout


@pytest.mark.skipif(not LOGS.is_dir(), reason="the shared logs are not here")
def test_public_results_are_all_read(tmp_path) -> None:
    found = read_scores(LOGS)
    files = {score.file for score in found.scores}
    assert len(files) >= len(list(LOGS.glob("*results_*.json"))) - 3
    assert "NotImplemented" not in str(found.scores)
    steer = {score.model: score.score for score in found.scores if (score.benchmark, score.metric) == ("steer", "acc")}
    assert steer["/data/public_models/huggingface/EleutherAI/pythia-14m"] == 0.5814025451591691
