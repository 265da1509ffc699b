"""TimeDial: which spans of time fit a gap in a dialogue, two of four being right.

Records as in `test.json` of github.com/google-research-datasets/TimeDial: `conversation` (turns, one with `<MASK>`),
`correct1`, `correct2`, `incorrect1`, `incorrect2`. 342 of the 1,446 have the word `none` for `correct2`: the paper
leaves them out of its experiments, and so do we.
"""

from __future__ import annotations

from veridical.suites.commonsense.row import Row, is_blank
from veridical.suites.commonsense.task import Files, Hub, Task

MASK = "<MASK>"
GAP = "____"


def dialogue(row: Row) -> str:
    """The turns, one a line, with the gap where the span was. A turn without text (1,056 records have one) is none."""
    text = "\n".join(turn.strip() for turn in row.parts("conversation") if not is_blank(turn))
    if MASK not in text:
        row.fail(f"no turn has {MASK}", "conversation")
    return text.replace(MASK, GAP)


def spans(row: Row) -> list[str]:
    """The four spans, the right two first. (Many have a space behind them, which is no part of the span.)"""
    return [row.text(name).strip() for name in ("correct1", "correct2", "incorrect1", "incorrect2")]


def _aside(row: Row) -> str:
    second = row.maybe("correct2").strip().strip("_").casefold()
    return "one right answer only" if second in ("", "none") else ""


TIMEDIAL = Task(
    name="timedial",
    title="TimeDial: spans of time that fit a dialogue, two right ones of four",
    axis="event",
    licence="CC BY-NC-SA 4.0 (your copy)",
    citation="Qin et al. (2021), TimeDial, ACL; github.com/google-research-datasets/TimeDial",
    files=Files(
        names=("timedial.json", "time_dial.json", "test.json", "test*.parquet"),
        folders=("time_dial", "TimeDial", "time_dial/data"),
        hub=Hub(path="google-research-datasets/time_dial", split="test"),
    ),
    fields={"dialogue": dialogue},
    prompt=f"{{{{ dialogue }}}}\nWhat belongs in the gap {GAP}?\nAnswer:",
    choices=spans,
    gold=lambda row: (0, 1),
    shuffle=True,
    id=lambda row: row.maybe("id") or row.place,
    normalisation="char",
    aside=_aside,
    lm_eval="bigbench_timedial_multiple_choice",
    differs=(
        "lm-eval's task is over BIG-bench's rewriting of the data, with its own question; the requests here are over "
        "the published file."
    ),
    decisions=(
        "The words of the prompt; spans normalised by their length in characters, in an order that their texts decide.",
        "Accuracy counts an answer that is either of the right two (a uniform guess scores 1/2); "
        "`two_best_accuracy` is the paper's, both right ones above both wrong ones (1/6).",
    ),
)

TASKS = (TIMEDIAL,)
