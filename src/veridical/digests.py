"""Digests of what is asked: of texts, of JSON values, and of the content of a suite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring
from typing import Any


def digest(value: object, length: int = 16) -> str:
    """The first `length` hexadecimal digits of SHA-256 over canonical JSON (sorted keys, no spaces)."""
    return text_digest(canonical(value), length)


def text_digest(text: str, length: int = 16) -> str:
    """`digest` of a value that is written as canonical JSON already."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]


canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""A value as canonical JSON. For an object or a list the encoder is set up anew each time."""

canonical_text: Callable[[str], str] = encode_basestring
"""A text as canonical JSON, as `canonical` writes it and in less time."""


def canonical_list(texts: Iterable[str]) -> str:
    """A list of texts as canonical JSON, as `canonical` writes it and in less time."""
    return f"[{','.join(map(canonical_text, texts))}]"


_LATER = {"all_normalisations": False, "shots": 0, "examples": [], "delimiter": None}
"""Fields of suites and prompts that came after the first runs, by default: left at it, they are not in the hash."""


def content_digest(content: dict[str, Any]) -> str:
    """The content hash of a suite as JSON has it."""
    items = [digest(item, PART_DIGITS) for item in content["items"]]
    members = [
        (grouping["name"], [digest(member, PART_DIGITS) for member in grouping["members"]])
        for grouping in content["groupings"]
    ]
    return content_digest_of(content, items, members)


PART_DIGITS = 32
"""Digits of the digests of items and members that enter a suite's content hash."""


def content_digest_of(
    content: dict[str, Any], items: Iterable[str], members: Iterable[tuple[str, Iterable[str]]]
) -> str:
    """The content hash of a suite as JSON has it, from the digests of its items and of its groupings' members."""
    for part in (content, *content["prompts"]):
        for name, default in _LATER.items():
            if part.get(name, ...) == default:
                del part[name]
    groupings = [{"name": name, "members": sorted(digests)} for name, digests in members]
    return digest({**content, "items": sorted(items), "groupings": groupings})
