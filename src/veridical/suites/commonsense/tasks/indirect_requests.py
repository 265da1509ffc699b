"""Indirect Requests: whether a remark asks for something, which turns on what the speaker knows.

Rows as in `data/raw/ir.csv` of github.com/seantrott/open_llm_tom (scenarios of Trott & Bergen 2018, 2020): sixteen
scenarios with a speaker who is `aware` or `unaware` (`speaker_knowledge`) of what stands in the way, said openly or
not (`knowledge_cue`). Of the 64 rows 40 have neither `critical_q` nor `critical_utterance`.
"""

from __future__ import annotations

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Sets, Task, fixed, named

QUESTION = "Is this a request?"
_KNOWS = {"aware": "aware", "unaware": "unaware"}


def _scenario(row: Row) -> str:
    return row.maybe("item").strip()


def _cue(row: Row) -> str:
    return row.maybe("knowledge_cue").strip().casefold()


def _knows(row: Row) -> str:
    return str(named("speaker_knowledge", _KNOWS)(row)) if row.has("speaker_knowledge") else ""


def _pair(row: Row) -> str:
    """The scenario with one cue, whatever the speaker knows; empty where a cell is blank."""
    return f"{_scenario(row)} {_cue(row)}" if _scenario(row) and _cue(row) else ""


def _aside(row: Row) -> str:
    for name in ("passage", "critical_utterance", "critical_a"):
        if not row.has(name):
            return f"no {name}"
    return ""


INDIRECT_REQUESTS = Task(
    name="indirect-requests",
    title="Indirect Requests: whether a remark is a request, given what the speaker knows",
    axis="pragmatic",
    licence="see your copy",
    citation=(
        "Jones et al. (2024), EPITOME, TACL 12; scenarios of Trott & Bergen (2018; 2020, Discourse Processes 57); "
        "github.com/seantrott/open_llm_tom, data/raw/ir.csv"
    ),
    files=Files(names=("ir.csv",), folders=("indirect_requests", "data/raw", "open_llm_tom/data/raw")),
    fields={
        "passage": lambda row: row.text("passage").strip(),
        "utterance": lambda row: row.text("critical_utterance").strip(),
        "question": lambda row: row.maybe("critical_q").strip() or QUESTION,
    },
    prompt="{{ passage }}\n\n{{ utterance }}\n\n{{ question }}\n\nAnswer:",
    choices=fixed("Yes", "No"),
    labels=("Yes", "No"),
    gold=named("critical_a", {"Yes": "Yes", "No": "No"}),
    id=lambda row: " ".join(part for part in (_scenario(row), _knows(row), _cue(row)) if part) or row.place,
    factors={"speaker": _knows, "cue": _cue},
    sets=(Sets(name="knowledge", set=_pair, role=_knows, cluster=_scenario), Sets(name="scenario", set=_scenario)),
    normalisation="sum",
    aside=_aside,
    decisions=(
        "That the task is this file: the study (arXiv 2608.03340) names Jones et al. (2024), not a file.",
        "Of the file's 64 rows 23 are asked. The 40 of the scenarios 7 to 16 have no utterance, so nothing in them "
        "could be a request; the code of EPITOME leaves them out too. Of the other 24 two have the same text "
        "(scenario 4, unaware, explicit and implicit) and are one item in two sets. A blank question alone is filled "
        f"in: {QUESTION}",
        "A set is a scenario with one cue and the two states of knowledge, whose answers must differ; intervals "
        "resample scenarios.",
    ),
)

TASKS = (INDIRECT_REQUESTS,)
