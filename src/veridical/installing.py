"""The command that installs an optional part of Veridical, as it works where this Veridical came from."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

_PROJECT = Path(__file__).parents[2]


def install_command(*extras: str) -> str:
    """`pip install` of what `extras` (`hf`, `vary`) need.

    From a checkout that is the checkout itself; elsewhere it is the packages by name, since the index that pip asks
    need not have Veridical.
    """
    if (root := _checkout()) is not None:
        where = "." if root == Path.cwd() else str(root)
        return f"pip install '{where}[{','.join(extras)}]'"
    if packages := _requirements(extras):
        return f"pip install {' '.join(packages)}"
    return f"pip install 'veridical[{','.join(extras)}]'"


def _checkout() -> Path | None:
    try:
        named = re.search(r'(?m)^name = "veridical"$', (_PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return _PROJECT if named else None


def _requirements(extras: tuple[str, ...]) -> list[str]:
    """The packages of the extras, quoted for a shell where they have bounds."""
    try:
        required = metadata.requires("veridical") or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for line in required:
        package, _, marker = line.partition(";")
        named = re.search(r"extra\s*==\s*[\"']([\w-]+)[\"']", marker)
        if named and named[1] in extras:
            found.append(f"'{package.strip()}'")
    return found
