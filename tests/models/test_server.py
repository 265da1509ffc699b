"""A model behind a server, against a real one on this machine that fails in every way that servers fail."""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

import veridical
from tests.models import fault_server as faults
from tests.models.fault_server import LABELS, Fault, Server, label_of, serving
from tests.runs.toy import toy_suite
from veridical.errors import UserError
from veridical.models import ServerSettings, load
from veridical.models.protocol import GenerationSettings, Outcome, Query, Request
from veridical.models.server.guard import short
from veridical.models.server.pool import concurrently
from veridical.prompts.template import Conversation, Message, PlainText
from veridical.status import Status

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of the user's, and short waits between attempts."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.05)
    monkeypatch.setattr("veridical.models.server.openai_model.WAIT", 0.01)


def model_of(server: Server, **given: Any) -> Any:
    return load("openai/planted", server=ServerSettings(base_url=server.url, **{"timeout": 2.0, **given}))


def asks(*questions: str) -> list[Request]:
    return [Request(messages=(Message("user", one),), settings=GenerationSettings(16)) for one in questions]


def scoring(question: str, *choices: str) -> Request:
    return Request(messages=(Message("user", question),), continuations=choices)


def only(server: Server, request: Request, **given: Any) -> Outcome:
    ((_, outcome),) = model_of(server, **given).answer([request])
    return outcome


def from_first_question(fault: Fault) -> Callable[[int, str], Fault | None]:
    """A fault of everything but the questions by which a model is loaded."""
    return lambda number, question: None if "word yes" in question else fault


def first_time(chosen: Callable[[str], Fault | None], times: int = 1) -> Callable[[int, str], Fault | None]:
    """The fault of a question, the first times that it is asked."""
    seen: dict[str, int] = {}

    def fault(number: int, question: str) -> Fault | None:
        seen[question] = seen.get(question, 0) + 1
        return chosen(question) if seen[question] <= times else None

    return fault


KINDS: dict[str, Fault] = {
    "429": faults.status(429),
    "429 with Retry-After": faults.status(429, {"Retry-After": "0.05"}),
    "500": faults.status(500),
    "503": faults.status(503),
    "hang": faults.hang(1.0),
    "half-closed": faults.half_closed,
    "truncated": faults.truncated,
    "cut JSON": faults.cut_json,
    "not JSON": faults.not_json,
    "no choice": faults.choices(0),
    "two choices": faults.choices(2),
    "slow": faults.slow,
    "another end": faults.changed(finish_reason="tool_calls"),
    "no end": faults.changed(finish_reason=None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_that_passes_leaves_no_trace(kind: str) -> None:
    with serving(faults=first_time(lambda question: None if "word yes" in question else KINDS[kind])) as server:
        outcome = only(server, asks("Why?")[0], timeout=0.5)
    assert (outcome.status, outcome.text) == (Status.OK, f"Answer: {label_of('Why?')}")
    assert server.answered["Why?"] == 1


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"slow"}))
def test_a_fault_that_stays_is_an_error_with_its_reason(kind: str) -> None:
    with serving(faults=from_first_question(KINDS[kind])) as server:
        outcome = only(server, asks("Why?")[0], timeout=0.3, retries=1)
    assert outcome.status is Status.ERROR
    assert outcome.text is None
    assert outcome.detail
    assert "\n" not in outcome.detail
    assert len(server.asked) <= 2 + 2  # two to load, two attempts


def check_faulty(n: int, folder: Path) -> None:
    """30 % of questions fail once or twice, in every way; every item is answered rightly and once."""
    source = random.Random(5)
    chosen = {}

    def fault(question: str) -> Fault | None:
        if question not in chosen:
            chosen[question] = source.choice(list(KINDS.values())) if source.random() < 0.3 else None
        return None if "word yes" in question else chosen[question]

    with serving(faults=first_time(fault, times=2)) as server:
        model = model_of(server, concurrency=16, timeout=0.6)
        questions = [f"Question {k}?" for k in range(n)]
        found = dict(model.answer(asks(*questions)))
    assert len(found) == n
    for k, question in enumerate(questions):
        assert (found[k].status, found[k].text) == (Status.OK, f"Answer: {label_of(question)}")
    assert {server.answered[question] for question in questions} == {1}
    assert 0.2 < sum(one is not None for one in chosen.values()) / len(chosen) < 0.4


def test_faulty_answers_are_asked_again_and_right_ones_are_not(tmp_path: Path) -> None:
    check_faulty(150, tmp_path)


@pytest.mark.slow
def test_two_thousand_questions_of_which_three_in_ten_fail(tmp_path: Path) -> None:
    check_faulty(2_000, tmp_path)


@pytest.mark.parametrize(
    ("fault", "status", "text"),
    [
        (faults.changed(finish_reason="length"), Status.TRUNCATED, "Answer: "),
        (faults.changed(finish_reason="content_filter"), Status.FILTERED, "Answer: "),
        (faults.changed(message={"role": "assistant", "content": ""}), Status.OK, ""),
        (faults.changed(message={"role": "assistant", "content": None}), Status.OK, ""),
        (
            faults.changed(message={"role": "assistant", "content": None, "refusal": "I will not."}),
            Status.OK,
            "I will not.",
        ),
        # Thinking is not the answer.
        (
            faults.changed(message={"role": "assistant", "content": "Answer: A", "reasoning_content": "B or C"}),
            Status.OK,
            "Answer: A",
        ),
    ],
)
def test_an_answer_has_the_status_of_how_it_ended(fault: Fault, status: Status, text: str) -> None:
    with serving(faults=from_first_question(fault)) as server:
        outcome = only(server, asks("Why?")[0])
    assert outcome.status is status
    assert (outcome.text or "").startswith(text)
    assert len(server.asked) == 3  # two to load; a true status is not asked again


def test_a_prompt_that_is_too_long_is_not_asked_again() -> None:
    message = "This model's maximum context length is 4096 tokens."
    with serving(faults=from_first_question(lambda h, b: h.reply(400, {"error": {"message": message}}))) as server:
        outcome = only(server, asks("Why?")[0])
    assert outcome.status is Status.TOO_LONG
    assert len(server.asked) == 3


def test_what_is_sent_is_greedy() -> None:
    with serving() as server:
        only(server, asks("Why?")[0])
    sent = server.asked[-1]
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0, 0, 16)
    assert sent["messages"] == [{"role": "user", "content": "Why?"}]


def test_the_other_name_of_the_limit_is_found_out() -> None:
    with serving(refuses={"max_tokens": "Unsupported: use 'max_completion_tokens' instead."}) as server:
        assert only(server, asks("Why?")[0]).status is Status.OK
    assert [("max_tokens" in one) for one in server.asked] == [True, False, False, False]
    assert server.asked[-1]["max_completion_tokens"] == 16


# --- choices


@pytest.mark.parametrize(
    ("tokens", "expected", "status", "detail"),
    [
        ({"True": -0.2, "False": -2.0, "Unknown": -3.0, "x": -9.0}, (-0.2, -2.0, -3.0), Status.OK, ""),
        # Pieces of a word, and white space before it.
        ({" T": -0.5, "Fal": -1.5, " Un": -2.5}, (-0.5, -1.5, -2.5), Status.OK, ""),
        # Two spellings of one: e^-1 + e^-1 is 2 / e.
        ({"True": -1.0, " True": -1.0, "False": -3.0, "Un": -4.0}, (math.log(2) - 1, -3.0, -4.0), Status.OK, ""),
        # One is not listed: it has at most the probability of the last.
        ({"True": -0.2, "False": -2.0, "x": -7.5}, (-0.2, -2.0, -7.5), Status.OK, "scored at most: 'Unknown'"),
        ({"x": -0.2, "y": -2.0}, (), Status.BELOW_K, "no choice is among the 2 likeliest"),
    ],
)
def test_first_tokens_score_choices(
    tokens: dict[str, float], expected: tuple[float, ...], status: Status, detail: str
) -> None:
    with serving(first_tokens=lambda question: {"yes": -0.1} if "word yes" in question else tokens) as server:
        outcome = only(server, scoring("Is it?", *LABELS))
    assert outcome.status is status
    assert [one.total for one in outcome.scores] == pytest.approx(expected)
    assert detail in outcome.detail
    assert bool(detail) == bool(outcome.detail)
    assert (server.asked[-1]["max_tokens"], server.asked[-1]["top_logprobs"]) == (1, 20)


def test_a_token_that_begins_two_choices_is_divided_among_none() -> None:
    planted = {"Fa": -0.1, "False": -3.0, "Favors": -4.0}
    with serving(first_tokens=lambda question: {"yes": -0.1} if "word yes" in question else planted) as server:
        outcome = only(server, scoring("Is it?", "Favors", "False"))
        assert (outcome.status, outcome.scores) == (Status.AMBIGUOUS, ())
        model = model_of(server)
        with pytest.raises(UserError, match=r"'A' and 'A wooden ladder' begin alike"):
            model.prepare(Query((Conversation((Message("user", "?"),)),), (" A", " A wooden ladder")))


@pytest.mark.parametrize("value", [float("nan"), 0.5, "low"])
def test_log_probabilities_that_are_none_are_not_scored(value: Any) -> None:
    planted = {"True": value, "False": -1.0}
    with serving(first_tokens=lambda question: {"yes": -0.1} if "word yes" in question else planted) as server:
        outcome = only(server, scoring("Is it?", *LABELS), retries=0)
    assert (outcome.status, outcome.scores) == (Status.ERROR, ())


def test_a_server_without_log_probabilities_cannot_score(tmp_path: Path) -> None:
    with serving() as server:
        model = model_of(server)
        assert model.modes == ("generate",)
        with pytest.raises(UserError, match="cannot be asked in mode loglikelihood: it has mode generate"):
            veridical.run(toy_suite(1), model=model, out=tmp_path)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (PlainText("Once"), "without turns"),
        (Conversation((Message("user", "?"), Message("assistant", "Answer:"))), "has begun"),
    ],
)
def test_what_the_protocol_cannot_put_is_refused(context: Any, words: str) -> None:
    with serving() as server, pytest.raises(UserError, match=words):
        model_of(server).prepare(Query((context,), ("a", "b")))


# --- runs


def questions_of(study: veridical.Study) -> dict[str, str]:
    return {row["item"]: row["label"] for row in study.responses.iter_rows(named=True)}


def test_a_run_through_a_server_is_judged_like_any(tmp_path: Path) -> None:
    with serving() as server:
        study = veridical.run(
            toy_suite(4),
            model="openai/planted",
            mode="generate",
            prompts="rule",
            out=tmp_path / "s",
            server=ServerSettings(base_url=server.url),
        )
    assert study.failed == 0
    asked = [body["messages"][-1]["content"] for body in server.asked[2:]]
    assert sorted(filter(None, study.responses["label"])) == sorted(map(label_of, asked))
    (manifest,) = (tmp_path / "s").glob("*/manifest.json")
    parts = json.loads(manifest.read_text())["model"]["fingerprint"]
    assert (parts["server"], parts["model"], parts["server's model"]) == (server.url, "planted", "planted-1")
    assert parts["server's system_fingerprint"] == "fp"


def test_a_limit_ends_a_run_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    def ask(server: Server, **limits: int) -> veridical.Study:
        return veridical.run(
            toy_suite(6),
            model="openai/planted",
            mode="generate",
            prompts="rule",
            out=tmp_path,
            server=ServerSettings(base_url=server.url, concurrency=2, **limits),
        )

    with serving() as server:
        with pytest.raises(UserError, match=r"--max-requests 10 is reached: .*the same command with a larger number"):
            ask(server, max_requests=10)
        assert len(server.asked) == 10
        with pytest.raises(UserError, match=r"--max-total-tokens 100: 1\d\d were used"):
            ask(server, max_total_tokens=100)
        assert ask(server).failed == 0
        asked = [body["messages"][-1]["content"] for body in server.asked]
        asked = [one for one in asked if "word yes" not in one]
        assert len(asked) == len(set(asked)) == 24


def test_errors_are_not_stored_and_are_asked_again(tmp_path: Path) -> None:
    def ask(server: Server) -> veridical.Study:
        return veridical.run(
            toy_suite(3),
            model="openai/planted",
            mode="generate",
            prompts="rule",
            out=tmp_path,
            server=ServerSettings(base_url=server.url, retries=0),
        )

    with serving() as server:
        server.faults = lambda number, question: faults.status(500) if "cart 1" in question else None
        first = ask(server)
        assert first.failed == 4
        assert sorted(set(first.responses.filter(status="error")["detail"])) != []
        server.faults = lambda number, question: None
        second = ask(server)
        assert (second.failed, len(server.asked)) == (0, 2 + 12 + 2 + 4)


# --- what ends a run


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.status(401), "status 401: planted 401"),
        (faults.status(404), "status 404: planted 404"),
        (faults.not_json, "does not speak OpenAI's protocol"),
        (faults.cut_json, "does not speak OpenAI's protocol"),
        (faults.hang(1.0), "cannot be reached"),
    ],
)
def test_a_server_that_cannot_be_asked_is_refused_at_once(fault: Fault, words: str) -> None:
    with serving(faults=lambda number, question: fault) as server, pytest.raises(UserError, match=words) as caught:
        model_of(server, timeout=0.3, retries=0)
    assert server.url in str(caught.value)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"cannot be reached .*is --base-url right"):
        load("openai/planted", server=ServerSettings(base_url="http://127.0.0.1:9/v1", retries=0, timeout=1.0))


def test_a_server_that_goes_away_ends_the_run(tmp_path: Path) -> None:
    with serving() as server:
        model = model_of(server, retries=0, concurrency=4)
        server.faults = lambda number, question: faults.half_closed if number > 30 else None
        came: list[tuple[int, Outcome]] = []
        with pytest.raises(UserError, match=r"20 requests in a row failed .*the same command goes on"):
            came.extend(model.answer(asks(*[f"{k}?" for k in range(500)])))
    assert sum(outcome.status is Status.OK for _, outcome in came) >= 25
    assert len(server.asked) < 80


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://user:secret@host/v1", "give the address alone"),
        ("http://host/v1?key=secret", "give the address alone"),
        ("host:8000", "give an address as"),
        ("ftp://host/v1", "give an address as"),
    ],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        load("openai/planted", server=ServerSettings(base_url=url))
    assert "secret" not in str(caught.value)


def test_settings_of_local_weights_are_refused() -> None:
    with pytest.raises(UserError, match="--dtype: of weights that are run here"):
        load("openai/planted", dtype="bfloat16", server=ServerSettings(base_url="http://127.0.0.1:9/v1"))


# --- keys


def test_a_key_is_sent_and_kept_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def echoes(handler: Any, body: dict[str, Any]) -> None:
        """A server that quotes the key in its errors, as some do."""
        handler.reply(400, {"error": {"message": f"bad request of {KEY}"}})

    with serving(faults=lambda number, question: echoes if "cart 1" in question else None) as server:
        study = veridical.run(
            toy_suite(3),
            model="openai/planted",
            mode="generate",
            out=tmp_path / "s",
            server=ServerSettings(base_url=server.url, retries=0),
        )
    assert {one["authorization"] for one in server.headers} == {f"Bearer {KEY}"}
    assert study.failed > 0
    files = [path for path in (tmp_path / "s").rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in str(study.responses.to_dicts())
    assert KEY not in "".join(capfd.readouterr())


def test_a_key_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    fault = lambda handler, body: handler.reply(401, {"error": {"message": f"Incorrect API key: {KEY}"}})  # noqa: E731
    with serving(faults=lambda number, question: fault) as server, pytest.raises(UserError) as caught:
        model_of(server)
    assert KEY not in str(caught.value)
    assert "Incorrect API key: (OPENAI_API_KEY)" in str(caught.value)


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_no_redirect_carries_a_key_to_another_host(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as elsewhere, serving() as server:
        fault = faults.status(code, {"Location": f"{elsewhere.url}/chat/completions"})
        server.faults = lambda number, question: fault
        with pytest.raises(UserError, match=f"status {code}"):
            model_of(server, retries=0)
    assert elsewhere.headers == []


# --- at once


@pytest.mark.parametrize("concurrency", [1, 8])
def test_so_many_requests_are_under_way_at_once(concurrency: int) -> None:
    with serving() as server:
        model = model_of(server, concurrency=concurrency)
        server.seconds = 0.05
        assert len(dict(model.answer(asks(*[f"{k}?" for k in range(16)])))) == 16
    # A machine that is busy may not begin all of them in time.
    assert concurrency / 2 <= server.most_under_way <= concurrency


def test_a_server_s_word_on_when_to_ask_again_is_kept() -> None:
    moments: list[float] = []

    def fault(number: int, question: str) -> Fault | None:
        if "word yes" in question:
            return None
        moments.append(time.monotonic())
        return faults.status(429, {"Retry-After": "1"}) if len(moments) == 1 else None

    with serving(faults=fault) as server:
        assert only(server, asks("Why?")[0]).status is Status.OK
    assert moments[1] - moments[0] >= 1.0


@asynccontextmanager
async def echoing(log: list[str]) -> Any:
    async def answer(one: int) -> int:
        log.append(f"begun {one}")
        await asyncio.sleep(0.01 if one else 0.001)
        if one == 7:
            raise UserError("seven")
        log.append(f"ended {one}")
        return one * one

    try:
        yield answer
    finally:
        log.append("closed")


def test_what_is_asked_is_taken_when_there_is_room() -> None:
    log: list[str] = []

    def source() -> Iterator[int]:
        for one in range(6):
            log.append(f"taken {one}")
            yield one

    found = dict(concurrently(source(), lambda: echoing(log), 2))
    assert found == {k: k * k for k in range(6)}
    assert log[-1] == "closed"
    assert log.index("taken 2") > log.index("ended 0")


def test_an_exception_comes_after_what_was_under_way() -> None:
    log: list[str] = []
    came: list[tuple[int, int]] = []
    with pytest.raises(UserError, match="seven"):
        came.extend(concurrently(range(100), lambda: echoing(log), 3))
    assert {position for position, _ in came} >= set(range(7))
    assert len(came) < 12
    assert log[-1] == "closed"


def test_closing_cancels_what_is_under_way() -> None:
    log: list[str] = []
    running = concurrently(range(10_000), lambda: echoing(log), 3)
    next(running)
    running.close()  # type: ignore[attr-defined]
    assert log[-1] == "closed"
    assert sum(line.startswith("begun") for line in log) < 20


def test_openai_is_at_hand() -> None:
    assert int(openai.__version__.split(".")[0]) >= 2


def test_openai_s_own_server_is_not_asked_without_a_key() -> None:
    with pytest.raises(UserError, match=r"needs a key in the variable OPENAI_API_KEY.* hf/openai/gpt-oss-20b"):
        load("openai/gpt-oss-20b")


def test_how_often_a_server_changes_its_answer_is_measured(tmp_path: Path) -> None:
    """It answers `True` to everything at first, and `False` to three of eight questions ever after."""
    seen: set[str] = set()
    turncoats: set[str] = set()

    def answer(handler: Any, body: dict[str, Any]) -> None:
        question = body["messages"][-1]["content"]
        if question not in seen and len(turncoats) < 3:
            turncoats.add(question)
        other = question in seen and question in turncoats
        seen.add(question)
        message = {"role": "assistant", "content": f"Answer: {'False' if other else 'True'}"}
        handler.reply(200, handler.completion(body, message=message))

    with serving() as server:
        model = model_of(server, concurrency=1)
        server.faults = lambda number, question: answer
        study = veridical.run(
            toy_suite(2), model=model, mode="generate", prompts="rule", inputs="full", repeats=3, out=tmp_path
        )
    assert len(server.asked) == 2 + 3 * 8
    (changed,) = [one for one in study.judgement.records if one.measure == "changed_over_repeats"]
    assert (changed.value, changed.n_items) == (3 / 8, 8)


def test_a_limit_on_the_rate_of_tokens_is_no_long_prompt() -> None:
    said = {"error": {"message": "Rate limit reached: too many tokens per minute"}}
    with serving(faults=from_first_question(lambda handler, body: handler.reply(429, said))) as server:
        assert only(server, asks("Why?")[0], retries=1).status is Status.ERROR


def test_a_notebook_has_an_event_loop_already() -> None:
    async def cell(server: Server) -> Outcome:
        return only(server, asks("Why?")[0])

    with serving() as server:
        assert asyncio.run(cell(server)).status is Status.OK


@pytest.mark.parametrize("before", range(100, 200, 7))
def test_no_part_of_a_key_is_left_where_a_message_is_cut(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    cut = short("x" * before + "sk-planted-0123456789abcdef" + "y" * 400, 300)
    assert "sk-pl" not in cut
    assert len(cut) <= 300
