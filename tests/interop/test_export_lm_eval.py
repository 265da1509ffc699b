"""A suite that is written as tasks of the harness gets the same answers there as in a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

import yaml
from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

import veridical
from tests.models import tiny
from veridical.cli import main
from veridical.errors import UserError
from veridical.interop.exports.lm_eval import export_lm_eval
from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.limits import limited
from veridical.models.hf import HuggingFaceModel
from veridical.prompts.template import Prompt
from veridical.suites.file_writer import write_suite
from veridical.suites.files import read_suite
from veridical.suites.merge import prompts as merge
from veridical.suites.registry import Data, read

pytestmark = pytest.mark.slow

BREAK = tiny.TEMPLATE.replace("<|assistant|>{% endif", "<|assistant|>\n{% endif")
"""A template that ends with a line break, as most do."""


def model_of(template: str | None) -> HuggingFaceModel:
    tokenizer = tiny.byte_level_tokenizer(template=template)
    model = tiny.llama(len(tokenizer), max_position_embeddings=2048)
    tokenizer.model_max_length = 2048
    return HuggingFaceModel("tiny", model, tokenizer, weights=str(template))


def ran(suite: Suite, model: HuggingFaceModel, out: Path, prompt: str) -> dict[str, list[float]]:
    """What a run finds: item to its choices' log-likelihoods, under the suite's first label order."""
    study = veridical.run(suite, model=model, prompts=prompt, inputs="full", orders=1, out=out)
    frame = study.responses.filter(pl.col("answerer") == "model")
    return {row["item"]: list(row["scores"]) for row in frame.iter_rows(named=True)}


def harnessed(folder: Path, task: str, model: HuggingFaceModel, **settings: Any) -> tuple[dict[str, list[float]], Any]:
    """What the harness's `hf` model finds, and its results."""
    lm = HFLM(pretrained=model.engine.model, tokenizer=model.encoder.tokenizer, batch_size=16)
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = simple_evaluate(lm, tasks=[task], task_manager=manager, bootstrap_iters=0, **settings)
    samples = {s["doc"]["id"]: [float(one[0][0]) for one in s["resps"]] for s in found["samples"][task]}
    return samples, found["results"][task]


def own_file() -> Suite:
    """A suite of the user's, with an answer begun, two right answers, choices of its own and two groupings."""
    prompt = Prompt(name="begun", system="Say what holds.", user="{{ text }}", assistant='{"label": "')
    other = Prompt(name="bare", user="Is it so that {{ text }}?")
    items = [
        Item(
            fields={"text": f"the boat number {n} carries bread"},
            choices=(
                Choice(label="A", continuation="yes"),
                Choice(label="B", continuation="über the river"),
                Choice(label="C", continuation="no, books"),
            ),
            gold=("A", "C") if n % 2 else ("B",),
            factors={"number": n, "mixed": n if n % 2 else "none"} if n else {"number": n},
        )
        for n in range(6)
    ]
    return Suite(
        name="own boats",
        version="3",
        licence="CC0-1.0",
        citation="Nobody, 2026",
        prompts=(prompt, other),
        items=tuple(items),
        groupings=(
            Grouping(name="parity", members=tuple(Member(set=str(n % 2), item=i.id) for n, i in enumerate(items))),
            Grouping(
                name="neighbours",
                members=tuple(
                    Member(set=f"n{m}", item=i.id, role="one") for n, i in enumerate(items) for m in (n, n + 1)
                ),
            ),
        ),
    )


def variants() -> Suite:
    """Seeds and their variants, as `vary` writes them."""
    words = ("dog", "cat", "horse", "boat")
    items = [
        Item(
            fields={"premise": f"The {word} {n} sat on the floor.", "hypothesis": f"The {word} {n} sat down."},
            choices=merge.CHOICES,
            gold=(merge.LABELS[n % 3],),
            factors={"kind": "seed" if word == "dog" else "variant"},
        )
        for n in range(3)
        for word in words
    ]
    members = tuple(Member(set=f"s{n // 4}", item=item.id, role="variant") for n, item in enumerate(items))
    return Suite(
        name="snli-variants",
        version="1",
        labels=merge.LABELS,
        prompts=merge.PROMPTS,
        inputs=merge.INPUTS,
        classes=merge.CLASSES,
        groupings=(Grouping(name="seed", members=members),),
        items=tuple(items),
    )


SUITES = {
    "imperfective": lambda: limited(veridical.load_suite("imperfective"), 12, 0),
    "imperfective-quads": lambda: limited(veridical.load_suite("imperfective-quads"), 8, 0),
    "evidence": lambda: limited(veridical.load_suite("evidence"), 8, 0),
    "a file": own_file,
    "variants": variants,
}


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("kind", ["chat", "plain"])
def test_the_harness_finds_what_a_run_finds(name: str, kind: str, tmp_path: Path) -> None:
    write_suite(SUITES[name](), tmp_path / "suite.jsonl")
    suite = read_suite(tmp_path / "suite.jsonl")
    model = model_of(tiny.TEMPLATE if kind == "chat" else None)
    exported = export_lm_eval(suite, tmp_path / "tasks")
    prompt = suite.prompts[0].name
    slug = suite.name.replace(" ", "-")
    task = f"veridical_{slug}_{prompt}" + ("" if kind == "chat" else "_plain")
    assert task in exported.tasks
    samples, results = harnessed(tmp_path / "tasks", task, model, apply_chat_template=kind == "chat")
    scores = ran(suite, model, tmp_path / "study", prompt)
    assert len(samples) == len(suite.items) == len(scores)
    for item in suite.items:
        assert samples[item.id] == pytest.approx(scores[item.id], abs=1e-3)
        assert _best(samples[item.id]) == _best(scores[item.id])
    right = [item.labels[_best(scores[item.id])] in item.gold for item in suite.items]
    assert results["acc,none"] == pytest.approx(sum(right) / len(right))


PUBLISHED = Path(__file__).parents[1] / "suites" / "commonsense" / "published"


@pytest.mark.parametrize("name", ["winogrande", "piqa-pairs", "blimp", "timedial", "false-beliefs"])
def test_the_harness_finds_of_a_benchmark_what_a_run_finds(name: str, tmp_path: Path) -> None:
    """Contexts a choice, pairs of rows, whole sentences, several right answers, conditions."""
    suite, _ = read(name, Data(folder=PUBLISHED))
    model = model_of(None)
    exported = export_lm_eval(suite, tmp_path / "tasks")
    samples, results = harnessed(tmp_path / "tasks", exported.tasks[-1], model)
    scores = ran(suite, model, tmp_path / "study", suite.prompts[0].name)
    items = [item for item in suite.items if item.gold]
    assert set(samples) == {item.id for item in items}
    for item in items:
        assert samples[item.id][: len(item.choices)] == pytest.approx(scores[item.id], abs=1e-3)
    right = [item.labels[_best(scores[item.id])] in item.gold for item in items]
    assert results["acc,none"] == pytest.approx(sum(right) / len(right))


def _best(scores: list[float]) -> int:
    return scores.index(max(scores))


def test_a_template_that_ends_with_a_line_break_shifts_all_choices_alike(tmp_path: Path) -> None:
    """The harness counts the break to the continuation: its log-probability is what all choices gain."""
    suite = limited(veridical.load_suite("imperfective-quads"), 4, 0)
    model = model_of(BREAK)
    export_lm_eval(suite, tmp_path / "tasks", prompts=["zero-shot"])
    task = "veridical_imperfective-quads_zero-shot"
    samples, _ = harnessed(tmp_path / "tasks", task, model, apply_chat_template=True)
    scores = ran(suite, model, tmp_path / "study", "zero-shot")
    shifts = {item.id: [a - b for a, b in zip(samples[item.id], scores[item.id], strict=True)] for item in suite.items}
    for item, shift in shifts.items():
        assert shift == pytest.approx([shift[0]] * 3, abs=1e-3)
        assert shift[0] < -0.1  # a model of random weights foresees no line break
        assert _best(samples[item]) == _best(scores[item])


ODD = (
    "one line\u2028another\x85and a third",
    "{{ user }} {% if so %} \\ \" ' #: &a *b",
    "  spaces about  ",
    "12",
    "café 漢字 😀\ttab",
    "two\n\nbreaks\n",
)
"""Texts that line readers, YAML, templates and tokenizers may take for something else."""


def test_texts_of_every_kind_reach_the_harness_as_they_are(tmp_path: Path) -> None:
    """Also where they are the suite's own name, citation and prompts."""
    items = tuple(
        Item(
            fields={"text": text},
            choices=(Choice(label="1", continuation="7"), Choice(label="2", continuation="{{ gold }}")),
            gold=("1",),
        )
        for text in ODD
    )
    prompts = (
        Prompt(name="odd", system="Say.\n{{ '{{' }} system }}", user="{{ text }}"),
        Prompt(name="bare", user="{{ text }}\nAnswer:", plain=True),
    )
    named = "line\u2028or\x85\x7f\ufeff" + "".join(ODD)
    suite = Suite(name="a/b: ü", version="1", title=named, citation=named, prompts=prompts, items=items)
    exported = export_lm_eval(suite, tmp_path / "tasks")
    assert exported.tasks == tuple(f"veridical_a-b_{name}" for name in ("odd", "odd_plain", "bare"))
    for task, prompt in zip(exported.tasks, ("odd", "odd", "bare"), strict=True):
        model = model_of(tiny.TEMPLATE if task.endswith("odd") else None)
        samples, _ = harnessed(tmp_path / "tasks", task, model, apply_chat_template=task.endswith("odd"))
        scores = ran(suite, model, tmp_path / task, prompt)
        for item in items:
            assert samples[item.id] == pytest.approx(scores[item.id], abs=1e-3), item.fields["text"]
    text = (tmp_path / "tasks" / "veridical_a-b_odd.yaml").read_text(encoding="utf-8").replace("!function ", "")
    assert yaml.safe_load(text)["metadata"]["citation"] == suite.citation


def test_prompts_whose_names_end_alike_are_tasks_of_their_own(tmp_path: Path) -> None:
    names = ("p", "P", "p!", "p_plain", "p_order1", "甲", "乙")
    prompts = tuple(Prompt(name=name, user=f"{number}: {{{{ text }}}}") for number, name in enumerate(names))
    suite = own_file().model_copy(update={"prompts": prompts})
    exported = export_lm_eval(suite, tmp_path / "tasks", orders=2)
    assert len({task.casefold() for task in exported.tasks}) == len(exported.tasks) == len(names) * 2 * 2
    for number, task in enumerate(exported.tasks[::4]):
        assert rows(tmp_path / "tasks", task)[0]["user"].startswith(f"{number}: ")


def test_label_orders_are_tasks_of_their_own(tmp_path: Path) -> None:
    suite = limited(veridical.load_suite("imperfective-quads"), 2, 0)
    exported = export_lm_eval(suite, tmp_path / "tasks", prompts=["zero-shot"], orders=0)
    stem = "veridical_imperfective-quads_zero-shot"
    assert exported.tasks == tuple(
        f"{stem}{order}{kind}" for order in ("", "_order1", "_order2") for kind in ("", "_plain")
    )
    first, second = (rows(tmp_path / "tasks", f"{stem}{order}") for order in ("", "_order1"))
    assert "True, False or Unknown" in first[0]["system"]
    assert "False, Unknown or True" in second[0]["system"]
    assert first[0]["choices"] == second[0]["choices"] == ["True", "False", "Unknown"]
    model = model_of(None)
    study = veridical.run(suite, model=model, prompts="zero-shot", inputs="full", orders=2, out=tmp_path / "study")
    frame = study.responses.filter(pl.col("answerer") == "model", pl.col("order") == 1)
    samples, _ = harnessed(tmp_path / "tasks", f"{stem}_order1_plain", model)
    for row in frame.iter_rows(named=True):
        assert samples[row["item"]] == pytest.approx(list(row["scores"]), abs=1e-3)


def rows(folder: Path, task: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_contexts_a_choice_are_the_harness_s_multiple_inputs(tmp_path: Path) -> None:
    """As WinoGrande is scored: each filling before one and the same ending."""
    items = tuple(
        Item(
            fields={"sentence": f"number {n}"},
            choices=tuple(
                Choice(label=label, continuation="was too heavy.", context=f"The boat {n} missed the {what} since it")
                for label, what in (("1", "brick"), ("2", "bread"))
            ),
            gold=(str(n % 2 + 1),),
        )
        for n in range(5)
    )
    suite = Suite(name="fillings", version="1", prompts=(Prompt(name="partial", user="-", plain=True),), items=items)
    exported = export_lm_eval(suite, tmp_path / "tasks")
    assert exported.tasks == ("veridical_fillings_partial",)
    model = model_of(None)
    samples, results = harnessed(tmp_path / "tasks", exported.tasks[0], model)
    scores = ran(suite, model, tmp_path / "study", "partial")
    for item in items:
        assert samples[item.id] == pytest.approx(scores[item.id], abs=1e-3)
    right = [item.labels[_best(scores[item.id])] in item.gold for item in items]
    assert results["acc,none"] == pytest.approx(sum(right) / len(right))


@pytest.mark.parametrize(
    ("normalisation", "metric"), [("char", "acc_norm"), ("byte", "acc_bytes"), ("unconditional", "acc_mutual_info")]
)
def test_a_normalisation_is_the_harness_s_metric(normalisation: str, metric: str, tmp_path: Path) -> None:
    suite = Suite(
        name="lengths",
        version="1",
        normalisation=normalisation,  # type: ignore[arg-type]
        prompts=(Prompt(name="bare", user="Question: {{ text }}\nAnswer:", plain=True),),
        items=tuple(
            Item(
                fields={"text": f"what is number {n}?"},
                choices=(
                    Choice(label="A", continuation="über äöü öäü"),
                    Choice(label="B", continuation="a boat"),
                    Choice(label="C", continuation="a long boat that carries bricks"),
                ),
                gold=("ABC"[n % 3],),
            )
            for n in range(9)
        ),
    )
    model = model_of(None)
    export_lm_eval(suite, tmp_path / "tasks")
    _, results = harnessed(tmp_path / "tasks", "veridical_lengths_bare", model)
    study = veridical.run(suite, model=model, out=tmp_path / "study")
    (record,) = [
        m for m in study.records if m.measure == "accuracy" and m.answerer == "model" and not m.slice and not m.against
    ][:1]
    assert results[f"{metric},none"] == pytest.approx(record.value)


def test_rows_hold_sets_and_factors_and_the_folder_says_where_they_come_from(tmp_path: Path) -> None:
    suite = own_file()
    exported = export_lm_eval(suite, tmp_path / "tasks")
    row = rows(tmp_path / "tasks", "veridical_own-boats_begun")[1]
    assert row["id"] == suite.items[1].id
    assert (row["set"], row["set_neighbours"], row["role_neighbours"]) == ("1", ["n1", "n2"], ["one", "one"])
    assert (row["factor_number"], row["factor_mixed"], row["gold"]) == (1, "1", [0, 2])
    assert rows(tmp_path / "tasks", "veridical_own-boats_begun")[0]["factor_mixed"] is None
    described = yaml.safe_load(
        (tmp_path / "tasks" / "veridical_own-boats_begun.yaml").read_text(encoding="utf-8").replace("!function ", "")
    )
    assert described["metadata"]["content_hash"] == suite.content_hash
    readme = (tmp_path / "tasks" / "README.md").read_text(encoding="utf-8")
    assert "Licence: CC0-1.0." in readme
    assert "Cite: Nobody, 2026" in readme
    manifest = json.loads((tmp_path / "tasks" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["tasks"] == list(exported.tasks)
    assert str(tmp_path) not in readme + json.dumps(manifest) + json.dumps(described)


def test_the_folder_runs_where_it_is_moved(tmp_path: Path) -> None:
    export_lm_eval(own_file(), tmp_path / "here")
    (tmp_path / "deep").mkdir()
    moved = (tmp_path / "here").rename(tmp_path / "deep" / "there")
    samples, _ = harnessed(moved, "veridical_own-boats_bare_plain", model_of(None))
    assert len(samples) == 6


def test_a_prompt_that_reasons_is_left_out_with_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "lm-eval", "evidence", "--out", str(tmp_path / "e")]) == 0
    printed = capsys.readouterr()
    assert "108 items as 2 tasks: veridical_evidence_zero-shot, veridical_evidence_zero-shot_plain" in printed.out
    assert "prompt cot is left out: it is answered in text" in printed.err


def without_gold() -> Suite:
    item = Item(fields={"text": "x"}, choices=(Choice(label="A", continuation="a"),))
    return Suite(name="asked", version="1", prompts=(Prompt(name="p", user="{{ text }}"),), items=(item,))


def with_both() -> Suite:
    choices = tuple(Choice(label=x, continuation=f"{x} it is", context=f"{x}:") for x in "AB")
    item = Item(fields={"text": "x"}, choices=choices, gold=("A",))
    return Suite(name="both", version="1", prompts=(Prompt(name="p", user="{{ text }}"),), items=(item,))


def with_spaces() -> Suite:
    choices = (Choice(label="A", continuation="a"), Choice(label="B", continuation=" b"))
    item = Item(fields={"text": "x"}, choices=choices, gold=("A",))
    return Suite(name="spaces", version="1", prompts=(Prompt(name="p", user="{{ text }}"),), items=(item,))


def reasoning() -> Suite:
    item = Item(fields={"text": "x"}, choices=(Choice(label="A", continuation="a"),), gold=("A",))
    prompt = Prompt(name="cot", user="{{ text }}", reasons=True)
    return Suite(name="reasons", version="1", prompts=(prompt,), items=(item,))


@pytest.mark.parametrize(
    ("suite", "why"),
    [
        (without_gold, "no item has gold"),
        (with_both, "choices that differ both in contexts and in what follows"),
        (with_spaces, "some choices need a space before them and some do not"),
        (reasoning, "each of its prompts is answered in text"),
    ],
)
def test_a_suite_that_the_harness_cannot_score_is_refused_with_the_reason(suite: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=why):
        export_lm_eval(suite(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--prompt", "zeroshot"], "unknown prompt 'zeroshot': did you mean 'zero-shot'?"),
        (["--prompt", "cot"], "prompt 'cot' cannot be exported: it is answered in text"),
    ],
)
def test_prompts_are_checked(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "lm-eval", "evidence", "--out", str(tmp_path / "e"), *arguments]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    suite = tmp_path / "own.jsonl"
    write_suite(own_file(), suite)
    for form in ("lm-eval", "jsonl"):
        for name in ("kept", "file"):
            assert main(["export", form, str(suite), "--out", str(tmp_path / name)]) == 2
            assert "it exists already; name a new folder" in capsys.readouterr().err
        assert main(["export", form, str(suite), "--out", "/proc/none/there"]) == 2
    assert (tmp_path / "kept" / "mine.txt").read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "kept", "own.jsonl"]
