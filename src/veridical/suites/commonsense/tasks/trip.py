"""TRIP: whether a story of a few sentences could happen.

Rows as in `trip-ClozeTest.jsonl` and `trip-OrderTest.jsonl` of sled-umich/TRIP on the Hugging Face hub (Storks et al.
2021): a pair of `stories`, which differ in one sentence or in the order of two, and `label`, the place (from 0) of
the plausible one. The form is that of the hub's loading script and of code that reads it; the files themselves were
not at hand when this was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Sets, Task, fixed

ROLES = ("plausible", "implausible")
CHANGES = ("cloze", "order")


def _stories(row: Row) -> Iterator[Row]:
    """Two rows, one a story, with the fields `story` and `role`."""
    stories = row.value("stories")
    if not isinstance(stories, list) or len(stories) != 2 or not all(isinstance(story, dict) for story in stories):
        row.fail("a pair of stories is needed", "stories")
    plausible = row.whole("label")
    for place, story in enumerate(stories):
        inner = Row(story, row.source, f"{row.place}, story {place + 1}")
        is_plausible = place == plausible
        if isinstance(said := story.get("plausible"), bool) and plausible in (0, 1) and said is not is_plausible:
            inner.fail(f"{said} here, but the row's label is {plausible}", "plausible")
        text = " ".join(sentence.strip() for sentence in inner.texts("sentences"))
        yield row.having(story=text, role=ROLES[0] if is_plausible else ROLES[1])


def _aside(row: Row) -> str:
    return "" if row.whole("label") in (0, 1) else "neither story is the plausible one"


def _change(row: Row) -> str:
    """`cloze` (another sentence) or `order` (two sentences swapped), as the stories or the file's name say."""
    types = [str(story.get("type")) for story in row.values.get("stories", ()) if isinstance(story, dict)]
    for text in (*types, PurePath(row.source).stem):
        found = [change for change in CHANGES if change in text.casefold()]
        if len(found) == 1:
            return found[0]
    return ""


def _pair(row: Row) -> str:
    return f"{_change(row)} {row.text('example_id')}".strip()


TRIP = Task(
    name="trip",
    title="TRIP: stories that could happen and stories that could not",
    axis="event",
    licence="see your copy",
    citation="Storks et al. (2021), Tiered Reasoning for Intuitive Physics, Findings of EMNLP; sled-umich/TRIP (hub)",
    files=Files(
        names=("trip-ClozeTest.jsonl", "trip-OrderTest.jsonl"),
        folders=("TRIP",),
        every=True,
        hub=Hub(path="sled-umich/TRIP", split="ClozeTest+OrderTest"),
    ),
    fields={"story": "story"},
    prompt="{{ story }}\nCould all of this happen just as it is told?\nAnswer:",
    choices=fixed("Yes", "No"),
    labels=("Yes", "No"),
    gold=lambda row: "Yes" if row.text("role") == ROLES[0] else "No",
    id=lambda row: f"{_pair(row)} {row.text('role')}",
    factors={"role": "role", "change": _change},
    sets=(Sets(name="pair", set=_pair, role="role"),),
    normalisation="sum",
    aside=_aside,
    unpack=_stories,
    decisions=(
        "The two test files are asked, of cloze and of order.",
        "Each story is asked about by itself, and a set is the published pair: both stories must be judged right. The "
        "paper's own question, which of the two is plausible, is `forced_choice`.",
        "A plausible story that stands in several pairs is asked once and belongs to them all; pairs that share a "
        "story are resampled together.",
    ),
)

TASKS = (TRIP,)
