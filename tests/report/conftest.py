"""A suite with planted answers and its measures, made once."""

from __future__ import annotations

import pytest

from tests.report.synthetic import MODELS, Study, make_frame, make_suite, measures_of


@pytest.fixture(scope="session")
def study() -> Study:
    suite = make_suite(20)
    frame = make_frame(suite, MODELS)
    return Study(suite, frame, measures_of(suite, frame))
