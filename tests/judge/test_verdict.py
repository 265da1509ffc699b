"""What the sentence says, rule by rule, on constructed measures."""

from __future__ import annotations

from functools import partial

import pytest

from veridical.judge import baseline_frame, judge
from veridical.judge.measure import Measure
from veridical.judge.verdict import verdict as verdict_by
from veridical.judge.verdict import verdicts
from veridical.suites.imperfective.verdict import RULES as OF_ASPECT
from veridical.wording import number, percent, percentage

from .judging import frame, group_answers, in_sets, item, paradox, quads

ASKED = paradox()
verdict = partial(verdict_by, rules=OF_ASPECT)


def record(measure: str, value: float, low: float | None, high: float | None, **more: object) -> Measure:
    fields: dict[str, object] = {
        "suite": "imperfective",
        "model": "m",
        "prompt": "dap",
        "mode": "generate",
        "measure": measure,
        "value": value,
        "low": low,
        "high": high,
        "level": 0.95,
        "bound_low": value,
        "bound_high": value,
        "n_sets": 100,
        "n_items": 100,
        "statuses": {"ok": 100},
    }
    return Measure.model_validate(fields | more)


def paradox_records(
    tbr: tuple[float, float, float],
    gap: tuple[float, float, float],
    d: tuple[float, float, float] = (0.9, 0.85, 0.95),
    cautious: tuple[float, float, float] = (0.05, 0.02, 0.1),
    cancelled: tuple[float, float, float] = (0.1, 0.05, 0.2),
) -> list[Measure]:
    return [
        record("accuracy", 0.6, 0.5, 0.7),
        record("accuracy", *d, slice={"group": "D"}),
        record("tbr", *tbr),
        record("aspectual_awareness_gap", *gap),
        record("overcaution", *cautious),
        record("cancelled_true_rate", *cancelled),
        record("constant_share", 0.6, 0.5, 0.7, slice={"label": "True"}),
    ]


RULES = {
    "strong bias, no gap": (
        paradox_records((0.98, 0.93, 0.99), (0.0, -0.04, 0.04)),
        ("strong teleological bias", "TBR 98 %, interval 93 to 99 %", "not clearly distinguished"),
    ),
    "bias with a gap": (
        paradox_records((0.7, 0.6, 0.78), (0.25, 0.15, 0.35)),
        ("m, dap, generate: teleological bias", "less often than it accepts activities", "+.25"),
    ),
    "bias the wrong way round": (
        paradox_records((0.9, 0.83, 0.94), (-0.3, -0.4, -0.2), d=(0.6, 0.5, 0.69)),
        ("strong teleological bias", "more often than it accepts activities"),
    ),
    "overcautious": (
        paradox_records((0.0, 0.0, 0.04), (0.0, -0.04, 0.04), d=(0.05, 0.02, 0.11), cautious=(0.95, 0.89, 0.98)),
        ("overcautious", "not a sign of awareness"),
    ),
    "denies activities otherwise": (
        paradox_records((0.1, 0.05, 0.2), (0.1, -0.01, 0.2), d=(0.2, 0.13, 0.29)),
        ("rejects what does follow", "not a sign of awareness"),
    ),
    "reversed": (
        paradox_records((0.5, 0.4, 0.6), (-0.2, -0.3, -0.1), d=(0.45, 0.4, 0.55)),
        ("the reverse of the truth",),
    ),
    "aware": (
        paradox_records((0.09, 0.05, 0.16), (0.83, 0.74, 0.89)),
        ("aware of aspect", "+.83", "TBR 9 %"),
    ),
    "aware but for cancelled goals": (
        paradox_records((0.16, 0.1, 0.24), (0.81, 0.71, 0.87), cancelled=(0.57, 0.51, 0.66)),
        ("aware of aspect", "yet affirms most cancelled ones"),
    ),
    "somewhere between": (
        paradox_records((0.53, 0.43, 0.62), (0.44, 0.33, 0.54)),
        ("accepts activities more often", "how far is not settled"),
    ),
    "wide intervals": (
        paradox_records((0.6, 0.31, 0.83), (0.3, -0.1, 0.6)),
        ("inconclusive on 100 sets", "TBR 60 %, interval 31 to 83 %", "−.10 to +.60"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("records", "said"), RULES.values(), ids=RULES)
def test_rule_says_its_sentence(records: list[Measure], said: tuple[str, ...]) -> None:
    sentence = verdict(records)
    for part in said:
        assert part in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_constant_responder_is_named_before_anything_else() -> None:
    counts = {"A": {"False": 100}, "B": {"False": 100}, "C": {"False": 97, "True": 3}, "D": {"False": 94, "True": 6}}
    sentence = verdict(judge(ASKED, frame(ASKED, group_answers(counts)), draws=100))
    assert sentence == (
        "m, zero-shot, loglikelihood: answers False to 98 % of the items whatever it is asked, "
        "so neither its accuracy in A nor its TBR says anything about aspect."
    )


def test_constant_true_is_not_called_biased() -> None:
    sentence = verdict(judge(ASKED, frame(ASKED, group_answers({g: {"True": 100} for g in "ABCD"})), draws=100))
    assert "answers True to 100 % of the items" in sentence
    assert "accuracy in B and D" in sentence
    assert "bias" not in sentence


def test_constant_among_few_answers_is_not_called_constant() -> None:
    asked = paradox(4, 4)
    sentence = verdict(judge(asked, frame(asked, group_answers({g: {"True": 4} for g in "ABCD"})), draws=100))
    assert "whatever it is asked" not in sentence


def test_constant_of_what_it_answers_says_how_many_that_is() -> None:
    asked = paradox(20, 20)
    counts = {"A": {"False": 20}, "C": {"False": 10}, "B": {"False": 20}}
    sentence = verdict(judge(asked, frame(asked, group_answers(counts)), draws=100))
    assert "100 % of the 50 items that it answers" in sentence


def test_many_unparsed_answers_are_what_the_sentence_is_about() -> None:
    counts = {"A": {"False": 100}, "B": {"True": 100}, "C": {"Unknown": 20, "True": 10}, "D": {"True": 50}}
    answers = group_answers(counts) | {f"D{i}": None for i in range(50, 100)}
    sentence = verdict(judge(ASKED, frame(ASKED, answers), draws=100))
    # 280 of 400 answered; 70 of group C absent: TBR between 10 of 30 given over 100 and 80 of 100
    assert "no usable answer to 30 % of the items (70 missing, 50 unparsed)" in sentence
    assert "TBR could be anything from 10 to 80 %" in sentence


def test_nothing_answered() -> None:
    sentence = verdict(judge(ASKED, frame(ASKED, {"A0": None}, status="error"), draws=100))
    assert "no usable answer to any of the 400 items (399 missing, 1 error)" in sentence


def test_bounds_keep_a_claim_from_being_made() -> None:
    """TBR 40 % with an interval below one half, but missing answers could take it to 55 %: not aware."""
    records = paradox_records((0.4, 0.31, 0.49), (0.5, 0.4, 0.6))
    assert "aware of aspect" in verdict(records)
    tbr = record("tbr", 0.4, 0.31, 0.49, bound_high=0.55)
    assert "aware of aspect" not in verdict([tbr if m.measure == "tbr" else m for m in records])


def test_measures_without_intervals_claim_nothing() -> None:
    sentence = verdict([m.model_copy(update={"low": None, "high": None}) for m in RULES["strong bias, no gap"][0]])
    assert "inconclusive" in sentence
    assert "no interval" in sentence


def test_little_label_mass_is_a_reservation() -> None:
    mass = record("label_mass", 0.03, 0.02, 0.04)
    sentence = verdict([*RULES["aware"][0], mass])
    assert sentence.endswith("; the labels together have only 3 % of its probability.")


def test_order_sensitivity_is_a_reservation() -> None:
    order = record("order_sensitivity", 0.4, 0.35, 0.45)
    assert "40 % of its answers change with the order of the labels" in verdict([*RULES["aware"][0], order])
    barely = record("order_sensitivity", 0.22, 0.18, 0.26)
    assert "order of the labels" not in verdict([*RULES["aware"][0], barely])


def test_other_suites_get_their_accuracy() -> None:
    asked = in_sets({f"s{i}": [item(f"a{i}"), item(f"b{i}", ("False",))] for i in range(20)})
    answers = {f"a{i}": "True" for i in range(20)} | {f"b{i}": "False" if i < 10 else "True" for i in range(20)}
    sentence = verdict(judge(asked, frame(asked, answers), draws=1000))
    assert "right on 75 %" in sentence
    assert "on all items of 50 %, interval 30 to 70 %, of 20 sets" in sentence


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 %"), (0.001, "under 1 %"), (0.975, "97 %"), (0.998, "over 99 %"), (1, "100 %")]
)
def test_percentages_are_whole_only_where_they_are(value: float, text: str) -> None:
    assert percent(value) == text


def test_a_sentence_rounds_as_the_table_does() -> None:
    """.295 and .975 are a little less than they say: `.29` in a table is 29 % in a sentence, never 30 %."""
    for thousandth in range(1, 1000):
        value = thousandth / 1000
        assert percentage(value) == str(int(number(value).replace(".", "")))
    assert (number(0.295), percent(0.295)) == (".29", "29 %")


def test_every_answering_of_a_model_gets_a_sentence_and_no_baseline_does() -> None:
    asked = paradox(3, 3)
    answers = {one.name: "True" for one in asked.items}
    frames = [
        frame(asked, answers, prompt="zero-shot"),
        frame(asked, answers, prompt="dap"),
        frame(asked, answers, input="hypothesis_only"),
        baseline_frame(asked),
    ]
    measures = [m for responses in frames for m in judge(asked, responses, draws=50)]
    assert [sentence.split(":")[0] for sentence in verdicts(measures)] == [
        "m, zero-shot, loglikelihood",
        "m, dap, loglikelihood",
    ]


def test_a_verdict_is_about_one_answering() -> None:
    with pytest.raises(ValueError, match="one answering"):
        verdict([])


def test_sentences_name_their_suite_where_there_are_several() -> None:
    asked = (paradox(4, 4), quads(4).model_copy(update={"name": "within"}))
    records = [
        record
        for one in asked
        for record in judge(one, frame(one, {item.name: "True" for item in one.items}), draws=100)
    ]
    assert [said.partition(",")[0] for said in verdicts(records)] == [one.name for one in asked]
    alone = [record for record in records if record.suite == asked[0].name]
    assert verdicts(alone)[0].startswith("m, zero-shot")
