"""Text baselines: the vocabulary of what is fitted, and texts that have no word."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.readouts.text import VECTORIZERS, prepared_text


@pytest.mark.parametrize("answerer", VECTORIZERS)
def test_a_word_that_gives_the_label_away_is_learnt(answerer: str) -> None:
    labels = np.tile([0, 1], 10)
    texts = [f"{'north' if label else 'south'} {place}" for place, label in enumerate(labels)]
    chosen = prepared_text(answerer, texts, np.arange(20).tolist(), ["north wind", "south wind"]).choose(
        labels[None], 2
    )
    assert chosen.answers.tolist() == [[1, 0]]


@pytest.mark.parametrize("answerer", VECTORIZERS)
def test_one_letter_words_count(answerer: str) -> None:
    labels = np.tile([0, 1], 10)
    texts = ["a 3" if label else "b 4" for label in labels]
    chosen = prepared_text(answerer, texts, np.arange(20).tolist(), ["a 3", "b 4"]).choose(labels[None], 2)
    assert chosen.answers.tolist() == [[1, 0]]


def test_texts_without_a_word_are_all_answered_alike() -> None:
    labels = np.array([0, 1, 1, 0, 1] * 4)
    chosen = prepared_text("text_words", ["???"] * 20, np.arange(20).tolist(), ["!", "?"]).choose(labels[None], 2)
    assert chosen.answers.tolist() == [[1, 1]]
