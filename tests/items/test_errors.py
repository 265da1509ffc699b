"""Messages are one line that a terminal can show without obeying it."""

from __future__ import annotations

import unicodedata

import pytest

from veridical.errors import UserError, printable, unknown

CONTROLS = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cs", "Zl", "Zp")]
DIRECTIONS = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]


def test_no_control_character_separator_or_override_is_printed() -> None:
    shown = printable("".join([*CONTROLS, *DIRECTIONS]))
    assert shown.isascii()
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\x1b[31mb", r"a\x1b[31mb"), ("a\nb", r"a\nb"), ("\x07\x7f\x9b", r"\x07\x7f\x9b"), ("\u202eabc", r"\u202eabc")],
)
def test_a_control_character_is_shown_as_its_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_ordinary_text_of_any_script_is_left_alone() -> None:
    for text in ("ordinary [text] \\n", "naïve – “ok”", "日本語", "עברית", "👩\u200d👧"):
        assert printable(text) == text


def test_a_message_is_one_printable_line() -> None:
    assert str(UserError("first\n  second\x1b]0;x\x07\u2066")) == r"first second\x1b]0;x\x07\u2066"


def test_an_unknown_name_has_one_mark_before_the_known_ones() -> None:
    assert (
        str(unknown("mode", "generat", ["generate"]))
        == "unknown mode 'generat': did you mean 'generate'? known: generate"
    )
    assert str(unknown("mode", "zzz", ["b", "a"])) == "unknown mode 'zzz'; known: a, b"
