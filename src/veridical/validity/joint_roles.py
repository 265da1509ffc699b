"""Benchmarks that are looked at jointly, as one set of predictors: from a flag or the roles file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from veridical.errors import UserError, unknown

Joint = Mapping[str, tuple[str, ...]]


def joint_of_document(path: Path, given: object) -> dict[str, tuple[str, ...]]:
    """`{name: [benchmark, …]}`. Raises UserError for anything else."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UserError(f"{path}: jointly must map a name to a list of benchmarks, such as {{commonsense: [A, B]}}")
    found = {}
    for name, members in given.items():
        said = "has no value" if members is None else f"is {members!r}"
        if not isinstance(members, list) or any(isinstance(one, dict | list) or one is None for one in members):
            raise UserError(f"{path}: jointly of {str(name)!r} must be a list of benchmarks, and {said}")
        found[str(name)] = _checked(f"{path}: jointly of {str(name)!r}", [str(one) for one in members])
    return found


def joint_of_flag(text: str, known: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The set of `NAME=A,B` or `A,B`, whose name is then `A + B`. Columns may have commas and `=` in their names."""
    for at in [place for place, letter in enumerate(text) if letter == "="]:
        members = _split(text[at + 1 :], known)
        if members and text[:at] and _split(text, known) is None:
            return text[:at], _checked(f"--jointly {text!r}", members)
    whole = _split(text, known)
    if whole is None:
        name, equals, rest = text.partition("=")
        parts = (rest if equals else name).split(",")
        raise unknown("--jointly column", next((part for part in parts if part not in known), text), known)
    return " + ".join(whole), _checked(f"--jointly {text!r}", whole)


def joint_of_flags(given: Sequence[str], known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The sets of all flags by name. Raises UserError where a name is given twice."""
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, members = joint_of_flag(text, known)
        if name in found:
            raise UserError(f"--jointly {name!r} is given twice: give each set a name of its own")
        found[name] = members
    return found


def joint_columns(joint: Joint) -> Iterator[str]:
    """Every benchmark of every set."""
    for members in joint.values():
        yield from members


def _split(text: str, known: Sequence[str]) -> list[str] | None:
    """Known names between commas, or None where some part is none."""
    if text in known:
        return [text]
    for at in [place for place, letter in enumerate(text) if letter == ","]:
        if text[:at] in known and (rest := _split(text[at + 1 :], known)) is not None:
            return [text[:at], *rest]
    return None


def _checked(where: str, members: Sequence[str]) -> tuple[str, ...]:
    if len(members) < 2:
        raise UserError(f"{where}: name two benchmarks or more")
    for name, times in Counter(members).items():
        if times > 1:
            raise UserError(f"{where}: {name!r} is listed {times} times; name a benchmark once")
    return tuple(members)
