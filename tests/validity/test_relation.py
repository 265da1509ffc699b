"""A gain says by which sign it comes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.validity.making import planted
from veridical.report.validity import page
from veridical.validity.analysis import analyse
from veridical.validity.relation import slope_of


def test_a_gain_through_a_negative_relation_says_so_everywhere() -> None:
    table = planted()
    scores = table.scores.copy()
    scores[:, table.names.index("skill")] *= -1
    turned = analyse(replace(table, scores=scores), draws=199)
    plain = analyse(table, draws=199)
    one, other = (
        next(gain for gain in of.record.gains if (gain.benchmark, gain.outcome) == ("skill", "needed"))
        for of in (turned, plain)
    )
    assert (one.relation, other.relation) == ("negative", "positive")
    assert one.slope == pytest.approx(-other.slope)
    assert one.mae_gain == pytest.approx(other.mae_gain)
    assert "skill (for needed (negatively))" in turned.record.verdicts[0]
    sentence = next(text for text in turned.record.verdicts if text.startswith("skill adds to model size"))
    assert "through a negative relation" in sentence
    assert "negative" not in " ".join(text for text in plain.record.verdicts if text.startswith("skill adds"))
    assert "(−)" in page(turned).split('id="outcome-0"')[1]


def test_a_relation_whose_sign_differs_between_fits_is_mixed() -> None:
    x, y = np.array([0.0, 2.0]), np.array([0.0, 4.0])
    # Slope 2 by hand: sd(y) / sd(x) = 2, so that a raw slope of 2 is 1 in standard deviations.
    assert slope_of(np.array([2.0, 2.0]), x, y).standardised == pytest.approx(1)
    assert slope_of(np.array([2.0, 1.0]), x, y).relation == "positive"
    assert slope_of(np.array([2.0, -1.0]), x, y).relation == "mixed"
    assert slope_of(np.array([-2.0, 0.0]), x, y).relation == "negative"
    assert slope_of(np.zeros(2), x, y).relation == "none"
    assert slope_of(np.ones(2), x, np.ones(2)).relation == "none"
