"""Which unit a worker is given next."""

from __future__ import annotations

from veridical.cluster.unit_queue import UnitQueue
from veridical.cluster.units import Unit


def unit(window: int, share: int) -> Unit:
    return Unit(window, (), (), (), share, 3)


def all_units(n_windows: int) -> list[Unit]:
    return [unit(window, share) for window in range(n_windows) for share in range(3)]


def named(one: Unit | None) -> tuple[int, int] | None:
    return None if one is None else (one.window, one.share)


def test_a_worker_keeps_to_its_window_and_others_begin_windows_of_their_own() -> None:
    queue = UnitQueue(iter(all_units(3)), ahead=9)
    assert named(queue.take(None, ())) == (0, 0)
    assert named(queue.take(None, {0})) == (1, 0)
    assert named(queue.take(0, {1})) == (0, 1)
    assert named(queue.take(1, {0})) == (1, 1)
    assert named(queue.take(None, {0, 1})) == (2, 0)
    # All windows are prepared somewhere: whatever comes next.
    assert named(queue.take(None, {0, 1, 2})) == (0, 2)


def test_every_unit_is_taken_once_and_one_that_is_given_back_again() -> None:
    queue = UnitQueue(iter(all_units(4)), ahead=2)
    first = queue.take(None, ())
    assert first is not None
    queue.give_back(first)
    taken = []
    while (one := queue.take(3, {0, 1})) is not None:
        taken.append(named(one))
    assert sorted(taken) == sorted(map(named, all_units(4)))  # type: ignore[type-var]


def test_no_more_units_are_made_than_are_held() -> None:
    made = []

    def units():  # type: ignore[no-untyped-def]
        for one in all_units(4):
            made.append(one)
            yield one

    queue = UnitQueue(units(), ahead=2)
    queue.take(None, ())
    assert len(made) == 2
