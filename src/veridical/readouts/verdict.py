"""One plain sentence on a readout: is it encoded, is it expressed?

*Encoded* is always "linearly decodable at this position", and is said only where the whole interval of the readout's
balanced accuracy lies above what constant answers reach, and it beats every text baseline fitted on the same questions
by a paired difference whose interval lies above 0. *Expressed* is said where the whole interval of the model's own
answers lies above what constant answers reach; where only that of a classifier fitted on its option scores does, which
has the readout's supervision, the sentence says so: such a model may answer the same to everything. The thresholds are
ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.readouts.answers import MODE, OPTION_LOGITS, READOUT, TEXT_BASELINES
from veridical.rounding import decimals_of, percent, percentage

Expressed = Literal["answers", "scores", "not"]

WORDS: Mapping[tuple[bool, Expressed], str] = {
    (True, "answers"): "linearly decodable at this position, and expressed",
    (True, "scores"): "linearly decodable at this position, and expressed in its option scores, not in its answers",
    (True, "not"): "linearly decodable at this position, and not expressed",
    (False, "answers"): "expressed, and not linearly decodable at this position beyond the text baselines",
    (
        False,
        "scores",
    ): "expressed in its option scores, not in its answers, and not linearly decodable at this position "
    "beyond the text baselines",
    (False, "not"): "neither linearly decodable at this position beyond the text baselines, nor expressed",
}


def readout_verdicts(suites: Sequence[Suite], measures: Iterable[Measure]) -> list[str]:
    """A sentence for each readout of a whole item, in the order of appearance."""
    grouped: dict[tuple[str, str, str], list[Measure]] = {}
    for measure in measures:
        if measure.input == "full" and measure.measure == "balanced_accuracy" and not measure.slice:
            grouped.setdefault((measure.suite, measure.model, measure.prompt), []).append(measure)
    # Readouts answer the items with one gold label, and balanced accuracy is over the labels that occur there.
    labels = {suite.name: {item.gold[0] for item in suite.items if len(item.gold) == 1} for suite in suites}
    chance = {name: 1 / len(found) for name, found in labels.items() if found}
    found = ((key, _sentence(group, chance[key[0]])) for key, group in grouped.items() if key[0] in chance)
    return [f"{suite}, {model}, {prompt}: {told}." for (suite, model, prompt), told in found if told]


def _sentence(measures: Sequence[Measure], chance: float) -> str | None:
    whole = {m.answerer: m for m in measures if m.against is None and (m.mode == MODE or m.mode == "loglikelihood")}
    readout, model = whole.get(READOUT), whole.get("model")
    if readout is None or model is None:
        return None
    against = {
        str((m.against or {}).get("answerer")): m
        for m in measures
        if m.answerer == READOUT and "answerer" in (m.against or {})
    }
    beaten = all(name in against and _above(against[name], 0.0) for name in TEXT_BASELINES)
    in_scores = OPTION_LOGITS in whole and _above(whole[OPTION_LOGITS], chance)
    expressed: Expressed = "answers" if _above(model, chance) else "scores" if in_scores else "not"
    parts = [f"readout {_rate(readout)}", f"answers {_rate(model)}"]
    if OPTION_LOGITS in whole:
        parts.append(f"option scores {_rate(whole[OPTION_LOGITS])}")
    parts += [f"{name.replace('_', ' ')} {_rate(whole[name])}" for name in TEXT_BASELINES if name in whole]
    words = WORDS[_above(readout, chance) and beaten, expressed]
    return f"{words} (balanced accuracy: {'; '.join(parts)}; constant answers {percent(chance)})"


def _above(measure: Measure, threshold: float) -> bool:
    low = measure.low if measure.low is not None else measure.value
    return low is not None and low > threshold


def _rate(measure: Measure) -> str:
    if measure.value is None:
        return "not estimable"
    if measure.low is None or measure.high is None:
        return percent(measure.value)
    decimals = decimals_of(measure.low, measure.high)
    ends = percentage(measure.low, decimals), percentage(measure.high, decimals)
    return f"{percent(measure.value, decimals)} [{ends[0]}, {ends[1]}]"
