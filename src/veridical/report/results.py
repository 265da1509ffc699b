"""Measures arranged for reading: who answered, what was measured of them, and what stands for comparison.

The terminal, the charts and the page all read a list of measures through `Results`, so that they agree on which
rows are answers of a model, which are references, and what each row is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from veridical.items import Factor
from veridical.judge.measure import Measure
from veridical.readouts.answers import MODE as READOUT_MODE
from veridical.readouts.answers import OPTION_LOGITS, TEXT_BASELINES
from veridical.report.labels import GENERIC_LABELS, MeasureLabels
from veridical.report.texts import is_difference
from veridical.wording import spaced

Slice = frozenset[tuple[str, Factor]]

REFERENCE_ANSWERERS = ("majority", "chance", OPTION_LOGITS, *TEXT_BASELINES)
"""Answerers that stand for comparison with a model, as every `always:LABEL` does."""


@dataclass(frozen=True, slots=True)
class AnsweringKey:
    """One answering of a suite: the key that its measures share."""

    suite: str
    model: str
    answerer: str
    input: str
    prompt: str
    mode: str

    @classmethod
    def of(cls, measure: Measure) -> Self:
        """The key of a measure."""
        return cls(measure.suite, measure.model, measure.answerer, measure.input, measure.prompt, measure.mode)

    @property
    def asked(self) -> str:
        """The prompt, or the mode where it has none (`classify`)."""
        return self.prompt or self.mode

    @property
    def constant(self) -> bool:
        """Whether no model is asked: the row is the same for every model and prompt."""
        return self.answerer in ("majority", "chance") or self.answerer.startswith("always:")

    @property
    def reference(self) -> bool:
        """Whether it stands for comparison: a constant answer, a simple classifier, or a restricted input."""
        return self.constant or self.answerer in REFERENCE_ANSWERERS or self.input != "full"


@dataclass(frozen=True)
class Results:
    """The measures of one suite, by answering, measure and slice."""

    measures: tuple[Measure, ...]
    index: Mapping[tuple[AnsweringKey, str, Slice], Measure] = field(repr=False)
    labels: MeasureLabels = GENERIC_LABELS

    @classmethod
    def of(cls, measures: Iterable[Measure], suite: str, labels: MeasureLabels = GENERIC_LABELS) -> Self:
        """Those measures that are of `suite`. Where a key repeats, the first stands in the tables."""
        own = tuple(measure for measure in measures if measure.suite == suite)
        index: dict[tuple[AnsweringKey, str, Slice], Measure] = {}
        for measure in own:
            if measure.against is None:
                key = (AnsweringKey.of(measure), measure.measure, frozenset(measure.slice.items()))
                index.setdefault(key, measure)
        return cls(own, index, labels)

    def get(self, answering: AnsweringKey, measure: str, **where: Factor) -> Measure | None:
        """The measure over this slice; None where there is none."""
        return self.index.get((answering, measure, frozenset(where.items())))

    @cached_property
    def answerings(self) -> tuple[AnsweringKey, ...]:
        """Every answering, in the order of the measures."""
        return tuple(dict.fromkeys(answering for answering, _, _ in self.index))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in the order of appearance."""
        return tuple(dict.fromkeys(a.model for a in self.answerings if not a.reference))

    @cached_property
    def answers(self) -> tuple[AnsweringKey, ...]:
        """What the models (and their readouts) answered, model by model."""
        own = [answering for answering in self.answerings if not answering.reference]
        return tuple(sorted(own, key=lambda a: (self.models.index(a.model), a.mode != "loglikelihood")))

    @cached_property
    def references(self) -> tuple[AnsweringKey, ...]:
        """What stands for comparison, each constant answer once: it does not depend on the model."""
        found: dict[object, AnsweringKey] = {}
        for answering in self.answerings:
            if answering.reference:
                key = answering.answerer if answering.constant else answering
                found.setdefault(key, answering)
        return tuple(sorted(found.values(), key=lambda answering: not answering.constant))

    @cached_property
    def contrasts(self) -> tuple[Measure, ...]:
        """The measures that are differences between two others."""
        return tuple(measure for measure in self.measures if measure.against is not None)

    @cached_property
    def between(self) -> tuple[Measure, ...]:
        """Contrasts between answerings (prompts, models), not those between slices of one."""
        fields = set(AnsweringKey.__dataclass_fields__)
        return tuple(contrast for contrast in self.contrasts if set(contrast.against or {}) <= fields)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups whose accuracy is given, those that the labels name first and in its order."""
        return in_order(self.values_of("accuracy", "group"), self.labels.groups)

    def statuses(self, answering: AnsweringKey) -> Mapping[str, int]:
        """Responses by status over the whole suite: of overall accuracy, else summed over the groups."""
        whole = self.get(answering, "accuracy")
        if whole is not None:
            return whole.statuses
        total: Counter[str] = Counter()
        for group in self.groups:
            part = self.get(answering, "accuracy", group=group)
            total.update(part.statuses if part else {})
        return total

    @cached_property
    def several_modes(self) -> bool:
        """Whether models were asked in more than one mode."""
        return len({answering.mode for answering in self.answerings if not answering.constant}) > 1

    def name(self, answering: AnsweringKey, *, model: bool = False) -> str:
        """What to call a row: the prompt, then whatever else distinguishes it from other rows.

        `model` asks for the model's name too, where the suite was answered by more than one.
        """
        if answering.constant:
            return answering.answerer.replace("always:", "always ")
        lead = [answering.model] if model and len(self.models) > 1 else []
        return " · ".join([*lead, answering.asked, *self._particulars(answering)])

    def heading(self, answering: AnsweringKey, without: Sequence[str] = ("prompt",)) -> str:
        """What stands over rows that differ only in the fields of `without`: the model, the prompt, the rest."""
        shared = [getattr(answering, key) for key in ("model", "prompt") if key not in without]
        return " · ".join([*filter(None, shared), *self._particulars(answering)])

    def _particulars(self, answering: AnsweringKey) -> list[str]:
        """Who answered if not the model itself, what was shown if not all, and the mode where there are several."""
        parts = []
        if answering.answerer != "model":
            parts.append(spaced(answering.answerer))
        if answering.input != "full":
            parts.append(spaced(answering.input))
        # A readout and its baselines answer in one mode only.
        if self.several_modes and answering.prompt and answering.mode not in ("loglikelihood", READOUT_MODE):
            parts.append(answering.mode)
        return parts

    def values_of(self, measure: str, factor: str) -> list[str]:
        """The values of a factor by which alone a measure is given."""
        return [
            str(value)
            for (_, name, where) in self.index
            if name == measure and len(where) == 1
            for key, value in where
            if key == factor
        ]


def in_order(found: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Names once each: the known ones in their order, then the others as they come."""
    rank = {name: position for position, name in enumerate(known)}
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda name: rank.get(name, len(rank))))


def contrast_name(contrast: Measure) -> str:
    """`dap less zero-shot`: the sides of a contrast by the key fields in which they differ.

    Sides that are measured together, not subtracted, are joined by `and`.
    """
    joint = "less" if is_difference(contrast) else "and"
    sides = []
    for key, other in (contrast.against or {}).items():
        own = contrast.slice.get(key, getattr(contrast, key, "all"))
        sides.append(f"{spaced(str(own))} {joint} {spaced(str(other))}")
    return ", ".join(sides)
