"""A ledger of what is read: every record is used, or left out for a reason that is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from veridical.errors import UserError


@dataclass(slots=True)
class Ledger:
    """Counts of records (rows, samples, requests): `read` = `used` + those left out, by reason.

    `read` is counted where records come out of the file, `used` where what was made of them is kept; that the two
    agree is then a check, and no definition.
    """

    read: int = 0
    used: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0
    """Those of the records left out that are damaged, or are not what such a file is made of."""
    first_fault: str = ""
    """Where the first of these is, and what is wrong there."""

    def begin(self, n: int) -> None:
        """Begin anew with `n` records, as where a file is read a second time."""
        self.read, self.unreadable, self.first_fault = n, 0, ""
        self.left_out.clear()

    def take(self, n: int = 1) -> None:
        """Count records that were found, whatever becomes of them."""
        self.read += n

    def use(self, n: int = 1) -> None:
        """Count records that are kept."""
        self.used += n

    def leave(self, reason: str, n: int = 1) -> None:
        """Count records that are left out."""
        if n:
            self.left_out[reason] += n

    def leave_unreadable(self, reason: str, n: int = 1, fault: str = "") -> None:
        """Count records that are left out since they cannot be read; `fault` says where the first is and why."""
        self.leave(reason, n)
        self.unreadable += n
        self.first_fault = self.first_fault or fault

    def add(self, other: Ledger) -> None:
        """Add the counts of another ledger, as those of a file to those of a folder."""
        self.read += other.read
        self.used += other.used
        self.left_out.update(other.left_out)
        self.unreadable += other.unreadable
        self.first_fault = self.first_fault or other.first_fault

    @property
    def missing(self) -> int:
        """Records of which nothing is known: 0 in a ledger that is right."""
        return self.read - self.used - self.left_out.total()

    def check(self, where: str) -> None:
        """Raise UserError where records were read that were neither used nor left out, or the other way round."""
        if self.missing or self.used < 0 or any(n < 0 for n in self.left_out.values()):
            raise UserError(
                f"{where}: {self.read:,} records were read, {self.used:,} used and {self.left_out.total():,} left out, "
                "which does not add up: nothing was written; this is a fault of Veridical's, please report it"
            )

    def check_readable(self, where: str) -> None:
        """Raise UserError where most records cannot be read: what is left does not represent the whole."""
        if 2 * self.unreadable <= self.read:
            return
        first = f"; the first: {self.first_fault}" if self.first_fault else ""
        raise UserError(
            f"{where}: {self.unreadable:,} of {self.read:,} records cannot be read ({reasons(self.left_out)}{first}); "
            "nothing is taken from it: have it written or copied again, or repair it"
        )


def reasons(left_out: Mapping[str, int] | Iterable[tuple[str, int]]) -> str:
    """Counts by reason as text, the most frequent first: `4 not valid JSON; 2 without a right answer`."""
    counts = left_out.items() if isinstance(left_out, Mapping) else left_out
    return "; ".join(f"{n:,} {reason}" for reason, n in sorted(counts, key=lambda pair: -pair[1]))


def account(ledger: Ledger, read_as: str, used_as: str) -> str:
    """What became of the records, in a line: `24 rows read = 18 rated + 6 left out (6 without a rating)`."""
    counted = f"{ledger.read:,} {read_as}"
    if ledger.used == ledger.read:
        return f"{counted}, all {used_as}"
    lost = ledger.left_out.total()
    return f"{counted} = {ledger.used:,} {used_as} + {lost:,} left out ({reasons(ledger.left_out)})"
