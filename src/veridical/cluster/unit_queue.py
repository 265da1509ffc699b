"""Which unit a worker is given next."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from veridical.cluster.units import Unit


class UnitQueue:
    """The units of a job, taken so that few workers prepare the same window: each prepares all of what it is given of.

    No more than `ahead` units are held; further ones are made when there is room.
    """

    def __init__(self, units: Iterator[Unit], ahead: int) -> None:
        self._units = units
        self._ahead = ahead
        self._held: list[Unit] = []

    def take(self, window: int | None, elsewhere: Collection[int]) -> Unit | None:
        """The next unit for a worker that has prepared `window`, if any; None where no unit is left.

        First one of that window, then one of a window that is not prepared `elsewhere`, then whatever comes next.
        """
        while len(self._held) < self._ahead and (unit := next(self._units, None)) is not None:
            self._held.append(unit)
        if not self._held:
            return None
        for place, unit in enumerate(self._held):
            if unit.window == window:
                return self._held.pop(place)
        for place, unit in enumerate(self._held):
            if unit.window not in elsewhere:
                return self._held.pop(place)
        return self._held.pop(0)

    def give_back(self, unit: Unit) -> None:
        """Hold a unit that was taken and not done: it is the next."""
        self._held.insert(0, unit)
