"""A suite as plain JSONL: one row an item, and the suite file that `veridical run` reads back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical.files.writing import json_bytes
from veridical.interop.exports.folder import described, new_folder, provenance, write_lines
from veridical.items import Suite
from veridical.suites.file_writer import write_suite

ROWS, SUITE = "items.jsonl", "suite.jsonl"

_README = """# {name}

{title}{provenance}
- `{rows}`: one item a line ({items:,} items): `id`, `name`, `fields`, `choices` (label, continuation, and a context of
  its own where there is one), `gold`, `golds` (other gold systems), `human` (a distribution over labels), `factors`,
  and `sets` (grouping, set, role, cluster).
- `{suite}`: the same with prompts and measures, as a suite file: `veridical run {suite} --model MODEL` asks it.
- `manifest.json`: version, content hash, licence, citation, counts.

The items of a set are judged together. Sets by grouping: {sets}.
"""


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """Where the files are, and how many rows."""

    path: Path
    n_items: int


def export_jsonl(suite: Suite, out: Path) -> ExportedFile:
    """Write a suite's items to the new folder `out`. Raises UserError where `out` exists already."""
    counts = {grouping.name: len(grouping.sets()) for grouping in suite.groupings}
    with new_folder(out) as folder:
        write_lines(folder / ROWS, _rows(suite))
        write_suite(suite, folder / SUITE)
        manifest = {**described(suite), "items": len(suite.items), "sets": counts, "labels": list(suite.labels)}
        (folder / "manifest.json").write_bytes(json_bytes(manifest))
        readme = _README.format(
            name=suite.name,
            title=f"{suite.title}.\n\n" if suite.title else "",
            provenance=provenance(suite),
            rows=ROWS,
            suite=SUITE,
            items=len(suite.items),
            sets=", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none",
        )
        (folder / "README.md").write_text(readme, encoding="utf-8")
    return ExportedFile(out, len(suite.items))


def _rows(suite: Suite) -> Iterator[dict[str, Any]]:
    places: dict[str, list[dict[str, str]]] = {}
    for grouping in suite.groupings:
        for member in grouping.members:
            place = {"grouping": grouping.name, "set": member.set, "role": member.role, "cluster": member.cluster}
            places.setdefault(member.item, []).append(place)
    for item in suite.items:
        yield {"id": item.id, **item.model_dump(mode="json"), "sets": places.get(item.id, [])}
