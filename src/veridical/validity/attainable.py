"""What each kind of test can reach at best with the design at hand: said before any result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veridical.validity.inference import Tested
from veridical.validity.results import Gain, Partial, VersionComparison
from veridical.validity.summaries import Attainable, JointGain, PooledComparison, Specificity
from veridical.validity.wording import ALPHA
from veridical.wording import p_value


def attainable(
    gains: Sequence[Gain],
    partials: Sequence[Partial],
    comparisons: Sequence[VersionComparison],
    pooled: Sequence[PooledComparison],
    specificity: Sequence[Specificity],
    joint: Sequence[JointGain] = (),
) -> list[Attainable]:
    """One row a kind of test that is made, with the least p that any of its tests can give."""
    last = gains[-1].baseline if gains else "size"
    full = [gain for gain in gains if gain.baseline == last]
    kinds: dict[str, list[Tested | None]] = {
        f"gain over {last}": [gain.test for gain in full],
        "gain, families agree": [gain.flip for gain in full],
        "gain of a set": [one.test for one in joint if one.baseline == last],
        "partial ρ": [one.test for one in partials],
        "reworked against original, all outcomes": [test for one in pooled for test in (one.gain_test, one.rho_test)],
        "reworked against original, each outcome": [one.gain_test for one in comparisons],
        "reworked beyond the original": [one.beyond_test for one in comparisons],
        "own axis against others": [one.test for one in specificity],
    }
    return [found for question, tests in kinds.items() for found in _row(question, tests)]


def _row(question: str, tests: Sequence[Tested | None]) -> Iterator[Attainable]:
    there = [test for test in tests if test is not None]
    if not there:
        return
    best = min(there, key=lambda test: test.least * test.tests)
    holm = min(1.0, best.least * best.tests)
    yield Attainable(
        question=question,
        null=best.null,
        tests=best.tests,
        least=best.least,
        least_holm=holm,
        possible=holm <= ALPHA,
    )


def attainable_sentences(found: Sequence[Attainable]) -> Iterator[str]:
    """One sentence: what can be shown at all, and what cannot whatever is true."""
    if not found:
        return
    least = "; ".join(
        f"{one.question} {p_value(one.least)}"
        + (f" ({p_value(one.least_holm)} over {one.tests} tests)" if one.tests > 1 else "")
        + ("" if one.possible else ", which can show nothing")
        for one in found
    )
    yield f"The least p that these data can give, whatever is true: {least}."
