"""Whole studies with a toy model: stopped, resumed, extended, compared."""

from __future__ import annotations

import json
import math
import random
import shutil
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import polars as pl
import pytest

import veridical
from veridical import models
from veridical.errors import UserError
from veridical.files.writing import slug
from veridical.items import Grouping
from veridical.judge.frame import SCHEMA
from veridical.runs import store
from veridical.runs.load import open_runs
from veridical.runs.manifest import read_manifest
from veridical.studies.study import open_study

from .toy import ToyModel, toy_suite

TESTS = Path(__file__).parents[1]


def measures_of(study):
    return json.loads((study.path / "measures.json").read_text())


def test_one_call_asks_stores_judges_and_reports(tmp_path):
    model = ToyModel()
    study = veridical.run(toy_suite(4), model=model, out=tmp_path / "s")
    assert study.path == tmp_path / "s"
    assert study.report.read_text().startswith("<!")
    assert study.responses.schema == SCHEMA
    assert study.measures.height == len(study.records) == len(measures_of(study))
    run = study.runs[0]
    assert run.path.name == f"hf-toys-small-{model.fingerprint.digest[:8]}"
    assert {path.name for path in run.path.iterdir()} >= {
        "items.parquet",
        "manifest.json",
        "measures.json",
        "requests",
        "responses",
    }


def test_accuracy_is_the_share_of_gold_answers_in_the_stored_responses(tmp_path):
    suite = toy_suite(8)
    study = veridical.run(suite, model=ToyModel(), prompts="rule", inputs=["full"], out=tmp_path)
    answers = dict(study.responses.select("item", "label").iter_rows())
    share = sum(answers[item.id] in item.gold for item in suite.items) / len(suite.items)
    found = [m for m in study.records if m.measure == "accuracy" and m.answerer == "model" and not m.slice]
    assert [m.value for m in found if m.against is None] == [pytest.approx(share)]


def test_baselines_stand_next_to_the_model(tmp_path):
    study = veridical.run(toy_suite(4), model=ToyModel(), prompts="plainly", out=tmp_path)
    rows = {m.answerer: m.value for m in study.records if m.measure == "accuracy" and not m.slice}
    # A quarter of the items are False, a quarter Unknown, half True.
    assert (rows["always:True"], rows["always:Unknown"], rows["majority"]) == (0.5, 0.25, 0.5)
    assert {m.input for m in study.records} == {"full", "hypothesis_only"}


def test_the_manifest_says_what_makes_the_run_repeatable(tmp_path):
    suite, model = toy_suite(2), ToyModel()
    study = veridical.run(suite, model=model, limit=2, seed=7, mode=["loglikelihood", "generate"], out=tmp_path)
    document = json.loads((study.runs[0].path / "manifest.json").read_text())
    assert document["schema"] == "veridical.run/2"
    assert document["suites"] == [{"name": "toy", "version": "1", "content_hash": suite.content_hash, "shots": 0}]
    assert document["model"]["fingerprint"] == dict(model.fingerprint.parts)
    assert document["settings"] == {"seed": 7, "max_new_tokens": 512}
    assert document["calls"][0]["limit"] == 2
    assert document["calls"][0]["packages"]["veridical"] == veridical.__version__
    # `rule` has a system turn: 4 items in 2 modes.
    assert document["notes"]["system_folded"] == 8
    assert document["notes"]["unanswered"] == 0


def test_a_second_model_does_not_replay_the_first(tmp_path):
    first, second = ToyModel("hf/a/m", "w0"), ToyModel("hf/b/n", "w1")
    study = veridical.run(toy_suite(4), model=[first, second], out=tmp_path)
    assert len(first.asked) == len(second.asked) > 0
    assert len(study.runs) == 2
    frames = study.responses.partition_by("model")
    assert frames[0]["label"].to_list() != frames[1]["label"].to_list()
    contrasts = [m for m in study.records if m.against and "model" in m.against]
    assert contrasts
    assert all(m.paired for m in contrasts)


def test_models_whose_paths_end_alike_have_runs_of_their_own(tmp_path):
    models = [ToyModel("hf/one/checkpoint", "w0"), ToyModel("hf/two/checkpoint", "w1")]
    long = [
        ToyModel("hf/" + "a" * 200 + "/checkpoint", "w2"),
        ToyModel("hf/" + "b" * 200 + "/checkpoint", "w3"),
    ]
    study = veridical.run(toy_suite(1), model=[*models, *long], out=tmp_path)
    assert len({run.path for run in study.runs}) == 4
    assert all(model.asked for model in (*models, *long))


def test_one_name_under_two_dtypes_is_distinguished(tmp_path):
    veridical.run(toy_suite(2), model=ToyModel(dtype="float32"), out=tmp_path)
    study = veridical.run(toy_suite(2), model=ToyModel(dtype="bfloat16"), out=tmp_path)
    assert {run.name for run in study.runs} == {"hf/toys/small float32", "hf/toys/small bfloat16"}
    again = veridical.run(toy_suite(2), model=ToyModel(weights="w9"), out=tmp_path)
    assert len({run.name for run in again.runs}) == 3


def test_another_prompt_extends_a_run(tmp_path):
    veridical.run(toy_suite(3), model=ToyModel(), prompts="plainly", out=tmp_path)
    model = ToyModel()
    study = veridical.run(toy_suite(3), model=model, prompts="rule", out=tmp_path)
    assert {m.prompt for m in study.records if m.answerer == "model"} == {"plainly", "rule"}
    assert any(m.against == {"prompt": "plainly"} for m in study.records)
    alone = veridical.run(toy_suite(3), model=ToyModel(), prompts=["plainly", "rule"], out=tmp_path / "other")
    at_once = {(m.prompt, m.input, m.measure, str(m.slice), m.value) for m in alone.records if not m.against}
    assert at_once <= {(m.prompt, m.input, m.measure, str(m.slice), m.value) for m in study.records}


def test_prompts_asked_over_different_sets_are_each_judged_over_their_own(tmp_path):
    veridical.run(toy_suite(6), model=ToyModel(), prompts="plainly", inputs=["full"], limit=10, out=tmp_path)
    study = veridical.run(toy_suite(6), model=ToyModel(), prompts="rule", inputs=["full"], limit=4, out=tmp_path)
    found = {
        (m.prompt, m.n_items)
        for m in study.records
        if m.measure == "accuracy" and m.answerer == "model" and not m.slice and not m.against
    }
    assert found == {("plainly", 20), ("rule", 8)}
    assert all(set(m.statuses) <= {"ok", "tied"} for m in study.records)


def test_judging_again_from_disk_gives_the_same_records(tmp_path):
    study = veridical.run(toy_suite(5), model=ToyModel(), mode=["loglikelihood", "generate"], out=tmp_path)
    assert open_study(tmp_path).records == study.records


def test_measures_come_as_a_frame(tmp_path):
    study = veridical.run(toy_suite(5), model=ToyModel(), out=tmp_path)
    frame = study.measures
    assert frame.schema["value"] == pl.Float64()
    rows = frame.filter(pl.col("measure") == "accuracy", pl.col("answerer") == "always:True")
    assert 0.5 in rows["value"].to_list()
    assert isinstance(frame.schema["statuses"], pl.Struct)


def test_written_json_is_finite(tmp_path):
    class NotFinite(ToyModel):
        def _score(self, sequence):
            from dataclasses import replace

            score = super()._score(sequence)
            bad = sequence.continuation[0] == ord("U")
            return replace(score, total=-math.inf if bad else math.nan if len(self.asked) % 3 == 0 else score.total)

    study = veridical.run(toy_suite(3), model=NotFinite(), out=tmp_path)

    def refuse(constant):
        raise AssertionError(constant)

    for path in tmp_path.rglob("*.json"):
        json.loads(path.read_text(), parse_constant=refuse)
    accuracy = next(m for m in study.records if m.measure == "accuracy" and m.answerer == "model")
    assert accuracy.statuses == {"non_finite": accuracy.n_items}
    assert (accuracy.bound_low, accuracy.bound_high) == (0, 1)


def test_an_interrupt_stores_what_was_answered(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        veridical.run(toy_suite(4), model=ToyModel(stops_after=11), prompts="rule", out=tmp_path)
    rest = ToyModel()
    veridical.run(toy_suite(4), model=rest, prompts="rule", out=tmp_path)
    whole = ToyModel()
    veridical.run(toy_suite(4), model=whole, prompts="rule", out=tmp_path / "whole")
    assert len(rest.asked) == len(whole.asked) - 11


def test_failed_requests_are_counted_and_asked_again_by_the_same_call(tmp_path):
    study = veridical.run(
        toy_suite(2), model=ToyModel(fails=frozenset({1})), prompts="rule", inputs=["full"], out=tmp_path
    )
    assert study.failed == 1
    assert study.responses.filter(status="error").height == 1
    again = veridical.run(toy_suite(2), model=ToyModel(), prompts="rule", out=tmp_path)
    assert again.failed == 0
    assert again.responses.filter(status="error").height == 0


def test_another_suite_version_is_refused_naming_both(tmp_path):
    veridical.run(toy_suite(2), model=ToyModel(), out=tmp_path)
    for other in (toy_suite(2, version="2"), toy_suite(3)):
        model = ToyModel(weights="w1")
        with pytest.raises(UserError) as caught:
            veridical.run(other, model=model, out=tmp_path)
        message = str(caught.value)
        assert toy_suite(2).content_hash in message
        assert other.content_hash in message
        assert "use another --out" in message
        assert model.asked == []


def test_settings_that_a_run_cannot_mix_are_refused(tmp_path):
    veridical.run(toy_suite(2), model=ToyModel(), mode="generate", out=tmp_path)
    with pytest.raises(UserError, match="--seed 0, not 1"):
        veridical.run(toy_suite(2), model=ToyModel(), seed=1, out=tmp_path)
    with pytest.raises(UserError, match="--max-new-tokens 512, not 64"):
        veridical.run(toy_suite(2), model=ToyModel(), mode="generate", max_new_tokens=64, out=tmp_path)
    # Nothing is generated here, so its length does not matter.
    veridical.run(toy_suite(2), model=ToyModel(), max_new_tokens=64, out=tmp_path)


def test_folders_that_cannot_be_written_to_are_reported_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    study = veridical.run(toy_suite(1), model=ToyModel(), out=tmp_path / "s")
    model = ToyModel()
    for out, words in (
        (tmp_path / "file", "a file, not a folder"),
        (tmp_path / "file" / "below", "Not a directory"),
        (study.runs[0].path, "is a run, not a study"),
        (Path("/proc/veridical"), "cannot write"),
    ):
        with pytest.raises(UserError, match=words):
            veridical.run(toy_suite(1), model=model, out=out)
    assert model.asked == []


def test_a_fault_found_later_leaves_no_empty_folders(tmp_path):
    class Refuses(ToyModel):
        def prepare(self, query, settings=None):
            raise UserError("no chat template")

    for model, prompt, words in (
        (ToyModel(), "nope", "unknown prompt"),
        (Refuses(), "rule", "no chat template"),
    ):
        with pytest.raises(UserError, match=words):
            veridical.run(toy_suite(1), model=model, prompts=prompt, out=tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_of_a_newer_schema_is_reported(tmp_path):
    study = veridical.run(toy_suite(1), model=ToyModel(), out=tmp_path)
    path = study.runs[0].path / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "schema": "veridical.run/3", "more": 1}))
    with pytest.raises(UserError, match=r"newer Veridical \(schema veridical.run/3"):
        open_study(tmp_path)
    path.write_text(json.dumps({**document, "schema": "other/1"}))
    with pytest.raises(UserError, match="not the manifest of a run"):
        read_manifest(path.parent)
    path.write_text("{")
    with pytest.raises(UserError, match=r"manifest.json is damaged: it is not JSON"):
        read_manifest(path.parent)


def test_a_folder_that_is_not_a_run_is_reported(tmp_path):
    with pytest.raises(UserError, match="is not a run folder"):
        open_runs([tmp_path])
    with pytest.raises(UserError, match="no such folder"):
        open_runs([tmp_path / "nowhere"])


def test_a_shuffled_suite_asks_nothing_again(tmp_path):
    suite = toy_suite(4)
    model = ToyModel()
    veridical.run(suite, model=model, limit=4, out=tmp_path / "a")
    items = list(suite.items)
    random.Random(5).shuffle(items)
    members = tuple(reversed(suite.groupings[0].members))
    other = toy_suite(4, items=tuple(items), groupings=(Grouping(name="verb", members=members),))
    second = ToyModel()
    veridical.run(other, model=second, limit=4, out=tmp_path / "b")
    digest = model.fingerprint.digest
    assert {r.key(digest) for r in model.asked} == {r.key(digest) for r in second.asked}


def test_two_suites_of_one_name_are_refused(tmp_path):
    with pytest.raises(UserError, match="two different suites are named 'toy'"):
        veridical.run([toy_suite(1), toy_suite(2)], model=ToyModel(), out=tmp_path)


def test_several_suites_are_judged_each_by_itself(tmp_path):
    other = toy_suite(3, name="other")
    model = ToyModel()
    study = veridical.run([toy_suite(4), other], model=model, out=tmp_path)
    found = {m.suite: m.n_items for m in study.records if m.measure == "accuracy" and not m.slice}
    assert found == {"toy": 16, "other": 12}
    # The six smaller sets are the same questions, which were asked once.
    alone = ToyModel()
    veridical.run(toy_suite(4), model=alone, out=tmp_path / "alone")
    assert len(model.asked) == len(alone.asked)


def test_a_run_without_questions_is_not_a_run_of_baselines(tmp_path):
    study = veridical.run(toy_suite(1), model=ToyModel(), out=tmp_path)
    shutil.rmtree(study.runs[0].path / "requests")
    with pytest.raises(UserError, match=r"requests/.* is missing: manifest.json lists it with 20 rows"):
        open_study(tmp_path)
    # It does not stand in the way of another model, and the same call asks again what it takes.
    other = veridical.run(toy_suite(1), model=ToyModel("hf/toys/other", "w1"), out=tmp_path)
    assert [run.name for run in other.runs] == ["hf/toys/other"]
    again = ToyModel()
    assert len(veridical.run(toy_suite(1), model=again, out=tmp_path).runs) == 2
    assert again.asked == []


def test_a_model_is_freed_before_the_next_is_loaded(tmp_path, monkeypatch):
    alive = []

    def load(spec, settings):
        assert [reference() for reference in alive] == [None] * len(alive)
        model = ToyModel(name=spec, weights=spec)
        alive.append(weakref.ref(model))
        return model

    monkeypatch.setattr(models, "load_with", load)
    study = veridical.run(toy_suite(1), model=["hf/a/one", "hf/a/two", "hf/a/three"], out=tmp_path)
    assert len(study.runs) == len(alive) == 3


def test_slugs_suit_every_file_system():
    assert slug("hf/ORG/Na me:7B*") == "hf-ORG-Na-me-7B"
    assert slug("hf/" + "x" * 300) == "x" * 48
    assert slug("///") == "model"


# A process of its own that asks slowly, so that it can be killed.
SLOW = """
import sys
sys.path.insert(0, {tests!r})
import veridical
from veridical import models
from runs.toy import ToyModel, toy_suite
from veridical.models import sources
from veridical.runs import store
store.FLUSH_ANSWERS = 7
run = veridical.run
print("ready", flush=True)
run(toy_suite(12), model=ToyModel(seconds=0.004), mode=["loglikelihood", "generate"], out=sys.argv[1])
"""


def slow(out: Path) -> subprocess.Popen[str]:
    script = SLOW.format(tests=str(TESTS))
    return subprocess.Popen([sys.executable, "-c", script, str(out)], stdout=subprocess.PIPE, text=True)


def wait_for_answers(folder: Path) -> None:
    """Until a slow run has stored some, or half a minute has passed."""
    deadline = time.monotonic() + 30
    while not list(folder.rglob("responses/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.slow
def test_a_run_killed_again_and_again_gives_the_measures_of_one_that_was_not(tmp_path):
    whole = veridical.run(toy_suite(12), model=ToyModel(), mode=["loglikelihood", "generate"], out=tmp_path / "a")
    moments = random.Random(20)
    for kill in range(6):
        process = slow(tmp_path / "b")
        assert process.stdout is not None
        process.stdout.readline()
        if kill == 5:  # however slow the machine is, one kill falls after a flush
            wait_for_answers(tmp_path / "b")
        time.sleep(moments.uniform(0.05, 0.9))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    resumed = ToyModel()
    study = veridical.run(toy_suite(12), model=resumed, mode=["loglikelihood", "generate"], out=tmp_path / "b")
    assert measures_of(study) == measures_of(whole)
    assert study.responses.sort(*SCHEMA.names()[:9]).equals(whole.responses.sort(*SCHEMA.names()[:9]))
    # Killed before its first flush at worst; what was flushed was not asked again.
    answers = store.read_responses(study.runs[0].path).height
    assert len(resumed.asked) < answers


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stores_and_then_stops_a_program_that_has_no_handler_of_its_own(tmp_path, sent):
    process = slow(tmp_path / "s")
    assert process.stdout is not None
    process.stdout.readline()
    wait_for_answers(tmp_path)
    process.send_signal(sent)
    assert process.wait(30) == -sent  # as without Veridical
    process.stdout.close()
    rest = ToyModel()
    study = veridical.run(toy_suite(12), model=rest, mode=["loglikelihood", "generate"], out=tmp_path / "s")
    assert 0 < len(rest.asked) < store.read_responses(study.runs[0].path).height


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KiB, where it may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_fills_keeps_what_was_stored_and_resumes(small_disk, monkeypatch, tmp_path):
    monkeypatch.setattr(store, "FLUSH_ANSWERS", 20)
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 200_000)
    with pytest.raises(UserError) as caught:
        veridical.run(toy_suite(12), model=ToyModel(), out=small_disk / "s")
    assert "No space left on device" in str(caught.value)
    assert "make room" in str(caught.value)
    assert not list(small_disk.rglob("*.tmp"))
    parts = list(small_disk.rglob("*.parquet"))
    for part in parts:
        pl.read_parquet(part.read_bytes())
    ballast.unlink()
    stored = sum(
        pl.read_parquet(part.read_bytes())["key"].n_unique() for part in parts if part.parent.name == "responses"
    )
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    rest = ToyModel()
    study = veridical.run(toy_suite(12), model=rest, out=small_disk / "s")
    whole_model = ToyModel()
    whole = veridical.run(toy_suite(12), model=whole_model, out=tmp_path / "whole")
    assert measures_of(study) == measures_of(whole)
    assert len(rest.asked) == len(whole_model.asked) - stored


# Limits the size of files, which stands for a disk that fills: the first file to meet the limit stops the run.
SMALL_FILES = """
import resource, sys
sys.path.insert(0, {tests!r})
import veridical
from veridical import models
from runs.toy import ToyModel, toy_suite
from veridical.errors import UserError
for limit in map(int, sys.argv[2:]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        veridical.run(toy_suite(12), model=ToyModel(), out=f"{{sys.argv[1]}}/{{limit}}")
        message = ""
    except UserError as error:
        message = str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(message)
"""


@pytest.mark.slow
def test_whichever_write_fails_it_is_one_line_and_the_run_goes_on_later(tmp_path):
    limits = (0, 600, 2_000, 4_000, 9_000, 30_000, 60_000)
    script = SMALL_FILES.format(tests=str(TESTS))
    expected = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), *map(str, limits)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    messages = expected.stdout.splitlines()
    assert len(messages) == len(limits)
    files = set()
    for limit, message in zip(limits, messages, strict=True):
        assert "File too large" in message
        files.add(Path(message.split(": ")[0].removeprefix("cannot write ")).suffix)
        out = tmp_path / str(limit)
        assert not list(out.rglob("*.tmp"))
        assert veridical.run(toy_suite(12), model=ToyModel(), out=out).failed == 0
    assert files >= {".json", ".parquet", ".html"}


def test_a_mode_that_a_model_lacks_is_refused_before_anything_is_asked(tmp_path):
    first, second = ToyModel(), ToyModel("hf/toys/classifier", modes=("classify",))
    with pytest.raises(UserError, match=r"'hf/toys/classifier' is a sequence classifier .* it has mode classify"):
        veridical.run(toy_suite(1), model=[first, second], out=tmp_path / "s")
    assert first.asked == []
    assert not (tmp_path / "s").exists()


def test_classes_are_read_as_scores_whatever_normalises_continuations(tmp_path):
    classes = {"True": ("entailment",), "False": ("contradiction",), "Unknown": ("neutral",)}
    for normalisation in ("sum", "token", "unconditional"):
        suite = toy_suite(1, classes=classes, normalisation=normalisation)
        model = ToyModel(modes=("classify",))
        study = veridical.run(suite, model=model, mode="classify", out=tmp_path / normalisation)
        assert set(study.responses["status"]) == {"ok"}
        best = [labels[scores.index(max(scores))] for labels, scores in study.responses["labels", "scores"].iter_rows()]
        assert study.responses["label"].to_list() == best
