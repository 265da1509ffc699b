"""`veridical lm-eval` as a user calls it: the harness's files and numbers, and one line for what is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from tests.interop.local_tasks import write_tasks
from tests.models import tiny
from veridical.cli import main
from veridical.installing import install_command
from veridical.interop.harness import run as lm_eval_run
from veridical.interop.harness.run import as_json, find_tasks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    tokenizer = tiny.byte_level_tokenizer()
    return f"hf/{tiny.saved(tmp_path_factory.mktemp('model') / 'tiny', tiny.llama(len(tokenizer)), tokenizer)}"


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["lm-eval", *map(str, arguments)])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_the_files_are_those_that_the_harness_writes(
    folder: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = ("--tasks", "both,rolling", "--tasks", "written", "--include-path", folder)
    status, out, err = called(capsys, *tasks, "--model", model, "--out", tmp_path / "o", "--log-samples", "--json")
    assert status == 0, err
    printed = json.loads(out)["results"][model]
    other = HFLM(pretrained=model.removeprefix("hf/"), device="cpu", dtype="float32", batch_size=1)
    tracker = EvaluationTracker(output_path=str(tmp_path / "theirs"))
    found: Any = simple_evaluate(
        other,
        model_args={"pretrained": "tiny"},
        tasks=["both", "rolling", "written"],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        evaluation_tracker=tracker,
    )
    samples = found.pop("samples")
    tracker.save_results_aggregated(found, samples)
    for task in found["configs"]:
        tracker.save_results_samples(task, samples[task])
    mine, theirs = (files(tmp_path / name) for name in ("o", "theirs"))
    assert set(mine) == set(theirs) == {"results", *(f"samples_{task}" for task in found["configs"])}
    results, expected = (json.loads(each["results"][0]) for each in (mine, theirs))
    assert set(expected) - set(results) == set()
    for task, metrics in expected["results"].items():
        for name, value in metrics.items():
            same = pytest.approx(value, rel=1e-4) if isinstance(value, float) else value
            assert results["results"][task][name] == printed["results"][task][name] == same
    assert results["groups"] == expected["groups"]
    assert (results["model_source"], results["model_name"], results["config"]["model"]) == (
        "veridical",
        model,
        "veridical",
    )
    assert results["config"]["model_args"] == {"pretrained": model, "dtype": "float32", "device": "auto"}
    assert len(results["config"]["fingerprint"]) == 32
    for name in set(mine) - {"results"}:
        for ours, there in zip(mine[name], theirs[name], strict=True):
            row, row_there = json.loads(ours), json.loads(there)
            assert set(row) == set(row_there)
            assert row["doc_hash"] == row_there["doc_hash"]
            assert row["arguments"] == row_there["arguments"]


def files(folder: Path) -> dict[str, list[str]]:
    """The harness's files by the names that they have before the date; results as one text."""
    (inner,) = folder.iterdir()
    found = {path.name.rsplit("_", 1)[0]: path.read_text(encoding="utf-8") for path in inner.iterdir()}
    return {name: [text] if name == "results" else text.splitlines() for name, text in found.items()}


def test_options_reach_the_harness(
    folder: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = ("--tasks", "questions_one_shot,written", "--include-path", folder, "--limit", 2, "--num-fewshot", 2)
    chat = ("--apply-chat-template", "--system-instruction", "Be brief.", "--no-fewshot-as-multiturn")
    written = ("--gen-kwargs", "max_gen_toks=3", "--gen-kwargs", 'until=["zzz"]', "--seed", 7, "--max-length", 200)
    options = ("--model", model, "--out", tmp_path / "o", "--log-samples", "--batch-tokens", 64, "--json")
    status, out, err = called(capsys, *tasks, *chat, *written, *options)
    assert status == 0, err
    results = json.loads(out)["results"][model]
    assert results["n-samples"]["written"] == {"original": 5, "effective": 2}
    assert set(results["n-shot"].values()) == {2}
    assert {results["config"][f"{name}_seed"] for name in ("random", "numpy", "torch", "fewshot")} == {7}
    assert (results["system_instruction"], results["fewshot_as_multiturn"]) == ("Be brief.", False)
    assert results["chat_template"] == tiny.TEMPLATE
    assert results["max_length"] == 200
    row = json.loads(files(tmp_path / "o")["samples_written"][0])
    assert row["arguments"]["gen_args_0"]["arg_0"].startswith("<|system|>Be brief.<|end|><|user|>Question:")
    assert row["arguments"]["gen_args_0"]["arg_1"] | {"do_sample": False} == {
        "until": ["zzz"], "max_gen_toks": 3, "do_sample": False,
    }  # fmt: skip


def test_tables_and_the_files_names_are_printed(
    folder: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = called(capsys, "--tasks", folder / "rolling.yaml", "--model", model)
    assert status == 0, err
    assert out.startswith(f"{model}\n\n|")
    assert "|bits_per_byte  |" in out
    (saved,) = [line.removeprefix("saved: ") for line in out.splitlines() if line.startswith("saved: ")]
    assert saved.startswith("studies/lm-eval-rolling-")
    assert (tmp_path / saved).is_file()


def test_tasks_of_the_user_s_are_found_without_reading_the_harness_s_own(folder: Path) -> None:
    assert len(find_tasks(["questions*"], [folder]).all_tasks) == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tasks", "questons"], "unknown task 'questons': did you mean 'questions'? 'lm-eval ls tasks' lists"),
        (["--tasks", "nothing.yaml"], "--tasks nothing.yaml: no such file"),
        (["--tasks", ","], "no task is given: name at least one with --tasks"),
        (["--tasks", "questions", "--model", "smolm2"], "unknown model 'smolm2': did you mean 'smollm2'?"),
        (["--tasks", "questions", "--model", "hf/./none"], "there is no folder"),
        (["--tasks", "questions", "--gen-kwargs", "12"], "--gen-kwargs '12': give NAME=VALUE"),
        (["--tasks", "questions", "--fewshot-as-multiturn"], "give --apply-chat-template too"),
        (["--tasks", "questions", "--out", "x.json"], "--out x.json: name a folder"),
        (["--tasks", "questions", "--dtype", "float8"], "unknown dtype 'float8'"),
        (["--tasks", "questions", "--limit", "0"], "--limit 0: give a number of documents, or a share"),
        (["--tasks", "questions", "--limit", "nan"], "--limit nan: give a number of documents"),
        (["--tasks", "broken"], "the harness cannot load broken (FileNotFoundError); are the task's files whole"),
        (["--tasks", "torn"], "own/torn.yaml is not valid YAML, or names its task otherwise ('task: torn')"),
        (["--tasks", "wrong"], "the harness stopped at "),
        (["--tasks", "wrong"], "with a RuntimeError; is the task's code in order"),
        (["--tasks", "unsafe"], "task 'unsafe' runs code that the model writes: give --confirm-run-unsafe-code"),
        (
            ["--tasks", "questions_one_shot", "--num-fewshot", "9"],
            "--num-fewshot 9: task 'questions_one_shot' has 3 examples; give fewer",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str], words: str, folder: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    text = (folder / "questions.yaml").read_text(encoding="utf-8")
    broken = text.replace("task: questions", "task: broken").replace("questions-test.jsonl", "gone.jsonl")
    (own / "broken.yaml").write_text(broken, encoding="utf-8")
    unsafe = text.replace("task: questions", "task: unsafe\nunsafe_code: true")
    (own / "unsafe.yaml").write_text(unsafe, encoding="utf-8")
    (own / "torn.yaml").write_text("task: [x\n", encoding="utf-8")
    wrong = text.replace("task: questions", "task: wrong\nprocess_results: !function helper.boom")
    (own / "wrong.yaml").write_text(wrong, encoding="utf-8")
    (own / "helper.py").write_text("def boom(*given):\n    raise RuntimeError('boom')\n", encoding="utf-8")
    given = [] if "--model" in arguments else ["--model", model]
    # The harness's own tasks are left out: reading them takes ten seconds each time.
    tasks = lm_eval_run._tasks
    monkeypatch.setattr(lm_eval_run, "_tasks", lambda paths, own: tasks(paths, own=False))
    status, out, err = called(capsys, *arguments, *given, "--include-path", folder, "--include-path", own)
    assert status == 2
    assert out == ""
    assert words in err.strip().splitlines()[-1]
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own"]


def test_a_folder_of_tasks_that_is_not_there(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = called(capsys, "--tasks", "a", "--model", model, "--include-path", tmp_path / "none")
    assert status == 2
    assert err == f"veridical: --include-path {tmp_path / 'none'}: no such folder\n"


def test_a_file_in_the_way_of_the_results(
    folder: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "o").write_text("mine", encoding="utf-8")
    status, _, err = called(
        capsys, "--tasks", "questions", "--model", model, "--include-path", folder, "--out", tmp_path / "o"
    )
    assert status == 2
    assert "a file, not a folder; choose another --out" in err
    assert (tmp_path / "o").read_text(encoding="utf-8") == "mine"


def test_results_that_the_harness_could_not_write_are_reported(
    folder: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It logs a warning and goes on, and an hour's work would be lost without a word."""
    monkeypatch.setattr(Path, "write_text", lambda *a, **k: (_ for _ in ()).throw(OSError("full")))
    status, _, err = called(
        capsys, "--tasks", "questions", "--model", model, "--include-path", folder, "--out", tmp_path / "o"
    )
    assert status == 2
    assert "the harness could not write" in err.splitlines()[-1]


def test_without_the_harness_the_command_says_what_to_install(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lm_eval_run, "find_spec", lambda name: None)
    status, out, err = called(capsys, "--tasks", "questions", "--model", model)
    assert (status, out) == (2, "")
    assert err == (
        f"veridical: the harness's tasks need lm-eval, which is not installed: {install_command('hf', 'lm-eval')}\n"
    )


def test_a_fault_of_ours_keeps_its_traceback(
    folder: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from veridical.interop.harness.model import EngineLM

    monkeypatch.setattr(EngineLM, "_sequence", lambda *given: [][0])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    words = ["lm-eval", "--tasks", "questions", "--model", model, "--include-path", folder, "--out", tmp_path / "o"]
    assert main([str(word) for word in words]) == 70
    said = capsys.readouterr().err.splitlines()[-1]
    assert "IndexError" in said
    (log,) = (tmp_path / "state").rglob("*.log")
    assert str(log) in said
    assert "IndexError: list index out of range" in log.read_text()


def test_numbers_that_json_has_not_become_null() -> None:
    assert as_json({"a": [1.5, float("nan")], "b": {"c": float("inf")}, "d": {1}}) == {
        "a": [1.5, None],
        "b": {"c": None},
        "d": [1],
    }


def test_help_imports_neither_harness_nor_torch() -> None:
    import subprocess

    script = (
        "import sys\nfrom veridical.cli import main\nmain(['lm-eval', '--help'])\n"
        "print('lm_eval' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"
