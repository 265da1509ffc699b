"""The parts of docs/benchmarks.md that are the definitions' own words. `python -m tests.suites.commonsense.page` writes
them anew."""

from __future__ import annotations

from pathlib import Path

from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy
from veridical.suites.commonsense.task import Task

from .asking import PUBLISHED, requests

PAGE = Path(__file__).parents[3] / "docs" / "benchmarks.md"
MOST_NAMES = 3


def table() -> str:
    """A row a benchmark."""
    lines = ["| benchmark | axis | published file | sets | score | licence |", "|---|---|---|---|---|---|"]
    for task in TASKS.values():
        cells = (
            f"[`{task.name}`](#{task.name})",
            task.axis,
            _files(task),
            _sets(task),
            task.normalisation,
            task.licence,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _files(task: Task) -> str:
    listed = task.files.listed.names if task.files.listed else ()
    names = [f"`{name}`" for name in (*task.files.names, *listed)]
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _sets(task: Task) -> str:
    return ", ".join(sets.name for sets in task.sets if sets.set is not None) or "–"


def details() -> str:
    """A section a benchmark: what is asked, what is ours, how it stands to lm-eval."""
    return "\n".join(_section(task) for task in TASKS.values())


def _section(task: Task) -> str:
    lines = [f"### {task.name}", "", f"{task.title}. {task.citation}.", "", *_example(task), ""]
    if task.files.labels:
        labels = task.files.labels.format(stem="NAME")
        lines.append(f"- Labels: in the rows (`{task.files.label}`), or `{labels}` next to `NAME.jsonl`.")
    if task.shuffle:
        lines.append("- Choices stand in an order that their texts decide: the published one gives the answer away.")
    if task.files.train:
        lines.append(f"- Examples: from {', '.join(f'`{name}`' for name in task.files.train)}.")
    if task.files.hub:
        lines.append(f"- On the hub: `{task.files.hub.path}`.")
    if task.lm_eval and not task.differs:
        lines.append(f"- lm-eval: `{task.lm_eval}`; the requests are the same, string for string.")
    elif task.differs:
        lines.append(f"- lm-eval: {task.differs}")
    else:
        lines.append("- lm-eval has no such task.")
    lines += [f"- Decided here: {text}" for text in task.decisions]
    return "\n".join([*lines, ""])


def _example(task: Task) -> list[str]:
    """The first item of the small file in `published/` as it is asked; an arrow stands before each scored text."""
    item, pairs = requests(benchmark(task, Copy(folder=PUBLISHED)).suite)[0]
    right = ["  (right)" if label in item.gold else "" for label in item.labels]
    contexts = {context for context, _ in pairs}
    lines = [] if len(contexts) > 1 or contexts == {""} else pairs[0][0].split("\n")
    alone = [f"{context if len(contexts) > 1 else ''} →{text}" for context, text in pairs]
    return ["```text", *lines, *(f"{line}{mark}".lstrip() for line, mark in zip(alone, right, strict=True)), "```"]


def filled(page: str) -> str:
    """The page with its generated parts between their marks."""
    for name, text in (("table", table()), ("details", details())):
        before, _, rest = page.partition(f"<!-- {name} -->\n")
        _, mark, after = rest.partition(f"<!-- end of {name} -->")
        assert mark, name
        page = f"{before}<!-- {name} -->\n{text}\n{mark}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
