"""Reading free-text replies: a megabyte of texts that make readers slow.

    python benchmarks/replies.py

Each text repeats one piece (brackets, markers of channels, hedges, halves of JSON). Prints processor seconds of the
slowest five; the aim is under one second for each on an idle machine.
"""

from __future__ import annotations

import time

from veridical.prompts.parsing import parse

LABELS = ("True", "False", "Unknown", "A")
PIECES = (
    "[", "<", "<t", "<think>", "`", "(", " ", "\u200b", "Ａ", "e\u0301\u0327", '{"label": "True"} ', '{"a":', "True ",
    "not ", "Wait, ", "A. ", "x: True\n", "True: 5% ", "He said: ", "True → ", "It's ", "~~a", "neither ",
    "The answer is ", "the answer is not ", "**", "\\boxed{",
)  # fmt: skip


def seconds(piece: str) -> float:
    """Processor seconds to read a megabyte of a piece."""
    text = piece * (1_000_000 // len(piece.encode()))
    start = time.process_time()
    parse(text, LABELS)
    return time.process_time() - start


def main() -> None:
    parse("warm", LABELS)
    found = sorted(((seconds(piece), piece) for piece in PIECES), reverse=True)
    for taken, piece in found[:5]:
        print(f"{taken:.2f} s  {piece!r}")
    print(f"slowest of {len(found)}: {found[0][0]:.2f} s for 1 MB")


if __name__ == "__main__":
    main()
