"""What raters say, how far they agree with each other, and with what the suite expects.

Agreement is over pairs of raters: each pair of ratings of one item by two raters counts once. `exact` is the share of
equal ones, `adjacent` the share at most one step apart on the question's scale. Missing ratings enter nothing and are
counted. Intervals resample sets of items (clusters above them where there are any); a share with one rating a set has
Wilson's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from veridical.files.ledger import account
from veridical.review.estimates import Estimate, Estimator, QuestionRatings, units_of
from veridical.review.key import find_key, read_key
from veridical.review.krippendorff import MISSING
from veridical.review.reading import Ratings, read_ratings, sheet_files
from veridical.stats.units import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """One rater on one question. `missing` counts items without a rating; `expected` is the share of rated items on
    which the answer is as the suite expects (the gold label), `expected_sets` the share of completely rated sets in
    which every answer is. None where nothing is expected."""

    rater: int
    rated: int
    missing: int
    mean: float | None
    expected: Estimate | None
    expected_sets: Estimate | None


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters on one question: over the `n` items that both rated."""

    raters: tuple[int, int]
    n: int
    exact: float | None
    adjacent: float | None


@dataclass(frozen=True, slots=True)
class QuestionAgreement:
    """One question. `counts` is by value; `every_rater` and `every_rater_sets` are shares of the items, and of the
    sets, that all raters rated and on which all are as expected."""

    question: str
    text: str
    missing: int
    counts: dict[str, int]
    mean: Estimate | None
    exact: Estimate
    adjacent: Estimate | None
    alpha_nominal: Estimate
    alpha_ordinal: Estimate | None
    every_rater: Estimate | None
    every_rater_sets: Estimate | None
    raters: tuple[RaterSummary, ...]
    pairs: tuple[RaterPair, ...]


@dataclass(frozen=True, slots=True)
class Overall:
    """All questions together, where they share one scale."""

    mean: Estimate
    exact: Estimate
    adjacent: Estimate | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which raters differ (on a scale: by more than a step) or one differs from what is expected."""

    question: str
    item: str
    name: str
    set: str
    role: str
    expected: tuple[str, ...]
    ratings: dict[int, str]
    comments: dict[int, str]
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReviewAgreement:
    """All of it. `absent` are raters whose sheets were made and none is given; `account` says what became of the rows
    of the sheets."""

    suite: str
    version: str
    n_items: int
    n_sets: int
    raters: tuple[int, ...]
    absent: tuple[int, ...]
    overall: Overall | None
    questions: tuple[QuestionAgreement, ...]
    disagreements: tuple[Disagreement, ...]
    account: str = ""


def agreement(
    sheets: Sequence[Path], key_file: Path | None = None, draws: int = 10_000, seed: int = 0
) -> ReviewAgreement:
    """The agreement of filled-in sheets (files, or folders of them); the key is sought by them where none is named.

    Raises UserError, naming file and line, where a sheet is at fault.
    """
    files = sheet_files(sheets)
    key = read_key(key_file or find_key(files))
    return measured(read_ratings(files, key), draws, seed)


def measured(ratings: Ratings, draws: int = 10_000, seed: int = 0) -> ReviewAgreement:
    """The agreement in these ratings."""
    key = ratings.key
    estimator = Estimator(units_of(key), draws, seed)
    columns = [QuestionRatings(question, ratings.codes[question.name], key) for question in key.questions]
    return ReviewAgreement(
        suite=key.suite,
        version=key.version,
        n_items=len(key.items),
        n_sets=estimator.units.n_sets,
        raters=ratings.raters,
        absent=tuple(rater for rater in range(1, key.raters + 1) if rater not in ratings.raters),
        overall=_overall(columns, estimator),
        questions=tuple(_question(column, ratings.raters, estimator) for column in columns),
        disagreements=tuple(found for column in columns for found in _disagreements(column, ratings)),
        account=_account(ratings),
    )


def _account(ratings: Ratings) -> str:
    """What became of the rows of the sheets, and how many that were handed out to these raters are in none."""
    said = account(ratings.rows, "rows in the sheets", "rated")
    handed_out = sum(rater in ratings.raters for rater, _ in ratings.key.ids.values())
    if absent := handed_out - ratings.rows.read:
        said += f"; {absent:,} more handed out to these raters {'is' if absent == 1 else 'are'} not there"
    return said


def _overall(columns: Sequence[QuestionRatings], estimator: Estimator) -> Overall | None:
    scales = {(column.question.values, column.question.scores) for column in columns}
    if len(columns) < 2 or len(scales) > 1 or not columns[0].question.ordered:
        return None
    scores, rated = (np.concatenate(parts) for parts in zip(*map(_rated_scores, columns), strict=True))
    steps, items = (np.concatenate(parts) for parts in zip(*(column.steps for column in columns), strict=True))
    return Overall(
        mean=estimator.mean(scores, rated, binary=columns[0].question.binary),
        exact=estimator.share(steps == 0, items),
        adjacent=estimator.share(steps <= 1, items) if columns[0].scaled else None,
    )


def _rated_scores(column: QuestionRatings) -> tuple[Floats, Ints]:
    """The scores of all ratings, (ratings,), and the item of each."""
    return column.scores[column.rated], np.nonzero(column.rated)[0]


def _question(column: QuestionRatings, raters: Sequence[int], estimator: Estimator) -> QuestionAgreement:
    question, codes = column.question, column.codes
    steps, items = column.steps
    counts = np.bincount(codes[column.rated], minlength=len(question.values))
    every, every_sets = None, None
    if column.expecting.any():
        every, every_sets = _expected(column, *column.by_every_rater, estimator)
    return QuestionAgreement(
        question=question.name,
        text=question.text,
        missing=int((~column.rated).sum()),
        counts=dict(zip(question.values, map(int, counts), strict=True)),
        mean=estimator.mean(*_rated_scores(column), binary=question.binary) if question.scores else None,
        exact=estimator.share(steps == 0, items),
        adjacent=estimator.share(steps <= 1, items) if column.scaled else None,
        alpha_nominal=estimator.alpha(codes, "nominal"),
        alpha_ordinal=estimator.alpha(codes, "ordinal") if column.scaled else None,
        every_rater=every,
        every_rater_sets=every_sets,
        raters=tuple(_rater(column, place, rater, estimator) for place, rater in enumerate(raters)),
        pairs=tuple(_pairs(column, raters)),
    )


def _expected(
    column: QuestionRatings, rated: Bools, hits: Bools, estimator: Estimator
) -> tuple[Estimate | None, Estimate | None]:
    """The shares of items, and of sets of several items, that are as expected; both flags are (items,)."""
    considered = np.flatnonzero(rated & column.expecting)
    share = estimator.share(hits[considered], considered)
    if estimator.units.n_sets == len(hits):
        return share, None
    return share, estimator.set_share(hits, rated, column.expecting)


def _rater(column: QuestionRatings, place: int, rater: int, estimator: Estimator) -> RaterSummary:
    rated = column.rated[:, place]
    scores = column.scores[rated, place] if column.question.scores else np.empty(0)
    expected, sets = None, None
    if column.expecting.any():
        expected, sets = _expected(column, rated, column.as_expected[:, place], estimator)
    return RaterSummary(
        rater=rater,
        rated=int(rated.sum()),
        missing=int((~rated).sum()),
        mean=float(scores.mean()) if len(scores) else None,
        expected=expected,
        expected_sets=sets,
    )


def _pairs(column: QuestionRatings, raters: Sequence[int]) -> Iterator[RaterPair]:
    for one, other in combinations(range(len(raters)), 2):
        both = column.rated[:, one] & column.rated[:, other]
        steps = np.abs(column.codes[both, one] - column.codes[both, other])
        exact = float((steps == 0).mean()) if len(steps) else None
        adjacent = float((steps <= 1).mean()) if len(steps) and column.scaled else None
        yield RaterPair((raters[one], raters[other]), len(steps), exact, adjacent)


def _disagreements(column: QuestionRatings, ratings: Ratings) -> Iterator[Disagreement]:
    question, tolerated = column.question, 1 if column.scaled else 0
    for position, (item, codes) in enumerate(zip(ratings.key.items, column.codes, strict=True)):
        given = {rater: int(code) for rater, code in zip(ratings.raters, codes, strict=True) if code != MISSING}
        expected = item.expected.get(question.name, ())
        apart = max(given.values(), default=0) - min(given.values(), default=0) > tolerated
        if apart or (expected and any(question.values[code] not in expected for code in given.values())):
            yield Disagreement(
                question=question.name,
                item=item.item,
                name=item.name,
                set=item.set,
                role=item.role,
                expected=expected,
                ratings={rater: question.values[code] for rater, code in given.items()},
                comments={
                    rater: ratings.comments[position, rater]
                    for rater in ratings.raters
                    if (position, rater) in ratings.comments
                },
                texts=item.texts,
            )
