"""In which encoding a text of a user's is: its byte-order mark's, else UTF-8, else what Windows writes for English.

The last only where nothing in the file is UTF-8 beyond ASCII: a file of which a part is, is damaged or cut off.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable

FALLBACK = "cp1252"
"""What a file is read as that is not UTF-8: what Windows writes for English."""

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def marked_encoding(beginning: bytes) -> str:
    """The encoding that a byte-order mark names; "" without one."""
    return next((name for mark, name in MARKS if beginning.startswith(mark)), "")


def partly_utf8(blocks: Iterable[bytes]) -> bool:
    """Whether some of what is not ASCII is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return any(not decoder.decode(block).replace("\N{REPLACEMENT CHARACTER}", "").isascii() for block in blocks)


def decode_text(data: bytes) -> tuple[str, str]:
    """A whole file's text without its mark, and the encoding that it is in.

    Raises UnicodeDecodeError, of the marked encoding or of UTF-8, where it is text in none.
    """
    encoding = marked_encoding(data) or "utf-8"
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        if encoding != "utf-8" or partly_utf8((data,)):
            raise
        try:
            return data.decode(FALLBACK), FALLBACK
        except UnicodeDecodeError:
            pass
        raise
