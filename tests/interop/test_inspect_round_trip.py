"""A suite goes to Inspect as a task, and its log comes back as the run that would have been made here."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import veridical
from tests.cli.test_bad_input import call, fault
from tests.models.fault_server import label_of, serving
from tests.runs.toy import toy_suite
from veridical.errors import UserError
from veridical.interop.exports.inspect import export_inspect
from veridical.interop.imports.inspect_suite import import_suite_log
from veridical.items import Suite
from veridical.limits import limited
from veridical.models import ServerSettings
from veridical.suites.file_writer import write_suite

pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.slow

# Evaluates a task file with a model that answers as the planted server does; in a process of its own, as a user would.
EVALUATE = """
import json, os, sys
from pathlib import Path
from inspect_ai import eval
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from tests.models.fault_server import label_of

task, logs, stops, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])

def answer(input, tools, tool_choice, config):
    assert (config.temperature, config.seed) == (0, 0), config
    question = input[-1].text
    for part, stop in stops.items():
        if part in question and stop == "error":
            raise ValueError("planted failure")
    stop = next((stop for part, stop in stops.items() if part in question), "stop")
    message = ChatMessageAssistant(content=f"Answer: {label_of(question)}")
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return ModelOutput(model="m", choices=[ChatCompletionChoice(message=message, stop_reason=stop)], usage=usage)

model = get_model("mockllm/model", custom_outputs=answer)
os.chdir(Path(task).parent)
(log,) = eval(Path(task).name, model=model, log_dir=logs, display="none", fail_on_error=False, **options)
print(log.status, log.location)
"""


def evaluated(task: Path, logs: Path, stops: dict[str, str] | None = None, **options: Any) -> Path:
    words = [str(task), str(logs), json.dumps(stops or {}), json.dumps(options)]
    done = subprocess.run(
        [sys.executable, "-c", EVALUATE, *words], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (log,) = logs.iterdir()
    return log


def asked_here(suite: Suite | str, out: Path, **given: Any) -> veridical.Study:
    with serving() as server:
        return veridical.run(
            suite, model="openai/planted", mode="generate", out=out, server=ServerSettings(base_url=server.url), **given
        )


def measures(study: veridical.Study) -> list[dict[str, Any]]:
    """The records, to twelve digits."""
    # The last bit of a bootstrap's end depends on the order of additions.
    return [
        {name: round(value, 12) if isinstance(value, float) else value for name, value in record.model_dump().items()}
        for record in study.judgement.records
    ]


@pytest.mark.parametrize(
    ("suite", "given"),
    [
        (limited(veridical.load_suite("imperfective"), 12, 0), {"prompts": ["zero-shot", "dap"]}),
        (veridical.load_suite("evidence"), {"prompts": ["zero-shot"]}),
        (toy_suite(5), {}),
        (toy_suite(3, name="with/odd name", title='of """ quotes'), {"prompts": ["plainly"]}),
    ],
    ids=["imperfective", "evidence", "of a user's", "oddly named"],
)
def test_a_log_has_the_measures_of_a_run(suite: Suite, given: dict[str, Any], tmp_path: Path) -> None:
    task = export_inspect(suite, tmp_path / "task", prompts=given.get("prompts"))
    log = evaluated(task.file, tmp_path / "logs")
    there = import_suite_log(log, suite, tmp_path / "there", model="openai/planted")
    here = asked_here(suite, tmp_path / "here", **given)
    assert measures(there) == measures(here)
    assert there.responses.height == here.responses.height == task.n_samples
    assert sorted(there.responses["status"]) == sorted(here.responses["status"])


def test_epochs_are_repeats_and_what_failed_is_no_answer(tmp_path: Path) -> None:
    suite = toy_suite(3)
    task = export_inspect(suite, tmp_path / "task", prompts=["rule"])
    stops = {"built cart 0 says, but": "error", "pushed cart 1 says, but": "max_tokens"}
    stops["pushed cart 2 says, but"] = "content_filter"
    log = evaluated(task.file, tmp_path / "logs", stops, epochs=2)
    study = import_suite_log(log, suite, tmp_path / "run")
    counts = dict(study.responses.group_by("status").len().iter_rows())
    # Of 12 questions, twice: one failed, one was cut off after its label, and one was filtered.
    assert counts["filtered"] == 2
    assert counts["error"] == 2
    assert sum(counts.values()) == 24
    (changed,) = [one for one in study.judgement.records if one.measure == "changed_over_repeats"]
    assert (changed.value, changed.n_items) == (0, 12)


def test_commands_say_what_comes_next(tmp_path: Path) -> None:
    write_suite(toy_suite(2), tmp_path / "toy.jsonl")
    done = call("export", "inspect", tmp_path / "toy.jsonl", "--out", tmp_path / "task", "--prompt", "rule")
    assert done.returncode == 0, done.stderr
    assert f"cd {tmp_path}/task && inspect eval toy.py" in done.stdout
    log = evaluated(tmp_path / "task" / "toy.py", tmp_path / "logs")
    words = ("import", "inspect", log, "--suite", tmp_path / "task" / "suite.jsonl", "--out", tmp_path / "run")
    # In a process that has not imported Inspect, which teaches Python to read its archives (Zstandard).
    command = [sys.executable, "-m", "veridical", *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["measures"]
    gold = {item.fields["hypothesis"] + item.fields["premise"]: item.gold for item in toy_suite(2).items}
    assert len(gold) == 8
    (accuracy,) = [m for m in found if m["measure"] == "accuracy" and m["answerer"] == "model" and not m["slice"]]
    samples = [json.loads(line) for line in (tmp_path / "task" / "samples.jsonl").read_text().splitlines()]
    full = [one for one in samples if one["metadata"]["veridical"]["input"] == "full"]
    right = [label_of(one["input"][-1]["content"]) in one["target"] for one in full]
    assert accuracy["value"] == pytest.approx(sum(right) / 8)
    assert fault(*words).endswith("choose another --out")


def altered(log: Path, change: Callable[[dict[str, Any]], None], out: Path) -> Path:
    """A copy of a log whose samples are changed."""
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.startswith("samples/"):
                sample = json.loads(data)
                change(sample)
                data = json.dumps(sample).encode()
            new.writestr(name, data)
    return out


def test_a_log_of_another_suite_is_refused(tmp_path: Path) -> None:
    suite = toy_suite(2)
    log = evaluated(export_inspect(suite, tmp_path / "task", prompts=["rule"]).file, tmp_path / "logs")
    with pytest.raises(UserError, match=r"the log is of suite 'toy' \(content .* give the suite.jsonl of the export"):
        import_suite_log(log, toy_suite(3), tmp_path / "a")
    plain = altered(log, lambda sample: sample["metadata"].pop("veridical"), tmp_path / "plain.eval")
    with pytest.raises(UserError, match="is not of a suite that 'veridical export inspect' wrote; leave --suite out"):
        import_suite_log(plain, suite, tmp_path / "b")

    def same(sample: dict[str, Any]) -> None:
        sample["metadata"]["veridical"]["item"] = suite.items[0].id

    with pytest.raises(UserError, match="is there twice in epoch 1"):
        import_suite_log(altered(log, same, tmp_path / "same.eval"), suite, tmp_path / "c")
    assert [path.name for path in tmp_path.iterdir() if path.name in "abc"] == []
