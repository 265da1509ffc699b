"""Seeds of draws that depend on what is drawn for, and not on its place among others."""

from __future__ import annotations

from hashlib import sha256

import numpy as np


def generator(seed: int, *purpose: str | bytes) -> np.random.Generator:
    """A generator for `purpose` (names of columns, the bytes of a mask of rows): the same in any order of columns."""
    digest = sha256(str(seed).encode())
    for part in purpose:
        given = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(given).to_bytes(8, "big") + given)
    return np.random.default_rng(int.from_bytes(digest.digest()[:16], "big"))
