"""Comparisons across prompts and models: paired, signed, adjusted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from veridical.judge import baseline_frame, contrasts, judge
from veridical.judge.answering import answerings
from veridical.judge.estimate import JudgeSettings, contrast
from veridical.judge.generic import balanced_accuracy
from veridical.judge.measure import Measure
from veridical.judge.table import table_of
from veridical.stats.multiple import holm
from veridical.stats.proportions import fisher_exact, newcombe_paired

from .judging import LABELS, frame, get, group_answers, in_sets, item, paradox, quads


def raw(measures: Sequence[Measure]) -> list[Measure]:
    return [m for m in measures if m.p is None or "Holm" not in str(m.null)]


def test_prompts_trade_a_gain_in_c_for_a_cost_in_d() -> None:
    """Qwen2.5-7B, zero-shot to dap: C .47 to .89, D .97 to .72, TBR .53 to .09, gap .44 to .63."""
    asked = paradox()
    plain = group_answers({"C": {"Unknown": 47, "True": 53}, "D": {"True": 97, "Unknown": 3}})
    dap = group_answers({"C": {"Unknown": 89, "True": 9, "False": 2}, "D": {"True": 72, "Unknown": 28}})
    both = pl.concat([frame(asked, dap, prompt="dap"), frame(asked, plain, prompt="zero-shot")])
    found = [m for m in raw(contrasts(asked, both)) if m.against == {"prompt": "zero-shot"}]
    assert {m.prompt for m in found} == {"dap"}
    gain, cost = get(found, "accuracy", group="C"), get(found, "accuracy", group="D")
    assert gain.value == pytest.approx(0.42)
    assert cost.value == pytest.approx(-0.25)
    assert get(found, "tbr").value == pytest.approx(0.09 - 0.53)
    gap = get(found, "aspectual_awareness_gap")
    assert gap.value == pytest.approx(0.63 - 0.44)
    # the first 47 of C are right under both, the next 42 under dap alone
    expected = newcombe_paired(47, 42, 0, 11)
    assert (gain.low, gain.high) == pytest.approx((expected.low, expected.high))
    assert gain.p == pytest.approx(mcnemar([[47, 42], [0, 11]], exact=True).pvalue)
    assert all(m.paired for m in found)
    assert (gain.interval, gap.interval) == ("Newcombe paired", "bootstrap over sets")
    assert 0 < gap.low < gap.value < gap.high
    # two independent samples of differences, 44 of 100 up (C no longer True) and 25 of 100 down (D lost)
    error = np.sqrt(0.44 * 0.56 / 100 + 0.25 * 0.75 / 100)
    assert gap.p == pytest.approx(2 * stats.norm.sf(0.19 / error), abs=0.003)


def test_test_and_interval_of_a_gap_agree_where_c_gains_and_d_pays() -> None:
    """+95 of 100 in C and -75 of 100 in D: the gap rises by .20, four standard errors of the sum of the two."""
    asked = paradox()
    plain = group_answers({"C": {"True": 95, "Unknown": 5}, "D": {"True": 75, "Unknown": 25}})
    other = group_answers({"C": {"Unknown": 100}, "D": {"Unknown": 100}})
    both = pl.concat([frame(asked, other, prompt="dap"), frame(asked, plain, prompt="zero-shot")])
    gap = get(raw(contrasts(asked, both)), "aspectual_awareness_gap")
    error = np.sqrt(0.95 * 0.05 / 100 + 0.75 * 0.25 / 100)
    assert gap.value == pytest.approx(0.20)
    assert (gap.low, gap.high) == pytest.approx((0.20 - 1.96 * error, 0.20 + 1.96 * error), abs=0.01)
    assert gap.p < 0.001
    assert gap.null == "the difference is 0 (bootstrap interval inverted)"


def test_balanced_accuracy_that_gains_in_one_class_and_loses_in_another_has_the_p_of_its_interval() -> None:
    """The same with recalls of classes: what one gains and another loses is no noise of their mean."""
    asked = in_sets({f"{label}{i}": [item(f"{label}{i}", (label,))] for label in ("True", "False") for i in range(60)})
    before = {f"{label}{i}": "True" for label in ("True", "False") for i in range(60)}  # recall 1 and 0
    after = {f"True{i}": "False" if i < 36 else "True" for i in range(60)} | {f"False{i}": "False" for i in range(60)}
    both = pl.concat([frame(asked, after, model="after"), frame(asked, before, model="before")])
    one, other = answerings(table_of(asked), both)
    record = contrast(*(next(balanced_accuracy(a)) for a in (one, other)), {"model": "before"}, JudgeSettings())
    assert record.value == pytest.approx((1.0 - 0.6) / 2)
    assert record.low > 0
    assert record.p < 0.001


def test_a_handful_of_sets_is_not_surer_than_its_signs() -> None:
    """Four quadruples, three of which move the same way: no pattern of three signs has a p below 1/4."""
    asked = quads(4)
    one = {f"D{i}": "True" for i in range(4)} | {f"C{i}": "Unknown" for i in range(4)}
    other = {f"D{i}": "True" for i in range(4)} | {f"C{i}": "True" if i < 3 else "Unknown" for i in range(4)}
    both = pl.concat([frame(asked, one, model="one"), frame(asked, other, model="other")])
    gap = get(raw([m for m in contrasts(asked, both) if "model" in m.against]), "aspectual_awareness_gap")
    assert gap.p >= 0.25


def test_paired_data_get_the_paired_test() -> None:
    """Trap 43: two models that agree on 189 of 200 verbs, 10 discordant for the one and 1 for the other."""
    asked = paradox(200, 0, groups="C")
    one = {f"C{i}": "Unknown" if i < 110 else "True" for i in range(200)}
    other = {f"C{i}": "Unknown" if 10 <= i < 110 or i == 199 else "True" for i in range(200)}
    both = pl.concat([frame(asked, one, model="one"), frame(asked, other, model="other")])
    record = get(raw(contrasts(asked, both))[:1], "accuracy", group="C")
    assert record.value == pytest.approx(9 / 200)
    assert record.p == pytest.approx(24 / 2048)  # McNemar exact: 1 or fewer of 11, twice
    assert fisher_exact((110, 101), (200, 200)) > 0.3  # what an unpaired test would say
    assert record.paired is True


def test_noisy_copy_of_a_model_is_reported_from_it() -> None:
    """A quarter of a good model's answers replaced at random: every measure moves the way noise moves it."""
    asked = paradox(110, 110, completed=True)
    source = np.random.default_rng(0)
    good = {one.name: one.gold[0] for one in asked.items}
    noisy = {n: LABELS[source.integers(3)] if source.random() < 0.25 else label for n, label in good.items()}
    both = pl.concat([frame(asked, good, model="good"), frame(asked, noisy, model="noisy copy")])
    found = raw(contrasts(asked, both))
    found = [m for m in found if m.against == {"model": "noisy copy"}]
    assert {m.model for m in found} == {"good"}
    for group in "CD":
        record = get(found, "accuracy", group=group)
        assert record.low > 0
        assert record.p < 0.001
    assert get(found, "tbr").high < 0
    gap = get(found, "aspectual_awareness_gap")
    expected = 1 - (
        sum(noisy[f"D{i}"] == "True" for i in range(110)) / 110
        - sum(noisy[f"C{i}"] == "True" for i in range(110)) / 110
    )
    assert gap.value == pytest.approx(expected)
    assert gap.low > 0
    assert gap.p < 0.001


def test_same_answers_do_not_differ() -> None:
    asked = paradox(20, 20, groups="CD")
    answers = group_answers({"C": {"Unknown": 8, "True": 12}, "D": {"True": 20}})
    both = pl.concat([frame(asked, answers, model=name) for name in ("a", "b")])
    found = [m for m in contrasts(asked, both) if m.against == {"model": "b"}]
    assert get(found, "agreement").value == 1
    for record in (m for m in found if m.measure != "agreement"):
        assert record.value == 0
        assert record.p == 1
        assert record.low is None or record.low < 0 < record.high
    gap = get(raw([m for m in contrasts(asked, both) if "model" in m.against]), "aspectual_awareness_gap")
    assert gap.interval == "bootstrap over sets: degenerate"


def test_gap_of_quads_is_compared_within_sets() -> None:
    asked = quads(30)
    one = {f"D{i}": "True" for i in range(30)} | {f"C{i}": "Unknown" for i in range(30)}
    other = {f"D{i}": "True" for i in range(30)} | {f"C{i}": "True" if i < 12 else "Unknown" for i in range(30)}
    both = pl.concat([frame(asked, one, model="one"), frame(asked, other, model="other")])
    record = get(raw([m for m in contrasts(asked, both) if "model" in m.against]), "aspectual_awareness_gap")
    assert record.value == pytest.approx(12 / 30)
    # 12 sets differ, all the same way: a sign flip gives 2 / 2^12 but for Monte Carlo
    assert record.p == pytest.approx(2 / 2**12, abs=0.0006)


def test_holm_is_over_the_family_and_stands_next_to_the_raw_p() -> None:
    asked = paradox(40, 40)
    answers = [
        group_answers({"C": {"Unknown": n, "True": 40 - n}, "D": {"True": 40 - n // 2, "Unknown": n // 2}})
        for n in (10, 16, 30)
    ]
    models = pl.concat([frame(asked, a, model=f"m{i}") for i, a in enumerate(answers)])
    found = [m for m in contrasts(asked, models) if "model" in m.against and m.p is not None]
    tested, adjusted = found[::2], found[1::2]
    assert len(tested) == 3 * 4  # three pairs of models; C, D, TBR, gap
    assert [m.p for m in adjusted] == pytest.approx(holm([m.p for m in tested]))
    assert all(str(b.null) == f"{a.null} (Holm over 12 contrasts)" for a, b in zip(tested, adjusted, strict=True))
    assert [(a.value, a.measure) for a in tested] == [(b.value, b.measure) for b in adjusted]


def test_only_like_is_compared_with_like() -> None:
    """Prompts within a model and mode, models within a prompt and mode; no baseline; no restricted input mixed in."""
    asked = paradox(3, 3)
    answers = {one.name: "True" for one in asked.items}
    frames = [
        frame(asked, answers, model=model, prompt=prompt, mode=mode, input=shown)
        for model, prompt, mode, shown in (
            ("a", "zero-shot", "loglikelihood", "full"),
            ("a", "dap", "loglikelihood", "full"),
            ("a", "zero-shot", "generate", "full"),
            ("a", "zero-shot", "loglikelihood", "hypothesis_only"),
            ("b", "zero-shot", "generate", "full"),
        )
    ]
    found = contrasts(asked, pl.concat([*frames, baseline_frame(asked)]))
    pairs = {(m.model, m.prompt, m.mode, m.input, *m.against.items()) for m in found if "verb_class" not in m.slice}
    assert pairs == {
        ("a", "dap", "loglikelihood", "full", ("prompt", "zero-shot")),
        ("a", "zero-shot", "generate", "full", ("model", "b")),
    }


def test_measures_with_several_items_a_set_are_compared_by_bootstrap() -> None:
    sets = {f"s{i}": [item(f"{i}a"), item(f"{i}b", ("False",))] for i in range(30)}
    asked = in_sets(sets)
    good = {one.name: one.gold[0] for one in asked.items}
    poor = {name: "Unknown" if name.endswith("a") and int(name[:-1]) < 15 else label for name, label in good.items()}
    both = pl.concat([frame(asked, good, model="good"), frame(asked, poor, model="poor")])
    found = raw(contrasts(asked, both))
    accuracy, sets_right = get(found, "accuracy"), get(found, "set_accuracy")
    assert accuracy.value == pytest.approx(0.25)
    assert accuracy.interval == "bootstrap over sets"
    assert 0 < accuracy.low < 0.25 < accuracy.high
    assert sets_right.value == pytest.approx(0.5)
    assert sets_right.interval == "Newcombe paired"
    assert sets_right.p == pytest.approx(2 / 2**15)


def test_baselines_are_frames_judged_like_any_other() -> None:
    asked = paradox(4, 6, completed=True)  # gold: True 4 + 12, False 4, Unknown 4
    responses = baseline_frame(asked)
    measures = judge(asked, responses)
    assert list(dict.fromkeys(m.answerer for m in measures)) == [
        "always:True", "always:False", "always:Unknown", "majority",
    ]  # fmt: skip
    by_answerer = {
        name: get([m for m in measures if m.answerer == name], "accuracy").value
        for name in ("always:False", "majority")
    }
    assert by_answerer == pytest.approx({"always:False": 4 / 24, "majority": 16 / 24})
    assert responses.columns == frame(asked, {}).columns
    assert responses.schema == frame(asked, {}).schema


def test_majority_tie_goes_to_the_label_named_first() -> None:
    asked = in_sets({"s": [item("a", ("Unknown",)), item("b", ("False",))]})
    responses = baseline_frame(asked, [])
    assert set(responses["label"]) == {"False"}
    assert set(responses["answerer"]) == {"majority"}
