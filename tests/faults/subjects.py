"""Every kind of file that Veridical reads, made small, with the command that reads it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import veridical
from veridical.interop.imports.importing import import_logs
from veridical.judge.frame import SCHEMA as FRAME
from veridical.readouts.record import NullResult, ReadoutRecord, StoredReadout
from veridical.review.sheets import write_sheets
from veridical.runs.hidden import Hidden, StatesKey, read_hidden, write_hidden
from veridical.runs.load import open_run
from veridical.runs.readouts import read_draws, write_readout
from veridical.suites.file_writer import write_suite

from ..interop.sampled import choice_record, write_results, write_samples
from ..models import tiny
from ..review.making import fill, make_suite
from ..runs.toy import ToyModel, toy_suite

Command = Callable[[Path, Path], Sequence[str]]
"""From the damaged folder and a folder for output to the words of a command line."""


@dataclass(frozen=True)
class Subject:
    """A kind of file. `make` writes it into a folder; `command` or `read` reads it.

    `sealed` says that what is read is what was written, or nothing: a success must equal the one without damage.
    """

    make: Callable[[Path], None]
    command: Command | None = None
    read: Callable[[Path], object] | None = None
    sealed: bool = False
    records: Callable[[Path], int] | None = None
    """How many records there are, counted without Veridical: each is judged or named as left out."""


N = 12


def _suite(folder: Path) -> None:
    write_suite(toy_suite(2), folder / "suite.jsonl")


def _data(folder: Path) -> None:
    rows = [{"goal": f"Goal {n}", "sol1": f"do {n}", "sol2": f"not {n}", "label": n % 2} for n in range(N)]
    (folder / "valid.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _tsv(folder: Path) -> None:
    lines = ["id\tgold\tprediction\tpair", *(f"{n}\tyes\t{'yes' if n % 3 else 'no'}\t{n // 2}" for n in range(N))]
    (folder / "answers.tsv").write_text("\n".join(lines) + "\n")


def _rows(folder: Path) -> None:
    rows = [{"id": n, "gold": "yes", "scores": [-1.0 - n % 3, -2.0], "choices": ["yes", "no"]} for n in range(N)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _scores() -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(0)
    return [f"m{n}" for n in range(16)], rng.normal(50, 9, size=(16, 3)).round(2)


def _wide(folder: Path) -> None:
    models, values = _scores()
    lines = ["model,family,size,a,b,needed"]
    lines += [
        f"{m},f{n // 4},{1 + n % 5},{x},{y},{z}" for n, (m, (x, y, z)) in enumerate(zip(models, values, strict=True))
    ]
    (folder / "scores.csv").write_text("\n".join(lines) + "\n")


def _long(folder: Path) -> None:
    models, values = _scores()
    lines = ["model,family,size,benchmark,score"]
    for n, (model, row) in enumerate(zip(models, values, strict=True)):
        lines += [
            f"{model},f{n // 4},{1 + n % 5},{name},{v}" for name, v in zip(("a", "b", "needed"), row, strict=True)
        ]
    (folder / "scores.csv").write_text("\n".join(lines) + "\n")


def _roles(folder: Path) -> None:
    _wide(folder.parent / "table")
    (folder / "roles.yaml").write_text(
        "model: model\nfamily: family\nsize: size\nbenchmarks: [a, b]\noutcomes:\n  needed: skill\n"
    )


def _recipe(folder: Path) -> None:
    (folder / "recipe.yaml").write_text(
        "suites: [imperfective-quads]\nmodels: [hf/not-there]\nprompts: [zero-shot]\nmodes: [loglikelihood]\nlimit: 2\n"
    )


def _sheets(folder: Path) -> None:
    written = write_sheets(make_suite("merge", n_sets=2), raters=2, out=folder / "review")
    fill(written, lambda rater, item, question: question.values[0])


def _lm_eval(folder: Path) -> None:
    records = [choice_record(n, [-1.0 - n % 2, -1.5, -3.0], 0, pair=str(n // 2)) for n in range(N)]
    write_samples(folder, records)
    write_results(folder, {"small": {"acc,none": 0.5}})


def _lm_eval_array(folder: Path) -> None:
    _lm_eval(folder)
    (path,) = folder.glob("samples*")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(json.dumps(records, indent=1))


def _inspect_document() -> dict[str, object]:
    samples = [
        {
            "id": n,
            "epoch": 1,
            "input": f"Question {n}?",
            "choices": ["red", "blue"],
            "target": "A",
            "metadata": {"pair": n // 2},
            "output": {"completion": "A", "choices": [{"message": {"role": "assistant", "content": "A"}}]},
            "scores": {"choice": {"value": "C" if n % 3 else "I", "answer": "A"}},
        }
        for n in range(N)
    ]
    scores = [{"name": "choice", "scorer": "choice", "metrics": {"accuracy": {"name": "accuracy", "value": 8 / N}}}]
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "small", "model": "org/model", "dataset": {"samples": N}, "packages": {"inspect_ai": "0.3.1"}},
        "results": {"total_samples": N, "completed_samples": N, "scores": scores},
        "samples": samples,
    }


def _inspect(folder: Path) -> None:
    (folder / "log.json").write_text(json.dumps(_inspect_document()))


def _inspect_zip(folder: Path) -> None:
    document = _inspect_document()
    samples = document.pop("samples")
    with zipfile.ZipFile(folder / "log.eval", "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("header.json", json.dumps(document))
        for sample in samples:  # type: ignore[attr-defined]
            opened.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))


def _helm(folder: Path) -> None:
    references = [{"output": {"text": text}, "tags": tags} for text, tags in (("red", ["correct"]), ("blue", []))]
    states = [
        {
            "instance": {"id": f"id{n}", "input": {"text": f"Colour {n}?"}, "references": references, "split": "test"},
            "output_mapping": {"A": "red", "B": "blue"},
            "train_trial_index": 0,
            "request": {"prompt": "…"},
            "result": {"completions": [{"text": " A" if n % 3 else " B", "logprob": -1.0}]},
        }
        for n in range(N)
    ]
    adapter = {"method": "multiple_choice_joint", "model": "org/model"}
    (folder / "scenario_state.json").write_text(json.dumps({"adapter_spec": adapter, "request_states": states}))
    (folder / "run_spec.json").write_text(json.dumps({"name": "colours", "adapter_spec": adapter}))


def _run(folder: Path) -> None:
    veridical.run(toy_suite(2), model=ToyModel(), out=folder / "study")


def _imported(folder: Path) -> None:
    source = folder.parent / "source"
    source.mkdir()
    _lm_eval(source)
    import_logs("lm-eval", source, folder / "run")


_STATES = StatesKey("toy", "rule", "full")


def _hidden(folder: Path) -> None:
    _run(folder)
    write_hidden(
        next((folder / "study").glob("hf*")), _STATES, Hidden(("a", "b"), (0, 1), np.ones((2, 2, 3), np.float32))
    )


def _nulls(folder: Path) -> None:
    _run(folder)
    run = open_run(next((folder / "study").glob("hf*")))
    null = NullResult(
        answerer="readout",
        input="full",
        measure="balanced_accuracy",
        observed=0.8,
        mean=0.5,
        low=0.4,
        high=0.6,
        p=0.1,
        draws=9,
    )
    record = ReadoutRecord(
        suite="toy", fitted_on="toy", prompt="rule", layer=1, n_blocks=2, folds=2, seed=0, nulls=(null,)
    )
    answers = run.frame.filter(input="full", prompt="rule").head(0).select(list(FRAME))
    draws = {"readout/full/balanced_accuracy": np.linspace(0.4, 0.6, 9)}
    write_readout(run.path, StoredReadout(record, answers), draws)


def _read_states(folder: Path) -> object:
    found = read_hidden(next((folder / "study").glob("hf*")), _STATES)
    return None if found is None else (found.items, found.layers, found.states.tolist())


def _read_nulls(folder: Path) -> object:
    run = open_run(next(path for path in (folder / "study").glob("hf*")))
    return [{k: v.tolist() for k, v in read_draws(run.path, one.record).items()} for one in run.readouts]


def _checkpoint(folder: Path) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    tiny.saved(folder / "model", tiny.llama(len(tokenizer)), tokenizer)


def _lines(pattern: str, head: int = 0) -> Callable[[Path], int]:
    """The lines of a file that hold anything, less `head` lines of names."""

    def count(folder: Path) -> int:
        (path,) = folder.glob(pattern)
        return sum(bool(line.strip()) for line in path.read_bytes().split(b"\n")) - head

    return count


def _samples(folder: Path) -> int:
    document = json.loads((folder / "log.json").read_bytes().decode(errors="replace"))
    return len(document["samples"])


def _imports(harness: str) -> Command:
    return lambda folder, out: ["import", harness, str(folder), "--out", str(out / "run"), "--json"]


def _predictions(name: str, *more: str) -> Command:
    return lambda folder, out: ["import", "predictions", str(folder / name), "--out", str(out / "run"), "--json", *more]


def _validity(folder: Path, out: Path) -> list[str]:
    roles = ["--model", "model", "--family", "family", "--size", "size", "--outcome", "needed"]
    return ["validity", str(folder / "scores.csv"), *roles, "--draws", "99", "--out", str(out / "v"), "--json"]


def _validity_long(folder: Path, out: Path) -> list[str]:
    return [*_validity(folder, out), "--benchmark-column", "benchmark", "--score-column", "score"]


def _validity_roles(folder: Path, out: Path) -> list[str]:
    table = folder.parent / "table" / "scores.csv"
    roles = str(folder / "roles.yaml")
    return ["validity", str(table), "--roles", roles, "--draws", "99", "--out", str(out / "v"), "--json"]


def _export(suite: str, *given: str) -> Command:
    return lambda folder, out: [
        "export", "jsonl", suite.format(folder), *(word.format(folder) for word in given), "--out", str(out / "x")
    ]  # fmt: skip


SUBJECTS: dict[str, Subject] = {
    "suite": Subject(_suite, _export("{}/suite.jsonl")),
    "data": Subject(_data, _export("piqa", "--data", "{}/valid.jsonl")),
    "tsv": Subject(_tsv, _predictions("answers.tsv"), records=_lines("answers.tsv", head=1)),
    "predictions": Subject(_rows, _predictions("answers.jsonl"), records=_lines("answers.jsonl")),
    "wide table": Subject(_wide, _validity),
    "long table": Subject(_long, _validity_long),
    "roles": Subject(_roles, _validity_roles),
    "recipe": Subject(_recipe, lambda folder, out: ["run", str(folder / "recipe.yaml"), "--out", str(out / "x")]),
    "sheets and key": Subject(_sheets, lambda folder, out: ["review", "agreement", str(folder / "review"), "--json"]),
    "lm-eval lines": Subject(_lm_eval, _imports("lm-eval"), records=_lines("samples*")),
    "lm-eval array": Subject(_lm_eval_array, _imports("lm-eval")),
    "Inspect JSON": Subject(_inspect, _imports("inspect"), records=_samples),
    "Inspect zip": Subject(_inspect_zip, _imports("inspect")),
    "HELM": Subject(_helm, _imports("helm")),
    "run folder": Subject(_run, lambda folder, out: ["judge", str(folder / "study"), "--json"], sealed=True),
    "imported run": Subject(_imported, lambda folder, out: ["judge", str(folder / "run"), "--json"], sealed=True),
    "hidden states": Subject(_hidden, read=_read_states, sealed=True),
    "null draws": Subject(_nulls, read=_read_nulls, sealed=True),
    "checkpoint": Subject(
        _checkpoint,
        lambda folder, out: [
            "run", "imperfective-quads", "--model", f"hf/{folder / 'model'}", "--limit", "1", "--prompt", "zero-shot",
            "--orders", "1", "--out", str(out / "x"),
        ],
    ),
}  # fmt: skip
