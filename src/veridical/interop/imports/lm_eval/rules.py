"""The harness's own rules for single answers, to see that what was imported is what was scored.

Of choices that tie the harness takes the first, and NaN beats everything (NumPy's argmax); here such an answer is
`tied` or `non_finite`. The rules are `process_results` of lm-evaluation-harness 0.3 to 0.4.13.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from veridical.interop.imports.answer import Answer


def first_best(values: Sequence[float]) -> int:
    """The position that NumPy's argmax gives: the first NaN, else the first of the greatest."""
    if math.isnan(sum(values)):  # one is, or infinities cancel
        for place, value in enumerate(values):
            if math.isnan(value):
                return place
    return values.index(max(values))


def _hit(answer: Answer, values: Sequence[float]) -> float:
    return float(first_best(values) in answer.gold)


def _divided(answer: Answer, lengths: Sequence[int]) -> float | None:
    if not answer.lengths:
        return None
    return _hit(answer, [_quotient(score, n) for score, n in zip(answer.scores, lengths, strict=True)])


def _quotient(score: float, length: int) -> float:
    if length:
        return score / length
    return math.nan if score == 0 or math.isnan(score) else math.copysign(math.inf, score)


def _acc(answer: Answer) -> float | None:
    return _hit(answer, answer.scores)


def _acc_norm(answer: Answer) -> float | None:
    return _divided(answer, [len(text) for text in answer.lengths])


def _acc_bytes(answer: Answer) -> float | None:
    return _divided(answer, [len(text.encode()) for text in answer.lengths])


def _acc_mutual_info(answer: Answer) -> float | None:
    if not answer.unconditional:
        return None
    return _hit(answer, [score - alone for score, alone in zip(answer.scores, answer.unconditional, strict=True)])


def _exact_match(answer: Answer) -> float | None:
    if len(answer.greedy) != len(answer.scores):
        return None
    return float(any(answer.greedy[place] for place in answer.gold))


OF_CHOICES: Mapping[str, Callable[[Answer], float | None]] = {
    "acc": _acc,
    "acc_norm": _acc_norm,
    "acc_bytes": _acc_bytes,
    "acc_mutual_info": _acc_mutual_info,
    "exact_match": _exact_match,
}
"""Metric to the score of one answer whose choices were scored; None where the log lacks what it needs."""


_NAMES = re.compile(
    r"(?:.*_)?(?:acc|accuracy|exact_match|em|f1|match|correct|mc[0-9]|pass@?[0-9]*|mcc|brier_score|bleu\d?|rouge\w*|chrf\w*"
    r"|bleurt\w*|bertscore|wer|cer|ter|perplexity|bits_per_byte|likelihood_diff|pct_stereotype|contains|score|auc|ndcg)"
    r"(?:_(?:norm|mutual_info|bytes|max|acc|diff|all|none|greedy|ms|stderr|loglikelihood|per_\w+))*",
    re.IGNORECASE,
)


def is_metric(name: str) -> bool:
    """Whether a key of a record is called as the harness calls a metric, where nothing else says what is one."""
    return bool(_NAMES.fullmatch(name))


def of_choices(answer: Answer, also: Iterable[str] = ()) -> dict[str, float]:
    """What the metrics of an answer, and those of `also`, come to. Gold that names no choice is never hit, as in the
    harness."""
    found: dict[str, float] = {}
    for metric in (*answer.metrics, *also):
        rule = OF_CHOICES.get(metric)
        value = rule(answer) if rule else None
        if value is not None:
            found[metric] = value
    return found
