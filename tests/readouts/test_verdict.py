"""The four verdicts on a readout, by planted measures on either side of each threshold."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from veridical.judge.measure import Measure
from veridical.readouts.verdict import readout_verdicts

from .questions import item, judged

SUITE = judged()
"""Three labels occur: constant answers reach a third."""


def measure(
    answerer: str,
    low: float,
    high: float,
    against: str | None = None,
    *,
    model: str = "m",
    p: float | None = 0.01,
    n_sets: int = 20,
    mode: str = "loglikelihood",
    statuses: Mapping[str, int] = MappingProxyType({"ok": 40}),
) -> Measure:
    return Measure(
        suite="primary",
        model=model,
        answerer=answerer,
        prompt="ask",
        mode=mode if answerer == "model" else "readout",
        measure="balanced_accuracy",
        value=(low + high) / 2,
        low=low,
        high=high,
        against=None if against is None else {"answerer": against},
        p=p if answerer == "readout" else None,
        n_sets=n_sets,
        n_items=40,
        statuses=dict(statuses),
    )


def of_answers(name: str, value: float, mode: str = "loglikelihood", **where: str) -> Measure:
    """A measure of the model's own answers to 40 items."""
    fields = {"suite": "primary", "model": "m", "prompt": "ask", "mode": mode, "measure": name}
    return Measure(**fields, value=value, slice=where, n_items=40, statuses={"ok": 40})


TEXT = (
    measure("option_logits", 0.2, 0.5),
    measure("text_words", 0.3, 0.5),
    measure("text_characters", 0.3, 0.5),
    measure("readout", 0.1, 0.6, against="text_words"),
    measure("readout", 0.1, 0.6, against="text_characters"),
)
"""Baselines that the readout beats."""


def message(readout: float, model: float, options: float, words: float, characters: float) -> str:
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
    sentence = message(readout, model, options, words, characters)
    assert sentence.startswith(f"primary, m, ask: {expected}")
    assert "at this position" in sentence


def test_the_baselines_are_always_next_to_it() -> None:
    sentence = message(0.4, 0.4, 0.4, 0.1, 0.1)
    assert (
        "readout 65 % [40, 90], p .010; answers by loglikelihood 65 % [40, 90]; option scores 65 % [40, 90]" in sentence
    )
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


def sentence_of(*records: Measure, against: Mapping[tuple[str, str, str], str] | None = None) -> str:
    (sentence, *_) = readout_verdicts([SUITE], [*records, *TEXT], against)
    return sentence


def test_nothing_is_claimed_below_twenty_sets() -> None:
    sentence = sentence_of(measure("readout", 0.8, 0.9, n_sets=19), measure("model", 0.2, 0.3))
    assert "19 sets are too few to say anything of a readout" in sentence
    assert "decodable" not in sentence
    assert "decodable" in sentence_of(measure("readout", 0.8, 0.9, n_sets=20), measure("model", 0.2, 0.3))


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.05, "linearly decodable at"), (0.06, "beyond what permuted labels reach"), (None, "no null was drawn")],
)
def test_what_permuted_labels_reach_is_not_called_decodable(p: float | None, said: str) -> None:
    assert said in sentence_of(measure("readout", 0.8, 0.9, p=p), measure("model", 0.2, 0.3))


def test_with_little_label_mass_neither_expressed_nor_not_expressed_is_said() -> None:
    for low in (0.2, 0.4):
        sentence = sentence_of(measure("readout", 0.8, 0.9), measure("model", low, 0.9), of_answers("label_mass", 0.02))
        message = "whether it is expressed cannot be said, since the labels together have only 2 % of its probability ("
        assert message in sentence
    assert "cannot be said" not in sentence_of(
        measure("readout", 0.8, 0.9), measure("model", 0.4, 0.9), of_answers("label_mass", 0.5)
    )


def test_a_constant_answer_is_named() -> None:
    share = of_answers("constant_share", 1.0, label="False")
    sentence = sentence_of(measure("readout", 0.8, 0.9), measure("model", 0.2, 0.4), share)
    assert "not expressed, as it answers False whatever it is asked (" in sentence


def test_answers_that_are_mostly_unusable_settle_nothing() -> None:
    bad = measure("model", 0.0, 0.2, statuses={"ok": 3, "unparsed": 37})
    sentence = sentence_of(measure("readout", 0.8, 0.9), bad)
    assert "cannot be said, since only 3 of 40 of its answers are usable" in sentence


def test_the_mode_whose_answers_are_meant_is_named() -> None:
    both = [measure("model", 0.2, 0.3), measure("model", 0.6, 0.8, mode="generate")]
    scored = sentence_of(measure("readout", 0.8, 0.9), *both)
    written = sentence_of(measure("readout", 0.8, 0.9), *both, against={("primary", "m", "ask"): "generate"})
    assert "not expressed (" in scored
    assert "answers by loglikelihood 25 %" in scored
    assert ", and expressed (" in written
    assert "answers by generate 70 %" in written


def test_what_a_twin_with_random_weights_reaches_is_not_called_decodable() -> None:
    own = [measure("readout", 0.6, 0.9), measure("model", 0.2, 0.3)]
    twin = [measure("readout", low, low + 0.1, model="m (random weights)") for low in (0.4, 0.6)]
    assert "linearly decodable at this position, and not" in sentence_of(*own, twin[0])
    assert "readout of a twin with random weights 45 % [40, 50]" in sentence_of(*own, twin[0])
    assert "not linearly decodable" in sentence_of(*own, twin[1]) or "neither linearly" in sentence_of(*own, twin[1])
    assert "beyond a twin with random weights" in sentence_of(*own, twin[1])
