"""The command line: `veridical COMMAND`. One thin module a command; the work is the library's."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit status.

    0: done; 2: the user's input is at fault; 1: anything else.
    """
    try:
        # Imports take a second or two, in which Ctrl-C must be handled as well.
        from veridical.cli.app import call

        return call(arguments)
    except KeyboardInterrupt:
        print("veridical: stopped", file=sys.stderr)
        return 1
