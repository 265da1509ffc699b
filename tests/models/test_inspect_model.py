"""Models of Inspect's providers, through Inspect itself: its `mockllm`, and its client of OpenAI's protocol."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import veridical
from tests.models import fault_server as faults
from tests.models.fault_server import LABELS, label_of, serving
from tests.runs.toy import toy_suite
from veridical.errors import UserError
from veridical.models import ServerSettings, load
from veridical.models.protocol import GenerationSettings, Outcome, Request
from veridical.prompts.template import Message
from veridical.status import Status

inspect_model = pytest.importorskip("inspect_ai.model")
pytestmark = pytest.mark.slow  # Inspect takes two seconds to import
KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)


def mocked(monkeypatch: pytest.MonkeyPatch, outputs: Iterable[Any]) -> Any:
    """`inspect/mockllm/model`, which gives these outputs after the one by which it is loaded."""
    first = output("yes")
    real = inspect_model.get_model
    pool = iter([first, first, *outputs])
    monkeypatch.setattr(
        "inspect_ai.model.get_model",
        lambda name, **given: real(name, custom_outputs=pool, **{**given, "base_url": None}),
    )
    return load("inspect/mockllm/model", server=ServerSettings(concurrency=1, retries=0))


def asks(n: int) -> list[Request]:
    return [Request(messages=(Message("user", f"{k}?"),), settings=GenerationSettings(16)) for k in range(n)]


def output(text: str, stop: str = "stop", **message: Any) -> Any:
    return inspect_model.ModelOutput(
        model="mockllm/model",
        # Without it mockllm counts tokens by a file that it takes from the network.
        usage=inspect_model.ModelUsage(input_tokens=9, output_tokens=3, total_tokens=12),
        choices=[
            inspect_model.ChatCompletionChoice(
                message=inspect_model.ChatMessageAssistant(content=message.get("content", text)), stop_reason=stop
            )
        ],
    )


@pytest.mark.parametrize(
    ("stop", "status", "text"),
    [
        ("stop", Status.OK, "Answer: True"),
        ("max_tokens", Status.TRUNCATED, "Answer: True"),
        ("model_length", Status.TOO_LONG, None),
        ("content_filter", Status.FILTERED, "Answer: True"),
        ("tool_calls", Status.ERROR, None),
        ("unknown", Status.ERROR, None),
    ],
)
def test_an_answer_has_the_status_of_how_it_ended(
    stop: str, status: Status, text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, outcome),) = mocked(monkeypatch, [output("Answer: True", stop)]).answer(asks(1))
    assert (outcome.status, outcome.text) == (status, text)


def test_reasoning_is_not_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    content = [inspect_model.ContentReasoning(reasoning="It is False."), inspect_model.ContentText(text="Answer: True")]
    ((_, outcome),) = mocked(monkeypatch, [output("", content=content)]).answer(asks(1))
    assert outcome.text == "Answer: True"


def test_a_model_without_log_probabilities_generates_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model = mocked(monkeypatch, [])
    assert model.modes == ("generate",)
    assert model.fingerprint.parts["model"] == "mockllm/model"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("inspect/mockllm", "write inspect/PROVIDER/NAME"),
        ("inspect/nobody/model", "Inspect cannot ask it: .*nobody"),
    ],
)
def test_a_name_that_inspect_does_not_know_is_refused_in_a_line(name: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        load(name)


def through_inspect(url: str, **given: Any) -> Any:
    """The planted server, by Inspect's own client of OpenAI's protocol."""
    return load("inspect/openai-api/planted/model", server=ServerSettings(base_url=url, retries=1, **given))


def test_a_run_through_inspect_is_that_of_our_own_client(tmp_path: Path) -> None:
    first = {"True": -0.2, "False": -2.0, "Unknown": -3.0}
    with serving(first_tokens=lambda question: {"yes": -0.1} if "word yes" in question else first) as server:
        for mode in ("generate", "loglikelihood"):
            ours = veridical.run(
                toy_suite(3),
                model="openai/model",
                mode=mode,
                prompts="rule",
                out=tmp_path / "a",
                server=ServerSettings(base_url=server.url),
            )  # type: ignore[call-overload]
            there = veridical.run(
                toy_suite(3), model=through_inspect(server.url), mode=mode, prompts="rule", out=tmp_path / "b"
            )  # type: ignore[call-overload]
            shown = ["item", "mode", "status", "label", "text", "scores"]
            assert there.responses.select(shown).equals(ours.responses.select(shown))
            assert there.failed == 0
    asked = [body for body in server.asked if body["messages"][-1]["content"].startswith("Ada")]
    assert {(body["temperature"], body["seed"]) for body in asked} == {(0, 0)}
    assert set(there.responses.filter(mode="generate")["label"]) <= set(LABELS)
    assert label_of(asked[0]["messages"][-1]["content"]) in LABELS


def test_failures_are_errors_and_no_key_is_kept(tmp_path: Path) -> None:
    def quotes(handler: Any, body: dict[str, Any]) -> None:
        handler.reply(400, {"error": {"message": f"bad request of {KEY}"}})

    with serving() as server:
        model = through_inspect(server.url, concurrency=2)
        server.faults = lambda number, question: quotes if "cart 1" in question else None
        study = veridical.run(toy_suite(3), model=model, mode="generate", prompts="rule", out=tmp_path)
        assert study.failed == 4
        server.faults = lambda number, question: faults.status(400)
        with pytest.raises(UserError, match="20 requests in a row failed"):
            list(model.answer(asks(60)))
    assert {one["authorization"] for one in server.headers} == {f"Bearer {KEY}"}
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert KEY not in str(study.responses.to_dicts())


def test_outcomes_come_for_every_request() -> None:
    with serving(seconds=0.01) as server:
        found: dict[int, Outcome] = dict(through_inspect(server.url, concurrency=8).answer(asks(40)))
    assert sorted(found) == list(range(40))
    assert {one.status for one in found.values()} == {Status.OK}
    assert 2 <= server.most_under_way <= 8
