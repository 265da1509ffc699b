"""The commands as a user calls them, with a small real model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import veridical
from tests.cli.test_bad_input import call
from tests.runs.toy import LABELS, ToyModel, toy_suite
from veridical.cli import main
from veridical.suites.file_writer import write_suite

ROOT = Path(__file__).parents[2]
# Typer itself reads values with Pydantic.
HEAVY = {"torch", "transformers", "polars", "numpy", "scipy", "sklearn", "altair", "jinja2"}


@pytest.fixture(scope="module")
def suite_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("suite") / "toy.jsonl"
    write_suite(toy_suite(3), path)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A Llama of a few thousand weights, as a user has one on disk."""
    from tests.models.tiny import byte_level_tokenizer, llama, saved

    tokenizer = byte_level_tokenizer()
    folder = tmp_path_factory.mktemp("model") / "tiny"
    saved(folder, llama(len(tokenizer), max_position_embeddings=1024), tokenizer)
    return f"hf/{folder}"


@pytest.fixture(scope="module")
def study(tmp_path_factory, suite_file, model):
    """A study that `veridical run` made, with what it printed."""
    out = tmp_path_factory.mktemp("study") / "s"
    modes = ("--mode", "loglikelihood", "--mode", "generate", "--max-new-tokens", 8)
    return out, call("run", suite_file, "--model", model, *modes, "--out", out)


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    script = (
        "import sys\nfrom veridical.cli import main\n"
        f"status = main({arguments!r})\n"
        "print(sorted(name for name in sys.modules if '.' not in name), file=sys.stderr)\nsys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(re.findall(r"'(\w+)'", done.stderr))
    assert "veridical" in loaded
    assert loaded & HEAVY == set()


def test_importing_the_library_imports_nothing_else():
    script = "import veridical, sys; print([m for m in sys.modules if m.startswith('veridical.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_librarys_names_are_there():
    for name in veridical.__all__:
        assert getattr(veridical, name) is not None
    assert set(veridical.__all__) <= set(dir(veridical))
    with pytest.raises(AttributeError):
        veridical.nothing  # noqa: B018


def test_help_names_the_commands(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in ("suites", "run", "judge", "report", "doctor"):
        assert f"\n  {command}" in shown


def test_no_command_shows_the_help_and_is_a_mistake():
    done = call()
    assert done.returncode == 2
    assert "Usage: veridical" in done.stderr


def test_run_prints_the_tables_and_the_report(study):
    out, done = study
    assert done.returncode == 0, done.stderr
    assert "toy 1" in done.stdout
    assert f"report: {out / 'report.html'}" in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 100
    assert "Traceback" not in done.stderr
    assert "skipping think" in done.stderr
    assert (out / "report.html").read_text().startswith("<!")


def test_run_again_asks_nothing_and_prints_one_document(study, suite_file, model):
    out, _ = study
    done = call("run", suite_file, "--model", model, "--out", out, "--json")
    assert done.returncode == 0
    assert "0 requests answered" in done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "veridical.measures/1"
    assert document["study"] == str(out)
    assert len(document["runs"]) == 1
    assert document["measures"] == json.loads((out / "measures.json").read_text())
    assert {record["mode"] for record in document["measures"]} >= {"loglikelihood", "generate"}


def test_a_record_has_the_fields_of_the_contract(study):
    out, _ = study
    fields = (
        "suite model answerer input prompt mode measure slice value low high level interval bound_low bound_high "
        "n_sets n_items statuses against paired p null"
    )
    where_they_say_something = {"reason", "withheld", "tied", "test", "adjusted"}
    for record in json.loads((out / "measures.json").read_text()):
        assert set(record) - where_they_say_something == set(fields.split())
        assert all(record[name] is not None for name in where_they_say_something & set(record))


def test_judge_needs_no_torch_and_gives_the_same(study, tmp_path):
    out, _ = study
    before = (out / "measures.json").read_bytes()
    # A module of that name that cannot be imported stands for its absence.
    for name in ("torch", "transformers"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('absent')")
    done = call("judge", out, "--json", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert (out / "measures.json").read_bytes() == before
    assert json.loads(done.stdout)["measures"] == json.loads(before)


def test_judge_by_another_field_makes_sets_of_it(study):
    out, _ = study
    before = (out / "measures.json").read_bytes()
    done = call("judge", out, "--sets", "group", "--json")
    accuracy = next(m for m in json.loads(done.stdout)["measures"] if m["measure"] == "accuracy")
    # Four groups in place of six verbs.
    assert (accuracy["n_sets"], accuracy["n_items"]) == (4, 12)
    assert (out / "measures.json").read_bytes() == before


def test_judging_a_run_that_was_stopped_says_what_is_missing(tmp_path):
    failing = ToyModel(fails=frozenset({1, 2}))
    study = veridical.run(toy_suite(2), model=failing, prompts="rule", inputs=["full"], out=tmp_path)
    for command in ("judge", "report"):
        done = call(command, study.path)
        assert done.returncode == 0
        assert "2 of 8 questions have no stored answer" in done.stderr


def test_report_writes_the_page_where_it_is_reported(study, tmp_path):
    out, _ = study
    done = call("report", out, "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"report: {tmp_path / 'page.html'}\n"
    assert (tmp_path / "page.html").read_text().startswith("<!")


def test_report_of_other_sets_leaves_the_page_of_the_suites_own(study):
    out, _ = study
    before = (out / "report.html").read_bytes()
    done = call("report", out, "--sets", "group")
    assert done.returncode == 0, done.stderr
    page = out / "report-sets-group.html"
    assert done.stdout == f"report: {page}\n"
    assert (out / "report.html").read_bytes() == before
    # Four groups in place of six verbs.
    assert '"n_sets":4' in page.read_text().replace(" ", "") or "4 sets" in page.read_text()
    refused = call("report", out, "--sets", "grup")
    assert refused.returncode == 2
    assert "group" in refused.stderr


def test_suites_lists_what_is_built_in():
    done = call("suites")
    assert done.returncode == 0
    own, benchmarks = done.stdout.split("Benchmarks, which need your copy")
    assert "imperfective-quads" in own
    assert "Apache-2.0" in own
    for words in (["winogrande", "1", "twins", "CC", "BY", "4.0"], ["piqa", "1", "AFL-3.0"]):
        assert words in [line.split() for line in benchmarks.splitlines()]


def test_suites_as_json_holds_every_suite_and_nothing_else():
    done = call("suites", "--json")
    assert done.returncode == 0
    suites = {suite["name"]: suite for suite in json.loads(done.stdout)["suites"]}
    assert (suites["evidence"]["items"], suites["evidence"]["sets"]) == (108, 54)
    assert (suites["winogrande"]["items"], suites["winogrande"]["data"]) == (None, "needs your copy")
    assert suites["imperfective"]["prompts"] == ["zero-shot", "dap", "cot", "counterfactual"]


def test_doctor_shows_versions_and_models():
    done = call("doctor")
    assert done.returncode == 0
    for word in ("python", "polars", "device", "smollm2"):
        assert f"\n{word}" in f"\n{done.stdout}"


@pytest.mark.slow
def test_the_default_study_is_named_after_suite_and_time(suite_file, model, tmp_path):
    options = ("--prompt", "rule", "--limit", 1, "--model", model)
    done = call("run", suite_file, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "studies").iterdir()
    assert re.fullmatch(r"toy-\d{8}-\d{6}", folder.name)


SLOW = """
import sys
import veridical.models
from tests.runs.toy import ToyModel
from veridical.cli import main
from veridical.runs import store
store.FLUSH_ANSWERS = 5
veridical.models.load_with = lambda spec, settings: ToyModel(name=spec, seconds=float(sys.argv.pop()))
sys.exit(main(sys.argv[1:-1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_stops_cleanly_and_names_the_command_that_goes_on(suite_file, tmp_path, sent):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    words = [sys.executable, "-c", SLOW, "run", str(suite_file), "--model", "hf/slow/one"]
    process = subprocess.Popen(
        [*words, "0.05"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("responses/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(getattr(signal, sent))
    printed, message = process.communicate(timeout=60)
    assert process.returncode == 128 + getattr(signal, sent)
    assert printed == ""
    assert "Traceback" not in message
    command = message.splitlines()[-1].strip()
    study = next((tmp_path / "studies").iterdir())
    expected = f"veridical run {suite_file} --model hf/slow/one --out {study.relative_to(tmp_path)}"
    assert command == expected
    rest = [sys.executable, "-c", SLOW, *command.split()[1:], "0"]
    done = subprocess.run(rest, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert re.search(r"; \d+ were stored before", done.stderr)


@pytest.mark.slow
@pytest.mark.model
def test_the_embedded_model_answers_the_suite_in_both_modes(smollm2, tmp_path):
    study = veridical.run(
        "imperfective",
        model=smollm2,
        prompts="zero-shot",
        mode=["loglikelihood", "generate"],
        limit=2,
        orders=1,
        max_new_tokens=16,
        out=tmp_path,
    )
    responses = study.responses
    scored = responses.filter(mode="loglikelihood")
    assert scored["status"].unique().to_list() == ["ok"]
    assert scored.select(mass=scored["label_mass"].is_between(0, 1))["mass"].all()
    written = responses.filter(mode="generate")
    assert written.height == scored.height
    assert all(text for text in written["text"])
    assert set(responses["label"].drop_nulls()) <= set(LABELS)
    assert {m.measure for m in study.records} >= {"accuracy", "tbr", "aspectual_awareness_gap"}
