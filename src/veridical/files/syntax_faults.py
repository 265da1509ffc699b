"""What is wrong with the form of a file, in our own words: what a library's reader says of it is never shown.

Readers tell the kind of a fault in their message alone. Kinds that are not known here are described in general.
"""

from __future__ import annotations

import csv
import re
from json import JSONDecodeError
from tomllib import TOMLDecodeError

_JSON = {
    "Expecting value": "a value is missing here, or is not written as JSON writes it",
    "Expecting property name": "a key in double quotation marks is needed here",
    "Illegal trailing comma": "there is a comma too many",
    "Expecting ':'": "a colon is missing here",
    "Expecting ','": "a comma or a closing bracket is missing here",
    "Extra data": "there is more behind the end of the value",
    "Unterminated string": "a quotation mark is left open",
    "Invalid control character": "a tab, a line break or another control character stands within quotation marks",
    "Invalid \\": "a backslash stands before a character that takes none",
    "Unexpected UTF-8 BOM": "a byte-order mark stands before the value",
}
_CSV = {
    "unexpected end of data": "a quotation mark is left open",
    "expected after": "there is text behind a closing quotation mark; is one within a cell not doubled?",
    "field larger": "a cell is too long; is a quotation mark left open?",
    "new-line character": "a line break of another kind stands within a line",
}
# Python says where before 3.14 in the message alone.
_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)$")


def json_fault(error: JSONDecodeError) -> str:
    """What is wrong at the error's place."""
    if error.msg.startswith("Invalid control character") and error.doc[error.pos : error.pos + 1] in ("\n", "\r"):
        return "a quotation mark is left open, or a line break stands within a text"
    found = (words for begins, words in _JSON.items() if error.msg.startswith(begins))
    return next(found, "a comma, a bracket or a quotation mark is missing or out of place")


def csv_fault(error: csv.Error) -> str:
    """What is wrong with the row at which the reader stopped."""
    found = (words for part, words in _CSV.items() if part in str(error))
    return next(found, "a quotation mark is missing or out of place")


def toml_fault(error: TOMLDecodeError | UnicodeDecodeError) -> str:
    """What is wrong with the text or bytes of a TOML file, and on which line."""
    if isinstance(error, UnicodeDecodeError):
        return f"line {error.object.count(10, 0, error.start) + 1} is not UTF-8 text; save the file as UTF-8"
    if (line := _TOML_LINE.search(str(error))) is None:
        return "it ends too early; is a quotation mark or a bracket left open, or the file cut off?"
    return f"line {line[1]} is not a key with a value, or not a heading; is one repeated, or a quotation mark missing?"
