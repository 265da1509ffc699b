"""Recipes: checked whole before anything is loaded, and followed on models of a few thousand weights."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import veridical
from tests.models import tiny
from tests.runs.toy import ToyModel
from tests.variation.planted import Planted
from veridical.cli import main
from veridical.errors import UserError
from veridical.models import LoadSettings
from veridical.studies.follow import Given, follow
from veridical.studies.recipe import Recipe
from veridical.studies.recipe_file import read_recipe
from veridical.suites.registry import BUILT_IN, benchmarks

STUDIES = sorted((Path(__file__).parents[2] / "studies").glob("*.yaml"))

SMALL: dict[str, Any] = {
    "schema": "veridical.recipe/1",
    "name": "small",
    "models": [{"name": "smollm2"}],
    "steps": [{"ask": {"suites": ["imperfective-quads"], "prompts": ["zero-shot"]}}],
}


def written(path: Path, **changes: Any) -> Path:
    path.write_text(yaml.safe_dump({**SMALL, **changes}), encoding="utf-8")
    return path


class Told:
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, message: str) -> None:
        self.lines.append(message)

    def steps(self, what: str, total: int) -> Any:
        from veridical.progress import Silent

        return Silent().steps(what, total)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_recipe_of_ours_is_one(path: Path) -> None:
    recipe = read_recipe(path)
    assert recipe.name == path.stem
    assert recipe.paper.startswith("arXiv 2")
    assert all(model.api or model.name.startswith("hf/") for model in recipe.models)
    assert len({model.name for model in recipe.models}) == len(recipe.models)
    text = path.read_text(encoding="utf-8")
    assert f"veridical run studies/{path.name}" in text.splitlines()[0]


def test_the_four_studies_ask_what_the_papers_asked() -> None:
    paradox, evidence, merge, validity = (
        read_recipe(next(path for path in STUDIES if path.stem == name))
        for name in ("imperfective-paradox", "same-evidence", "merge", "predictive-validity")
    )
    first = paradox.steps[0].ask
    assert first is not None
    assert first.prompts == ("zero-shot", "dap", "cot", "counterfactual")
    assert (first.mode[0], first.max_new_tokens, first.data) == ("generate", 512, True)
    assert [m.billions for m in paradox.models if m.family == "Qwen"] == [1.5, 7.6, 14.8, 32.8, 72.7]
    readout = evidence.steps[0].readout
    assert readout is not None
    assert (readout.layer, readout.draws) == (-2, 1000)
    assert [step.vary is not None for step in merge.steps] == [True, False]
    assert len(validity.models) == 23
    assert len({model.family for model in validity.models}) == 7 - 1
    asked = validity.steps[0].ask
    assert asked is not None
    assert len(asked.suites) == 19
    assert set(asked.suites) <= set(benchmarks())
    columns = validity.steps[1].validity
    assert columns is not None
    assert {column.partition("/")[0] for column in columns.columns} == set(asked.suites)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"modles": []}, "unknown key 'modles': did you mean 'models'?"),
        ({"schema": "veridical.suite/1"}, "not a recipe: it must say 'schema: veridical.recipe/1'"),
        ({"models": []}, "models: the list is empty; give one at least"),
        ({"models": "smollm2"}, "models: a list is needed, as in [a, b]"),
        ({"models": ["smollm2"]}, "models[1]: a mapping is needed, as in {key: value}"),
        ({"models": [{"name": [3]}]}, "models[1].name: a model's name is a text, as in hf/ORG/NAME"),
        (
            {"models": [{"name": "smollm2", "billions": "8B"}]},
            "models[1].billions: a number in decimal",
        ),
        (
            {"models": [{"name": "smollm2", "billions": True}]},
            "models[1].billions: a number in decimal",
        ),
        (
            {"models": [{"name": "smollm2", "billions": float("inf")}]},
            "models[1].billions: a number in decimal",
        ),
        ({"name": [3]}, "name: a text is needed"),
        ({"steps": ["ask"]}, "steps[1]: a mapping is needed, as in {key: value}"),
        ({"steps": [{"ask": {}}]}, "steps[1].ask.suites: is missing"),
        ({"steps": [{"ask": {"suites": [""]}}]}, "steps[1].ask.suites[1]: the text is empty"),
        ({"steps": [{"ask": {"suites": ["evidence"], "data": "perhaps"}}]}, "steps[1].ask.data: true or false"),
        ({"steps": [{"ask": {"suites": ["evidence"], "shots": 2}}]}, "steps[1].ask: shots: suite 'evidence' has no"),
        ({"steps": [{"ask": {"suites": ["evidence"], "data": True}}]}, "steps[1].ask: data: suite 'evidence' reads no"),
        ({"steps": [{"readout": {"suite": "evidence", "data": True}}]}, "steps[1].readout: data: suite 'evidence'"),
        (
            {"models": [{"name": "meta-llama/Llama"}]},
            "models[1]: 'meta-llama/Llama' is not the name of a model: write hf/",
        ),
        ({"models": [{"nmae": "smollm2"}]}, "unknown key 'nmae' in models[1]: did you mean 'name'?"),
        ({"models": [{"name": "smollm2", "billions": "1e300"}]}, "models[1].billions: a number of at most 1000000.0"),
        ({"models": [{"name": "smollm2", "billions": -1}]}, "models[1].billions: a number above 0 is needed"),
        (
            {"steps": [{"readout": {"suite": "evidence", "against": "generated"}}]},
            "steps[1].readout: unknown mode to set a readout against: 'generated': did you mean 'generate'?",
        ),
        (
            {"steps": [{"readout": {"suite": "imperfective-quads", "fit_on": "imperfectiv"}}]},
            "steps[1].readout: fit_on: no file is there, and unknown suite 'imperfectiv': did you mean 'imperfective'?",
        ),
        (
            {"steps": [{"readout": {"suite": "evidence", "fit_on": "evidence"}}]},
            "steps[1].readout: fit_on: a readout is fitted on another suite",
        ),
        ({"steps": [{"readout": {"suite": "evidence", "twin": "perhaps"}}]}, "steps[1].readout.twin: true or false"),
        (
            {"steps": [{"readout": {"suite": "evidence", "max_new_tokens": 0}}]},
            "steps[1].readout.max_new_tokens: ",
        ),
        ({"steps": [{}]}, "steps[1]: a step is one of ask, readout, vary, validity"),
        (
            {"steps": [{"ask": {"suites": ["evidence"]}, "readout": {"suite": "evidence"}}]},
            "steps[1]: a step is one of ask, readout, vary, validity",
        ),
        ({"steps": [{"aks": {}}]}, "unknown key 'aks' in steps[1]: did you mean 'ask'?"),
        (
            {"steps": [{"ask": {"suites": ["evidence"], "promts": ["zero-shot"]}}]},
            "unknown key 'promts' in steps[1].ask: did you mean 'prompts'?",
        ),
        (
            {"steps": [{"ask": {"suites": ["evidnce"]}}]},
            "steps[1].ask: unknown suite 'evidnce': did you mean 'evidence'?",
        ),
        (
            {"steps": [{"ask": {"suites": ["evidence"], "prompts": ["zeroshot"]}}]},
            "steps[1].ask: unknown prompt 'zeroshot': did you mean 'zero-shot'?",
        ),
        (
            {"steps": [{"ask": {"suites": ["evidence"], "mode": ["generat"]}}]},
            "steps[1].ask: unknown mode 'generat': did you mean 'generate'?",
        ),
        (
            {"steps": [{"readout": {"suite": "evidence", "prompt": "zeroshot"}}]},
            "steps[1].readout: unknown prompt 'zeroshot': did you mean 'zero-shot'?",
        ),
        ({"steps": [{"ask": {"suites": ["variants.jsonl"]}}]}, "steps[1].ask: unknown suite 'variants.jsonl'"),
        ({"steps": [{"vary": {"proposers": ["minilm-mlm"], "writes": "../v.jsonl"}}]}, "steps[1].vary.writes:"),
        (
            {"steps": [{"vary": {"proposers": ["minilm-mlm"]}}, {"vary": {"proposers": ["minilm-mlm"]}}]},
            "steps[2].vary: writes: an earlier step writes 'variants.jsonl' too",
        ),
        (
            {
                "steps": [
                    {"ask": {"suites": ["evidence"]}},
                    {"validity": {"benchmarks": {"evidence/accuracy": ""}, "outcomes": {"cei/accuracy": "social"}}},
                ]
            },
            "steps[2].validity: 'cei/accuracy': no step asks",
        ),
        ({"steps": [{"ask": {"suites": ["evidence", "imperfective"], "data": True}}]}, "name that one alone"),
    ],
)
def test_what_is_wrong_with_a_recipe_is_reported_with_its_place(
    changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "small.yaml", **changes)
    with pytest.raises(UserError) as error:
        read_recipe(path)
    assert str(error.value).startswith(f"{path}: ")
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a\n- b\n", "not a recipe"),
        ("a: [1\n", "not valid YAML"),
        ("schema: 1\nschema: 2\n", "named twice"),
        (f"{yaml.safe_dump(SMALL)}2: x\n", "unknown key '2'"),
        (f"{yaml.safe_dump(SMALL)}[2]: x\n", "a key must be a text"),
    ],
)
def test_a_file_that_is_not_a_recipe_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=words):
        read_recipe(path)


def recipe_of(**changes: Any) -> Recipe:
    return Recipe.model_validate({**SMALL, **changes})


def test_models_behind_an_api_are_left_out_with_a_word(tmp_path: Path) -> None:
    expected = Told()
    models = [{"name": "openai/some-model", "api": True}]
    with pytest.raises(UserError, match="all its models are behind APIs; name others with --model"):
        follow(recipe_of(models=models), tmp_path / "s", progress=expected)
    assert "left out, behind an API: openai/some-model" in expected.lines
    study = follow(recipe_of(models=models), tmp_path / "s", Given([ToyModel()], limit=2), expected)
    assert [run.manifest.model.name for run in study.runs] == [ToyModel().name]


@pytest.mark.slow
def test_steps_are_one_study_and_are_resumed(tmp_path: Path) -> None:
    model = ToyModel()
    steps = [
        {"ask": {"suites": ["imperfective-quads"], "prompts": ["zero-shot"], "orders": 1}},
        {"ask": {"suites": ["evidence"], "mode": ["generate"], "prompts": ["zero-shot"], "max_new_tokens": 7}},
    ]
    study = follow(recipe_of(steps=steps), tmp_path / "s", Given([model], limit=2))
    (run,) = study.runs
    assert {(s.name, len(s.items)) for s in study.judgement.suites} == {("imperfective-quads", 8), ("evidence", 4)}
    assert run.manifest.settings.max_new_tokens == 7
    alone = veridical.run(
        "imperfective-quads", model=ToyModel(), prompts="zero-shot", orders=1, limit=2, out=tmp_path / "a"
    )
    values = {(m.measure, m.value) for m in study.records if m.suite == "imperfective-quads" and not m.slice}
    assert {(m.measure, m.value) for m in alone.records if not m.slice} == values
    expected = Told()
    follow(recipe_of(steps=steps), tmp_path / "s", Given([ToyModel()], limit=2), expected)
    assert sum("0 requests answered" in line for line in expected.lines) == 2


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its tokenizer has learnt the suites' words, so that questions are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            tiny, "TEXT", [text for item in veridical.load_suite("evidence").items for text in item.fields.values()]
        )
        patch.setattr(tiny.trainers, "BpeTrainer", partial(_trainer, tiny.trainers.BpeTrainer))
        tokenizer = tiny.byte_level_tokenizer()
    tokenizer.model_max_length = 1024
    model = tiny.llama(len(tokenizer), max_position_embeddings=1024, num_hidden_layers=2)
    return f"hf/{tiny.saved(tmp_path_factory.mktemp('lm') / 'tiny', model, tokenizer)}"


def _trainer(trainer: Any, **settings: Any) -> Any:
    return trainer(**{**settings, "vocab_size": 3000})


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> str:
    tokenizer = tiny.pair_tokenizer("bert")
    model = tiny.classifier("bert", len(tokenizer), ["contradiction", "neutral", "entailment"])
    return f"hf/{tiny.saved(tmp_path_factory.mktemp('nli') / 'tiny', model, tokenizer)}"


def edited(name: str, path: Path, change: Callable[[Any], None]) -> Path:
    """Our recipe of that name with less effort, so that a test is short."""
    document = yaml.safe_load(next(p for p in STUDIES if p.stem == name).read_text(encoding="utf-8"))
    change(document)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.slow
def test_the_paradox_recipe_runs(language_model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def less(document: Any) -> None:
        document["steps"][0]["ask"]["max_new_tokens"] = 4
        document["steps"][2]["readout"] |= {"draws": 5, "category_draws": 2, "control_draws": 2}

    path = edited("imperfective-paradox", tmp_path / "imperfective-paradox.yaml", less)
    out = tmp_path / "study"
    assert main(["run", str(path), "--model", language_model, "--limit", "10", "--out", str(out), "--json"]) == 0
    printed = capsys.readouterr()
    measures = json.loads(printed.out)["measures"]
    asked = {(m["suite"], m["prompt"], m["mode"]) for m in measures if m["answerer"] == "model" and m["prompt"]}
    assert {(p, m) for s, p, m in asked if s == "imperfective"} == {
        *((prompt, "generate") for prompt in ("zero-shot", "dap", "cot", "counterfactual")),
        *((prompt, "loglikelihood") for prompt in ("zero-shot", "dap")),
    }
    assert {p for s, p, _ in asked if s == "imperfective-quads"} == {"zero-shot", "dap"}
    assert "readout" in {m["answerer"] for m in measures}
    assert "step 3 of 3, read out imperfective" in printed.err
    assert (out / "report.html").is_file()


def test_a_trial_of_few_sets_leaves_out_what_needs_more(tmp_path: Path) -> None:
    expected = Told()
    steps = [
        {"ask": {"suites": ["imperfective"], "prompts": ["zero-shot"], "orders": 1}},
        {"readout": {"suite": "imperfective", "prompt": "zero-shot"}},
    ]
    study = follow(recipe_of(steps=steps), tmp_path / "s", Given([ToyModel()], limit=2), expected)
    assert expected.lines[-1].startswith("--limit 2: the readout of imperfective is left out: 2 sets are too few for 5")
    assert {record.answerer for record in study.records if record.suite == "imperfective"} >= {"model"}


@pytest.mark.parametrize("limit", [None, 2])
def test_a_readout_step_has_the_options_of_the_command(
    limit: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def readout(suite: str, **options: Any) -> Any:
        given.update(options, suite=suite)
        return SimpleNamespace(failed=0)

    monkeypatch.setattr("veridical.studies.readout.readout", readout)
    own = {"fit_on": "imperfective", "against": "generate", "max_new_tokens": 7, "twin": True}
    recipe = recipe_of(steps=[{"readout": {"suite": "imperfective-quads", **own}}])
    expected = Told()
    with suppress(UserError):  # nothing was asked, so there is no study to open
        follow(recipe, tmp_path / "s", Given([ToyModel()], limit=limit), expected)
    assert {name: given[name] for name in own} == own
    assert given["limit"] is None  # fitted on another suite, it is read out whole
    assert ("--limit: imperfective-quads is read out whole" in expected.lines) == (limit is not None)


def test_a_readout_step_without_options_is_fitted_as_its_suite_says() -> None:
    step = recipe_of(steps=[{"readout": {"suite": "imperfective"}}]).steps[0].readout
    assert step is not None
    assert (step.fit_on, step.against, step.twin, step.read_out_whole) == ("", "loglikelihood", False, False)


@pytest.mark.slow
def test_the_evidence_recipe_runs(language_model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def less(document: Any) -> None:
        document["steps"][0]["readout"] |= {"draws": 5, "category_draws": 2, "control_draws": 2}

    path = edited("same-evidence", tmp_path / "same-evidence.yaml", less)
    out = tmp_path / "study"
    assert main(["run", str(path), "--model", language_model, "--limit", "4", "--out", str(out), "--json"]) == 0
    printed = capsys.readouterr()
    records = json.loads(printed.out)["measures"]
    recovered = [
        m for m in records if m["measure"] == "pair_recovery" and m["answerer"] == "readout" and m["n_sets"] == 54
    ]
    assert recovered
    assert "--limit: evidence is read out whole" in printed.err


@pytest.fixture
def proposers_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Planted proposers in the place of models; the names that were asked for."""
    pytest.importorskip("spacy")
    from veridical.variation import proposers

    names: list[str] = []

    def planted(name: str) -> Planted:
        names.append(name)
        return Planted({"dog": {"cat": 0.3}, "boat": {"ship": 0.2, "car": 0.1}, "book": {"letter": 0.2}}, name=name)

    monkeypatch.setattr(proposers, "load", planted)
    return names


@pytest.mark.slow
def test_the_merge_recipe_runs(
    classifier: str, proposers_asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited("merge", tmp_path / "merge.yaml", lambda document: None)
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text(
        "sentence1\tsentence2\tgold_label\n"
        "A dog sleeps on the floor.\tThe dog is tired.\tneutral\n"
        "Two men sit in a boat on the river.\tThe men are in a boat.\tentailment\n"
        "A woman reads a book at home.\tThe woman is running.\tcontradiction\n",
        encoding="utf-8",
    )
    out = tmp_path / "study"
    command = ["run", str(path), "--model", classifier, "--out", str(out)]
    assert main(command) == 2
    assert "recipe 'merge' needs a file, --data FILE: problems with premise" in capsys.readouterr().err
    assert not out.exists()
    assert main([*command, "--data", str(seeds), "--limit", "3", "--json"]) == 0
    printed = capsys.readouterr()
    measures = {m["measure"] for m in json.loads(printed.out)["measures"]}
    assert {"seed_accuracy", "variant_accuracy"} <= measures
    assert (out / "variants.jsonl").is_file()
    assert proposers_asked == ["hf/FacebookAI/roberta-base", "hf/google-bert/bert-base-cased"]
    assert main([*command, "--data", str(seeds), "--limit", "3", "--json"]) == 0
    assert f"{out / 'variants.jsonl'} is there already, and is used as it is" in capsys.readouterr().err


PIQA = [
    {"goal": f"To carry {n} bricks,", "sol1": "use a boat.", "sol2": "use a storm.", "label": n % 2} for n in range(6)
]
WINOGRANDE = [
    {
        "qID": f"q{n // 2}-{n % 2 + 1}",
        "sentence": f"The boat was too small for the bricks, so {n} people moved the _ away.",
        "option1": "boat",
        "option2": "bricks",
        "answer": str(n % 2 + 1),
    }
    for n in range(6)
]


def copies(folder: Path) -> Path:
    """A folder with published files of two benchmarks."""
    folder.mkdir()
    for name, rows in (("piqa", PIQA), ("winogrande", WINOGRANDE)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_the_validity_recipe_runs_with_the_copies_that_are_there(
    language_model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited("predictive-validity", tmp_path / "predictive-validity.yaml", lambda document: None)
    out = tmp_path / "study"
    command = [
        "run",
        str(path),
        "--model",
        language_model,
        "--data-dir",
        str(copies(tmp_path / "copies")),
        "--limit",
        "3",
        "--out",
        str(out),
    ]
    assert main([*command, "--json"]) == 0
    printed = capsys.readouterr()
    suites = {m["suite"] for m in json.loads(printed.out)["measures"]}
    assert suites == {"piqa", "winogrande"}
    assert printed.err.count("left out: ") == 17
    assert f"veridical validity {out} --roles {out / 'validity' / 'roles.yaml'}" in printed.err
    roles = yaml.safe_load((out / "validity" / "roles.yaml").read_text(encoding="utf-8"))
    assert roles["benchmarks"] == {"winogrande/accuracy": "", "piqa/accuracy": "event"}
    assert not (out / "validity" / "models.csv").exists()  # another model than the recipe's: its family is not known


@pytest.mark.slow
def test_the_command_that_validity_names_runs(tmp_path: Path) -> None:
    """Families and sizes are the recipe's, and of a benchmark that was left out nothing is said."""
    tokenizer = tiny.byte_level_tokenizer()
    models = [
        {
            "name": f"hf/{tiny.saved(tmp_path / f'm{n}', tiny.llama(len(tokenizer), seed=n), tokenizer)}",
            "family": ("One", "Two", "Three")[n % 3],
            "billions": 0.1 * (n + 1),
        }
        for n in range(9)
    ]
    outcomes = {"winogrande/accuracy": "", "trip/accuracy": "event"}
    steps = [
        {"ask": {"suites": ["piqa", "winogrande", "trip"]}},
        {"validity": {"benchmarks": {"piqa/accuracy": "event"}, "outcomes": outcomes}},
    ]
    expected = Told()
    follow(recipe_of(models=models, steps=steps), tmp_path / "s", Given(data_dir=copies(tmp_path / "copies")), expected)
    with (tmp_path / "s" / "validity" / "models.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[4] == {"model": models[4]["name"], "family": "Two", "size": "500000000"}
    command = expected.lines[-1].removeprefix("next, once families and sizes are right: veridical ").split()
    assert command[:2] == ["validity", str(tmp_path / "s")]
    assert main([*command, "--draws", "99", "--out", str(tmp_path / "v")]) == 0
    found = json.loads((tmp_path / "v" / "validity.json").read_text(encoding="utf-8"))
    assert (found["models"], list(found["outcomes"])) == (9, ["winogrande/accuracy"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--prompt", "dap"], "--prompt: the recipe says that; leave it out, or change it in a copy of"),
        (["--max-new-tokens", "512"], "--max-new-tokens: the recipe says that"),
        (["--data", "x.json"], "no step of recipe 'small' reads a file"),
        (["--data-dir", "none"], "--data-dir none: no such folder"),
        (["evidence"], "is a recipe, which names its suites: give it alone"),
    ],
)
def test_options_that_the_recipe_says_are_refused(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "small.yaml")
    assert main(["run", str(path), *arguments, "--out", str(tmp_path / "s")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_a_file_that_only_a_readout_reads_is_read(tmp_path: Path) -> None:
    steps = [{"readout": {"suite": "imperfective", "data": True}}]
    with pytest.raises(UserError, match=r"none\.json: no such file"):
        follow(recipe_of(steps=steps), tmp_path / "s", Given([ToyModel()], data=tmp_path / "none.json"))


def test_a_benchmark_is_read_out_over_the_user_s_copy(tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    (folder / "piqa.jsonl").write_text("{torn\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"piqa\.jsonl, line 1"):
        follow(recipe_of(steps=[{"readout": {"suite": "piqa"}}]), tmp_path / "s", Given([ToyModel()], data_dir=folder))


def test_a_step_that_reads_its_own_suite_reads_no_file(tmp_path: Path) -> None:
    steps = [{"vary": {"proposers": ["minilm-mlm"], "suite": "evidence"}}]
    with pytest.raises(UserError, match="no step of recipe 'small' reads a file"):
        follow(recipe_of(steps=steps), tmp_path / "s", Given([ToyModel()], data=tmp_path / "x.json"))


def test_a_proposer_that_cannot_be_had_leaves_no_folder(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    steps = [{"vary": {"proposers": [f"hf/{tmp_path}/none"], "suite": "imperfective"}}]
    with pytest.raises(UserError, match="none"):
        follow(recipe_of(steps=steps), tmp_path / "s", Given([ToyModel()]))
    assert not (tmp_path / "s").exists()


def test_the_recipes_name_no_suite_that_is_not_there() -> None:
    known = {*BUILT_IN, *benchmarks(), "variants.jsonl"}
    for path in STUDIES:
        for step in read_recipe(path).steps:
            assert set(step.ask.suites if step.ask else ()) <= known


def asked_with(recipe: Path, given: Given, out: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any, Any]]:
    """(models, dtype, template arguments) of every call that following the recipe makes."""
    calls = []

    def run(suites: Any, **settings: Any) -> Any:
        calls.append((settings["model"], settings["dtype"], settings["template_args"]))
        return type("Asked", (), {"failed": 0})

    monkeypatch.setattr("veridical.studies.follow.run", run)
    monkeypatch.setattr(
        "veridical.studies.follow.open_study", lambda path: type("S", (), {"path": path, "judgement": 0})
    )
    follow(read_recipe(recipe), out, given)
    return calls


MODELS_ALIKE_AND_NOT = [
    {"name": "hf/a/one"},
    {"name": "hf/b/two", "dtype": "bfloat16", "template_args": {"enable_thinking": False, "effort": "low", "n": 3}},
    {"name": "hf/a/three"},
]


def test_each_model_is_loaded_with_the_recipe_s_dtype_and_template_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "r.yaml", models=MODELS_ALIKE_AND_NOT)
    assert asked_with(path, Given(), tmp_path / "s", monkeypatch) == [
        (["hf/a/one", "hf/a/three"], "float32", {}),
        (["hf/b/two"], "bfloat16", {"enable_thinking": False, "effort": "low", "n": 3}),
    ]


def test_what_the_user_says_of_dtype_and_template_stands_before_the_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "r.yaml", models=MODELS_ALIKE_AND_NOT)
    given = Given(
        models=["hf/b/two", "hf/c/other"], dtype="float32", loading=LoadSettings(template_args={"effort": "high"})
    )
    assert asked_with(path, given, tmp_path / "s", monkeypatch) == [
        (["hf/b/two"], "float32", {"enable_thinking": False, "effort": "high", "n": 3}),
        (["hf/c/other"], "float32", {"effort": "high"}),
    ]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"name": "hf/a/one", "dtype": "bfloat"}, "did you mean 'bfloat16'"),
        ({"name": "hf/a/one", "template_args": {"messages": "x"}}, "'messages' is not the user's to set"),
        ({"name": "hf/a/one", "template_args": ["enable_thinking=false"]}, "a mapping is needed"),
    ],
)
def test_a_dtype_or_template_argument_that_cannot_be_is_refused(tmp_path: Path, model: Any, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        read_recipe(written(tmp_path / "r.yaml", models=[model]))


def test_the_checkpoints_of_the_same_evidence_study_are_the_paper_s() -> None:
    recipe = read_recipe(next(path for path in STUDIES if path.stem == "same-evidence"))
    assert [(model.name, model.ours, model.arguments()) for model in recipe.models] == [
        ("hf/Qwen/Qwen2.5-7B-Instruct", False, {}),
        ("hf/Qwen/Qwen3-8B", False, {"enable_thinking": False}),
        ("hf/meta-llama/Llama-3.1-8B-Instruct", False, {}),
    ]


@pytest.mark.parametrize("axis", ["1", "0.5", "true", "no", "null"])
def test_an_axis_of_a_recipe_is_called_by_the_rule_of_roles(tmp_path: Path, axis: str) -> None:
    step = {"validity": {"benchmarks": {"piqa/accuracy": axis}, "outcomes": {"blimp/accuracy": "form"}}}
    with pytest.raises(UserError, match=f"'piqa/accuracy' must have the name of an axis, or nothing, and has '{axis}'"):
        read_recipe(written(tmp_path / "r.yaml", steps=[step]))
