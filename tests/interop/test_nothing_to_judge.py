"""Answers whose scores are neither right nor wrong are kept, and `judge` says that it measured nothing."""

from __future__ import annotations

from tests.cli.test_bad_input import call
from tests.interop.sampled import text_record, write_samples
from veridical.interop.imports.importing import import_logs


def test_judge_says_so_where_no_answer_is_right_or_wrong(tmp_path):
    samples = write_samples(
        tmp_path / "logs", [text_record(number, "a text", 0.3 + number / 10) for number in range(4)]
    )
    import_logs("lm-eval", samples, tmp_path / "run")
    done = call("judge", tmp_path / "run")
    assert done.returncode == 0
    assert "nothing is measured: no item here has a right answer that is known" in done.stderr
