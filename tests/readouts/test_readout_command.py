"""Reading a suite out from beginning to end, with a tiny model that is real."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from veridical.errors import UserError
from veridical.items import Grouping, Item, Suite
from veridical.judge.measure import Measure
from veridical.models.hf import HuggingFaceModel
from veridical.models.twin import twin
from veridical.progress import Silent
from veridical.prompts.template import Prompt
from veridical.runs.hidden import StatesKey, read_hidden
from veridical.runs.readouts import read_draws
from veridical.studies import fit_on as fitting
from veridical.studies import readout as reading
from veridical.studies.judged import Judgement
from veridical.studies.readout import readout
from veridical.studies.run import run
from veridical.studies.study import Study, open_study
from veridical.suites.file_writer import write_suite

from ..models import tiny
from ..runs.toy import ToyModel, toy_suite
from .questions import fitted, judged


def tiny_model() -> HuggingFaceModel:
    tokenizer = tiny.byte_level_tokenizer()
    return HuggingFaceModel("hf/tiny", tiny.llama(len(tokenizer)), tokenizer, weights="w", batch_tokens=600)


@pytest.fixture(scope="module")
def transferred(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A suite of pairs, fitted on scenarios that are a file."""
    folder = tmp_path_factory.mktemp("readout")
    write_suite(fitted(), folder / "development.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(fitting.FITTED_ON, "primary", str(folder / "development.jsonl"))
        return readout(judged(), model=tiny_model(), draws=9, category_draws=4, control_draws=2, out=folder / "study")


def one(records: tuple[Measure, ...], measure: str, answerer: str, **key: Any) -> Measure:
    found = [
        record
        for record in records
        if record.measure == measure
        and record.answerer == answerer
        and record.suite == "primary"
        and not record.slice
        and all(getattr(record, name) == value for name, value in key.items())
    ]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.slow
def test_every_answerer_is_judged_on_the_pairs(transferred: Study) -> None:
    frame = transferred.responses.filter(suite="primary", mode="readout")
    assert set(frame["answerer"]) == {
        "readout", "readout_category_out", "readout_best_layer", "option_logits", "text_words", "text_characters",
    }  # fmt: skip
    assert frame.group_by("answerer").len()["len"].unique().to_list() == [40]
    found = one(transferred.records, "balanced_accuracy", "readout", against=None)
    gold = {item.id: item.gold[0] for item in judged().items}
    own = frame.filter(answerer="readout").with_columns(gold=pl.col("item").replace_strict(gold))
    recalls = own.group_by("gold").agg((pl.col("label") == pl.col("gold")).mean())["label"]
    assert found.value == pytest.approx(recalls.mean())


@pytest.mark.slow
def test_a_null_gives_its_p_and_keeps_its_draws(transferred: Study) -> None:
    (own,) = transferred.runs
    (stored,) = own.readouts
    for measure in ("balanced_accuracy", "pair_recovery"):
        found = one(transferred.records, measure, "readout", against=None)
        draws = read_draws(own.path, stored.record)[f"readout/full/{measure}"]
        assert len(draws) == 9
        assert found.p == pytest.approx((1 + (draws >= found.value - 1e-9).sum()) / 10)
        assert found.null is not None
        assert "9 draws" in found.null


@pytest.mark.slow
def test_the_readout_is_compared_with_everything_next_to_it(transferred: Study) -> None:
    differences = [
        record
        for record in transferred.records
        if record.measure == "balanced_accuracy" and record.against and record.answerer == "readout"
    ]
    others = {record.against.get("answerer") for record in differences if record.against}
    assert others == {
        "model", "option_logits", "text_words", "text_characters", "readout_category_out", "readout_best_layer",
    }  # fmt: skip
    assert all(record.paired for record in differences)
    gaps = [record for record in transferred.records if record.measure == "encoded_expressed_gap"]
    assert [(gap.against or {})["answerer"] for gap in gaps] == ["model", "option_logits"]
    readout_, model = (
        one(transferred.records, "balanced_accuracy", name, against=None) for name in ("readout", "model")
    )
    assert gaps[0].value == pytest.approx(readout_.value - model.value)


@pytest.mark.slow
def test_selectivity_is_the_readout_less_its_control(transferred: Study) -> None:
    (record,) = [record for record in transferred.records if record.measure == "selectivity"]
    (stored,) = transferred.runs[0].readouts
    assert stored.record.selectivity is not None
    readout_ = one(transferred.records, "balanced_accuracy", "readout", against=None)
    assert record.value == pytest.approx(readout_.value - stored.record.selectivity.control)


@pytest.mark.slow
def test_states_are_stored_at_every_layer_and_not_read_again(transferred: Study) -> None:
    (own,) = transferred.runs
    found = read_hidden(own.path, StatesKey("primary", "ask", "full"))
    assert found is not None
    assert found.layers == tuple(range(tiny_model().n_blocks + 1))
    assert np.isfinite(found.states).all()
    assert (len(found.items), read_hidden(own.path, StatesKey("primary", "ask", "no_evidence"))) == (40, None)


@pytest.mark.slow
def test_the_same_call_gives_the_same_measures_and_asks_nothing(
    transferred: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise AssertionError("the model was asked again")

    model = tiny_model()
    monkeypatch.setattr(model, "answer", refuse)
    monkeypatch.setattr(model, "answer_and_read", refuse)
    monkeypatch.setitem(fitting.FITTED_ON, "primary", str(transferred.path.parent / "development.jsonl"))
    again = readout(judged(), model=model, draws=9, category_draws=4, control_draws=2, out=transferred.path)
    assert again.records == transferred.records


@pytest.mark.slow
def test_judging_needs_no_model(transferred: Study) -> None:
    assert open_study(transferred.path).records == transferred.records
    stored = json.loads((transferred.path / "measures.json").read_text())
    assert any(record["measure"] == "selectivity" for record in stored)


@pytest.mark.slow
def test_the_page_has_the_readout(transferred: Study) -> None:
    page = transferred.report.read_text()
    assert "Readout of hf/tiny, ask" in page
    for name in ("layers", "null-balanced", "null-pairs"):
        assert f'id="suite-0-readout-0-{name}"' in page


@pytest.mark.slow
def test_a_verdict_says_what_is_decodable(transferred: Study) -> None:
    (expected,) = [line for line in transferred.judgement.verdicts if "linearly decodable at this position" in line]
    assert expected.startswith("primary, hf/tiny, ask: ")


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A suite that no other is fitted for."""
    folder = tmp_path_factory.mktemp("crossed")
    return readout(toy_suite(10), model=tiny_model(), out=folder / "study", draws=3, category_draws=2, control_draws=1)


@pytest.mark.slow
def test_a_suite_without_another_to_fit_on_is_cross_fitted(crossed: Study) -> None:
    frame = crossed.responses.filter(mode="readout")
    assert set(zip(frame["answerer"], frame["input"], strict=True)) == {
        ("readout", "full"), ("readout", "hypothesis_only"), ("option_logits", "full"),
        ("text_words", "full"), ("text_characters", "full"),
    }  # fmt: skip
    gaps = [record for record in crossed.records if record.measure == "encoded_expressed_gap"]
    assert len(gaps) == 2


@pytest.mark.slow
def test_a_cross_fitted_readout_and_its_restricted_inputs_have_nulls(crossed: Study) -> None:
    (stored,) = crossed.runs[0].readouts
    draws = {(null.answerer, null.input): null.draws for null in stored.record.nulls}
    assert draws == {
        ("readout", "full"): 3, ("readout", "hypothesis_only"): 2, ("option_logits", "full"): 2,
        ("text_words", "full"): 2, ("text_characters", "full"): 2,
    }  # fmt: skip
    own = [m for m in crossed.records if m.answerer == "readout" and m.measure == "balanced_accuracy"]
    found = [m for m in own if not m.against]
    assert {m.input: m.p is not None for m in found} == {"full": True, "hypothesis_only": True}
    assert "permuted within and between sets" in str(found[0].null)


@pytest.mark.slow
def test_anyones_pairs_are_fitted_on_anyones_development_set(tmp_path: Path) -> None:
    """The file has a prompt and no pairs of its own; it is asked with the prompt of the pairs."""
    development = fitted()
    parts = {name: getattr(development, name) for name in type(development).model_fields}
    prompts = (Prompt(name="another", user="Say: {{ text }}"),)
    write_suite(Suite(**{**parts, "prompts": prompts}), tmp_path / "development.jsonl")
    study = readout(
        judged(), model=tiny_model(), fit_on=str(tmp_path / "development.jsonl"), draws=3, category_draws=2,
        control_draws=2, out=tmp_path / "study",
    )  # fmt: skip
    (stored,) = study.runs[0].readouts
    assert (stored.record.fitted_on, stored.record.prompt) == ("development", "ask")
    assert set(study.responses.filter(suite="development")["prompt"]) == {"ask"}


@pytest.fixture(scope="module")
def twinned(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A model and its twin, the answers that they write set against their readouts."""
    return readout(
        toy_suite(8), model=tiny_model(), twin=True, seed=3, against="generate", max_new_tokens=4, draws=1,
        category_draws=1, control_draws=1, out=tmp_path_factory.mktemp("twinned") / "study",
    )  # fmt: skip


@pytest.mark.slow
def test_a_twin_with_random_weights_is_read_out_next_to_the_model(twinned: Study) -> None:
    names = {run.name for run in twinned.runs}
    assert names == {"hf/tiny", "hf/tiny (random weights)"}
    assert all(run.readouts for run in twinned.runs)
    (own,) = [line for line in twinned.judgement.verdicts if "hf/tiny, plainly: " in line and "readout" in line]
    assert "readout of a twin with random weights" in own


def test_a_twin_has_weights_of_its_own_that_follow_from_the_seed() -> None:
    model = tiny_model()
    one, other = twin(model, 3), twin(model, 3)
    assert one.fingerprint.digest == other.fingerprint.digest
    assert one.fingerprint.digest not in (model.fingerprint.digest, twin(model, 4).fingerprint.digest)
    weights = [next(iter(m.engine.model.parameters())).detach().numpy() for m in (one, other, twin(model, 4), model)]
    np.testing.assert_array_equal(weights[0], weights[1])
    assert not np.allclose(weights[0], weights[2])
    assert not np.allclose(weights[0], weights[3])


@pytest.mark.slow
def test_the_answers_that_a_model_writes_can_be_set_against_the_readout(twinned: Study) -> None:
    for run_ in twinned.runs:
        (stored,) = run_.readouts
        assert stored.record.against == "generate"
    gaps = [m.against for m in twinned.records if m.measure == "encoded_expressed_gap"]
    assert {"answerer": "model", "mode": "generate"} in gaps
    assert "answers that it is set against are those of mode generate" in twinned.report.read_text()


class TestBadInput:
    def test_a_development_set_that_holds_the_pairs(self, tmp_path: Path) -> None:
        parts = {name: getattr(judged(), name) for name in Suite.model_fields}
        with pytest.raises(UserError, match="40 items of 'copy' are items of 'primary' too"):
            readout(judged(), model=tiny_model(), fit_on=Suite(**{**parts, "name": "copy"}), out=tmp_path / "study")

    def test_a_mode_that_there_is_not(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="mode to set a readout against"):
            readout(judged(), model=tiny_model(), against="written", out=tmp_path / "study")  # type: ignore[arg-type]

    def test_data_for_a_suite_that_reads_none(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="reads no published data"):
            readout("evidence", model=tiny_model(), data=tmp_path / "x.json", out=tmp_path / "study")

    def test_a_model_without_hidden_states(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="model 'hf/toys/small' has no hidden states to read"):
            readout(toy_suite(), model=ToyModel(), out=tmp_path / "study")

    def test_a_layer_that_there_is_not(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="layer 40: the model has layers 0"):
            readout(toy_suite(), model=tiny_model(), layer=40, out=tmp_path / "study")

    def test_a_prompt_that_reasons(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="prompt 'think' asks the model to reason"):
            readout(toy_suite(), model=tiny_model(), prompt="think", out=tmp_path / "study")

    def test_too_few_sets(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="4 sets are too few for 5 folds"):
            readout(toy_suite(2), model=tiny_model(), out=tmp_path / "study")


@pytest.mark.slow
def test_prompts_that_look_alike_as_files_have_states_of_their_own(crossed: Study, tmp_path: Path) -> None:
    paths = {
        StatesKey(suite, prompt, "full").part
        for suite, prompt in (("s", "a b"), ("s", "a-b"), ("证据", "p"), ("质量", "p"))
    }
    assert len(paths) == 4
    folder = tmp_path / "run"
    shutil.copytree(crossed.runs[0].path, folder)
    own = folder / StatesKey("toy", "plainly", "full").part
    own.rename(folder / StatesKey("toy", "rule", "full").part)
    with pytest.raises(UserError, match="not a part of this run"):
        read_hidden(folder, StatesKey("toy", "rule", "full"))


@pytest.mark.slow
def test_a_null_is_not_put_next_to_a_value_it_was_not_drawn_for(transferred: Study) -> None:
    (stored,) = transferred.runs[0].readouts
    found = one(transferred.records, "pair_recovery", "readout", against=None)
    bare = found.model_copy(update={"p": None, "null": None})
    assert stored.record.tested(bare).p == found.p
    assert stored.record.tested(bare.model_copy(update={"value": found.value + 0.05})).p is None


@pytest.mark.slow
def test_regrouped_sets_leave_out_suites_that_lack_the_field(transferred: Study) -> None:
    judgement = Judgement(transferred.runs, sets="kind")
    assert [suite.name for suite in judgement.suites] == ["primary"]
    assert {record.suite for record in judgement.records} == {"primary"}


@pytest.mark.slow
def test_a_truncated_file_of_draws_is_reported(transferred: Study, tmp_path: Path) -> None:
    copy = tmp_path / "study"
    shutil.copytree(transferred.path, copy)
    (file,) = (copy / "nulls").glob("*.npz")
    for content in (b"", file.read_bytes()[:200]):
        file.write_bytes(content)
        (own,) = open_study(copy).runs
        with pytest.raises(UserError, match=r"npz is damaged"):
            read_draws(own.path, own.readouts[0].record)


@pytest.mark.slow
def test_items_that_the_model_refuses_are_left_out_and_counted(tmp_path: Path) -> None:
    said: list[str] = []

    class Told(Silent):
        def say(self, message: str) -> None:
            said.append(message)

    suite = toy_suite(9)
    first = suite.items[0]
    long = Item(
        fields={**first.fields, "premise": "far too long " * 400},
        choices=first.choices,
        gold=first.gold,
        factors=first.factors,
    )
    old = suite.grouping()
    members = tuple(m.model_copy(update={"item": long.id}) if m.item == first.id else m for m in old.members)
    grouping = Grouping(name=old.name, members=members)
    changed = toy_suite(9, items=(long, *suite.items[1:]), groupings=(grouping,))
    study = readout(
        changed, model=tiny_model(), draws=1, category_draws=1, control_draws=1, out=tmp_path / "study", progress=Told()
    )
    assert any("1 of 36 items are left out" in line for line in said)
    assert long.id not in study.responses.filter(answerer="readout")["item"].to_list()


@pytest.mark.slow
def test_a_study_with_more_items_is_read_out_whole(tmp_path: Path) -> None:
    model = tiny_model()
    run(toy_suite(10), model=model, out=tmp_path / "study", prompts="plainly", orders=1)
    study = readout(
        toy_suite(10), model=model, draws=1, category_draws=1, control_draws=1, out=tmp_path / "study", limit=16
    )
    answered = study.responses.filter(answerer="readout", input="full")["item"]
    assert len(answered) == 32


@pytest.mark.slow
def test_a_run_in_another_dtype_is_not_read_out_again(transferred: Study) -> None:
    (own,) = transferred.runs
    name = own.manifest.model.name
    assert reading._is_given(own, {name: name}, "float32")
    assert not reading._is_given(own, {name: name}, "bfloat16")
    assert not reading._is_given(own, {"hf/other": "hf/other"}, "float32")


def test_a_file_named_like_a_built_in_suite_is_cross_fitted(tmp_path: Path) -> None:
    own = toy_suite(name="evidence")
    assert fitting.fitted_on(str(tmp_path / "evidence.jsonl"), own, None, "plainly") is None
    assert fitting.fitted_on(own, own, None, "plainly") is None
