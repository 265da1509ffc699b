"""The command line: `veridical COMMAND`. One thin module a command; the work is the library's."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from veridical.signals import raised


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit status.

    0: done; 2: the user's input is at fault; 128 + N: stopped by signal N; 1: anything else.
    """
    with raised() as received:
        try:
            # Imports take a second or two, in which signals must be handled as well.
            from veridical.cli.app import call

            status = call(arguments)
        except KeyboardInterrupt:
            with contextlib.suppress(OSError):
                print("veridical: stopped", file=sys.stderr)
            return received.status
        except OSError:
            # A terminal that has gone away sends SIGHUP and takes no more output.
            if received.number is None:
                raise
            return received.status
    return received.status if status and received.number is not None else status
