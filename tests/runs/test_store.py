"""What a run folder keeps, and what it survives."""

from __future__ import annotations

import dataclasses
import errno
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from veridical.errors import UserError
from veridical.files import writing as files
from veridical.files.writing import json_bytes, replace
from veridical.items import Item
from veridical.models.protocol import ChoiceScore, GenerationSettings, Outcome, Request, TokenSequence
from veridical.progress import Silent
from veridical.prompts.template import Message
from veridical.runs import store
from veridical.runs.execute import execute
from veridical.runs.job import Job
from veridical.runs.plan import AskOptions, plan
from veridical.runs.store import RESPONSES, RunStore, read_asks, read_responses, read_suites
from veridical.status import Status
from veridical.studies.run import _manifest

from .toy import ToyModel, toy_suite

SETTINGS = GenerationSettings(16)


def ask(folder: Path, model: ToyModel, options: AskOptions | None = None, suite=None):
    options = options or AskOptions(prompts=("rule",))
    plans = [plan(suite or toy_suite(4), options)]
    opened = RunStore(folder, _manifest(model, plans, options, SETTINGS, ""), plans)
    return execute(model, opened, Job.begin(model, plans, SETTINGS, Silent()), Silent())


def test_everything_is_asked_once_and_stored(tmp_path):
    model = ToyModel()
    tally = ask(tmp_path, model, AskOptions(modes=("loglikelihood", "generate")))
    assert tally.n_failed == 0
    answers = read_responses(tmp_path)
    asks = read_asks(tmp_path)
    assert set(asks["key"]) == set(answers["key"])
    assert len(model.asked) == answers.height == tally.n_answered
    # 16 items: loglikelihood asks 3 orders + hypothesis only + rule; generate asks `think` as well.
    assert asks.height == 16 * (3 + 1 + 1) + 16 * (3 + 1 + 1 + 1)


def test_scores_come_back_as_they_went_in(tmp_path):
    scores = (
        ChoiceScore(-1.25, 2, 4, 5, unconditional=-3.5),
        ChoiceScore(float("-inf"), 1, 1, 1, joined=True),
    )
    given = Outcome(Status.NON_FINITE, scores, "é\n", 3, "stop", "why")
    model = ToyModel()
    ask(tmp_path, model)
    plans = [plan(toy_suite(4), AskOptions(prompts=("rule",)))]
    opened = RunStore(tmp_path, _manifest(model, plans, AskOptions(), SETTINGS, ""), plans)
    opened.add("k", given)
    opened.flush()
    row = read_responses(tmp_path).filter(key="k").to_dicts()[0]
    assert store.outcome(row) == given


def test_resume_where_nothing_remains_asks_nothing(tmp_path):
    ask(tmp_path, ToyModel())
    before = sorted(tmp_path.rglob("*.parquet"))
    second = ToyModel()
    tally = ask(tmp_path, second)
    assert second.asked == []
    assert (tally.n_answered, tally.n_stored) == (0, tally.n_stored)
    assert tally.n_stored > 0
    assert sorted(tmp_path.rglob("*.parquet")) == before


def test_equal_requests_are_asked_once(tmp_path):
    # Items that differ in gold alone look the same to the model, and so are one request.
    suite = toy_suite(1)
    twin = Item(
        **{
            **suite.items[0].model_dump(exclude={"choices"}),
            "choices": suite.items[0].choices,
            "gold": ("True",),
        }
    )
    both = toy_suite(1, items=(suite.items[0], twin), groupings=())
    model = ToyModel()
    tally = ask(tmp_path, model, AskOptions(prompts=("rule",), inputs=("full",)), both)
    assert (tally.n_asks, len(model.asked)) == (2, 1)
    assert read_asks(tmp_path).height == 2


def test_failed_calls_are_not_stored_and_are_asked_again(tmp_path):
    first = ToyModel(fails=frozenset({2, 5}))
    tally = ask(tmp_path, first)
    assert (tally.n_failed, tally.first_failure) == (2, "planted failure")
    assert Status.ERROR.value not in read_responses(tmp_path)["status"]
    second = ToyModel()
    assert ask(tmp_path, second).n_failed == 0
    assert len(second.asked) == 2


def test_a_store_refuses_an_error(tmp_path):
    model = ToyModel()
    ask(tmp_path, model)
    plans = [plan(toy_suite(4), AskOptions(prompts=("rule",)))]
    opened = RunStore(tmp_path, _manifest(model, plans, AskOptions(), SETTINGS, ""), plans)
    with pytest.raises(ValueError, match="not stored"):
        opened.add("k", Outcome(Status.ERROR))


def test_one_request_to_two_models_has_two_keys():
    """Trap 35: both see the same token ids, and neither gets the other's answer."""
    first, second = ToyModel(), ToyModel(weights="w1")
    for one in _queries(toy_suite(1)):
        request = first.prepare(one)
        assert request == second.prepare(one)
        assert request.key(first.fingerprint.digest) != request.key(second.fingerprint.digest)


def test_an_edited_prompt_asks_again(tmp_path):
    model = ToyModel()
    prepared = [model.prepare(q) for q in _queries(toy_suite(1))]
    edited = toy_suite(1)
    prompts = tuple(p.model_copy(update={"user": p.user + "!"}) for p in edited.prompts)
    other = [model.prepare(q) for q in _queries(toy_suite(1, prompts=prompts))]
    digest = model.fingerprint.digest
    assert not {r.key(digest) for r in prepared} & {r.key(digest) for r in other}


def _queries(suite):
    from veridical.runs.plan import query

    return [query(suite, one) for one in plan(suite, AskOptions()).asks]


def test_repeats_have_keys_of_their_own(tmp_path):
    model = ToyModel()
    options = AskOptions(prompts=("rule",), inputs=("full",), repeats=3)
    tally = ask(tmp_path, model, options)
    assert tally.n_asks == len(model.asked) == 16 * 3
    assert read_asks(tmp_path).group_by("item").len()["len"].unique().to_list() == [3]


def test_extending_a_run_keeps_what_was_asked(tmp_path):
    inputs = ("full", "hypothesis_only")
    ask(tmp_path, ToyModel(), AskOptions(prompts=("rule",), inputs=inputs, limit=2))
    assert len(read_suites(tmp_path)["toy"].items) == 4
    more = ToyModel()
    ask(tmp_path, more, AskOptions(prompts=("rule",), inputs=inputs, limit=6))
    # Four new sets: two items each in full, and the hypothesis that both share.
    assert len(more.asked) == 4 * (2 + 1)
    assert len(read_suites(tmp_path)["toy"].items) == 12
    assert read_asks(tmp_path).height == 24
    # A smaller call afterwards takes nothing away.
    inputs = ("full", "hypothesis_only")
    ask(tmp_path, ToyModel(), AskOptions(prompts=("rule",), inputs=inputs, limit=2))
    assert len(read_suites(tmp_path)["toy"].items) == 12


def test_items_as_asked_come_back_equal(tmp_path):
    suite = toy_suite(4)
    ask(tmp_path, ToyModel(), suite=suite)
    stored = read_suites(tmp_path)["toy"]
    assert stored == suite
    assert stored.content_hash == suite.content_hash


def test_nan_never_gets_into_json():
    with pytest.raises(ValueError, match="JSON"):
        json_bytes({"value": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        json_bytes([float("inf")])


def test_a_failed_write_leaves_the_old_file_and_nothing_next_to_it(tmp_path, monkeypatch):
    target = tmp_path / "manifest.json"
    replace(target, b"old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        replace(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_a_file_system_without_hard_links_is_written_to_as_well(tmp_path, monkeypatch):
    def refused(source, target):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(files.os, "link", refused)
    ask(tmp_path, ToyModel())
    assert read_responses(tmp_path).height == read_asks(tmp_path)["key"].n_unique() > 0


TWO_WRITERS = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import runs.test_store as t
from runs.toy import ToyModel
from veridical.runs import store
from veridical.runs.plan import AskOptions
store.FLUSH_ANSWERS = 3
t.ask(Path(sys.argv[1]), ToyModel(seconds=0.002), AskOptions(prompts=(sys.argv[2],)))
"""


@pytest.mark.slow
def test_two_processes_in_one_folder_do_not_harm_each_other(tmp_path):
    script = TWO_WRITERS.format(tests=str(Path(__file__).parents[1]))
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "run"), name])
        for name in ("rule", "plainly", "rule")
    ]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    alone = tmp_path / "alone"
    ask(alone, ToyModel(), AskOptions(prompts=("rule",)))
    ask(alone, ToyModel(), AskOptions(prompts=("plainly",)))
    both = read_responses(tmp_path / "run").sort("key")
    assert both.equals(read_responses(alone).sort("key"))
    assert read_asks(tmp_path / "run").height == read_asks(alone).height
    assert both.schema == RESPONSES


def test_a_request_of_messages_has_a_key_of_everything_that_it_says() -> None:
    def key(
        *turns: tuple[str, str], continuations: tuple[str, ...] = ("A", "B"), repeat: int = 0, limit: int = 0
    ) -> str:
        settings = GenerationSettings(limit) if limit else None
        messages = tuple(Message(role, content) for role, content in turns)
        return Request(messages=messages, continuations=continuations, settings=settings).key("model", repeat)

    asked = ("user", "Is it so?")
    keys = [
        key(asked),
        key(("system", "Is it so?")),
        key(asked, ("assistant", "")),
        key(("user", "Is it"), ("user", " so?")),
        key(asked, continuations=("B", "A")),
        key(asked, continuations=("AB",)),
        key(asked, repeat=1),
        key(asked, continuations=(), limit=5),
        key(asked, continuations=(), limit=6),
    ]
    assert len(set(keys)) == len(keys)
    assert key(asked) == key(asked)


def test_a_request_is_of_token_ids_or_of_messages() -> None:
    with pytest.raises(ValueError, match="one of the two"):
        Request()
    with pytest.raises(ValueError, match="one of the two"):
        Request((TokenSequence((1,)),), messages=(Message("user", "?"),))


def test_messages_are_stored_as_they_were_put(tmp_path):
    class Talker(ToyModel):
        """A toy that takes conversations, as a server does."""

        def prepare(self, query, settings=None):
            prepared = super().prepare(query, settings)
            texts = tuple(query.continuations)
            return dataclasses.replace(
                prepared, sequences=(), messages=(Message("user", repr(query.contexts)),), continuations=texts
            )

        def answer(self, requests):
            for place, request in enumerate(requests):
                scores = tuple(ChoiceScore(-1.0 - n, 1, 1, 1) for n in range(len(request.continuations)))
                yield place, Outcome(Status.OK, scores=scores)

    ask(tmp_path, Talker(), AskOptions(prompts=("rule",), inputs=("full",)), suite=toy_suite(2))
    parts = pl.concat([pl.read_parquet(part) for part in (tmp_path / "requests").glob("*.parquet")])
    assert parts["sequences"].list.len().to_list() == [0] * parts.height
    assert parts["messages"].list.get(0).struct.field("role").unique().to_list() == ["user"]
    assert parts["messages"].list.get(0).struct.field("content").n_unique() == parts["key"].n_unique()
    assert parts["continuations"].list.len().min() > 1
