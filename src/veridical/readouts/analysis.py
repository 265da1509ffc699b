"""Everything that is made of one run's hidden states: readouts, baselines, nulls and controls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from veridical.items import FULL
from veridical.progress import Progress
from veridical.readouts import transfer
from veridical.readouts.answers import BEST_LAYER, CATEGORY_OUT, OPTION_LOGITS, READOUT, responses
from veridical.readouts.crossfit import Features, cross_fitted, from_states, permuted_labels
from veridical.readouts.nulls import pairs_recovered
from veridical.readouts.record import LayerResult, NullMeasure, NullResult, ReadoutRecord, Selectivity, StoredReadout
from veridical.readouts.rows import Rows
from veridical.readouts.selection import FOLDS, PENALTIES, PreparedFeatures, balanced_accuracy
from veridical.readouts.source import StateSource
from veridical.readouts.text import VECTORIZERS, prepared_text
from veridical.readouts.transfer import RecoveryScores, TransferOutcome, TransferTask
from veridical.stats.permutation import permutation_p
from veridical.stats.units import Floats, Ints

ROWS_FOR_PROCESSES = 200
"""From so many rows on, cross-fitted readouts go to one process a core; these take a second to start."""


@contextlib.contextmanager
def steps(progress: Progress, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Count `total` steps, several at a time."""
    with progress.steps(what, total) as step:

        def several(n: int) -> None:
            for _ in range(n):
                step()

        yield several


@dataclass(frozen=True, slots=True)
class Effort:
    """How many draws the readout's null gets, those of its baselines, and the control tasks; and `against`,
    the mode of the answers that readouts are set against."""

    draws: int = 1_000
    category_draws: int = 200
    control_draws: int = 100
    seed: int = 0
    against: Literal["loglikelihood", "generate"] = "loglikelihood"


@dataclass
class Gathered:
    """What an analysis gathers as it goes."""

    suite: str
    model: str
    prompt: str
    items: tuple[str, ...]
    names: tuple[str, ...]
    answers: list[pl.DataFrame] = field(default_factory=list)
    nulls: list[NullResult] = field(default_factory=list)
    draws: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)

    def add(self, answerer: str, input: str, codes: Ints) -> None:
        """Answers, codes into the names, one an item."""
        key = (self.suite, self.model, self.prompt, answerer, input)
        self.answers.append(responses(*key, self.items, self.names, codes))

    def add_outcome(self, answerer: str, input: str, outcome: TransferOutcome, n_sets: int) -> None:
        """Answers with their nulls, pairs as shares of the sets."""
        self.add(answerer, input, outcome.answers)
        if outcome.null is None:
            return
        observed, null = outcome.observed, outcome.null
        self._null(answerer, input, "balanced_accuracy", float(observed.balanced_accuracy), null.balanced_accuracy)
        if n_sets:
            self._null(answerer, input, "pair_recovery", float(observed.pairs) / n_sets, null.pairs / n_sets)

    def _null(self, answerer: str, input: str, measure: NullMeasure, value: float, draws: Floats) -> None:
        low, high = np.quantile(draws, [0.025, 0.975])
        self.draws[f"{answerer}/{input}/{measure}"] = np.asarray(draws, dtype=np.float64)
        self.nulls.append(
            NullResult(
                answerer=answerer,
                input=input,
                measure=measure,
                observed=value,
                mean=float(draws.mean()),
                low=float(low),
                high=float(high),
                p=permutation_p(value, draws),
                draws=len(draws),
            )
        )

    def stored(self, record: ReadoutRecord) -> StoredReadout:
        """The record together with the frame of all answers."""
        return StoredReadout(record, pl.concat(self.answers))


def transferred(
    source: StateSource, fitted: Rows, judged: Rows, layer: int, n_blocks: int, effort: Effort, progress: Progress
) -> tuple[StoredReadout, dict[str, npt.NDArray[np.float64]]]:
    """A readout fitted on one suite and judged on another, with restricted inputs, baselines, nulls and controls."""
    task = TransferTask(fitted, judged)
    found = Gathered(judged.suite.name, source.model, source.prompt, task.judged.items, task.fitted.names)
    n_sets = len(task.judged.sets)

    def states(input: str, at: int) -> tuple[Floats, Floats]:
        return source.states(task.fitted, input, at), source.states(task.judged, input, at)

    def noted(answerer: str, input: str, prepared: PreparedFeatures, draws: int, what: str) -> TransferOutcome:
        with steps(progress, what, 1 + draws) as step:
            outcome = transfer.fit(task, prepared, draws, effort.seed, step)
        found.add_outcome(answerer, input, outcome, n_sets)
        return outcome

    main = task.prepared(*states(FULL, layer))
    outcome = noted(READOUT, FULL, main, effort.draws, "readout and its null")
    for input in (name for name in judged.suite.inputs if name != FULL):
        prepared = task.prepared(*states(input, layer))
        noted(READOUT, input, prepared, effort.category_draws, f"readout, {input}, and its null")
    scores = [source.option_scores(rows, FULL, found.names) for rows in (task.fitted, task.judged)]
    if all(np.isfinite(part).all() for part in scores):
        options = task.prepared(*scores)
        noted(OPTION_LOGITS, FULL, options, effort.category_draws, "option scores and their null")
    else:
        progress.say(f"{judged.suite.name}: no classifier on option scores, since some label of some item has no score")
    texts = task.fitted.texts(), task.judged.texts()
    for answerer in VECTORIZERS:
        prepared = prepared_text(answerer, texts[0], task.fitted.groups, texts[1])
        noted(answerer, FULL, prepared, effort.category_draws, f"{answerer} and its null")

    categories = task.fitted.factor("category"), task.judged.factor("category")
    selectivity = None
    if all(all(names) for names in categories) and len(set(categories[1])) > 1:
        n = len(set(categories[1]))
        with steps(progress, "a category left out", n * (1 + effort.category_draws)) as step:
            out = transfer.leave_one_out(
                task, *states(FULL, layer), categories, effort.category_draws, effort.seed, step
            )
        found.add_outcome(CATEGORY_OUT, FULL, out, n_sets)
        with steps(progress, "control tasks", effort.control_draws) as step:
            controls = transfer.control_task(task, main, categories, effort.control_draws, effort.seed, step)
        selectivity = _selectivity(outcome, controls, task)

    layers = source.layers(judged.suite.name, FULL)
    with steps(progress, "every layer", len(layers) * (1 + effort.category_draws)) as step:
        swept = transfer.sweep(task, lambda at: states(FULL, at), layers, effort.category_draws, effort.seed, step)
    found.add_outcome(BEST_LAYER, FULL, swept.best, n_sets)
    record = ReadoutRecord(
        suite=judged.suite.name,
        fitted_on=fitted.suite.name,
        prompt=source.prompt,
        layer=layer,
        n_blocks=n_blocks,
        folds=FOLDS,
        seed=effort.seed,
        against=effort.against,
        penalty=PENALTIES[outcome.penalty],
        nulls=tuple(found.nulls),
        layers=tuple(_layer(at, result, n_sets) for at, result in swept.layers.items()),
        best_layer=swept.best_layer,
        nested=swept.nested,
        selectivity=selectivity,
    )
    return found.stored(record), found.draws


def cross(
    source: StateSource, rows: Rows, layer: int, n_blocks: int, effort: Effort, progress: Progress
) -> tuple[StoredReadout, dict[str, npt.NDArray[np.float64]]]:
    """A readout of one suite, each fold of whole sets answered by a fit without it; baselines on the same folds."""
    suite = rows.suite
    found = Gathered(suite.name, source.model, source.prompt, rows.items, rows.names)
    texts = rows.texts()

    def text(answerer: str) -> Features:
        def prepare(train: Ints, test: Ints) -> PreparedFeatures:
            groups = [rows.groups[row] for row in train]
            return prepared_text(answerer, [texts[row] for row in train], groups, [texts[row] for row in test])

        return prepare

    answerers: dict[tuple[str, str], Features] = {
        (READOUT, FULL): from_states(rows, source.states(rows, FULL, layer)),
        **{
            (READOUT, input): from_states(rows, source.states(rows, input, layer))
            for input in suite.inputs
            if input != FULL
        },
        **_of_options(source, rows, progress),
        **{(answerer, FULL): text(answerer) for answerer in VECTORIZERS},
    }
    vectors = {(READOUT, FULL): effort.draws} | dict.fromkeys(list(answerers)[1:], effort.category_draws)
    permuted = permuted_labels(rows, max(vectors.values()), effort.seed)
    labels = [np.vstack([rows.labels, permuted[:draws]]) for draws in vectors.values()]
    layers = source.layers(suite.name, FULL)
    swept = [from_states(rows, source.states(rows, FULL, at)) for at in layers]
    curve = []
    with steps(progress, "readouts and their nulls", len(answerers) + len(layers)) as step:
        every = _cross_fitted(rows, [*answerers.values(), *swept], [*labels, *[rows.labels[None]] * len(layers)])
        for place, codes in enumerate(every):
            if place < len(answerers):
                found.add_outcome(*list(answerers)[place], _crossed(rows, codes, labels[place]), len(rows.sets))
            else:
                reached = float(balanced_accuracy(codes[0], rows.labels, len(rows.names)))
                at = layers[place - len(answerers)]
                curve.append(LayerResult(layer=at, balanced_accuracy=reached, validation=reached))
            step(1)
    record = ReadoutRecord(
        suite=suite.name,
        fitted_on=suite.name,
        prompt=source.prompt,
        layer=layer,
        n_blocks=n_blocks,
        folds=FOLDS,
        seed=effort.seed,
        against=effort.against,
        nulls=tuple(found.nulls),
        layers=tuple(curve),
    )
    return found.stored(record), found.draws


def _crossed(rows: Rows, answers: Ints, labels: Ints) -> TransferOutcome:
    """What a cross-fitted readout answered, and its null: `answers` and `labels` (vectors, n), the gold labels first.

    Each vector of answers is scored against the labels that it was fitted to, as in any permutation test: folds and
    sets are the same throughout, and what a fold lacks of a label, the fitted part has.
    """
    balanced = balanced_accuracy(answers, labels, len(rows.names))
    pairs = pairs_recovered(answers, labels, rows.sets)
    null = RecoveryScores(balanced[1:], pairs[1:])
    return TransferOutcome(answers[0], -1, float(balanced[0]), RecoveryScores(balanced[0], pairs[0]), null)


def _of_options(source: StateSource, rows: Rows, progress: Progress) -> dict[tuple[str, str], Features]:
    """The classifier on option scores, where every item offers and scores every label."""
    scores = source.option_scores(rows, FULL, rows.names)
    if np.isfinite(scores).all():
        return {(OPTION_LOGITS, FULL): from_states(rows, scores)}
    progress.say(f"{rows.suite.name}: no classifier on option scores, since not every item has a score for every label")
    return {}


def _cross_fitted(rows: Rows, every: Sequence[Features], labels: Sequence[Ints]) -> Iterator[Ints]:
    """Answers (vectors, n) of each of these readouts to its own `labels` (vectors, n), in their order.

    In several processes where there is enough to do: one regression at a time is bound by the interpreter, which
    threads would share.
    """
    if len(rows) < ROWS_FOR_PROCESSES:
        yield from (cross_fitted(rows, *given) for given in zip(every, labels, strict=True))
        return
    from joblib import Parallel, delayed

    tasks = (delayed(cross_fitted)(rows, *given) for given in zip(every, labels, strict=True))
    yield from Parallel(n_jobs=-1, return_as="generator")(tasks)


def _selectivity(outcome: TransferOutcome, controls: Floats, task: TransferTask) -> Selectivity:
    low, high = np.quantile(controls, [0.025, 0.975])
    return Selectivity(
        real=float(outcome.observed.balanced_accuracy),
        control=float(controls.mean()),
        control_low=float(low),
        control_high=float(high),
        draws=len(controls),
        n_sets=len(task.judged.sets),
        n_items=len(task.judged),
    )


def _layer(layer: int, outcome: TransferOutcome, n_sets: int) -> LayerResult:
    return LayerResult(
        layer=layer,
        balanced_accuracy=float(outcome.observed.balanced_accuracy),
        pair_recovery=float(outcome.observed.pairs / n_sets) if n_sets else None,
        validation=outcome.validation,
        null_mean=None if outcome.null is None else float(outcome.null.balanced_accuracy.mean()),
    )
