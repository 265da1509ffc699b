"""False Beliefs: where someone takes a thing to be that was moved, seen by them or not.

Rows as in `data/raw/fb.csv` of github.com/seantrott/open_llm_tom (the passages of Trott et al. 2023): twelve stories in
sixteen conditions, belief (`condition`) by cue (`knowledge_cue`) by the place first and last mentioned. `passage`
ends in `[MASK].`; `start` and `end` are the two places and `critical_a` is the right one. Cells may be blank.
"""

from __future__ import annotations

from collections.abc import Callable

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Sets, Task

MASK = "[MASK]"
_BELIEVED = {"false belief": "start", "true belief": "end"}


def passage(row: Row) -> str:
    """The story and the beginning of its last sentence, up to the masked place."""
    if row.has("passage"):
        text, found, _ = row.text("passage").rpartition(MASK)
        if not found:
            row.fail(f"there is no {MASK} in it", "passage")
        return text.rstrip()
    return f"{row.text('passage_hr').strip()} {row.text('critical_q').strip()}"


def belief(row: Row) -> str:
    """`false belief` or `true belief`; empty where the cell is blank."""
    text = row.maybe("condition").strip().casefold()
    if text and text not in _BELIEVED:
        row.fail(f"unknown condition {text!r}: they are {', '.join(_BELIEVED)}", "condition")
    return text


def _gold(row: Row) -> str:
    if not row.has("critical_a"):
        return _BELIEVED[belief(row)]
    answer = row.text("critical_a").strip().casefold()
    places = {row.text(name).strip().casefold(): name for name in ("start", "end")}
    if answer not in places:
        row.fail(f"{answer!r} is neither start nor end: {', '.join(places)}", "critical_a")
    return places[answer]


def _aside(row: Row) -> str:
    if not row.has("passage") and not (row.has("passage_hr") and row.has("critical_q")):
        return "no passage"
    if not (row.has("start") and row.has("end")):
        return "a place is missing"
    return "" if row.has("critical_a") or belief(row) else "neither an answer nor a condition"


def _story(row: Row) -> str:
    return row.maybe("item").strip()


def _wording(name: str) -> Callable[[Row], str]:
    return lambda row: row.maybe(name).strip().casefold()


_WORDINGS = {
    "cue": _wording("knowledge_cue"),
    "first_mention": _wording("first_mention"),
    "recent_mention": _wording("recent_mention"),
}


def _pair(row: Row) -> str:
    """The story in one wording, whatever is believed in it; empty where a cell is blank."""
    parts = [_story(row), *(wording(row) for wording in _WORDINGS.values())]
    return " ".join(parts) if all(parts) else ""


FALSE_BELIEFS = Task(
    name="false-beliefs",
    title="False Beliefs: where a person thinks that a thing is",
    axis="social",
    licence="see your copy",
    citation=(
        "Jones et al. (2024), EPITOME, TACL 12; passages of Trott et al. (2023), Cognitive Science 47(7); "
        "github.com/seantrott/open_llm_tom, data/raw/fb.csv"
    ),
    files=Files(names=("fb.csv",), folders=("false_beliefs", "data/raw", "open_llm_tom/data/raw")),
    fields={"passage": passage},
    prompt="{{ passage }}",
    choices=lambda row: [row.text(name).strip() for name in ("start", "end")],
    labels=("start", "end"),
    gold=_gold,
    id=lambda row: row.maybe("item_id") or row.place,
    factors={"belief": belief, **_WORDINGS},
    sets=(Sets(name="belief", set=_pair, role=belief, cluster=_story), Sets(name="story", set=_story)),
    normalisation="sum",
    aside=_aside,
    decisions=(
        "That the task is this file: the study (arXiv 2608.03340) names Jones et al. (2024), not a file.",
        "A set is a story in one wording with the two beliefs, whose answers must differ; intervals resample stories.",
        "A blank answer is filled from the condition: who did not see the move takes the thing to be where it was.",
    ),
)

TASKS = (FALSE_BELIEFS,)
