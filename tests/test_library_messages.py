"""Warnings of libraries are collected, each once, and never printed past us."""

from __future__ import annotations

import logging
import warnings

import pytest
from transformers.utils import logging as transformers_logging

from veridical.library_messages import LONGEST, collected


def test_loggers_and_warnings_are_heard_each_once(capfd: pytest.CaptureFixture[str]) -> None:
    with collected() as heard:
        for _ in range(2):
            logging.getLogger("transformers.models.llama").warning("a wrong\n  pre-tokeniser: %s", "x")
            logging.getLogger("gguf").error("a torn tensor")
            logging.getLogger("transformers.models.llama").info("nothing of note")
            warnings.warn("the context is cut", stacklevel=1)
    assert heard == ["transformers: a wrong pre-tokeniser: x", "gguf: a torn tensor", "python: the context is cut"]
    assert capfd.readouterr() == ("", "")


def test_what_speaks_to_callers_of_a_library_is_left_out() -> None:
    with collected() as heard:
        warnings.warn("soon gone", FutureWarning, stacklevel=1)
        logging.getLogger("transformers").warning("`torch_dtype` is deprecated! Use `dtype` instead!")
        logging.getLogger("transformers.modeling_utils").warning("BertModel LOAD REPORT from: x\nKey | Status")
    assert heard == []


def test_a_warning_that_is_given_once_a_process_is_heard_for_every_model() -> None:
    logger = transformers_logging.get_logger("transformers.some_model")
    for _ in range(2):
        with collected() as heard:
            logger.warning_once("this model's settings are ignored")
            warnings.warn_explicit("and these", UserWarning, "/lib/torch/nn.py", 1, registry={})
        assert heard == ["transformers: this model's settings are ignored", "torch: and these"]


def test_an_outer_context_has_what_an_inner_one_collects_and_all_is_put_back() -> None:
    logger = logging.getLogger("transformers")
    before = (logger.level, logger.propagate, logger.handlers[:], warnings.showwarning)
    with collected() as outer:
        logger.warning("one")
        with collected() as inner:
            logger.warning("two")
        logger.warning("three")
    assert inner == ["transformers: two"]
    assert outer == ["transformers: one", "transformers: two", "transformers: three"]
    assert (logger.level, logger.propagate, logger.handlers[:], warnings.showwarning) == before


def test_a_message_is_one_line_of_bounded_length_without_colours() -> None:
    with collected() as heard:
        logging.getLogger("torch").warning("\x1b[1mred\x1b[0m " + "x" * 5000)
    assert heard[0].startswith("torch: red xxx")
    assert len(heard[0]) == len("torch: ") + LONGEST
