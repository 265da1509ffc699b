"""Sentences claim what the tests can show, and say so where they can show nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.validity.making import planted, without
from veridical.validity import inference, results
from veridical.validity.analysis import analyse
from veridical.validity.axes import specificity_sentence
from veridical.validity.summaries import Specificity
from veridical.validity.verdict import verdicts
from veridical.validity.wording import amount, magnitude

VARIANTS = {"variants": {"copy": "skill", "poor": "skill"}}


def test_models_alone_in_their_families_show_nothing_and_not_that_nothing_is_added(recwarn) -> None:
    table = planted(6, 2)
    alone = replace(table, families=table.models)
    message = analyse(alone, draws=99).record.verdicts
    assert message[0].startswith(
        "Whether any of 2 benchmarks adds to model size for predicting any of 2 outcomes cannot be"
    )
    assert not [t for t in message if "adds nothing" in t or "is not shown to add" in t]
    assert [t for t in message if t.startswith("skill cannot be tested within families for what it adds")]
    assert not recwarn.list


def test_too_few_draws_for_so_many_tests_are_said_with_the_number_needed() -> None:
    # 4 benchmarks and 2 outcomes: 8 tests, so that the least p after Holm is 8 / (draws + 1).
    few, enough = (analyse(planted(**VARIANTS), draws=draws).record.verdicts for draws in (99, 159))
    assert [t for t in few if "no p of 8 tests can be .050 or less after correction: give --draws 160" in t]
    assert not [t for t in enough if "--draws" in t]
    assert "cannot be shown with 99 draws" in few[0]
    assert few[0] != enough[0]


@pytest.mark.parametrize(
    ("mae_gain", "p", "holm", "does"),
    [
        (0.02, 0.01, 0.04, "adds to"),
        (0.02, 0.04, 0.16, "may add to"),
        (0.02, 0.20, 0.80, "is not shown to add to"),
        (-0.02, 0.80, 1.00, "adds nothing to"),
        (0.0, 1.00, 1.00, "adds nothing to"),
    ],
)
def test_a_gain_above_zero_without_a_small_p_is_not_called_nothing(mae_gain, p, holm, does) -> None:
    test = inference.Tested(p=p, holm=holm, bh=holm, tests=4, least=0.001, null="")
    size = results.Accuracy(mae=0.1, rmse=0.1, r2=0.5, rho=0.5)
    gain = results.Gain(
        benchmark="A",
        outcome="B",
        baseline="size",
        n=20,
        families=9,
        fixed=0,
        mean=size,
        without=size,
        with_benchmark=size,
        mae_gain=mae_gain,
        rmse_gain=0,
        r2_gain=0,
        rho_gain=0,
        interval=inference.Span(low=-0.1, high=0.1, level=0.95, method=""),
        test=test,
        p_squared=p,
        flip=test,
        influence={"f": 0.01, "g": 0.01},
    )
    message = verdicts(["B"], 999, [], [], [], [gain], [], [], [])
    assert any(t.startswith(f"A {does} model size for predicting B") for t in message)


def test_what_few_families_cannot_show_of_reworked_versions_is_not_denied() -> None:
    # 5 families: flipping their signs gives 2 ** -4 at the least; exchanging 30 models gives 1 / 1,000.
    record = analyse(planted(5, 6, **VARIANTS), draws=999).record
    one = next(one for one in record.comparisons if (one.reworked, one.outcome) == ("poor", "needed"))
    assert one.gain_flip.least == 2**-4
    assert one.gain_test.least == 1 / 1000
    message = next(t for t in record.verdicts if t.startswith("poor and skill rank models"))
    assert "by held-out gain it predicts worse 2 outcomes together" in message
    few = analyse(planted(5, 6, **VARIANTS), draws=99).record
    # 4 tests of 100 arrangements, .04 at the least: enough; by 3 draws less it is not.
    assert few.comparisons[0].gain_test.least * few.comparisons[0].gain_test.tests == pytest.approx(0.04)


def test_outcomes_of_few_families_are_named_next_to_those_of_many() -> None:
    table = planted(12, 6)
    for model in range(5 * 6, 72):
        table = without(table, model, "sized")
    record = analyse(table, draws=99).record
    assert record.lead == "family bootstrap"
    assert any(t.startswith("With 5 families for sized, judge by each gain") for t in record.verdicts)
    assert {gain.interval.level for gain in record.gains if gain.outcome == "sized"} == {None}
    assert {gain.interval.level for gain in record.gains if gain.outcome == "needed"} == {0.95}


def test_without_an_outcome_it_is_said_what_to_name() -> None:
    table = planted(5, 6)
    message = analyse(replace(table, roles=replace(table.roles, outcomes={})), draws=99).record.verdicts
    assert message[0].startswith("No outcome is named")
    assert "--outcome" in message[0]


@pytest.mark.parametrize("unit", [1e-13, 1e-6, 1e9])
def test_no_verdict_depends_on_the_unit_of_the_outcome(unit) -> None:
    table = planted(9, 4)
    scores = table.scores.copy()
    scores[:, table.names.index("needed")] *= unit
    plain, scaled = analyse(table, draws=199).record, analyse(replace(table, scores=scores), draws=199).record
    for one, other in zip(plain.gains, scaled.gains, strict=True):
        assert (one.test, one.flip, one.p_squared) == (other.test, other.flip, other.p_squared)
        factor = unit if one.outcome == "needed" else 1
        assert other.interval.low == pytest.approx(one.interval.low * factor, rel=1e-6)
        assert other.interval.high == pytest.approx(one.interval.high * factor, rel=1e-6)


def test_amounts_read_as_numbers_whatever_their_size() -> None:
    assert [amount(x) for x in (0.0213, -1.25, 130.4, -12_345.6, 0.0)] == ["+.021", "−1.2", "+130", "−12,346", "0"]
    assert [magnitude(x) for x in (0.02134, 1.254, 12_345.6, 999.4, 0.0)] == ["0.0213", "1.25", "12,346", "999", "0"]
    assert np.all([("e" not in magnitude(x)) for x in (1e-3, 1.0, 1e3, 1e6)])


@pytest.mark.parametrize(("p", "strict", "said"), [(0.01, 0.01, True), (0.01, 0.2, False), (0.2, 0.2, False)])
def test_what_is_said_of_axes_names_what_it_takes_for_granted(p: float, strict: float, said: bool) -> None:
    tests = [inference.Tested(p=one, least=0.001, null="") for one in (p, strict)]
    numbers = {"within": 0.2, "across": -0.1, "difference": 0.3, "raw_within": 0.6, "raw_across": 0.3}
    one = Specificity(
        statistic="partial rho", within_pairs=8, across_pairs=9, test=tests[0], common_factor_test=tests[1], **numbers
    )
    assert ("the test takes outcomes for exchangeable" in specificity_sentence(one)) is said
