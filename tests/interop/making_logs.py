"""Three small multiple-choice tasks for lm-evaluation-harness, in text of our own, and how every version runs them.

    python making_logs.py MODEL_FOLDER OUT

runs the installed version, 0.4.0 to the newest, on local files and writes its logs into OUT. (0.3.0 writes no samples.)
The tasks are one of named answers (yes, no), one of endings of different lengths, and one whose choices differ in the
context (partial scoring).
"""

from __future__ import annotations

import json
import subprocess
import sys
import types
from importlib.metadata import version
from pathlib import Path

N_DOCS = 20
TASKS = ("places", "endings", "partial")

_PEOPLE = ("Ada", "Ben", "Clara", "David", "Elif")
_THINGS = ("cup", "letter", "lamp", "coat")
_PLACES = ("kitchen", "garden", "cellar", "office")
_ENDINGS = (
    ("wanted tea, so", ("boiled some water.", "painted a fence.", "slept.", "sold the old bicycle to a friend.")),
    ("was cold, so", ("closed the window.", "ate a stone.", "drew a map of the harbour.", "ran from a spoon.")),
    ("was late, so", ("hurried to the station.", "counted every leaf in the park.", "knitted.", "froze the soup.")),
    ("was tired, so", ("went to bed.", "lifted the piano onto the roof.", "juggled.", "filled the bath with sand.")),
)
_PARTIAL = (
    ("The trunk did not fit into the car because the", "trunk", "car", "was too big.", "1"),
    ("The trunk did not fit into the car because the", "trunk", "car", "was too small.", "2"),
    ("Ada lent the book to Ben because", "Ada", "Ben", "had finished it.", "1"),
    ("Ada lent the book to Ben because", "Ada", "Ben", "had asked for it.", "2"),
)


def documents(task: str) -> list[dict[str, object]]:
    """The documents of a task: `pair` or `frame` is what item sets are made of."""
    if task == "places":
        return [_place(i) for i in range(N_DOCS)]
    if task == "endings":
        return [_ending(i) for i in range(N_DOCS)]
    return [_partial(i) for i in range(N_DOCS)]


def _place(i: int) -> dict[str, object]:
    pair, second = divmod(i, 2)
    person, thing, place = _PEOPLE[pair % 5], _THINGS[pair % 4], _PLACES[pair // 4 % 4]
    asked = _PLACES[(pair // 4 + 1) % 4] if second else place
    return {
        "pair": f"pair-{pair}",
        "story": f"{person} put the {thing} in the {place}.",
        "question": f"Is the {thing} in the {asked}?",
        "answer": "no" if second else "yes",
    }


def _ending(i: int) -> dict[str, object]:
    person, (start, endings) = _PEOPLE[i % 5], _ENDINGS[i // 5 % 4]
    shift = i % 4
    return {
        "frame": start,
        "start": f"{person} {start} {person}",
        "endings": [*endings[shift:], *endings[:shift]],
        "label": (4 - shift) % 4,
    }


def _partial(i: int) -> dict[str, object]:
    start, one, other, rest, answer = _PARTIAL[i % 4]
    return {
        "seed": f"seed-{i % 4 // 2}",
        "start": f"{'Yesterday' if i < 4 else f'On day {i // 4}'} it happened: {start} ",
        "option1": one,
        "option2": other,
        "rest": rest,
        "answer": answer,
    }


_YAML = {
    "places": """doc_to_text: "{{story}}\\nQuestion: {{question}}\\nAnswer:"
doc_to_target: answer
doc_to_choice: ["yes", "no"]
""",
    "endings": """doc_to_text: "{{start}}"
doc_to_target: label
doc_to_choice: "{{endings}}"
""",
    "partial": """doc_to_text: "{{answer|int - 1}}"
doc_to_target: "{{rest}}"
doc_to_choice: "{{[start + option1, start + option2]}}"
""",
}


def write_tasks(folder: Path) -> None:
    """A folder for `--include_path`: a YAML and a JSONL file a task."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in TASKS:
        data = folder / f"{task}.jsonl"
        data.write_text("".join(json.dumps(document) + "\n" for document in documents(task)), encoding="utf-8")
        metrics = "".join(
            f"  - metric: {name}\n    aggregation: mean\n    higher_is_better: true\n" for name in ("acc", "acc_norm")
        )
        (folder / f"{task}.yaml").write_text(
            f"task: {task}\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {data}\n"
            f"test_split: test\noutput_type: multiple_choice\n{_YAML[task]}metric_list:\n{metrics}"
            "metadata:\n  version: 1.0\n",
            encoding="utf-8",
        )


def run(model: str, out: Path) -> None:
    """Run the tasks with the installed version; its logs are then in `out`."""
    out.mkdir(parents=True, exist_ok=True)
    tasks = out.parent / "tasks"
    write_tasks(tasks)
    arguments = ["--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--tasks", ",".join(TASKS)]
    arguments += ["--include_path", str(tasks), "--output_path", str(out), "--log_samples", "--batch_size", "8"]
    subprocess.run([sys.executable, __file__, "--command", *arguments, "--device", "cpu"], check=True)


def _command(arguments: list[str]) -> None:
    """The harness's own command line. Version 0.4.0 fetches a metric of text when it is imported: not here."""
    if version("lm_eval") == "0.4.0":
        import evaluate

        _stand_in()
        evaluate.load = lambda *_, **__: types.SimpleNamespace(compute=None)
        _without_8_bit()
    from lm_eval.__main__ import cli_evaluate

    sys.argv = ["lm_eval", *arguments]
    cli_evaluate()


def _without_8_bit() -> None:
    """0.4.0 always passes options that Transformers no longer takes."""
    import transformers

    load = transformers.AutoModelForCausalLM.from_pretrained

    def loaded(*given: object, load_in_8bit: bool = False, load_in_4bit: bool = False, **options: object) -> object:
        return load(*given, **options)

    transformers.AutoModelForCausalLM.from_pretrained = loaded


def _stand_in() -> None:
    """0.4.0 imports metrics for generated text that Transformers and Datasets no longer have."""
    import datasets

    datasets.load_metric = None
    metrics = types.ModuleType("transformers.data.metrics")
    squad = types.ModuleType("transformers.data.metrics.squad_metrics")
    metrics.squad_metrics = squad  # type: ignore[attr-defined]
    sys.modules |= {metrics.__name__: metrics, squad.__name__: squad}


if __name__ == "__main__":
    if sys.argv[1] == "--command":
        _command(sys.argv[2:])
    else:
        run(sys.argv[1], Path(sys.argv[2]))
