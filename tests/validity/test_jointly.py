"""Several benchmarks as one set of predictors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.validity.making import planted, without
from veridical.errors import UserError
from veridical.report.validity import page
from veridical.stats.ridge import held_out_fits, leave_groups_out
from veridical.validity.analysis import analyse
from veridical.validity.joint_gain import permuted_set_errors
from veridical.validity.joint_roles import joint_of_document, joint_of_flag, joint_of_flags
from veridical.validity.leave_family_out import error_p


def test_fits_of_several_sets_of_features_are_those_one_by_one() -> None:
    rng = np.random.default_rng(0)
    groups = np.concatenate([np.arange(12), rng.integers(0, 12, 30)])
    features, y = rng.normal(size=(5, 42, 3)) + 4, rng.normal(size=(42, 2))
    together = held_out_fits(features, y, groups)
    for place, one in enumerate(features):
        alone = held_out_fits(one, y, groups)
        np.testing.assert_allclose(together.predicted[place], alone.predicted, rtol=1e-9)
        np.testing.assert_array_equal(together.penalties[place], alone.penalties)
        np.testing.assert_allclose(together.slopes[place], alone.slopes, rtol=1e-7, atol=1e-12)


def test_the_gain_of_a_set_and_what_each_adds_given_the_others() -> None:
    table = planted(9, 4, jointly={"both": ("skill", "idle")})
    record = analyse(table, draws=199).record
    one = next(one for one in record.joint_gains if one.outcome == "needed")
    y, families, z = table.column("needed")[:, None], table.family_codes, table.log_size[:, None]
    mae = {
        names: np.abs(
            y - leave_groups_out(np.column_stack([z, *(table.column(name) for name in names)]), y, families)[0]
        ).mean()
        for names in ((), ("skill",), ("idle",), ("skill", "idle"))
    }
    assert one.mae_gain == pytest.approx(mae[()] - mae["skill", "idle"])
    skill, idle = one.contributions
    assert skill.mae_gain == pytest.approx(mae["idle",] - mae["skill", "idle"])
    assert idle.mae_gain == pytest.approx(mae["skill",] - mae["skill", "idle"])
    assert one.test.holm < 0.05
    assert skill.test.holm < 0.05 < idle.test.p
    assert skill.relation == "positive"
    message = next(text for text in record.verdicts if text.startswith("both (skill, idle) together add to model size"))
    assert "for predicting needed" in message
    assert "Given the others, of its own: skill +" in message
    assert 'id="jointly"' in page(analyse(table, draws=99))


def rejections(effect: float, runs: int, slope_between: float = 1.0) -> int:
    rng, families, found = np.random.default_rng(5), np.repeat(np.arange(6), 4), 0
    for _ in range(runs):
        typical = rng.uniform(0, 2, 6)
        size = typical[families] + 0.4 * rng.normal(size=24)
        of_family = (0.5 * rng.normal(size=(4, 6)) + (slope_between - 1) * typical)[:, families]
        own = 0.5 * rng.normal(size=(24, 3))
        x = size[:, None] + of_family[:3].T + own
        y = size + of_family[3] + effect * own[:, 0] + 0.5 * rng.normal(size=24)
        found += error_p(permuted_set_errors(size[:, None], x, y[:, None], families, rng, 59)[:, 0]) <= 0.05
    return found


@pytest.mark.parametrize("slope_between", [1.0, -0.2])
def test_a_set_that_adds_nothing_is_found_as_rarely_as_p_says(slope_between) -> None:
    # Binomial(80, .05): 99.9 % are at most 11.
    assert rejections(0.0, 80, slope_between) <= 11


def test_a_set_of_which_one_is_needed_is_found() -> None:
    # By chance 5 at most, in 99.9 % of such trials.
    assert rejections(2.5, 20) >= 10


def test_sets_are_named_by_flag_and_file() -> None:
    known = ["A", "B,C", "D=E", "F"]
    assert joint_of_flag("A,F", known) == ("A + F", ("A", "F"))
    assert joint_of_flag("mine=A,B,C", known) == ("mine", ("A", "B,C"))
    assert joint_of_flag("D=E,F", known) == ("D=E + F", ("D=E", "F"))
    assert joint_of_document(Path("r.yaml"), {"s": ["A", "F"]}) == {"s": ("A", "F")}
    assert planted(jointly={"s": ("skill", "copy")}).roles.predictors == ("skill", "idle", "copy")


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["A"], "two benchmarks or more"),
        (["A,A"], "'A' is listed 2 times"),
        (["A,Z"], "'Z'"),
        (["s=A,F", "s=F,A"], "given twice"),
    ],
)
def test_sets_that_cannot_be_are_refused(flags, says) -> None:
    with pytest.raises(UserError, match=says):
        joint_of_flags(flags, ["A", "F"])
    with pytest.raises(UserError, match="must be a list"):
        joint_of_document(Path("r.yaml"), {"s": "A"})


def test_the_same_set_in_another_order_has_the_same_gain() -> None:
    one, other = (
        analyse(planted(6, 4, jointly={"s": members}), draws=99).record.joint_gains[0]
        for members in (("skill", "idle"), ("idle", "skill"))
    )
    assert one.mae_gain == pytest.approx(other.mae_gain)


def test_every_gain_rests_on_the_models_that_have_size_and_all_controls() -> None:
    """Of 36 models one has no control, another no score on `skill`, a third none on the second control."""
    table = planted(9, 4, controls=("check", "poor"), jointly={"both": ("skill", "idle")}, outcomes={"needed": ""})
    table = without(without(without(table, 2, "check"), 7, "skill"), 11, "poor")
    record = analyse(table, draws=99).record
    n = {(one.benchmark, one.baseline): one.n for one in record.gains}
    joint = {one.baseline: one.n for one in record.joint_gains}
    assert n == {(b, z): 34 - (b == "skill") for b in ("skill", "idle") for z in ("size", "size + controls")}
    assert joint == {"size": 33, "size + controls": 33}
    assert {one.benchmark: one.n for one in record.partials} == {"skill": 33, "idle": 34}
    over_size = next(one for one in record.gains if (one.benchmark, one.baseline) == ("skill", "size"))
    assert record.joint_gains[0].mae_without == pytest.approx(over_size.without.mae)
    notes = [note.message for note in record.quality if note.where == ("check",)]
    assert notes == [
        "check: 1 of 36 models have no score, and are left out of partial correlations and of every gain, "
        "over size alone too"
    ]
