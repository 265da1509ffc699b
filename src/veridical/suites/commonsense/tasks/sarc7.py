"""SARC7: which of seven kinds of sarcasm an utterance is, or that it is none.

Records as in `data/sarcasmdata.json` of github.com/langlglang/sarc7: one object, by the ids of MUStARD, each with
`utterance`, `speaker`, `context` (the lines before), `context_speakers`, `show`, `sarcasm` (MUStARD's own yes or no)
and `label`, which is written in mixed case, at times with a space behind it.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Task, fixed, named

KINDS = ("self-deprecating", "brooding", "deadpan", "polite", "obnoxious", "raging", "manic")
LABELS = (*(f"{kind} sarcasm" for kind in KINDS), "not sarcasm")


def _lines(row: Row, field: str) -> list[Any]:
    value = row.values.get(field, [])
    if not isinstance(value, list):
        row.fail("a list of texts is needed", field)
    return value


def dialogue(row: Row) -> str:
    """The lines before the utterance, each after its speaker's name where that is known."""
    said = _lines(row, "context")
    speakers = _lines(row, "context_speakers")[: len(said)]
    return "\n".join(
        f"{speaker}: {line}" if speaker else str(line) for speaker, line in zip_longest(speakers, said, fillvalue="")
    )


def _marked(row: Row) -> str:
    value = row.values.get("sarcasm")
    return {True: "sarcastic", False: "not sarcastic"}[value] if isinstance(value, bool) else ""


SARC7 = Task(
    name="sarc7",
    title="SARC7: seven kinds of sarcasm in dialogue",
    axis="social",
    licence="see your copy (MUStARD's dialogues: MIT)",
    citation=(
        "Xiong et al. (2025), Sarc7, arXiv 2506.00658; github.com/langlglang/sarc7; "
        "dialogues of MUStARD, Castro et al. (2019)"
    ),
    files=Files(names=("sarcasmdata.json", "sarcasm_data.json"), folders=("data",)),
    fields={"dialogue": dialogue, "speaker": "speaker", "utterance": lambda row: row.text("utterance").strip()},
    prompt=(
        "{% if dialogue %}{{ dialogue }}\n{% endif %}{{ speaker }}: {{ utterance }}\n"
        f"What is the last line: {', '.join(LABELS[:-1])}, or {LABELS[-1]}?\nAnswer:"
    ),
    choices=fixed(*LABELS),
    labels=LABELS,
    gold=named("label", {label: label for label in LABELS}),
    id="id",
    factors={"show": lambda row: row.maybe("show"), "marked": _marked},
    normalisation="char",
    decisions=(
        "The words of the prompt, and the eight names as choices, normalised by their length, which differs.",
        "Gold is `label`; where it disagrees with MUStARD's `sarcasm` (factor `marked`), `label` holds.",
    ),
)

TASKS = (SARC7,)
