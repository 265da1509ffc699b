"""What would fail after the questions were asked is reported before, and what a study lacks is reported or supplied."""

from __future__ import annotations

import shutil

import pytest

import veridical
from veridical import models
from veridical.errors import UserError
from veridical.judge.frame import SCHEMA
from veridical.models import LoadSettings
from veridical.models.protocol import Outcome, Request
from veridical.runs.load import open_runs
from veridical.runs.store import read_suites
from veridical.studies.judged import Judgement
from veridical.studies.study import open_study

from .toy import ToyModel, toy_suite


def items_of(study):
    return study.runs[0].path / "items.parquet"


@pytest.mark.parametrize(
    ("suites", "options", "words"),
    [
        ([], {}, "no suite is given"),
        (toy_suite(1), {"seed": -1}, "--seed -1: give 0 or more"),
        (toy_suite(1, measures="acuracy"), {}, "unknown measure set 'acuracy': did you mean 'accuracy'?"),
        (toy_suite(1, normalisation="unconditional"), {}, "gives no scores without context"),
        (toy_suite(1), {"out": "x" * 300}, "File name too long"),
        (toy_suite(1), {"out": "nul\0"}, "cannot use"),
    ],
)
def test_an_option_that_cannot_be_judged_is_refused_before_anything_is_asked(suites, options, words, tmp_path):
    model = ToyModel()
    with pytest.raises(UserError, match=words) as caught:
        veridical.run(suites, model=model, **{"out": tmp_path / "s", **options})
    assert "\n" not in str(caught.value)
    assert model.asked == []
    assert list(tmp_path.iterdir()) == []


class Forgetful(ToyModel):
    """Asked for scores without context, it gives none."""

    def prepare(self, query, settings=None):
        request = super().prepare(query, settings)
        return Request(request.sequences, request.sequences if query.unconditional else ())


class Short(ToyModel):
    """Gives one score too few."""

    def answer(self, requests):
        for position, outcome in super().answer(requests):
            yield position, Outcome(outcome.status, outcome.scores[:-1])


def test_scores_that_a_model_object_leaves_out_make_errors(tmp_path):
    suite = toy_suite(1, normalisation="unconditional")
    study = veridical.run(suite, model=Forgetful(), out=tmp_path / "a")
    assert study.failed > 0
    assert set(study.responses["status"]) == {"error"}
    study = veridical.run(toy_suite(1), model=Short(), out=tmp_path / "b")
    assert set(study.responses["status"]) == {"error"}
    assert set(study.responses["detail"]) == {"2 scores for 3 labels"}


def test_lost_items_are_written_again_when_all_their_suites_are_asked(tmp_path):
    one, two = toy_suite(4), toy_suite(3, name="other")
    study = veridical.run([one, two], model=ToyModel(), out=tmp_path)
    measures = (tmp_path / "measures.json").read_bytes()
    items_of(study).unlink()
    for suite, lacking in ((one, "other, toy"), (two, "other, toy")):
        model = ToyModel()
        with pytest.raises(UserError, match=f"lacks the items of {lacking}: run those suites again, in one call"):
            veridical.run(suite, model=model, out=tmp_path)
        assert model.asked == []
    with pytest.raises(UserError) as caught:
        open_study(tmp_path)
    assert "move that file away" not in str(caught.value)
    again = ToyModel()
    # Fewer sets than before: the items of all stored questions come back.
    veridical.run([one, two], model=again, limit=2, out=tmp_path)
    assert again.asked == []
    assert {name: len(suite.items) for name, suite in read_suites(study.runs[0].path).items()} == {
        "toy": 16,
        "other": 12,
    }
    assert (tmp_path / "measures.json").read_bytes() == measures


def test_a_seed_or_length_other_than_the_stored_one_is_refused_before_loading(tmp_path, monkeypatch):
    def load(spec, settings):
        raise AssertionError("loaded")

    veridical.run(toy_suite(1), model=ToyModel(), mode="generate", out=tmp_path)
    monkeypatch.setattr(models, "load_with", load)
    for options, words in (({"seed": 1}, "--seed 0, not 1"), ({"max_new_tokens": 9}, "--max-new-tokens 512, not 9")):
        for model in ("hf/toys/small", ToyModel()):
            with pytest.raises(UserError, match=words):
                veridical.run(toy_suite(1), model=model, mode="generate", out=tmp_path, **options)
    # Another dtype is another run.
    with pytest.raises(AssertionError, match="loaded"):
        veridical.run(toy_suite(1), model="hf/toys/small", dtype="bfloat16", seed=1, out=tmp_path)


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("cuda:7x", "cuda:N"),
        ("cuda:", "cuda:N"),
        ("cuda:-1", "cuda:N"),
        ("cpu:99", "cuda:N"),
        ("auto:0", "cuda:N"),
        ("cuda", "finds no CUDA device"),
        ("cuda:2", "the last CUDA device of this machine is cuda:1"),
    ],
)
def test_a_device_that_is_not_there_is_reported_before_loading(device, words, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: device != "cuda")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(UserError, match=words):
        LoadSettings("float32", device).check()


def test_devices_that_are_there_pass(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for device in ("auto", "cpu", "cuda", "cuda:0", "cuda:1"):
        LoadSettings("float32", device).check()


def values(study):
    return [(m.prompt, m.input, m.answerer, m.measure, str(m.slice), m.value, m.low, m.high) for m in study.records]


@pytest.mark.slow
def test_a_study_extended_in_any_order_is_the_study_made_at_once(tmp_path):
    suite = toy_suite(9)
    whole = veridical.run(suite, model=ToyModel(), out=tmp_path / "a")
    for limit, prompt in ((4, "rule"), (None, "rule"), (6, "plainly"), (None, "plainly")):
        grown = veridical.run(suite, model=ToyModel(), limit=limit, prompts=prompt, out=tmp_path / "b")
    assert grown.responses.equals(whole.responses)
    assert values(grown) == values(whole)
    assert grown.records == whole.records


def test_one_models_runs_in_two_folders_count_each_question_once(tmp_path):
    suite = toy_suite(4)
    whole = veridical.run(suite, model=ToyModel(), out=tmp_path / "whole")
    part = veridical.run(suite, model=ToyModel(fails=frozenset({1, 2})), limit=4, out=tmp_path / "part")
    copied = tmp_path / "part" / "copy"
    shutil.copytree(whole.runs[0].path, copied)
    for paths in ([part.path], [whole.path, part.path], [part.runs[0].path, whole.path]):
        runs = open_runs(paths)
        assert {run.name for run in runs} == {"hf/toys/small"}
        together = Judgement(tuple(runs))
        assert together.responses.sort(SCHEMA.names()[:9]).equals(whole.responses.sort(SCHEMA.names()[:9]))
        assert together.records == whole.records
    # One folder by two names is one run.
    assert len(open_runs([whole.path, whole.path, whole.runs[0].path])) == 1


def test_one_models_runs_with_two_limits_are_reported_with_both_paths(tmp_path):
    for folder, length in (("a", 8), ("b", 9)):
        veridical.run(toy_suite(1), model=ToyModel(), mode="generate", max_new_tokens=length, out=tmp_path / folder)
    with pytest.raises(UserError) as caught:
        open_runs([tmp_path / "a", tmp_path / "b"])
    for word in (str(tmp_path / "a"), str(tmp_path / "b"), "--max-new-tokens 8 and 9: judge them apart"):
        assert word in str(caught.value)
