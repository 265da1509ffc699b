"""A server that speaks OpenAI's chat protocol and can be made to fail in every way that servers fail.

What it answers follows from the question, so that right answers are known: to generate, `Answer: LABEL`, with a label
drawn from the question's digest; scored, first tokens with the probabilities that a test plants.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LABELS = ("True", "False", "Unknown")
Fault = Callable[["Handler", dict[str, Any]], None]


def label_of(question: str) -> str:
    """The label that the server answers to a question."""
    return LABELS[int(hashlib.sha256(question.encode()).hexdigest(), 16) % len(LABELS)]


@dataclass
class Server:
    """A running server. `faults` says by number of a request (from 0) and question what goes wrong with it."""

    url: str = ""
    faults: Callable[[int, str], Fault | None] = lambda number, question: None
    first_tokens: Callable[[str], Mapping[str, float]] | None = None
    seconds: float = 0.0
    refuses: Mapping[str, str] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    under_way: int = 0
    most_under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.owner
        question = body["messages"][-1]["content"]
        with server.lock:
            number = len(server.asked)
            server.asked.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.under_way += 1
            server.most_under_way = max(server.most_under_way, server.under_way)
        try:
            time.sleep(server.seconds)
            for name, message in server.refuses.items():
                if name in body:
                    return self.reply(400, {"error": {"message": message, "type": "invalid_request_error"}})
            if (fault := server.faults(number, question)) is not None:
                return fault(self, body)
            with server.lock:
                server.answered[question] += 1
            self.reply(200, self.completion(body))
        finally:
            with server.lock:
                server.under_way -= 1

    def completion(self, body: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """A whole and right answer."""
        question = body["messages"][-1]["content"]
        text = f"Answer: {label_of(question)}"
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        if body.get("logprobs"):
            tokens = self.owner.first_tokens(question) if self.owner.first_tokens else {}
            top = [{"token": token, "logprob": value, "bytes": None} for token, value in tokens.items()]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}] if top else []}
        usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
        common = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "planted-1",
            "system_fingerprint": "fp",
        }
        return {**common, "choices": [{**choice, **changes}], "usage": usage}

    def reply(self, status: int, document: Any, headers: Mapping[str, str] | None = None) -> None:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def status(code: int, headers: Mapping[str, str] | None = None) -> Fault:
    return lambda handler, body: handler.reply(code, {"error": {"message": f"planted {code}"}}, headers)


def hang(seconds: float) -> Fault:
    def wait(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return wait


def half_closed(handler: Handler, body: dict[str, Any]) -> None:
    """Ends the connection in the middle of the headers."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-")
    handler.close_connection = True


def truncated(handler: Handler, body: dict[str, Any]) -> None:
    """A body of half the length that its header says."""
    data = json.dumps(handler.completion(body)).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.close_connection = True


def cut_json(handler: Handler, body: dict[str, Any]) -> None:
    data = json.dumps(handler.completion(body)).encode()
    handler.reply(200, data[: len(data) // 2])


def not_json(handler: Handler, body: dict[str, Any]) -> None:
    handler.reply(200, b"<html>Bad gateway</html>", {"Content-Type": "text/html"})


def choices(n: int) -> Fault:
    def several(handler: Handler, body: dict[str, Any]) -> None:
        document = handler.completion(body)
        handler.reply(200, {**document, "choices": document["choices"] * n})

    return several


def changed(**changes: Any) -> Fault:
    return lambda handler, body: handler.reply(200, handler.completion(body, **changes))


def slow(handler: Handler, body: dict[str, Any]) -> None:
    """A whole answer, some bytes at a time."""
    data = json.dumps(handler.completion(body)).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    for begin in range(0, len(data), 100):
        handler.wfile.write(data[begin : begin + 100])
        handler.wfile.flush()
        time.sleep(0.01)
    with handler.owner.lock:
        handler.owner.answered[body["messages"][-1]["content"]] += 1


@contextmanager
def serving(**given: Any) -> Iterator[Server]:
    """A server on a free port of this machine, until the context is left."""
    server = Server(**given)
    handler = type("BoundHandler", (Handler,), {"owner": server})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
