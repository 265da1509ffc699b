"""What the tests of variants share: the tagger, loaded once."""

from __future__ import annotations

import pytest

from veridical.variation.tagging import MODELS, SpacyTagger, load_tagger


@pytest.fixture(scope="session")
def tagger() -> SpacyTagger:
    """The English spaCy pipeline that is installed."""
    spacy = pytest.importorskip("spacy")
    if not any(spacy.util.is_package(name) for name in MODELS):
        pytest.skip(f"none of the spaCy pipelines {', '.join(MODELS)} is installed")
    return load_tagger()
