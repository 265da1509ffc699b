"""Phrases found in sentences, and correlations over classes and items against values worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from veridical.readouts.representation import compared_items, cosines, phrases, representations
from veridical.suites.registry import load


def test_a_phrase_is_what_follows_the_shared_subject() -> None:
    suite = load("imperfective")
    for item in compared_items(suite):
        for phrase, field in zip(phrases(item), ("premise", "hypothesis"), strict=True):
            text = item.fields[field]
            subject, own = text[: phrase.start], phrase.text[phrase.start : phrase.stop]
            assert own in text
            assert not own.endswith(".")
            assert subject.endswith(" ")
            assert item.fields["premise"].startswith(subject)
            assert item.fields["hypothesis"].startswith(subject)
        progressive, _ = phrases(item)
        assert progressive.text[progressive.start :].split()[0] in ("was", "were")


class Planted:
    """A model of two layers: at layer 0 both phrases are one vector, at layer 1 they are at the angle of their item."""

    n_blocks = 1

    def __init__(self, angles: Sequence[float]) -> None:
        self.angles = angles

    def read_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], layers: Sequence[int]) -> np.ndarray:
        states = np.zeros((len(texts), 2, 2), dtype=np.float32)
        states[:, 0] = (3.0, 0.0)
        for place, angle in enumerate(self.angles):
            states[2 * place, 1] = (2.0, 0.0)
            states[2 * place + 1, 1] = (math.cos(angle), math.sin(angle))
        return states


def test_cosines_by_class_and_their_correlation_with_bias() -> None:
    suite = load("imperfective")
    by_class: dict[str, list] = {}
    for item in suite.items:
        if item.factors["group"] == "C":
            by_class.setdefault(str(item.factors["verb_class"]), []).append(item)
    items = [item for found in by_class.values() for item in found[:2]]
    # Class k: cosines .9 - .1 k for both items; answered True in 0, 1, 1 and 2 of the two.
    wanted = [0.9 - 0.1 * (place // 2) for place in range(8)]
    values = cosines(Planted([math.acos(value) for value in wanted]), items)
    np.testing.assert_allclose(values[:, 0], 1.0)
    np.testing.assert_allclose(values[:, 1], wanted, atol=1e-6)
    said = [False, False, True, False, True, False, True, True]
    scores = [[math.log(0.1 * (place + 1)), math.log(1 - 0.1 * (place + 1))] for place in range(8)]
    frame = pl.DataFrame(
        {
            "item": [item.id for item in items],
            "label": ["True" if true else "Unknown" for true in said],
            "labels": [["True", "Unknown"]] * 8,
            "scores": scores,
        }
    )
    flat, angled = representations(suite, items, values, frame)
    assert flat.r is None
    assert flat.rho is None
    assert list(angled.tbr.values()) == [0.0, 0.5, 0.5, 1.0]
    # x = 0, 1, 2, 3 (times -.1) against 0, .5, .5, 1: r = -1.5 / sqrt(5 * .5).
    assert angled.r == pytest.approx(-1.5 / math.sqrt(2.5), abs=1e-6)
    assert angled.n == 4
    # t = r sqrt(2 / (1 - r^2)) on 2 degrees of freedom, whose two-sided p is 1 - |t| / sqrt(2 + t^2) = 1 - |r|.
    assert angled.p == pytest.approx(1 - 1.5 / math.sqrt(2.5), abs=1e-6)
    # Cosines fall as P(True) rises, with ties within a class: ranks 7.5 7.5 5.5 5.5 ... against 1 to 8.
    assert angled.rho == pytest.approx(-40 / math.sqrt(42 * 40), abs=1e-6)
    assert angled.rho_n == 8
