"""Sequence classifiers: labels by name whatever the checkpoint's order, and nothing that padding could move."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

import veridical
from veridical.errors import UserError
from veridical.models import load
from veridical.models.classifier import SequenceClassifier
from veridical.models.protocol import LanguageModel, Outcome, Query, Request
from veridical.prompts.template import PlainText, TextPair
from veridical.status import Status

from . import tiny

CLASSES = (("entailment", "entailed"), ("contradiction",), ("neutral",))
ORDERS = (
    ("entailment", "neutral", "contradiction"),
    ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
    ("contradiction", "Entailment", "neutral"),
)
KINDS = ("bert", "roberta", "gpt2", "bart")
PAIRS = [
    TextPair("The cat was building a boat.", "The cat built a boat."),
    TextPair("", "The cat built a boat."),
    TextPair("The cat was building a boat.", ""),
    TextPair("A river runs through the old town; the boats on it carry bread.", "It is true."),
    TextPair("The cat was building a gazebo.", "The cat built a boat."),
]


def wrapped(kind: str, names: Sequence[str] = ORDERS[0], **changes: Any) -> SequenceClassifier:
    pad = changes.pop("pad_token_id", 1)
    tokenizer = tiny.pair_tokenizer(kind, **changes)
    model = tiny.classifier(kind, len(tokenizer), names, pad_token_id=pad)
    return SequenceClassifier(f"hf/tiny/{kind}", model, tokenizer, weights="seed 0", batch_tokens=100)


def prepared(model: LanguageModel, pair: TextPair, classes: Sequence[tuple[str, ...]] = CLASSES) -> Request:
    return model.prepare(Query((pair,), classes=tuple(classes)))


def answers(model: LanguageModel, requests: list[Request]) -> list[Outcome]:
    found = dict(model.answer(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[index] for index in range(len(requests))]


def totals(outcome: Outcome) -> list[float]:
    return [score.total for score in outcome.scores]


@torch.no_grad()
def on_its_own(model: PreTrainedModel, tokenizer: Any, pair: TextPair, names: Sequence[str]) -> list[float]:
    """Entailment, contradiction and neutral as transformers' own classifier gives them to one pair."""
    inputs = tokenizer([pair.first], [pair.second], return_tensors="pt")
    shares = torch.softmax(model(**inputs).logits[0].double(), dim=-1)
    numbers = {name.casefold(): number for number, name in enumerate(names)}
    return [math.log(shares[numbers[name]]) for name in ("entailment", "contradiction", "neutral")]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_one_pair_at_a_time(kind: str) -> None:
    for names in ORDERS:
        model = wrapped(kind, names)
        assert isinstance(model, LanguageModel)
        for pair, outcome in zip(PAIRS, answers(model, [prepared(model, pair) for pair in PAIRS]), strict=True):
            assert outcome.status is Status.OK
            expected = on_its_own(model.model, model.tokenizer, pair, names)
            assert totals(outcome) == pytest.approx(expected, abs=1e-4)
            assert sum(map(math.exp, totals(outcome))) == pytest.approx(1, abs=1e-5)
            assert {(s.n_tokens, s.n_chars, s.n_bytes) for s in outcome.scores} == {(1, 1, 1)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_classes_changes_nothing(kind: str) -> None:
    """Trap 33: the same weights under permuted class numbers give the same answers by name."""
    found = []
    for names in ORDERS:
        model = wrapped(kind, names)
        found.append([totals(outcome) for outcome in answers(model, [prepared(model, pair) for pair in PAIRS])])
    for other in found[1:]:
        assert other == [pytest.approx(scores, abs=1e-5) for scores in found[0]]
    # Worth something only where the pairs and the classes differ.
    assert len({round(total, 2) for scores in found[0] for total in scores}) > 6


@pytest.mark.parametrize("kind", KINDS)
def test_company_and_batch_size_change_nothing(kind: str) -> None:
    """Traps 16 to 18: pairs of several lengths, alone and together."""
    model = wrapped(kind)
    source = random.Random(0)
    words = ["cat", "boat", "river", "brick", "bread", "book", "</s>"]

    def text() -> str:
        return " ".join(source.choices(words, k=source.randint(1, 7)))

    requests = [prepared(model, TextPair(text(), text())) for _ in range(20)]
    together = answers(model, requests)
    for request, outcome in zip(requests, together, strict=True):
        assert totals(outcome) == pytest.approx(totals(answers(model, [request])[0]), abs=1e-5)


def causal(names: Sequence[str], pad_token_id: int | None, *, closes: bool = False) -> SequenceClassifier:
    return wrapped("gpt2", names, pad_token_id=pad_token_id, pad_is_eos=pad_token_id == 2, closes=closes)


@pytest.mark.parametrize(
    "pair",
    [
        TextPair("The cat</s> was building.", "The cat built."),
        TextPair("The cat was building.</s>", "The cat built."),
        TextPair("The cat was building.", "The cat built.</s>"),
    ],
)
def test_the_last_token_is_the_last_where_padding_is_the_end_of_text(pair: TextPair) -> None:
    """Trap 19: with pad = eos the token that is looked for as the last is not one before the text's end."""
    same, other, none = (causal(ORDERS[0], pad) for pad in (2, 1, None))
    expected = on_its_own(other.model, other.tokenizer, pair, ORDERS[0])
    for model in (same, other, none):
        outcomes = answers(model, [prepared(model, pair), prepared(model, PAIRS[0])])
        assert totals(outcomes[0]) == pytest.approx(expected, abs=1e-4)
        assert model.model.config.pad_token_id in (1, 2, None)  # as it was


def test_a_tokenizer_that_ends_every_text_with_the_padding_is_read_as_the_model_was_taught() -> None:
    """Where training itself saw that end of text as padding, the head has learnt to read the token before it."""
    model = causal(ORDERS[0], 2, closes=True)
    for pair, outcome in zip(PAIRS, answers(model, [prepared(model, pair) for pair in PAIRS]), strict=True):
        assert totals(outcome) == pytest.approx(on_its_own(model.model, model.tokenizer, pair, ORDERS[0]), abs=1e-4)


def test_segments_are_passed_and_are_in_the_key() -> None:
    """The same tokens cut in two elsewhere are another question to a model that has token types."""
    model = wrapped("bert")
    first, second = (prepared(model, TextPair(*texts)) for texts in (("a[SEP]b", "c"), ("a", "b[SEP]c")))
    assert first.sequences[0].context == second.sequences[0].context
    assert first.sequences[0].segments != second.sequences[0].segments
    assert first.key("f") != second.key("f")
    outcomes = answers(model, [first, second])
    assert totals(outcomes[0]) != pytest.approx(totals(outcomes[1]), abs=1e-3)
    assert prepared(wrapped("gpt2"), PAIRS[0]).sequences[0].segments == ()


def test_what_a_choice_may_be_called_is_in_the_key() -> None:
    model = wrapped("bert")
    swapped = (CLASSES[1], CLASSES[0], CLASSES[2])
    assert prepared(model, PAIRS[0]).key("f") != prepared(model, PAIRS[0], swapped).key("f")


def test_equal_requests_are_computed_once() -> None:
    """Trap 56. The same pair under two orders of the choices runs once as well."""
    model = wrapped("roberta")
    request, swapped = (prepared(model, PAIRS[0], classes) for classes in (CLASSES, CLASSES[::-1]))
    outcomes = answers(model, [request, request, swapped])
    assert model.n_tokens_run == len(request.sequences[0].context)
    assert outcomes[0] == outcomes[1]
    assert totals(outcomes[2]) == totals(outcomes[0])[::-1]


@pytest.mark.parametrize(("kind", "longest"), [("bert", 128), ("roberta", 126), ("gpt2", 128)])
def test_what_is_too_long_is_skipped_and_said_not_cut(kind: str, longest: int) -> None:
    """Trap 15. RoBERTa's 128 positions are 126 tokens, since two of them are the padding's and the one before."""
    model = wrapped(kind)
    assert model.longest == longest
    fixed = len(prepared(model, TextPair("", "")).sequences[0].context)
    requests = [prepared(model, TextPair("", "!" * (longest - fixed + more))) for more in (0, 1)]
    assert [len(request.sequences[0].context) for request in requests] == [longest, longest + 1]
    assert [o.status for o in answers(model, [*requests, prepared(model, PAIRS[0])])] == [
        Status.OK,
        Status.TOO_LONG,
        Status.OK,
    ]
    assert answers(model, requests)[1].detail == f"{longest + 1} tokens; the model takes {longest}"


def test_no_token_at_all_is_empty() -> None:
    model = wrapped("gpt2")
    assert answers(model, [prepared(model, TextPair("", ""))])[0].status is Status.EMPTY


def test_scores_that_are_not_numbers_are_said() -> None:
    model = wrapped("bert")
    with torch.no_grad():
        model.model.get_parameter("classifier.bias")[0] = math.nan
    assert answers(model, [prepared(model, PAIRS[0])])[0].status is Status.NON_FINITE


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), ("no class named entailment or entailed", "holds 0: LABEL_0, 1: LABEL_1")),
        (("entailment", "not_entailment"), ("no class named contradiction", "0: entailment, 1: not_entailment")),
        (("entailment", "neutral", "other"), ("each of: entailment or entailed; contradiction; neutral",)),
        (("entailment", "entailed", "contradiction", "neutral"), ("2 classes named entailment or entailed",)),
    ],
)
def test_an_unknown_map_of_classes_is_refused_with_what_it_holds(names: Sequence[str], words: Sequence[str]) -> None:
    """Trap 33: no guess by number."""
    model = wrapped("bert", names)
    with pytest.raises(UserError) as caught:
        prepared(model, PAIRS[0])
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


def test_classes_beyond_the_labels_keep_their_share() -> None:
    model = wrapped("bert", (*ORDERS[0], "off-topic"))
    outcome = answers(model, [prepared(model, PAIRS[0])])[0]
    assert 0 < sum(map(math.exp, totals(outcome))) < 1 - 1e-3


def test_a_question_that_is_not_a_pair_is_refused() -> None:
    with pytest.raises(UserError, match="sequence classifier: ask it with --mode classify"):
        wrapped("bert").prepare(Query((PlainText("a"),), ("b", "c")))


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_for_a_class_that_there_is_not_is_refused(kind: str) -> None:
    tokenizer = tiny.pair_tokenizer(kind)
    model = tiny.classifier(kind, len(tokenizer), ORDERS[0])
    model.config.id2label = {0: "a", 1: "b", 2: "c", 3: "ghost"}
    with pytest.raises(UserError, match=r"'x'.*id2label.*class 3 \(ghost\).*has 3 classes"):
        SequenceClassifier("x", model, tokenizer, weights="w")


THREE = {0: "entailment", 1: "neutral", 2: "contradiction"}


def with_maps(id2label: dict[int, str], label2id: dict[str, int]) -> SequenceClassifier:
    tokenizer = tiny.pair_tokenizer("bert")
    model = tiny.classifier("bert", len(tokenizer), list(THREE.values()))
    model.config.id2label, model.config.label2id = id2label, label2id
    return SequenceClassifier("tiny", model, tokenizer, weights="seed 0")


@pytest.mark.parametrize(
    ("label2id", "message"),
    [
        (
            {"contradiction": 0, "neutral": 1, "entailment": 2},
            "class 0, and id2label has contradiction",
        ),
        (
            {"entailment": 0, "neutral": 2, "contradiction": 1},
            "class 2, and id2label has neutral for class 1",
        ),
        ({"ENTAILMENT": "1"}, "ENTAILMENT for class 1"),
        ({"yes": 0, "maybe": 1, "no": 2}, "yes for class 0, and id2label has entailment"),
    ],
)
def test_a_label2id_that_contradicts_id2label_is_refused(label2id: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        with_maps(THREE, label2id)


@pytest.mark.parametrize(
    ("id2label", "label2id"),
    [
        (THREE, {}),
        (THREE, {"Entailment": 0, "Neutral": 1, "Contradiction": 2}),
        (THREE, {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2}),
        ({n: f"LABEL_{n}" for n in THREE}, {"entailment": 0, "neutral": 1, "contradiction": 2}),
        (THREE, {"neutral": 1}),
    ],
)
def test_maps_that_agree_or_say_nothing_are_taken(id2label: dict[int, str], label2id: dict[str, int]) -> None:
    assert with_maps(id2label, label2id).class_names == id2label


def test_two_classes_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match="gives classes 0 and 2 one name, Entailment"):
        with_maps({0: "entailment", 1: "neutral", 2: "Entailment"}, {"entailment": 0, "neutral": 1})


@pytest.mark.parametrize(
    ("id2label", "label2id", "said"),
    [
        (THREE, {"neutral": 1}, ["label2id of its config.json lacks entailment, contradiction, which id2label has"]),
        (
            {0: "entailment", 1: "neutral"},
            {},
            ["id2label of its config.json names 2 of 3 classes: none is given for 2"],
        ),
        (THREE, {}, []),
        (THREE, {"LABEL_0": 0, "LABEL_1": 1}, []),
    ],
)
def test_names_for_some_classes_alone_are_said(
    id2label: dict[int, str], label2id: dict[str, int], said: list[str]
) -> None:
    remarks = with_maps(id2label, label2id).loading.remarks
    assert len(remarks) == len(said)
    assert all(words in remark for words, remark in zip(said, remarks, strict=True))


def test_a_tokenizer_with_more_words_than_the_classifier_is_refused() -> None:
    tokenizer = tiny.pair_tokenizer("bert")
    model = tiny.classifier("bert", len(tokenizer) - 9, ORDERS[0])
    with pytest.raises(UserError, match=r" 9 tokens .* beyond the"):
        SequenceClassifier("x", model, tokenizer, weights="w")


def test_the_fingerprint_holds_whatever_can_change_an_answer() -> None:
    base = wrapped("bert")
    other_activation = wrapped("bert").model
    other_activation.config.hidden_act = "relu"
    assert wrapped("bert").fingerprint == base.fingerprint
    others = [
        wrapped("bert", ORDERS[1]),  # the map from numbers to names
        SequenceClassifier("x", base.model, wrapped("roberta").tokenizer, weights="seed 0"),
        SequenceClassifier("x", base.model, base.tokenizer, weights="other"),
        SequenceClassifier("x", wrapped("bert").model.to(torch.bfloat16), base.tokenizer, weights="seed 0"),
        SequenceClassifier("x", other_activation, base.tokenizer, weights="seed 0"),
    ]
    assert len({model.fingerprint.digest for model in (base, *others)}) == len(others) + 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VERIDICAL_CACHE", str(tmp_path / "cache"))
    tokenizer = tiny.pair_tokenizer("bert")
    return tiny.saved(tmp_path / "classifier", tiny.classifier("bert", len(tokenizer), ORDERS[1]), tokenizer)


def test_a_folder_of_a_classifier_is_loaded_as_one(folder: Path) -> None:
    model = load(f"hf/{folder}")
    assert isinstance(model, SequenceClassifier)
    assert model.modes == ("classify",)
    expected = on_its_own(model.model, tiny.pair_tokenizer("bert"), PAIRS[0], ORDERS[1])
    assert totals(answers(model, [prepared(model, PAIRS[0])])[0]) == pytest.approx(expected, abs=1e-4)


def test_a_suite_is_asked_of_a_classifier_and_judged(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    study = veridical.run("imperfective", model=f"hf/{folder}", mode="classify", limit=3, out=out)
    responses = study.responses
    assert set(responses["mode"]) == {"classify"}
    assert set(responses["prompt"]) == {""}
    assert set(responses["input"]) == {"full", "hypothesis_only"}
    assert set(responses["status"]) == {"ok"}
    assert responses["label_mass"].to_list() == pytest.approx([1.0] * responses.height, abs=1e-5)
    suite = study.judgement.suites[0]
    model = load(f"hf/{folder}")
    assert isinstance(model, SequenceClassifier)
    for row in responses.iter_rows(named=True):
        fields = suite.by_id[row["item"]].fields
        pair = TextPair(fields["premise"] if row["input"] == "full" else "", fields["hypothesis"])
        true, false, unknown = on_its_own(model.model, model.tokenizer, pair, ORDERS[1])
        expected = {"True": true, "False": false, "Unknown": unknown}
        assert dict(zip(row["labels"], row["scores"], strict=True)) == pytest.approx(expected, abs=1e-4)
        assert row["label"] == max(expected, key=expected.__getitem__)
    assert {measure.measure for measure in study.records if measure.mode == "classify"} >= {"accuracy", "label_mass"}
    assert study.report.is_file()
    # The second call finds everything stored.
    again = veridical.run("imperfective", model=f"hf/{folder}", mode="classify", limit=3, out=out)
    assert again.responses.equals(responses)


def test_a_mode_that_the_model_lacks_is_refused_before_anything_is_asked(folder: Path, tmp_path: Path) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    causal = tiny.saved(tmp_path / "causal", tiny.llama(len(tokenizer)), tokenizer)
    for models, mode, words in (
        ([f"hf/{folder}"], "loglikelihood", "is a sequence classifier and cannot be asked in mode loglikelihood"),
        ([f"hf/{folder}"], "generate", "it has mode classify"),
        ([f"hf/{folder}", f"hf/{causal}"], "classify", "it has mode loglikelihood and generate"),
    ):
        with pytest.raises(UserError, match=words):
            veridical.run("imperfective", model=models, mode=mode, limit=3, out=tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
