"""Replies as models write them, and what each is read as. The tables are the tests."""

from __future__ import annotations

import time
import unicodedata

import pytest

from veridical.prompts.parsing import parse

NLI = ("True", "False", "Unknown")
ABCD = ("A", "B", "C", "D")
YES_NO = ("yes", "no")
ENTAILMENT = ("entailment", "neutral", "contradiction")
EVIDENCE = ("Favors", "Challenges", "Unresolved", "Wrong Target")
HARMONY = "<|channel|>{}<|message|>"
ANALYSIS = HARMONY.format("analysis")
LADDER = {"A": "a short rope", "B": "a wooden ladder", "C": "a bucket", "D": "a long pole"}


def read(text: str, labels: tuple[str, ...], **settings: object) -> str:
    parsed = parse(text, labels, **settings)  # type: ignore[arg-type]
    return parsed.label or parsed.status.value


FORMS = [
    # emphasis, quotes, boxes, objects
    (NLI, "**Answer:** False", "False"),
    (NLI, "**Final Answer:**\n\n**False**", "False"),
    (NLI, "The answer is **False**, because he stopped.", "False"),
    (NLI, "`Unknown`", "Unknown"),
    (NLI, "***False.***", "False"),
    (NLI, "“Unknown.”", "Unknown"),
    (NLI, "'False'.", "False"),
    (NLI, 'Output: "False"', "False"),
    (NLI, "Response: Unknown", "Unknown"),
    (NLI, "Result => True", "True"),
    (NLI, "Label → False", "False"),
    (NLI, "$\\boxed{\\text{False}}$", "False"),
    (ABCD, "\\[\n\\boxed{B}\n\\]", "B"),
    (ABCD, "\\boxed{B. a wooden ladder}", "B"),
    (ABCD, "Thus the answer is $\\mathbf{C}$.", "C"),
    (ABCD, "The answer is \\(\\text{C}\\).", "C"),
    (NLI, '{"answer": "False", "confidence": 0.9}', "False"),
    (NLI, '```json\n{"label": "Unknown"}\n```', "Unknown"),
    (("1", "2"), '{"answer": 2}', "2"),
    (NLI, "<answer>\nFalse\n</answer>", "False"),
    (NLI, "<b>False</b>", "False"),
    (NLI, "| Answer: False |", "False"),
    # letters with their text
    (ABCD, "The correct answer is (B) a wooden ladder.", "B"),
    (ABCD, "The correct answer is B) a wooden ladder.", "B"),
    (ABCD, "The correct answer is B. a wooden ladder", "B"),
    (ABCD, "The correct answer is B: a wooden ladder", "B"),
    (ABCD, "The correct answer is option B, a wooden ladder.", "B"),
    (ABCD, "Answer: B - a wooden ladder", "B"),
    (ABCD, "(B) a wooden ladder", "B"),
    (ABCD, "B) a wooden ladder", "B"),
    (ABCD, "b", "B"),
    (ABCD, "answer: b", "B"),
    (ABCD, "the answer is (b).", "B"),
    (ABCD, "Option B is the best answer.", "B"),
    (ABCD, "(C) is correct.", "C"),
    (ABCD, "A is incorrect. B is incorrect. C is correct. D is incorrect.", "C"),
    (ABCD, "I would choose D.", "D"),
    (ABCD, "I'd go with option D, since the others break.", "D"),
    (ABCD, "My answer: C", "C"),
    (ABCD, "The best choice is therefore B.", "B"),
    (ABCD, "The answer to this question is D.", "D"),
    (ABCD, "Answer: D\nC. you will see another question", "D"),
    (ABCD, "D\n\nQuestion: What else?\nA. one\nB. two\nAnswer: A", "D"),
    (ABCD, "Answer: B\n\nQ: Which one?\nAnswer: C", "B"),
    # words
    (NLI, "True (the process went on to its end)", "True"),
    (NLI, "False: the premise says that he stopped.", "False"),
    (NLI, "False, the premise says that he stopped.", "False"),
    (NLI, "False – he stopped.", "False"),
    (NLI, "Unknown\n\nThe premise leaves it open.", "Unknown"),
    (NLI, "The hypothesis is Unknown given the premise.", "Unknown"),
    (NLI, "Therefore, the statement must be False.", "False"),
    (NLI, "He stopped half way. So it is False.", "False"),
    (NLI, "She did not finish, so the answer is False.", "False"),
    (NLI, "She did not finish so the answer is False.", "False"),
    (NLI, "As the text does not say whether she finished, the answer is Unknown.", "Unknown"),
    (NLI, "We cannot tell whether he finished; the answer is Unknown.", "Unknown"),
    (NLI, "If he had finished it would be different, but he stopped, so the answer is False.", "False"),
    (NLI, "There is no doubt that the answer is True.", "True"),
    (NLI, "I think the answer is False.", "False"),
    (NLI, "Based on the premise, the answer would be Unknown.", "Unknown"),
    (NLI, "One might think the answer is True. However, he stopped. The answer is False.", "False"),
    (NLI, "The answer is True, not False.", "True"),
    (NLI, "It follows that the conclusion is true.", "True"),
    (NLI, "It seems that the answer is Unknown.", "Unknown"),
    (NLI, 'I would output "Unknown"', "Unknown"),
    (NLI, "We conclude: False.", "False"),
    (NLI, "FALSE", "False"),
    (NLI, "The answer is True? No. Final answer: False", "False"),
    (YES_NO, "No, it does not follow.", "no"),
    (YES_NO, "Yes. He finished it.", "yes"),
    (YES_NO, "No, the answer is yes.", "yes"),
    (ENTAILMENT, "The relation is a neutral one. Label: neutral", "neutral"),
    (EVIDENCE, "**Wrong Target**: the result is about another cause.", "Wrong Target"),
    (EVIDENCE, "The evidence is weak. Verdict: unresolved.", "Unresolved"),
    # other scripts and widths
    (ABCD, "Ａｎｓｗｅｒ：Ｂ", "B"),
    (ABCD, "（Ｂ）", "B"),
    (NLI, "Answer:\u00a0False", "False"),
    (NLI, "\ufeffFalse。", "False"),
    # reasoning first
    (NLI, "The answer is True at first sight. But he stopped.\n\nFinal answer: False", "False"),
    (ABCD, "A is too short, B is heavy and C leaks.\nSo D holds.\n\n**Answer: D**", "D"),
    (NLI, "<think>\nThe answer is True. No: False.\n</think>\n\nUnknown", "Unknown"),
    (NLI, f"{ANALYSIS}True?<|end|><|start|>assistant{HARMONY.format('final')}False<|return|>", "False"),
    (NLI, "<|channel|>final<|message|>False", "False"),
    (NLI, "analysisIt is True at first.assistantcommentaryhm TrueassistantfinalFalse", "False"),
    (NLI, "finalFalse", "False"),
    (NLI, "<|START_THINKING|>True<|END_THINKING|><|START_RESPONSE|>False<|END_RESPONSE|>", "False"),
]  # fmt: skip

NO_ANSWER = [
    # denied, supposed, attributed, asked
    (NLI, "It does not follow that the conclusion is true."),
    (NLI, "We cannot say that the answer is False."),
    (NLI, "We cannot, on this evidence, say that the answer is False."),
    (NLI, "I can't say the answer is True."),
    (NLI, "There is no reason to say that the answer is True."),
    (NLI, "Nothing in the text says that the hypothesis is True."),
    (NLI, "I doubt that the answer is True."),
    (NLI, "It would be wrong to say the answer is False; the text leaves it open."),
    (NLI, "It is tempting to say that the answer is True."),
    (NLI, "It would be a mistake to conclude that the hypothesis is False."),
    (NLI, "It is untrue that the answer is True."),
    (NLI, "If she had finished, the answer would be True. She had not."),
    (NLI, "Had she finished, the answer would be True."),
    (NLI, "Unless he stopped, the hypothesis is True."),
    (NLI, "Suppose that she finished. Then the answer would be True."),
    (NLI, "The answer would be True if she had finished."),
    (NLI, "The answer is True, provided she finished."),
    (NLI, "True, if she finished."),
    (NLI, "The question is whether the answer is True."),
    (NLI, "Is the answer True?"),
    (NLI, "Could the answer be False?"),
    (NLI, "The answer might be True."),
    (NLI, "Perhaps the answer is True."),
    (NLI, "Some would say that the answer is True."),
    (NLI, "A careless reader would think that the answer is True."),
    (NLI, "At first sight the answer is True."),
    (NLI, "Initially, the answer is True."),
    (NLI, "According to some, the answer is True."),
    (NLI, "It seems that the answer is True. However, she stopped."),
    (NLI, "Without the last sentence, the answer would be True."),
    (NLI, "The answer is not True."),
    (NLI, "Not True."),
    (ABCD, "One might think the answer is B. But that ignores the rain."),
    (ABCD, "If it had rained, B is correct."),
    (ABCD, "B is not correct."),
    (ABCD, "B cannot be the correct answer."),
    # nothing said
    (NLI, "I'm sorry, but I cannot answer this."),
    (NLI, "I don't know."),
    (NLI, "It is true that the wall stands."),
    (NLI, "The answer is true to the facts"),
    (ABCD, "A ladder would help."),
    (ABCD, "I see a dog."),
    (NLI, "No, it does not follow."),
]  # fmt: skip

SEVERAL = [
    (NLI, "False, False or Unknown."),
    (NLI, "Answer with one word: True, False or Unknown."),
    (NLI, "Answer: True/False"),
    (NLI, "The answer is True or False."),
    (NLI, "The answer is True. The answer is False."),
    (NLI, "Final answer: True\nFinal answer: False"),
    (NLI, "\\boxed{True} \\boxed{False}"),
    (ABCD, "A and C"),
    (ABCD, "Answer: A, C"),
    (ABCD, "A: too short. B: too heavy. C: leaks."),
    (ABCD, "A) a short rope\nB) a wooden ladder\nC) a bucket\nD) a long pole"),
    (NLI, "True: it holds.\nFalse: it does not."),
]


@pytest.mark.parametrize(("labels", "text", "label"), FORMS, ids=[text[:40] for _, text, _ in FORMS])
def test_is_read_as(labels: tuple[str, ...], text: str, label: str) -> None:
    assert read(text, labels) == label


@pytest.mark.parametrize(("labels", "text"), NO_ANSWER, ids=[text[:40] for _, text in NO_ANSWER])
def test_is_not_an_answer(labels: tuple[str, ...], text: str) -> None:
    assert read(text, labels) == "unparsed"


@pytest.mark.parametrize(("labels", "text"), SEVERAL, ids=[text[:40] for _, text in SEVERAL])
def test_several_answers_are_ambiguous(labels: tuple[str, ...], text: str) -> None:
    assert read(text, labels) == "ambiguous"


def test_a_letter_that_begins_a_list_of_options_is_not_taken() -> None:
    text = "A: it is too short. So the rope, option D, must be what he took"
    assert read(text, ABCD) != "A"
    assert read("One might think the answer is B. But B ignores the rain. D fits the text best.", ABCD) == "D"


def test_the_text_of_a_choice_is_read_as_its_label() -> None:
    for text in ("a wooden ladder", "A wooden ladder.", "The answer is a wooden ladder.", "**A wooden ladder**"):
        assert read(text, ABCD, texts=LADDER) == "B"
    assert read("a wooden ladder and a bucket", ABCD, texts=LADDER) == "ambiguous"
    assert read("He took a wooden ladder along.", ABCD, texts=LADDER) == "unparsed"
    assert read("B. a wooden ladder", ABCD, texts=LADDER) == "B"


def test_texts_and_labels_are_compared_composed() -> None:
    label = unicodedata.normalize("NFC", "vérité")
    for form in ("NFC", "NFD"):
        for other in ("NFC", "NFD"):
            labels = (unicodedata.normalize(form, label), "faux")
            assert read(unicodedata.normalize(other, f"Answer: {label}."), labels) == labels[0]


THINKING_THAT_NEVER_ENDS = [
    "<think>\nAnswer: True\n",
    "[THINK]Answer: True",
    "<|channel|>analysis<|message|>Answer: True",
    "<|channel|>analysis<|message|>Answer: True<|end|>",
    "analysisThe answer is True.",
    "<|START_THINKING|>Answer: True",
    "Here is my thought process: the answer is True.",
]


@pytest.mark.parametrize("text", THINKING_THAT_NEVER_ENDS)
def test_thinking_without_an_answer_is_truncated(text: str) -> None:
    assert read(text, NLI) == "truncated"
    assert read(text, NLI, finish="length") == "truncated"


LENGTH = 200_000
PIECES = (
    *("<think>", "</think>", "<think></think>", '{"a":', '{"a', "{", "}", "(", "[", '"', "'", "\\", "\n", "\r\n"),
    *("*", "_", "`", "a_", "a*", "$", "#", ">", "- ", "1. ", "\u0301", "e\u0301\u0327", "\u0327\u0301", "<|channel|>"),
    *("True ", "True, ", "(True) ", "Answer: ", "Answer: A ", "answer is ", "if ", "analysis", "assistantfinal"),
    *(
        "\\boxed{",
        "\\text{",
        '{"label": "True"} ',
        '{"label": ',
        "not, ",
        "Ａ",
        "İ",
        "ﷺ",
        "<",
        "<t",
        "<|channel|>a<|message|>",
        "A",
    ),
)
LONG = {
    "spaces": "The answer is" + " " * LENGTH,
    "spaces and a label": "The answer is" + " " * LENGTH + "True",
    **{
        f"{piece!r} again and again": piece * (LENGTH // len(piece))
        for piece in PIECES
    },
    "many digits": '{"a": ' + "1" * LENGTH + "}",
    "one open string": '{"a": "' + "x" * LENGTH,
    "open strings": '{"a\\": "' * (LENGTH // 8),
    "nested wrappers": ("(" * 8 + "True" + ")" * 8 + " ") * (LENGTH // 21),
    "nested once": "(" * (LENGTH // 2) + "True" + ")" * (LENGTH // 2),
    "nested objects": '{"a":' * 900 + '{"label": "True"}' + "}" * 900 + " x" * (LENGTH // 3),
    "two kinds of combining characters": "\u0301\u0327" * (LENGTH // 4) + "a" + "\u0327" * (LENGTH // 4),
    "a long denial": "not " * (LENGTH // 4) + "that the answer is True.",
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_a_long_text_takes_no_more_than_its_length_allows(name: str) -> None:
    text, labels = LONG[name], (*NLI, "A")
    parse("warm", labels)
    seconds = []
    for part in (text[: len(text) // 8], text):
        start = time.process_time()
        parse(part, labels)
        seconds.append(time.process_time() - start)
    # Eight times the text: linear reading takes 8 times as long, quadratic 64.
    assert seconds[1] < max(24 * seconds[0], 3.0)


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "<",
        "<t",
        "ﷺ",
        "㌖",
        "Ａ",
        "e\u0301\u0327",
        '{"label": "True"} ',
        '{"a',
        "True ",
        "not ",
        "Wait, ",
        "A. ",
        "x: True\n",
        "True: 5% ",
        "He said: ",
        "True → ",
        "It's ",
        "~~a",
        "neither ",
    ],
)
def test_a_megabyte_is_read_in_time_that_grows_with_its_length_alone(piece: str) -> None:
    """Reading that grows faster takes minutes; how long it takes is in `benchmarks/replies.py`."""
    text = piece * (1_000_000 // len(piece.encode()))
    parse("warm", (*NLI, "A"))
    start = time.process_time()
    parse(text, (*NLI, "A"))
    assert time.process_time() - start < 10.0
