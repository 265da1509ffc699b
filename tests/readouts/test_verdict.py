"""The four verdicts on a readout, by planted measures on either side of each threshold."""

from __future__ import annotations

import pytest

from veridical.judge.measure import Measure
from veridical.readouts.verdict import readout_verdicts

from .questions import item, judged

SUITE = judged()
"""Three labels occur: constant answers reach a third."""


def measure(answerer: str, low: float, high: float, against: str | None = None) -> Measure:
    return Measure(
        suite="primary",
        model="m",
        answerer=answerer,
        prompt="ask",
        mode="loglikelihood" if answerer == "model" else "readout",
        measure="balanced_accuracy",
        value=(low + high) / 2,
        low=low,
        high=high,
        against=None if against is None else {"answerer": against},
    )


def told(readout: float, model: float, options: float, words: float, characters: float) -> str:
    """The verdict where these are the lower ends: of three accuracies, and of two paired differences from text."""
    records = [
        measure("readout", readout, 0.9),
        measure("model", model, 0.9),
        measure("option_logits", options, 0.9),
        measure("text_words", 0.3, 0.5),
        measure("text_characters", 0.3, 0.5),
        measure("readout", words, 0.6, against="text_words"),
        measure("readout", characters, 0.6, against="text_characters"),
    ]
    (sentence,) = readout_verdicts([SUITE], records)
    return sentence


DECODABLE = "linearly decodable at this position, and "


@pytest.mark.parametrize(
    ("readout", "model", "options", "words", "characters", "expected"),
    [
        (0.40, 0.40, 0.20, 0.05, 0.05, DECODABLE + "expressed ("),
        (0.40, 0.20, 0.40, 0.05, 0.05, DECODABLE + "expressed in its option scores, not in its answers"),
        (0.40, 0.30, 0.30, 0.05, 0.05, DECODABLE + "not expressed"),
        # Not above what constant answers reach; not above one of the text baselines.
        (0.33, 0.40, 0.20, 0.05, 0.05, "expressed, and not linearly decodable"),
        (0.40, 0.40, 0.20, 0.05, -0.01, "expressed, and not linearly decodable"),
        (0.40, 0.30, 0.30, 0.00, 0.05, "neither linearly decodable"),
        (
            0.40,
            0.30,
            0.40,
            0.00,
            0.05,
            "expressed in its option scores, not in its answers, and not linearly",
        ),
    ],
)
def test_each_threshold(
    readout: float, model: float, options: float, words: float, characters: float, expected: str
) -> None:
    sentence = told(readout, model, options, words, characters)
    assert sentence.startswith(f"primary, m, ask: {expected}")
    assert "at this position" in sentence


def test_the_baselines_are_always_beside_it() -> None:
    sentence = told(0.4, 0.4, 0.4, 0.1, 0.1)
    assert "readout 65 % [40, 90]; answers 65 % [40, 90]; option scores 65 % [40, 90]" in sentence
    assert "text words 40 % [30, 50]; text characters 40 % [30, 50]; constant answers 33 %" in sentence


def test_without_text_baselines_nothing_is_called_encoded() -> None:
    (sentence,) = readout_verdicts([SUITE], [measure("readout", 0.8, 0.9), measure("model", 0.2, 0.3)])
    assert sentence.startswith("primary, m, ask: neither linearly decodable")


def test_no_readout_no_sentence() -> None:
    assert readout_verdicts([SUITE], [measure("model", 0.4, 0.6)]) == []


def test_a_label_that_only_items_with_several_golds_have_does_not_lower_what_constant_answers_reach() -> None:
    either = item("either", "Favors").model_copy(update={"gold": ("Favors", "Unresolved")})
    more = SUITE.model_copy(update={"items": (*SUITE.items, either)})
    records = [measure("readout", 0.2, 0.4), measure("model", 0.3, 0.4)]
    assert readout_verdicts([more], records) == readout_verdicts([SUITE], records)
