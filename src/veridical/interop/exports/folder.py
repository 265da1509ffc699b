"""A folder that is written whole or not at all, and what every export records about its suite."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.links import real_path
from veridical.files.new_folder import all_at_once, nothing_left
from veridical.files.writing import check_path
from veridical.items import Factor, Item, Member, Suite


@contextlib.contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `out` once all of it is written.

    Raises UserError where the path exists and is not an empty folder, and where it cannot be written.
    """
    check_path(out)
    target = real_path(out)
    if not target.name:
        raise UserError(f"cannot write {out}: name a new folder")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UserError(f"cannot write {out}: it exists already; name a new folder")
    with nothing_left(target), all_at_once(target) as folder:
        yield folder


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, strict."""
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def described(suite: Suite) -> dict[str, Any]:
    """A suite's entry in the manifest."""
    from importlib.metadata import version

    return {
        "suite": suite.name,
        "version": suite.version,
        "content_hash": suite.content_hash,
        "title": suite.title,
        "licence": suite.licence,
        "citation": suite.citation,
        "made_by": f"veridical {version('veridical')}",
    }


def provenance(suite: Suite) -> str:
    """The lines of a README that say where the items come from and under which licence they stand."""
    licence = suite.licence or "not given by the suite: ask whoever made it before you pass this on"
    citation = f"\n\nCite: {suite.citation}" if suite.citation else ""
    named = f"Suite `{suite.name}`, version {suite.version} (content {suite.content_hash})."
    return f"{named}\n\nLicence: {licence}.{citation}\n"


def set_columns(suite: Suite) -> dict[str, dict[str, Any]]:
    """Item id to flat columns that name its sets.

    The first grouping gives `set`, `role` and `cluster`, each other one `set_NAME`, `role_NAME` and `cluster_NAME`.
    Where an item stands in several sets of a grouping, the columns of that grouping are lists.
    """
    columns: dict[str, dict[str, Any]] = {item.id: {} for item in suite.items}
    for number, grouping in enumerate(suite.groupings):
        suffix = f"_{grouping.name}" if number else ""
        of_item: dict[str, list[Member]] = {}
        for member in grouping.members:
            of_item.setdefault(member.item, []).append(member)
        several = any(len(members) > 1 for members in of_item.values())
        for item in suite.items:
            members = of_item.get(item.id, [])
            for name in ("set", "role", "cluster"):
                values = [str(getattr(member, name)) for member in members]
                columns[item.id][f"{name}{suffix}"] = values if several else "".join(values)
    return columns


def factor_columns(items: Iterable[Item]) -> dict[str, dict[str, Factor | None]]:
    """Item id to a column `factor_NAME` for each factor of any item; of one type, texts where types are mixed."""
    items = list(items)
    names = list(dict.fromkeys(name for item in items for name in item.factors))
    mixed = {name for name in names if len({type(item.factors[name]) for item in items if name in item.factors}) > 1}
    return {
        item.id: {
            f"factor_{name}": None
            if (value := item.factors.get(name)) is None
            else str(value)
            if name in mixed
            else value
            for name in names
        }
        for item in items
    }
