"""Do MAE, R² and rank correlation say the same of which benchmarks add, outcome by outcome?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from veridical.validity.inference import Tested
from veridical.validity.results import Gain
from veridical.validity.summaries import GainMetric, MetricAgreement, MetricFinding
from veridical.validity.wording import listed, passes

Read = Callable[[Gain], tuple[float | None, Tested | None]]
METRICS: dict[GainMetric, Read] = {
    "MAE": lambda gain: (gain.mae_gain, gain.test),
    "R²": lambda gain: (gain.r2_gain, gain.r2_test),
    "ρ": lambda gain: (gain.rho_gain, gain.rho_test),
}


def metric_agreements(gains: Sequence[Gain]) -> list[MetricAgreement]:
    """For every outcome what each metric says, over the fullest baseline."""
    last = gains[-1].baseline if gains else "size"
    by_outcome: dict[str, list[Gain]] = {}
    for gain in gains:
        if gain.baseline == last:
            by_outcome.setdefault(gain.outcome, []).append(gain)
    found = []
    for outcome, of in by_outcome.items():
        findings = tuple(_finding(metric, read, of) for metric, read in METRICS.items())
        agree = len({one.adds for one in findings}) == 1
        found.append(MetricAgreement(outcome=outcome, baseline=last, findings=findings, agree=agree))
    return found


def _finding(metric: GainMetric, read: Read, gains: Sequence[Gain]) -> MetricFinding:
    known = [(gain.benchmark, value, test) for gain in gains for value, test in [read(gain)] if value is not None]
    adds = tuple(name for name, value, test in known if value > 0 and passes(test))
    if not known:
        return MetricFinding(metric=metric, adds=(), best=None, gain=None, test=None)
    best, gain, test = max(known, key=lambda one: one[1])
    return MetricFinding(metric=metric, adds=adds, best=best, gain=gain, test=test)


def agreement_sentences(found: Sequence[MetricAgreement]) -> Iterator[str]:
    """For how many outcomes the metrics agree, and each for which they do not."""
    if not found:
        return
    differing = [one for one in found if not one.agree]
    if not differing:
        outcomes = found[0].outcome if len(found) == 1 else f"all {len(found)} outcomes"
        yield f"MAE, R² and ρ agree on which benchmarks add, for {outcomes}."
        return
    for one in differing:
        by_metric = "; ".join(f"by {f.metric} {listed(f.adds) if f.adds else 'none'}" for f in one.findings)
        yield f"MAE, R² and ρ do not agree on which benchmarks add for {one.outcome}: {by_metric}."
