"""The embedded SmolLM2 from the question to the report, and beside two copies of itself."""

from __future__ import annotations

import copy
from typing import Any

import polars as pl
import pytest

import veridical
from veridical.judge.measure import Measure

pytestmark = pytest.mark.model

NOISE = 0.1
"""Standard deviation of the noise in the planted copy, in those of the weights it is added to."""


@pytest.fixture(scope="module")
def study(smollm2: Any, tmp_path_factory: pytest.TempPathFactory) -> veridical.Study:
    return veridical.run(
        ["imperfective", "imperfective-quads"],
        model=smollm2,
        prompts=["zero-shot", "cot"],
        mode=["loglikelihood", "generate"],
        limit=2,
        orders=1,
        max_new_tokens=48,
        out=tmp_path_factory.mktemp("real") / "study",
    )


def test_both_suites_are_answered_in_both_modes(study: veridical.Study) -> None:
    assert study.failed == 0
    asked = study.responses.select("suite", "mode", "prompt").unique().sort("suite", "mode", "prompt").rows()
    assert asked == [
        (suite, mode, prompt)
        for suite in ("imperfective", "imperfective-quads")
        for mode, prompts in (("generate", ("cot", "zero-shot")), ("loglikelihood", ("zero-shot",)))
        for prompt in prompts
    ]
    scored = study.responses.filter(mode="loglikelihood")
    assert scored["status"].unique().to_list() == ["ok"]
    assert scored["label_mass"].is_between(0, 1).all()
    assert study.responses.filter(mode="generate")["text"].str.len_chars().min() > 0


def test_the_measures_are_there_with_bounds_around_them(study: veridical.Study) -> None:
    for suite in ("imperfective", "imperfective-quads"):
        for mode in ("loglikelihood", "generate"):
            found = [m for m in study.records if (m.suite, m.mode, m.answerer) == (suite, mode, "model")]
            assert {m.measure for m in found} >= {"accuracy", "tbr", "aspectual_awareness_gap", "constant_share"}
            for measure in found:
                # Whatever the unanswered would have said, some label has a larger share than it has without them.
                if measure.measure == "constant_share":
                    continue
                if measure.value is not None and measure.bound_low is not None:
                    assert measure.bound_low <= measure.value + 1e-9
                    assert measure.value <= measure.bound_high + 1e-9


def test_the_run_stores_its_probes_and_the_report_is_written(study: veridical.Study) -> None:
    probes = study.runs[0].manifest.model.probes
    assert probes is not None
    assert (probes["path"], probes["greedy_repeats"]) == ("packed", True)
    assert probes["sharing_error"] < 1e-4
    page = study.report.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "probes.sharing_error" in page


@pytest.fixture(scope="module")
def compared(smollm2: Any, tmp_path_factory: pytest.TempPathFactory) -> veridical.Study:
    """float32, bfloat16 and the noisy copy on 12 sets."""
    from veridical.models import load

    models = [smollm2, load("smollm2", dtype="bfloat16", device="cpu"), noisy_copy(smollm2)]
    out = tmp_path_factory.mktemp("real") / "compared"
    return veridical.run("imperfective", model=models, prompts="zero-shot", inputs="full", limit=12, orders=1, out=out)


def noisy_copy(original: Any) -> Any:
    """The same model with Gaussian noise added to every weight matrix, under a name of its own."""
    import torch

    from veridical.models.hf import HuggingFaceModel

    model = copy.deepcopy(original.engine.model)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight += NOISE * weight.std() * torch.randn(weight.shape, generator=generator)
    return HuggingFaceModel("hf/planted/noisy", model, original.encoder.tokenizer, weights="noise of seed 0")


def labels(study: veridical.Study, model: str) -> dict[str, str | None]:
    return dict(study.responses.filter(pl.col("model").str.contains(model)).select("item", "label").iter_rows())


def test_bfloat16_agrees_with_float32_more_than_a_noisy_copy_does(compared: veridical.Study) -> None:
    found: dict[str, Measure] = {}
    for record in compared.records:
        if record.measure == "agreement":
            found[" & ".join(sorted([record.model, str((record.against or {})["model"])]))] = record
    assert len(found) == 3
    full = labels(compared, "float32")
    for other in ("bfloat16", "noisy"):
        (record,) = (r for pair, r in found.items() if "float32" in pair and other in pair)
        theirs = labels(compared, other)
        same = sum(full[item] == theirs[item] is not None for item in full)
        assert record.value == pytest.approx(same / len(full))
        assert record.paired
    close, far = (
        next(r for pair, r in found.items() if "float32" in pair and other in pair) for other in ("bfloat16", "noisy")
    )
    assert close.value > far.value


def test_contrasts_of_models_are_paired_and_have_the_sign_of_the_difference(compared: veridical.Study) -> None:
    values = {
        (m.model, m.measure, tuple(m.slice.items())): m.value
        for m in compared.records
        if m.against is None and m.answerer == "model"
    }
    contrasts = [m for m in compared.records if "model" in (m.against or {}) and m.measure != "agreement"]
    assert len({(m.model, m.against["model"]) for m in contrasts if m.against}) == 3
    for record in contrasts:
        where = (record.measure, tuple(record.slice.items()))
        assert record.paired
        assert record.against is not None
        assert record.value == pytest.approx(
            values[record.model, *where] - values[str(record.against["model"]), *where]
        )
    assert any(record.value for record in contrasts)
