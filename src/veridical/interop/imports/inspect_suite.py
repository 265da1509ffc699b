"""The log of a suite that was exported as an Inspect task, as a run that is judged as if it had been asked here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veridical.errors import UserError, excerpt
from veridical.files.new_folder import nothing_left
from veridical.interop.exports.inspect import METADATA
from veridical.interop.imports.answer import held, listed
from veridical.interop.imports.folders import check_new
from veridical.interop.imports.inspect_file import Log, read_log
from veridical.items import Suite
from veridical.models.protocol import Fingerprint, GenerationSettings, Outcome, Request
from veridical.models.server.inspect_replies import ended
from veridical.prompts.template import Message
from veridical.runs import manifest as manifests
from veridical.runs.asks import Ask
from veridical.runs.plan import AskOptions, plan
from veridical.runs.store import RunStore
from veridical.status import Status
from veridical.studies.study import Study, open_study

Place = tuple[str, str, str, int]
"""Item, input, prompt and label order: what a sample says that it puts."""


def import_suite_log(path: Path, suite: Suite, out: Path, *, model: str | None = None) -> Study:
    """The log in a file as a run of the suite in the new folder `out`; each epoch is a repeat.

    A sample that has an error is a question without an answer, as in a run here. Raises UserError where the log is not
    of this suite, or of another version of it, where a sample is asked twice in an epoch, and where `out` exists.
    """
    log = read_log(path)
    check_new(out)
    samples = [(_place(sample, suite, path), int(sample.get("epoch") or 1), sample) for sample in log.samples()]
    if not samples:
        raise UserError("no samples, so that nothing can be judged", where=path)
    seen: set[tuple[Place, int]] = set()
    for place, epoch, _ in samples:
        if (place, epoch) in seen:
            raise UserError(f"item {place[0]!r}, prompt {place[2]!r} is there twice in epoch {epoch}", where=path)
        seen.add((place, epoch))
    part = suite.narrowed({place[0] for place, _, _ in samples})
    repeats = max(epoch for _, epoch, _ in samples)
    options = AskOptions(
        ("generate",),
        tuple(dict.fromkeys(place[2] for place, _, _ in samples)),
        tuple(dict.fromkeys(place[1] for place, _, _ in samples)),
        orders=0,
        repeats=repeats,
    )
    asked = plan(part, options)
    by_place = {((ask.item, ask.input, ask.prompt, ask.order), ask.repeat + 1): ask for ask in asked.asks}
    fingerprint = _fingerprint(log, suite)
    entry = manifests.ModelEntry(
        name=model or str(held(log.header.get("eval")).get("model") or "model not named in the log"),
        fingerprint=dict(fingerprint.parts),
        digest=fingerprint.digest,
    )
    created = manifests.now()
    manifest = manifests.Manifest(
        created=created,
        model=entry,
        suites=(manifests.SuiteEntry(name=suite.name, version=suite.version, content_hash=suite.content_hash),),
        settings=manifests.RunSettings(seed=0),
    )
    with nothing_left(out):
        store = RunStore(out, manifest, [asked])
        _store(store, samples, by_place, fingerprint.digest, path)
        study = open_study(out)
        study.write()
    return study


def _store(
    store: RunStore,
    samples: list[tuple[Place, int, Mapping[str, Any]]],
    by_place: Mapping[tuple[Place, int], Ask],
    digest: str,
    path: Path,
) -> None:
    rows = []
    for place, epoch, sample in samples:
        ask = by_place.get((place, epoch))
        if ask is None:
            raise UserError(f"input {place[1]!r}, prompt {place[2]!r}, order {place[3]}: not asked so here", where=path)
        turns = tuple(Message(turn["role"], str(turn["content"])) for turn in listed(sample.get("input")))
        request = Request(messages=turns, settings=GenerationSettings())
        rows.append((ask, request, request.key(digest, ask.repeat), _outcome(sample)))
    store.add_requests((ask, request, key) for ask, request, key, _ in rows)
    for key, outcome in {key: outcome for _, _, key, outcome in rows}.items():
        if outcome.status is not Status.ERROR:
            store.add(key, outcome)
    store.flush()


def _place(sample: Mapping[str, Any], suite: Suite, path: Path) -> Place:
    """What a sample puts. Raises UserError where it does not say so, or says another suite."""
    said = held(held(sample.get("metadata")).get(METADATA))
    if not said:
        raise UserError(
            f"sample {excerpt(sample.get('id'), 40)!r} is not of a suite that 'veridical export inspect' wrote; "
            "leave --suite out",
            where=path,
        )
    if (said.get("suite"), said.get("content_hash")) != (suite.name, suite.content_hash):
        raise UserError(
            f"the log is of suite {excerpt(said.get('suite'), 40)!r} (content {excerpt(said.get('content_hash'), 20)}) "
            f"and --suite is {suite.name!r} (content {suite.content_hash}): give the suite.jsonl of the export",
            where=path,
        )
    item, order = said.get("item"), said.get("order")
    if item not in suite.by_id or not isinstance(order, int):
        raise UserError(f"sample {excerpt(sample.get('id'), 40)!r} names no item of the suite", where=path)
    return str(item), str(said.get("input")), str(said.get("prompt")), order


def _outcome(sample: Mapping[str, Any]) -> Outcome:
    """What came back for a sample; an error where it has one, or no answer."""
    output = held(sample.get("output"))
    choices = listed(output.get("choices"))
    if sample.get("error") or len(choices) != 1:
        return Outcome(Status.ERROR, detail="the log has no answer of this sample")
    message = held(choices[0].get("message"))
    content = message.get("content")
    texts = [part.get("text") or "" for part in listed(content) if held(part).get("type") == "text"]
    text = content if isinstance(content, str) else "\n".join(texts)
    outcome = ended(choices[0].get("stop_reason"), text)
    return outcome or Outcome(Status.ERROR, detail="an answer that ended in another way")


def _fingerprint(log: Log, suite: Suite) -> Fingerprint:
    spec = held(log.header.get("eval"))
    named = {"inspect": str(held(spec.get("packages")).get("inspect_ai", "")), "model": str(spec.get("model") or "")}
    return Fingerprint({**named, "log": log.source().sha256, "suite": suite.content_hash})
