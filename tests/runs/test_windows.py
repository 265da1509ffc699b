"""A job goes through windows of asks: nothing that is stored or measured shows where one ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.models import tiny
from veridical.errors import UserError
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import GenerationSettings, Outcome, Query, Request
from veridical.progress import Silent
from veridical.runs import job as jobs
from veridical.runs.asks import Asks
from veridical.runs.execute import RunTally, execute
from veridical.runs.hidden import StatesKey, read_hidden
from veridical.runs.job import Job
from veridical.runs.plan import AskOptions, plan
from veridical.runs.recorded import NOT_RECORDED, RecordedAsks
from veridical.runs.store import RunStore, read_asks, read_responses
from veridical.studies.run import _manifest

from .toy import ToyModel, toy_suite

SETTINGS = GenerationSettings(16)
BOTH = AskOptions(modes=("loglikelihood", "generate"))


def ask(folder: Path, model: Any, options: AskOptions = BOTH, *suites: Any, layers: Any = None) -> RunTally:
    plans = [plan(suite, options) for suite in suites or (toy_suite(4),)]
    job = Job.begin(model, plans, SETTINGS, Silent())
    return execute(
        model, RunStore(folder, _manifest(model, plans, options, SETTINGS, ""), plans), job, Silent(), layers
    )


def stored(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    return read_asks(folder).sort("key", "item", "prompt", "order"), read_responses(folder).sort("key")


class Log(ToyModel):
    """Lists what it does: `p` where it prepares a request, `a` where it answers one."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.events = ""

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        self.events += "p"
        return super().prepare(query, settings)

    def answer(self, requests: Any) -> Iterator[tuple[int, Outcome]]:
        for one in super().answer(requests):
            self.events += "a"
            yield one


@pytest.mark.parametrize("window", [3, 16, 4096])
def test_asks_and_answers_are_those_of_one_window(window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ask(tmp_path / "whole", ToyModel(), BOTH, toy_suite(4), toy_suite(3, name="other"))
    monkeypatch.setattr(jobs, "WINDOW", window)
    model = ToyModel()
    assert ask(tmp_path / "parts", model, BOTH, toy_suite(4), toy_suite(3, name="other")) == whole
    for one, other in zip(stored(tmp_path / "whole"), stored(tmp_path / "parts"), strict=True):
        assert one.equals(other)
    # The items of the smaller suite are among those of the larger: their requests are equal, and asked once.
    assert len(model.asked) == whole.n_answered < whole.n_asks


def test_the_first_answer_comes_before_the_last_ask_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "WINDOW", 10)
    model = Log()
    ask(tmp_path, model, AskOptions(prompts=("rule",), inputs=("full",)))
    # 16 asks: 10 are prepared and answered, then the other 6.
    assert model.events == "p" * 10 + "a" * 10 + "p" * 6 + "a" * 6


def test_what_is_stored_is_not_prepared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WINDOW", 10)
    tally = ask(tmp_path, ToyModel())
    model = Log()
    again = ask(tmp_path, model)
    assert (again.n_stored, again.n_answered) == (tally.n_answered, 0)
    # The first window, and the first ask of each suite, prompt, input and mode: 3 by log-likelihood, 4 generated, of
    # which one is in the window.
    assert model.events == "p" * (10 + 3 + 4 - 1)
    lost = max((tmp_path / "responses").glob("*.parquet"))
    n_lost = pl.read_parquet(lost).height
    lost.unlink()
    assert ask(tmp_path, ToyModel()).n_answered == n_lost


class Ends(ToyModel):
    """Cannot be asked about one cart."""

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        if "cart 3" in str(query.contexts):
            raise UserError("no such cart")
        return super().prepare(query, settings)


def test_an_ask_that_cannot_be_put_loses_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = AskOptions(prompts=("rule",), inputs=("full",))
    with pytest.raises(UserError, match="no such cart"):
        ask(tmp_path / "one window", Ends(), options)
    assert not (tmp_path / "one window").exists()
    monkeypatch.setattr(jobs, "WINDOW", 4)
    with pytest.raises(UserError, match="no such cart"):
        ask(tmp_path / "windows", Ends(), options)
    # The first carts are four: A and C of carts 0 and 1 are the first window, of carts 2 and 3 the second.
    assert read_responses(tmp_path / "windows").height == 4
    assert ask(tmp_path / "windows", ToyModel(), options).n_stored == 4


class Batches(ToyModel):
    """A resumable model whose scores depend on the whole job that it is given."""

    def answer_some(self, requests: Sequence[Request], wanted: Collection[int]) -> Iterator[tuple[int, Outcome]]:
        for position in wanted:
            outcome = dict(super().answer([requests[position]]))[0]
            total = outcome.scores[0].total - len(requests) / 1_000
            scores = tuple(type(one)(total, one.n_tokens, one.n_chars, one.n_bytes) for one in outcome.scores)
            yield position, Outcome(outcome.status, scores)


@pytest.mark.parametrize("stop", [1, 9, 10, 11, 25, 40])
def test_a_run_that_goes_on_plans_the_same_batches(stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WINDOW", 10)
    options = AskOptions()
    ask(tmp_path / "whole", Batches(), options)
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path / "stopped", Batches(stops_after=stop), options)
    assert read_responses(tmp_path / "stopped").height == stop
    ask(tmp_path / "stopped", Batches(), options)
    for one, other in zip(stored(tmp_path / "whole"), stored(tmp_path / "stopped"), strict=True):
        assert one.equals(other)


def test_hidden_states_of_windows_are_those_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tiny.byte_level_tokenizer(bos=True)
    model = HuggingFaceModel("tiny", tiny.llama(len(tokenizer)), tokenizer, weights="w", batch_tokens=600)
    options = AskOptions(prompts=("plainly",))
    layers = {"full": None, "hypothesis_only": [-2]}
    suite = toy_suite(2)
    ask(tmp_path / "whole", model, options, suite, layers=layers)
    monkeypatch.setattr(jobs, "WINDOW", 3)
    ask(tmp_path / "parts", model, options, suite, layers=layers)
    for name, wanted in (("full", tuple(range(model.n_blocks + 1))), ("hypothesis_only", (model.n_blocks - 1,))):
        key = StatesKey("toy", "plainly", name)
        whole, parts = read_hidden(tmp_path / "whole", key), read_hidden(tmp_path / "parts", key)
        assert whole is not None
        assert parts is not None
        assert whole.items == parts.items == tuple(item.id for item in suite.items)
        assert whole.layers == parts.layers == wanted
        np.testing.assert_allclose(whole.states, parts.states, atol=1e-4)


def test_recorded_asks_are_found_by_every_column(tmp_path: Path) -> None:
    tally = ask(tmp_path, ToyModel(fails=frozenset({1})))
    recorded = RecordedAsks(tmp_path)
    asks = list(plan(toy_suite(4), BOTH).asks)
    rows = recorded.rows(asks)
    assert len(set(rows.tolist())) == len(asks) == tally.n_asks
    by_ask = {
        (row["item"], row["input"], row["prompt"], row["order"], row["mode"]): row["key"]
        for row in read_asks(tmp_path).iter_rows(named=True)
    }
    assert recorded.keys(rows) == [by_ask[a.item, a.input, a.prompt, a.order, a.mode] for a in asks]
    assert (~recorded.has_answer(rows)).sum() == tally.n_failed == 1
    changed = [
        type(asks[0])(**{**{name: getattr(asks[0], name) for name in asks[0].__slots__}, **change})
        for change in ({"suite": "x"}, {"item": "x"}, {"input": "x"}, {"prompt": "x"}, {"order": 9}, {"repeat": 1})
    ]
    assert recorded.rows(changed).tolist() == [NOT_RECORDED] * 6
    assert recorded.keys(recorded.rows(changed)) == [None] * 6


def test_a_plan_s_asks_are_a_sequence() -> None:
    asks = plan(toy_suite(3), BOTH).asks
    assert isinstance(asks, Asks)
    made = list(asks)
    assert len(asks) == len(made) == len(set(made))
    assert [asks[k] for k in range(-len(made), len(made))] == [*made, *made]
    for part in (slice(3, 20, 4), slice(None, None, -3), slice(-5, None), slice(50, 40)):
        assert asks[part] == tuple(made[part])
    with pytest.raises(IndexError):
        asks[len(made)]
