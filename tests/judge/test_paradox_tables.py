"""Responses built to the counts of the published tables give the published measures (arXiv 2601.09373)."""

from __future__ import annotations

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from veridical.judge import baseline_frame, judge

from .judging import frame, get, group_answers, paradox

SUITE = paradox()

ZERO_SHOT = {
    # accuracy in A, B, C, D; TBR; gap
    "Llama-3.1-8B": (0.47, 0.85, 0.02, 0.98, 0.98, 0.00),
    "Mistral-7B": (0.37, 0.92, 0.02, 1.00, 0.97, 0.03),
    "Yi-1.5-9B": (0.35, 0.94, 0.02, 1.00, 0.98, 0.02),
    "DeepSeek-7B": (0.04, 0.88, 0.00, 1.00, 1.00, 0.00),
    "Gemma-2-9B": (0.03, 0.96, 0.06, 1.00, 0.94, 0.06),
    "GLM-4-9B": (0.14, 0.98, 0.03, 1.00, 0.97, 0.03),
    "Qwen2.5-1.5B": (0.21, 0.96, 0.00, 1.00, 1.00, 0.00),
    "Qwen2.5-7B": (0.20, 0.98, 0.47, 0.97, 0.53, 0.44),
    "Qwen2.5-14B": (0.24, 0.86, 0.39, 0.98, 0.61, 0.37),
    "Qwen2.5-32B": (0.53, 0.90, 0.91, 0.92, 0.09, 0.83),
    "Qwen2.5-72B": (0.43, 0.88, 0.84, 0.97, 0.16, 0.81),
}

PROMPTS = {
    # accuracy in C and D; TBR
    ("Llama-3.1-8B", "dap"): (0.36, 0.99, 0.45),
    ("Llama-3.1-8B", "cot"): (0.67, 0.65, 0.33),
    ("Llama-3.1-8B", "counterfactual"): (0.97, 0.00, 0.00),
    ("Qwen2.5-7B", "dap"): (0.89, 0.72, 0.09),
    ("Gemma-2-9B", "cot"): (0.98, 0.15, 0.02),
}


def of_hundred(rate: float) -> int:
    return round(100 * rate)


def group_c(accuracy: float, tbr: float) -> dict[str, int]:
    right, true = of_hundred(accuracy), of_hundred(tbr)
    return {"Unknown": right, "True": true, "False": 100 - right - true}


@pytest.mark.parametrize(("model", "row"), ZERO_SHOT.items(), ids=ZERO_SHOT)
def test_zero_shot_table(model: str, row: tuple[float, ...]) -> None:
    a, b, c, d, tbr, gap = row
    counts = {
        "A": {"False": of_hundred(a), "True": 100 - of_hundred(a)},
        "B": {"True": of_hundred(b), "False": 100 - of_hundred(b)},
        "C": group_c(c, tbr),
        "D": {"True": of_hundred(d), "Unknown": 100 - of_hundred(d)},
    }
    measures = judge(SUITE, frame(SUITE, group_answers(counts), model=model), draws=200)
    for group, expected in zip("ABCD", (a, b, c, d), strict=True):
        record = get(measures, "accuracy", group=group)
        assert record.value == pytest.approx(expected)
        assert (record.low, record.high) == pytest.approx(
            proportion_confint(of_hundred(expected), 100, method="wilson")
        )
        assert (record.interval, record.n_sets, record.n_items) == ("Wilson", 100, 100)
    assert get(measures, "tbr").value == pytest.approx(tbr)
    record = get(measures, "aspectual_awareness_gap")
    assert record.value == pytest.approx(gap)
    expected = confint_proportions_2indep(of_hundred(d), 100, of_hundred(tbr), 100, method="newcomb")
    assert (record.low, record.high) == pytest.approx(expected)
    assert (record.interval, record.n_sets, record.n_items) == ("Newcombe", 200, 200)


@pytest.mark.parametrize(("key", "row"), PROMPTS.items(), ids=map(" ".join, PROMPTS))
def test_prompt_table(key: tuple[str, str], row: tuple[float, float, float]) -> None:
    c, d, tbr = row
    counts = {"C": group_c(c, tbr), "D": {"True": of_hundred(d), "Unknown": 100 - of_hundred(d)}}
    answered = frame(SUITE, group_answers(counts), model=key[0], prompt=key[1], mode="generate")
    measures = judge(SUITE, answered, draws=200)
    assert get(measures, "accuracy", group="C").value == pytest.approx(c)
    assert get(measures, "accuracy", group="D").value == pytest.approx(d)
    assert get(measures, "tbr").value == pytest.approx(tbr)
    assert get(measures, "aspectual_awareness_gap").value == pytest.approx(d - tbr)
    assert get(measures, "overcaution").value == pytest.approx(1 - d)


@pytest.mark.parametrize("label", ["True", "False", "Unknown"])
def test_constant_responder_has_zero_gap_or_less(label: str) -> None:
    """Always-True and always-Unknown score 0, as the paper says; always-False does too."""
    measures = judge(SUITE, baseline_frame(SUITE, [label]))
    always = [m for m in measures if m.answerer == f"always:{label}"]
    record = get(always, "aspectual_awareness_gap")
    assert record.value == 0
    # 100 of 100 against 100 of 100, or 0 against 0: Wilson's limit on either side, never [0, 0]
    limit = 1 - 100 / (100 + 1.959964**2)
    assert (record.low, record.high) == pytest.approx((-limit, limit), abs=1e-6)
    assert get(always, "tbr").value == (1 if label == "True" else 0)


def test_published_class_sizes_give_class_rates() -> None:
    """39, 44, 9 and 8 verbs: TBR by class, and the gap of each against all of D."""
    sizes = {"Creation": 39, "Change_of_State": 44, "Consumption": 9, "Motion_to_Goal": 8}
    classes = [name for name, n in sizes.items() for _ in range(n)]
    published = paradox(classes=classes)
    true = {"Creation": 30, "Change_of_State": 22, "Consumption": 3, "Motion_to_Goal": 8}
    answers = group_answers({"D": {"True": 90, "Unknown": 10}})
    start = 0
    for name, n in sizes.items():
        answers |= {f"C{start + i}": "True" if i < true[name] else "Unknown" for i in range(n)}
        start += n
    measures = judge(published, frame(published, answers), draws=200)
    for name, n in sizes.items():
        assert get(measures, "tbr", verb_class=name).value == pytest.approx(true[name] / n)
        record = get(measures, "aspectual_awareness_gap", verb_class=name)
        assert record.value == pytest.approx(0.9 - true[name] / n)
        expected = confint_proportions_2indep(90, 100, true[name], n, method="newcomb")
        assert (record.low, record.high) == pytest.approx(expected)
    assert get(measures, "tbr").value == pytest.approx(63 / 100)
