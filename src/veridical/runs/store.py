"""A run on disk: what was asked, and what came back.

A run folder is only added to. Its parts have unique names, are whole or absent, and are listed in the manifest with
their checksums (`veridical.runs.parts`), so a run survives SIGKILL, and two processes may answer into one folder.
Errors are never stored: a resumed run asks them again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from veridical.errors import UserError
from veridical.files.writing import make_folder
from veridical.items import Suite
from veridical.models.protocol import ChoiceScore, Outcome, Request, TokenSequence
from veridical.runs.asks import Ask
from veridical.runs.editing import Editing, editing
from veridical.runs.manifest import Manifest, Part, extended, read_manifest
from veridical.runs.parts import again, checked, read_table, read_tables
from veridical.runs.plan import Plan
from veridical.signals import deferred
from veridical.status import Status

FLUSH_ANSWERS = 2_000
FLUSH_SECONDS = 30.0

ITEMS_NAME = "items.parquet"

ITEMS = pl.Schema({"suite": pl.String(), "kind": pl.String(), "id": pl.String(), "json": pl.String()})
"""One row a suite (`kind` is `suite`: everything but its items), then one an item, in the suite's order."""

_SEQUENCE = pl.Struct(
    {
        "context": pl.List(pl.Int32()),
        "continuation": pl.List(pl.Int32()),
        "n_chars": pl.Int32(),
        "n_bytes": pl.Int32(),
        "joined": pl.Boolean(),
        "segments": pl.List(pl.Int32()),
    }
)

_SEQUENCE_FIELDS = [field.name for field in _SEQUENCE.fields]

ASKS = pl.Schema(
    {
        "key": pl.String(),
        "suite": pl.String(),
        "item": pl.String(),
        "input": pl.String(),
        "prompt": pl.String(),
        "order": pl.Int64(),
        "mode": pl.String(),
        "repeat": pl.Int64(),
        "labels": pl.List(pl.String()),
        "notes": pl.List(pl.String()),
        "joined": pl.Boolean(),
    }
)
"""Which ask put which request; `labels` are in the order in which the prompt named them."""

REQUESTS = pl.Schema(
    {
        **ASKS,
        "sequences": pl.List(_SEQUENCE),
        "unconditional": pl.List(_SEQUENCE),
        "max_new_tokens": pl.Int64(),
        "messages": pl.List(pl.Struct({"role": pl.String(), "content": pl.String()})),
        "continuations": pl.List(pl.String()),
    }
)
"""A request as it was put: token ids, or messages with the continuations that are scored after them."""

RESPONSES = pl.Schema(
    {
        "key": pl.String(),
        "status": pl.String(),
        "scores": pl.List(
            pl.Struct(
                {
                    "total": pl.Float64(),
                    "n_tokens": pl.Int64(),
                    "n_chars": pl.Int64(),
                    "n_bytes": pl.Int64(),
                    "unconditional": pl.Float64(),
                    "joined": pl.Boolean(),
                }
            )
        ),
        "text": pl.String(),
        "n_tokens": pl.Int64(),
        "finish": pl.String(),
        "detail": pl.String(),
    }
)

_OUTCOME_FIELDS = [field.name for field in fields(Outcome)]
_SCORE_FIELDS = [field.name for field in fields(ChoiceScore)]

ASK = ("suite", "item", "input", "prompt", "order", "mode", "repeat")


class RunStore:
    """A run folder open for answers.

    Opening one writes or extends its manifest and items, and takes parts that were lost off the list: `lost` are
    those. Raises UserError where the folder is another run's, or cannot be written.
    """

    def __init__(self, path: Path, manifest: Manifest, plans: Sequence[Plan]) -> None:
        self.path = path
        self._answers = AnswerBuffer(self._write)
        make_folder(path)
        with editing(path, manifest) as edit:
            edit.manifest = extended(path, edit.manifest, manifest)
            self.lost: tuple[Part, ...] = edit.repair()
            edit.save()
            _extend_items(edit, plans)

    def add_requests(self, requests: Iterable[tuple[Ask, Request, str]]) -> None:
        """Record which ask put which request under which key, for asks that are not recorded under it yet."""
        frame = requests_frame(requests)
        if frame.height:
            with editing(self.path) as edit:
                edit.add("requests", frame)

    def add(self, key: str, outcome: Outcome) -> None:
        """Keep an answer; it is on disk after the next flush. An error is not an answer."""
        self._answers.add(key, outcome)

    def flush(self) -> None:
        """Write the answers kept so far to disk as one part."""
        self._answers.flush()

    def list_parts(self, parts: Iterable[Part]) -> None:
        """Put parts into the list that other writers wrote."""
        with editing(self.path) as edit:
            edit.list(*parts)

    def _write(self, frame: pl.DataFrame) -> None:
        with editing(self.path) as edit:
            edit.add("responses", frame)

    def note(self, notes: Mapping[str, int], warnings: Sequence[str] = ()) -> None:
        """Put counts into the manifest (what rendering did, near ties), in place of earlier ones.

        What libraries warned of is added to the warnings that are there.
        """
        with editing(self.path) as edit:
            edit.change(notes=dict(notes), model=edit.manifest.model.with_warnings(warnings))


class AnswerBuffer:
    """Answers that are written together: after `FLUSH_ANSWERS` of them, or `FLUSH_SECONDS`."""

    def __init__(self, write: Callable[[pl.DataFrame], None]) -> None:
        self._write = write
        self._rows: list[dict[str, Any]] = []
        self._flushed = time.monotonic()

    def add(self, key: str, outcome: Outcome) -> None:
        """Keep an answer. Raises ValueError for an error, which is not an answer."""
        if outcome.status is Status.ERROR:
            raise ValueError("an error is not an answer and is not stored")
        self._rows.append({"key": key, **_outcome_row(outcome)})
        if len(self._rows) >= FLUSH_ANSWERS or time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is kept, if anything is."""
        if self._rows:
            with deferred():
                self._write(pl.DataFrame(self._rows, schema=RESPONSES))
                self._rows = []
        self._flushed = time.monotonic()


def requests_frame(requests: Iterable[tuple[Ask, Request, str]]) -> pl.DataFrame:
    """Asks, the requests that they put and the keys of these, as a part of `requests`."""
    return pl.DataFrame([_request_row(ask, request, key) for ask, request, key in requests], schema=REQUESTS)


def _outcome_row(outcome: Outcome) -> dict[str, Any]:
    # Not `asdict`: it copies what it finds, which takes as long as the rest of storing.
    row = {name: getattr(outcome, name) for name in _OUTCOME_FIELDS}
    scores = [{name: getattr(score, name) for name in _SCORE_FIELDS} for score in outcome.scores]
    return {**row, "status": outcome.status.value, "scores": scores}


def _sequence_rows(sequences: Iterable[TokenSequence]) -> list[dict[str, Any]]:
    # Not `asdict`: it copies every token id, which takes a minute for a suite.
    return [{name: getattr(sequence, name) for name in _SEQUENCE_FIELDS} for sequence in sequences]


def _request_row(ask: Ask, request: Request, key: str) -> dict[str, Any]:
    return {
        "key": key,
        **{name: getattr(ask, name) for name in (*ASK, "labels")},
        "notes": list(request.notes),
        "joined": any(sequence.joined for sequence in request.sequences),
        "sequences": _sequence_rows(request.sequences),
        "unconditional": _sequence_rows(request.unconditional),
        "max_new_tokens": request.settings.max_new_tokens if request.settings else None,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "continuations": list(request.continuations),
    }


def _extend_items(edit: Editing, plans: Sequence[Plan]) -> None:
    """Write the items as asked: those of earlier calls and of these plans together."""
    stored = read_suites(edit.run) if has_items(edit.run) else {}
    suites = dict(stored)
    for plan in plans:
        asked = plan.asks.item_ids
        earlier = stored.get(plan.suite.name)
        suites[plan.suite.name] = plan.suite.narrowed(asked | set(earlier.by_id if earlier else ()))
    if suites != stored:
        edit.put_table(ITEMS_NAME, _items_frame(suites.values()))


def has_items(path: Path) -> bool:
    """Whether a run holds items. Raises UserError where they were there, and are missing or damaged now."""
    return checked(path, ITEMS_NAME) is not None


def lacking_suites(path: Path, asks: pl.DataFrame | None = None) -> set[str]:
    """The suites of which a run stores questions and not the items: its items.parquet is gone, or an older one."""
    asked = set((read_asks(path, without_missing=True) if asks is None else asks)["suite"])
    return asked - set(read_heads(path)) if (path / ITEMS_NAME).exists() else asked


def check_items(path: Path, asks: pl.DataFrame | None = None) -> None:
    """Raise UserError where a run stores questions whose items are missing; `asks` are those that it stores."""
    if lacking := sorted(lacking_suites(path, asks)):
        if (manifest := read_manifest(path)).imported is not None:
            raise UserError(f"{path / ITEMS_NAME} is missing; {again(path, manifest)}")
        raise UserError(
            f"{path / ITEMS_NAME} is missing, or lacks the items of {', '.join(lacking)}: run those suites again, "
            f"in one call, with --out {path.parent}; stored answers are kept"
        )


def restore_items(path: Path, plans: Sequence[Plan]) -> None:
    """Write the items of stored questions again, from the same suites. Raises UserError where one is not planned."""
    lacking = lacking_suites(path)
    planned = {plan.suite.name: plan.suite for plan in plans}
    if not lacking <= set(planned):
        check_items(path)
    if not lacking:
        return
    asks = read_asks(path, without_missing=True)
    with editing(path) as edit:
        if not (path / ITEMS_NAME).exists():
            edit.forget([ITEMS_NAME])
            edit.save()
        suites = read_suites(path) if has_items(path) else {}
        for name in lacking:
            suites[name] = planned[name].narrowed(set(asks.filter(suite=name)["item"]))
        order = [entry.name for entry in edit.manifest.suites]
        ordered = (suites[name] for name in sorted(suites, key=order.index))
        edit.put_table(ITEMS_NAME, _items_frame(ordered))


def _items_frame(suites: Iterable[Suite]) -> pl.DataFrame:
    rows: list[tuple[str, str, str, str]] = []
    for suite in suites:
        rows.append((suite.name, "suite", suite.name, suite.model_dump_json(exclude={"items"})))
        rows.extend((suite.name, "item", item.id, item.model_dump_json()) for item in suite.items)
    return pl.DataFrame(rows, schema=ITEMS, orient="row")


def read_heads(path: Path) -> dict[str, str]:
    """The suites of a run without their items, in JSON, by name."""
    found = read_table(path, ITEMS_NAME, pl.Schema({"suite": pl.String(), "kind": pl.String(), "json": pl.String()}))
    return _heads(found)


def _heads(items: pl.DataFrame) -> dict[str, str]:
    return dict(items.filter(kind="suite").select("suite", "json").iter_rows())


def read_suites(path: Path) -> dict[str, Suite]:
    """The suites of a run by name, narrowed to the items that were asked."""
    frame = read_table(path, ITEMS_NAME, ITEMS)
    suites: dict[str, Suite] = {}
    for name, head in _heads(frame).items():
        items = ",".join(frame.filter(kind="item", suite=name)["json"])
        suites[name] = Suite.model_validate({**json.loads(head), "items": json.loads(f"[{items}]")})
    return suites


def read_asks(path: Path, *, without_missing: bool = False) -> pl.DataFrame:
    """What was asked, without token ids: one row an ask, under the key by which it was last asked.

    Raises UserError where a part that was stored is missing, unless `without_missing`.
    """
    found = read_tables(path, "requests", ASKS, without_missing=without_missing)
    return found.unique(subset=ASK, keep="last", maintain_order=True)


def read_keys(path: Path) -> set[str]:
    """The keys that have a stored answer; the answers are not read."""
    return set(read_tables(path, "responses", pl.Schema({"key": pl.String()}))["key"])


def read_responses(path: Path) -> pl.DataFrame:
    """The stored answers, one row a key (the first, where two processes answered one request)."""
    return read_tables(path, "responses", RESPONSES).unique(subset="key", keep="first", maintain_order=True)


def outcome(row: Mapping[str, Any]) -> Outcome:
    """The outcome that a row of `read_responses` stores."""
    return Outcome(
        status=Status(row["status"]),
        scores=tuple(ChoiceScore(**score) for score in row["scores"]),
        text=row["text"],
        n_tokens=row["n_tokens"],
        finish=row["finish"],
        detail=row["detail"],
    )
