"""What progress says where there is no terminal."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from veridical import progress


def lines(monkeypatch: pytest.MonkeyPatch, moments: Sequence[float], total: int) -> list[str]:
    """What is said when one more of `total` is done at each of `moments`, in seconds, and the work ends at the last."""
    clock = iter([0.0, *moments, moments[-1]])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    message = io.StringIO()
    with progress.Terminal(Console(file=message)).steps("asking", total) as step:
        for _ in moments:
            step()
    return message.getvalue().splitlines()


def test_the_time_left_is_reported_once_a_twentieth_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2 of 100 after 40 s would promise half an hour; 50 of 100 after 100 s say 100 s.
    moments = [40.0, 40.0, *[100.0] * 48]
    first, second, whole = lines(monkeypatch, moments, 100)
    assert first == "asking: 1 of 100, 1.5 items/min"
    assert second == "asking: 3 of 100, 1.8 items/min"
    assert whole == "asking: 50 in 0:01:40 (30.0 items/min)"
    moments = [*[10.0] * 49, 100.0]
    only, _ = lines(monkeypatch, moments, 100)
    assert only == "asking: 50 of 100, 30.0 items/min, 0:01:40 left"


def test_a_fast_pace_is_reported_by_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = lines(monkeypatch, [2.0] * 10, 10)
    assert whole == "asking: 10 in 0:00:02 (5.0 items/s)"
