"""The inflector comes without spaCy, which it would load wherever it is installed."""

from __future__ import annotations

import subprocess
import sys


def test_a_verb_is_inflected_without_spacy_and_torch() -> None:
    code = (
        "import sys; from veridical.suites.imperfective.sentences import inflect\n"
        "print(inflect('build', 'VBD'), [name for name in ('spacy', 'torch') if name in sys.modules])\n"
        "import importlib.util; assert importlib.util.find_spec('spacy') is not None"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["built", "[]"]
