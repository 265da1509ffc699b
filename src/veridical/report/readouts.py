"""The part of the page about readouts: what was read out, against its null, its controls and its baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.readouts.answers import ANSWERERS, MODE, READOUT
from veridical.readouts.record import NullResult, ReadoutRecord
from veridical.report.presentation import Specification
from veridical.report.results import AnsweringKey, Results
from veridical.report.shown_readout import ShownReadout
from veridical.wording import number, spaced


@dataclass(frozen=True, slots=True)
class Control:
    """A row of the table of controls: who answered what, how well, its null, and the readout's difference from it."""

    name: str
    meaning: str
    balanced: Measure | None
    pairs: Measure | None
    balanced_null: NullResult | None
    pairs_null: NullResult | None
    difference: Measure | None
    adjusted: Measure | None


@dataclass(frozen=True, slots=True)
class Section:
    """What the page shows of one readout."""

    number: int
    title: str
    facts: tuple[str, ...]
    controls: tuple[Control, ...]
    confusion: tuple[tuple[str, tuple[int, ...]], ...]
    labels: tuple[str, ...]
    gaps: tuple[tuple[str, Measure], ...]
    charts: tuple[tuple[str, str], ...]


def sections(
    suite: Suite, results: Results, readouts: Sequence[ShownReadout]
) -> tuple[list[Section], dict[str, Specification]]:
    """The readouts of a suite and their charts, by name."""
    from veridical.report.readout_charts import charts

    found: list[Section] = []
    drawn: dict[str, Specification] = {}
    for place, one in enumerate(readout for readout in readouts if readout.record.suite == suite.name):
        own = charts(one)
        drawn |= {f"readout-{place}-{name}": spec for name, (spec, _) in own.items()}
        names = tuple((f"readout-{place}-{name}", caption) for name, (_, caption) in own.items())
        labels, confusion = _confusion(suite, one)
        found.append(
            Section(
                number=place,
                title=f"Readout of {one.model}, {one.record.prompt}",
                facts=tuple(_facts(one.record)),
                controls=tuple(_controls(results, one)),
                confusion=confusion,
                labels=labels,
                gaps=tuple(_gaps(results, one)),
                charts=names,
            )
        )
    return found, drawn


def _facts(record: ReadoutRecord) -> list[str]:
    penultimate = record.layer == record.n_blocks - 1
    where = f"layer {record.layer} of {record.n_blocks}" + (", the penultimate block's output" if penultimate else "")
    facts = [f"Standardised state of the last prompt token at {where}; L2 multinomial logistic regression."]
    if record.fitted_on != record.suite:
        facts.append(
            f"Selected and fitted on {record.fitted_on} alone ({record.folds} folds of whole groups), then judged here."
        )
    else:
        facts.append(f"Each of {record.folds} folds of whole sets is answered by a readout that was fitted without it.")
    facts.append(f"The answers that it is set against are those of mode {record.against}: {_ANSWERS[record.against]}.")
    if record.nulls:
        facts.append(f"Null: {record.null_text.format(draws=max(null.draws for null in record.nulls))}.")
    if record.penalty is not None:
        facts.append(f"Inverse penalty chosen: C = {record.penalty:g}.")
    if record.best_layer is not None and record.nested is not None:
        facts.append(
            f"Chosen by validation on {record.fitted_on}, the best layer is {record.best_layer}; chosen inside each "
            f"fold, layer and penalty together reach a balanced accuracy of {number(record.nested)} there."
        )
    if record.selectivity is not None:
        found = record.selectivity
        facts.append(
            f"Control task: a random label for each category is recovered at {number(found.control)} "
            f"[{number(found.control_low)}, {number(found.control_high)}] ({found.draws} draws), so that selectivity "
            f"is {number(found.value)}."
        )
    return facts


_ANSWERS = {
    "loglikelihood": "the label with the highest log-likelihood",
    "generate": "the label read from what the model writes",
}


def _controls(results: Results, one: ShownReadout) -> list[Control]:
    same_prompt = [a for a in results.answerings if (a.model, a.prompt) == (one.model, one.record.prompt)]
    kept = [a for a in same_prompt if a.mode in (MODE, one.record.against)]
    nulls = {(null.answerer, null.input, null.measure): null for null in one.record.nulls}
    rows = []
    for answering in sorted(kept, key=lambda a: (a.answerer != READOUT or a.input != "full", a.answerer == "model")):
        key = (answering.answerer, answering.input)
        difference, adjusted = _less(results, one, answering)
        rows.append(
            Control(
                name=" · ".join(spaced(part) for part in (answering.answerer, answering.input) if part != "full"),
                meaning=ANSWERERS.get(answering.answerer, _ANSWERS[one.record.against]),
                balanced=results.get(answering, "balanced_accuracy"),
                pairs=results.get(answering, "pair_recovery"),
                balanced_null=nulls.get((*key, "balanced_accuracy")),
                pairs_null=nulls.get((*key, "pair_recovery")),
                difference=difference,
                adjusted=adjusted,
            )
        )
    return rows


def _less(results: Results, one: ShownReadout, other: AnsweringKey) -> tuple[Measure | None, Measure | None]:
    """Balanced accuracy of the readout less that of `other`, and the same with p adjusted."""
    found = [
        contrast
        for contrast in results.between
        if contrast.measure == "balanced_accuracy"
        and (contrast.model, contrast.prompt, contrast.answerer) == (one.model, one.record.prompt, READOUT)
        and contrast.input == "full"
        and _side(contrast) == (other.answerer, other.input, other.mode)
    ]
    return (found[0] if found else None), (found[1] if len(found) > 1 else None)


def _side(contrast: Measure) -> tuple[str, str, str]:
    """Who stands on the other side of a contrast."""
    key = {"answerer": contrast.answerer, "input": contrast.input, "mode": contrast.mode, **(contrast.against or {})}
    return str(key["answerer"]), str(key["input"]), str(key["mode"])


def _gaps(results: Results, one: ShownReadout) -> list[tuple[str, Measure]]:
    """Encoded less expressed, with what it is less than."""
    return [
        (f"readout less {spaced(_side(contrast)[0])}", contrast)
        for contrast in results.between
        if contrast.measure == "encoded_expressed_gap"
        and (contrast.model, contrast.prompt) == (one.model, one.record.prompt)
    ]


def _confusion(suite: Suite, one: ShownReadout) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[int, ...]], ...]]:
    """How often each gold label (a row) was answered with each label (a column) by the readout of the whole item."""
    answers = dict(one.answers.filter(answerer=READOUT, input="full").select("item", "label").iter_rows())
    labels = tuple(suite.labels) or tuple(dict.fromkeys(answers.values()))
    rows = []
    for gold in labels:
        given = [answers[item.id] for item in suite.items if item.gold == (gold,) and item.id in answers]
        if given:
            rows.append((gold, tuple(given.count(label) for label in labels)))
    return labels, tuple(rows)
