"""Seeded damage to files: to their bytes, their lines, the values in their JSON, and to the names in a folder."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

JUNK = (
    b'"', b",", b"\x00", b"\xff\xfe", b"\n\n", b"1e999", b"NaN", b"=1+1", b"-", b"{", b"]", b"\\u0000",
    "’".encode(), "\u202e".encode(), b"[" * 3_000, b"a" * 50_000,
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**400, "", " ", "a" * 20_000, "\x00", "../../etc/passwd",
    "{{ 1/0 }}", "{% for i in range(10**9) %}x{% endfor %}", [], {}, [None], {"": None}, [[[[]]]], "9999-99-99",
)  # fmt: skip


def bytes_of(data: bytes, moves: random.Random) -> bytes:
    """Other bytes: some are flipped, cut, doubled, put in or moved; lines too."""
    return moves.choice(_BYTES)(data, moves)


def _flip_bit(data: bytes, moves: random.Random) -> bytes:
    changed = bytearray(data or b"\0")
    changed[moves.randrange(len(changed))] ^= 1 << moves.randrange(8)
    return bytes(changed)


def _cut(data: bytes, moves: random.Random) -> bytes:
    return data[: moves.randrange(len(data) + 1)]


def _take_out(data: bytes, moves: random.Random) -> bytes:
    start = moves.randrange(len(data) + 1)
    return data[:start] + data[start + moves.choice((1, 2, 20, 500)) :]


def _double(data: bytes, moves: random.Random) -> bytes:
    start = moves.randrange(len(data) + 1)
    return data[:start] + data[start : start + moves.choice((1, 30, 400))] + data[start:]


def _put_in(data: bytes, moves: random.Random) -> bytes:
    start = moves.randrange(len(data) + 1)
    return data[:start] + moves.choice(JUNK) + data[start:]


def _lines(data: bytes, moves: random.Random) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    place = moves.randrange(len(lines))
    change = moves.choice(("drop", "double", "swap", "cut"))
    if change == "drop":
        del lines[place]
    elif change == "double":
        lines.insert(place, lines[place])
    elif change == "swap":
        other = moves.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines[place] = lines[place][: len(lines[place]) // 2] + b"\n"
    return b"".join(lines)


def _nothing(data: bytes, moves: random.Random) -> bytes:
    return b""


_BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip_bit, _flip_bit, _cut, _take_out, _double, _put_in, _put_in, _lines, _lines, _nothing,
)  # fmt: skip


def json_of(data: bytes, moves: random.Random) -> bytes:
    """A JSON document, or a line of JSON lines, of which one value, key or entry is another."""
    try:
        return _dumped(_changed(json.loads(data), moves))
    except ValueError:
        lines = data.splitlines()
    place = moves.randrange(len(lines)) if lines else 0
    try:
        lines[place] = _dumped(_changed(json.loads(lines[place]), moves))
    except (ValueError, IndexError):
        return bytes_of(data, moves)
    return b"\n".join(lines) + b"\n"


def _dumped(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _changed(document: Any, moves: random.Random) -> Any:
    document = copy.deepcopy(document)
    places = [(document, key) for key in _keys(document)]
    for holder, key in places:
        places += [(holder[key], inner) for inner in _keys(holder[key])]
    if not places:
        return moves.choice(VALUES)
    holder, key = moves.choice(places)
    change = moves.choice(("value", "value", "value", "drop", "rename", "double"))
    if change == "value":
        holder[key] = moves.choice(VALUES)
    elif change == "drop":
        del holder[key]
    elif change == "rename" and isinstance(holder, dict):
        holder[key[:-1] or "other"] = holder.pop(key)
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    return document


def _keys(holder: Any) -> list[Any]:
    if isinstance(holder, dict):
        return list(holder)
    return list(range(len(holder))) if isinstance(holder, list) else []


TEXT = (".json", ".jsonl", ".eval.json")


def damage(folder: Path, moves: random.Random) -> Path:
    """Damage one file in a folder, or put something else in its place; gives its path."""
    path = moves.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    how = moves.random()
    data = path.read_bytes()
    if how < 0.45 and path.suffix in TEXT:
        path.write_bytes(json_of(data, moves))
    elif how < 0.9:
        path.write_bytes(bytes_of(data, moves))
    else:
        path.unlink()
        moves.choice((_gone, Path.mkdir, _to_nowhere, _pipe, _of_another, _round))(path)
    return path


def _gone(path: Path) -> None:
    pass


def _to_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def _round(path: Path) -> None:
    path.symlink_to(path)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _of_another(path: Path) -> None:
    others = sorted(other for other in path.parent.iterdir() if other.is_file())
    if others:
        shutil.copy(others[0], path)
