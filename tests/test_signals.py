"""Signals that end a process: raised once, kept off what must not be cut in two, and ignored where they were."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from veridical.signals import STOPPING, StopSignal, deferred, raised


@pytest.fixture(autouse=True)
def as_at_a_prompt() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOPPING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPPING, ids=lambda number: number.name)
def test_every_signal_to_end_is_raised_and_handlers_are_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with raised() as received:
        with pytest.raises(StopSignal, match=number.name):
            signal.raise_signal(number)
        assert received.number == number
        assert received.status == 128 + number
    assert signal.getsignal(number) == before


def test_a_second_signal_at_once_does_not_interrupt_what_the_first_brought_about() -> None:
    with raised() as received:
        with pytest.raises(StopSignal):
            signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        assert received.number == signal.SIGHUP
        received.raised -= 10
        with pytest.raises(StopSignal):
            signal.raise_signal(signal.SIGTERM)


def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with raised():
        signal.raise_signal(signal.SIGHUP)


def test_what_is_deferred_is_whole_before_the_signal_is_raised() -> None:
    done = []

    def work() -> None:
        with deferred():
            signal.raise_signal(signal.SIGTERM)
            done.append("all")

    with raised(), pytest.raises(StopSignal):
        work()
    assert done == ["all"]


def test_a_handler_of_the_users_own_is_kept() -> None:
    seen = []
    signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    with raised(defaults_only=True):
        signal.raise_signal(signal.SIGTERM)
    assert seen == [signal.SIGTERM]
