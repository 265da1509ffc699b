"""One plain sentence on a readout: is it encoded, is it expressed?

*Encoded* is always "linearly decodable at this position", and is said only where the whole interval of the readout's
balanced accuracy lies above what constant answers reach, its permutation p is at most .05, it beats every text baseline
fitted on the same questions by a paired difference whose interval lies above 0, and, where the study has a twin of the
model with random weights, the interval lies above what the same readout of the twin reaches. *Expressed* is said where
the whole interval of the model's own answers lies above what constant answers reach; where only that of a classifier
fitted on its option scores does, which has the readout's supervision, the sentence says so: such a model may answer the
same to everything. Where the labels have hardly any of the model's probability, its highest label is not an answer, and
neither "expressed" nor "not expressed" is said. On fewer than `LEAST_SETS` sets there is no verdict. The thresholds are
Veridical's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from veridical.items import Suite
from veridical.judge.constant import constant_label
from veridical.judge.measure import Measure
from veridical.judge.verdict import LITTLE_MASS, MANY_UNANSWERED
from veridical.models.twin_names import is_twin, twin_of
from veridical.readouts.answers import MODE, OPTION_LOGITS, READOUT, TEXT_BASELINES
from veridical.wording import decimals_of, p_value, percent, percentage

Expressed = Literal["answers", "scores", "not", "unknown"]

LEAST_SETS = 20
"""Sets below which nothing is claimed of a readout."""
ALPHA = 0.05

WORDS: Mapping[tuple[bool, Expressed], str] = {
    (True, "answers"): "linearly decodable at this position, and expressed",
    (True, "scores"): "linearly decodable at this position, and expressed in its option scores, not in its answers",
    (True, "not"): "linearly decodable at this position, and not expressed",
    (True, "unknown"): "linearly decodable at this position; whether it is expressed cannot be said",
    (False, "answers"): "expressed, and not linearly decodable at this position beyond {beyond}",
    (
        False,
        "scores",
    ): "expressed in its option scores, not in its answers, and not linearly decodable at this position "
    "beyond {beyond}",
    (False, "not"): "neither linearly decodable at this position beyond {beyond}, nor expressed",
    (False, "unknown"): "not linearly decodable at this position beyond {beyond}; whether it is expressed cannot be "
    "said",
}

GroupKey = tuple[str, str, str]
"""Suite, model and prompt."""


def readout_verdicts(
    suites: Sequence[Suite], measures: Iterable[Measure], against: Mapping[GroupKey, str] | None = None
) -> list[str]:
    """A sentence for each readout of a whole item, in the order of appearance.

    `against` is the mode whose answers a readout is set against, `loglikelihood` where it is not named.
    """
    grouped: dict[GroupKey, list[Measure]] = {}
    for measure in measures:
        if measure.input == "full" and (not measure.slice or measure.measure == "constant_share"):
            grouped.setdefault((measure.suite, measure.model, measure.prompt), []).append(measure)
    # Readouts answer the items with one gold label, and balanced accuracy is over the labels that occur there.
    labels = {suite.name: {item.gold[0] for item in suite.items if len(item.gold) == 1} for suite in suites}
    chance = {name: 1 / len(found) for name, found in labels.items() if found}
    sentences = []
    for key, group in grouped.items():
        if key[0] not in chance:
            continue
        twin = _readout(grouped.get((key[0], twin_of(key[1]), key[2]), ())) if not is_twin(key[1]) else None
        sentence = _sentence(group, chance[key[0]], (against or {}).get(key, "loglikelihood"), twin)
        if sentence:
            sentences.append(f"{', '.join(key)}: {sentence}.")
    return sentences


def _readout(measures: Sequence[Measure]) -> Measure | None:
    """The readout's balanced accuracy among the measures of one key."""
    return next((m for m in measures if _whole(m) and m.answerer == READOUT), None)


def _whole(measure: Measure) -> bool:
    return measure.measure == "balanced_accuracy" and measure.against is None


def _sentence(measures: Sequence[Measure], chance: float, mode: str, twin: Measure | None) -> str | None:
    whole = {m.answerer: m for m in measures if _whole(m) and m.mode in (MODE, mode)}
    readout, model = whole.get(READOUT), whole.get("model")
    if readout is None or model is None:
        return None
    rates = _rates(whole, mode, twin, chance)
    if readout.n_sets < LEAST_SETS:
        return f"{readout.n_sets} sets are too few to say anything of a readout ({LEAST_SETS} are the least); {rates}"
    answers = [m for m in measures if m.answerer == "model" and m.mode == mode and m.against is None]
    encoded, beyond = _encoded(measures, readout, chance, twin)
    expressed, why = _expressed(whole, answers, chance)
    return f"{WORDS[encoded, expressed].format(beyond=beyond)}{why} ({rates})"


def _encoded(measures: Sequence[Measure], readout: Measure, chance: float, twin: Measure | None) -> tuple[bool, str]:
    """Whether it is decodable, and otherwise beyond what it is not."""
    if not _above(readout, chance):
        return False, "the text baselines"
    if readout.p is None:
        return False, "chance, since no null was drawn (run readout again)"
    if readout.p > ALPHA:
        return False, "what permuted labels reach"
    against = {
        str((m.against or {}).get("answerer")): m
        for m in measures
        if m.measure == "balanced_accuracy" and m.answerer == READOUT and "answerer" in (m.against or {})
    }
    if not all(name in against and _above(against[name], 0.0) for name in TEXT_BASELINES):
        return False, "the text baselines"
    if twin is not None and twin.value is not None and not _above(readout, twin.value):
        return False, "a twin with random weights"
    return True, ""


def _expressed(whole: Mapping[str, Measure], answers: Sequence[Measure], chance: float) -> tuple[Expressed, str]:
    """Whether the answers show it, with a remark on what the answers are."""
    found = {m.measure: m for m in answers}
    mass = found.get("label_mass")
    if mass is not None and mass.value is not None and mass.value < LITTLE_MASS:
        return "unknown", f", since the labels together have only {percent(mass.value)} of its probability"
    model, scores = whole["model"], whole.get(OPTION_LOGITS)
    answered = model.statuses.get("ok", 0)
    if answered < (1 - MANY_UNANSWERED) * model.n_items:
        return "unknown", f", since only {answered} of {model.n_items} of its answers are usable"
    if _above(model, chance):
        return "answers", ""
    constant = constant_label(found["constant_share"]) if "constant_share" in found else None
    why = f", as it answers {constant} whatever it is asked" if constant else ""
    return "scores" if scores is not None and _above(scores, chance) else "not", why


def _rates(whole: Mapping[str, Measure], mode: str, twin: Measure | None, chance: float) -> str:
    """Everything that the words rest on."""
    readout = whole[READOUT]
    p = f", p {p_value(readout.p)}" if readout.p is not None else ""
    parts = [f"readout {_rate(readout)}{p}", f"answers by {mode} {_rate(whole['model'])}"]
    if OPTION_LOGITS in whole:
        parts.append(f"option scores {_rate(whole[OPTION_LOGITS])}")
    parts += [f"{name.replace('_', ' ')} {_rate(whole[name])}" for name in TEXT_BASELINES if name in whole]
    if twin is not None:
        parts.append(f"readout of a twin with random weights {_rate(twin)}")
    return f"balanced accuracy: {'; '.join(parts)}; constant answers {percent(chance)}"


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
