"""The parser: every form of its table, and what must not be read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.prompts.channels import CHANNELS, Channel
from veridical.prompts.cues import CUES, Cue
from veridical.prompts.forms import FORMS, WRAPPERS, Form, Wrapper
from veridical.prompts.parsing import parse
from veridical.status import Status

NLI = ("True", "False", "Unknown")
EVIDENCE = ("Favors", "Challenges", "Unresolved", "Wrong Target")
LETTERS = ("A", "B", "C", "D")
LABEL_SETS = (NLI, EVIDENCE, LETTERS)


def read(text: str, labels: tuple[str, ...] = NLI, finish: str = "stop") -> tuple[str, str | None]:
    parsed = parse(text, labels, finish)
    return parsed.status.value, parsed.label


@pytest.mark.parametrize("labels", LABEL_SETS, ids=lambda labels: labels[0])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_reads_every_label_that_it_is_for(form: Form, labels: tuple[str, ...]) -> None:
    for label in labels:
        if form.letters in (None, len(label) == 1):
            assert read(form.example.replace(form.label, label), labels) == ("ok", label)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_ignores_the_case_of_a_label(form: Form) -> None:
    labels = LETTERS if form.letters else NLI
    assert read(form.example.replace(form.label, form.label.lower()), labels) == ("ok", form.label)
    assert read(form.example.replace(form.label, form.label.upper()), labels) == ("ok", form.label)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_an_answer_is_read_by_its_own_form(form: Form) -> None:
    assert parse(form.example, LETTERS if form.letters else NLI).form == form.name


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda wrapper: wrapper.name)
@pytest.mark.parametrize("labels", LABEL_SETS, ids=lambda labels: labels[0])
def test_every_wrapper_is_taken_off_alone_and_in_a_claim(wrapper: Wrapper, labels: tuple[str, ...]) -> None:
    for label in labels:
        wrapped = wrapper.example.replace("True", label)
        for text in (wrapped, f"Answer: {wrapped}", f"**{wrapped}**", f"The answer is {wrapped}."):
            assert read(text, labels) == ("ok", label)


def test_trap_30_forms_have_distinct_names_patterns_and_examples() -> None:
    for table in (FORMS, WRAPPERS, CHANNELS, CUES):
        assert len({row.name for row in table}) == len(table)
        assert len({row.example for row in table}) == len(table)
    assert len({(form.before, form.after) for form in FORMS}) == len(FORMS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_trap_30_every_pattern_stands_around_the_label_of_its_own_example(form: Form) -> None:
    # A missing comma would fuse two patterns, which then match neither example.
    start = form.example.rindex(form.label)
    before = re.compile(rf"(?:{form.before})\Z", re.MULTILINE | re.IGNORECASE)
    quote = form.example[start - 1 : start] == '"'
    assert before.search(form.example, 0, start - quote)
    assert re.compile(form.after, re.IGNORECASE).match(form.example, start + len(form.label) + quote)


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel.name)
def test_every_channel_keeps_thinking_from_the_answer(channel: Channel) -> None:
    assert read(channel.example) == ("ok", "True")
    thinking, _, _ = channel.example.partition(channel.close)
    assert read(thinking, finish="length") == ("truncated", None)
    assert read(thinking) == ("truncated", None)
    inside = thinking.removeprefix(channel.open)
    assert parse(f"{inside}{channel.close}Unknown", NLI, thinking_open=True).label == "Unknown"


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.name)
def test_what_a_cue_governs_is_not_an_answer(cue: Cue) -> None:
    assert cue.example.count("<label>") == 1
    for label in NLI:
        assert read(cue.example.replace("<label>", label)) == ("unparsed", None)
    assert read(cue.example.replace("<label>", "B"), LETTERS) == ("unparsed", None)


READ = [
    ("True", "True"),
    ("  \n false.", "False"),
    ("UNKNOWN!", "Unknown"),
    ("**Unknown**.", "Unknown"),
    ('**"False."**', "False"),
    ("***True***", "True"),
    ("__False__", "False"),
    ("- True", "True"),
    ("1. True", "True"),
    ("> **False**", "False"),
    ("True\r\n\r\nThe premise says so.", "True"),
    ("True. The premise says so, so it cannot be False.", "True"),
    ("False - nothing says that it was finished", "False"),
    ("Unknown, since the premise leaves it open.", "Unknown"),
    ("Answer: True", "True"),
    ("**Answer: True**", "True"),
    ("**Answer:** True", "True"),
    ("**Final answer:** **False**.", "False"),
    ("### Answer\n\nTrue", "True"),
    ("Answer:\nUnknown", "Unknown"),
    ("Label = False", "False"),
    ("Answer: True, because it says so.", "True"),
    ("I weighed it up. The correct answer is: Unknown.", "Unknown"),
    ("The answer is **True**.", "True"),
    ("So, the label must be False", "False"),
    ("\\boxed{\\text{Unknown}}", "Unknown"),
    ("$$\\boxed{True.}$$", "True"),
    ("\\(\\text{False}\\)", "False"),
    ('{"label": "True"}', "True"),
    ('{"label": true}', "True"),
    ('{"Label": " unknown. "}', "Unknown"),
    ('{"label": "**False**"}', "False"),
    ('Sure:\n```json\n{"reasoning": "True at first.\nThe answer is True.", "label": "False"}\n```\nDone.', "False"),
    ('{"reasoning": "a {nested {brace}} and \\"quotes\\"", "label": "Unknown"}', "Unknown"),
    ('{"reasoning": {"steps": ["True", "False"]}, "label": "Unknown"}', "Unknown"),
    ('{"result": {"answer": "True"}}', "True"),
    ('{"possible_interruptions": ["rain", "Answer: True", "war"], "label": "Unknown"}', "Unknown"),
    ("{'reasoning': 'He hadn't. The answer is True.', 'label': 'False'}", "False"),
    ('{"reasoning": "open", "label": "Unknown"', "Unknown"),
    ('{"reasoning": "I said "no" to it", "label": "False"}', "False"),
    ("<think>True? The answer is True.</think>\nFalse", "False"),
    ("so the answer is True.</think>False", "False"),
    ("True\nTrue\nAnswer: True", "True"),
    ("True. No, wait: the answer is False.", "False"),
]


@pytest.mark.parametrize(("text", "label"), READ)
def test_reads(text: str, label: str) -> None:
    assert read(text) == ("ok", label)


READ_LETTERS = [
    ("B", "B"),
    ("(b)", "B"),
    ("B.", "B"),
    ("B. The evidence is about another claim.", "B"),
    ("B) The evidence is about another claim.", "B"),
    ("Option C", "C"),
    ("The answer is (D).", "D"),
    ("The correct choice is option A.", "A"),
]


@pytest.mark.parametrize(("text", "label"), READ_LETTERS)
def test_reads_single_letters_in_a_form(text: str, label: str) -> None:
    assert read(text, LETTERS) == ("ok", label)


def test_trap_28_a_letter_between_dollar_signs_is_read() -> None:
    assert read("ANSWER: $B$", LETTERS) == ("ok", "B")
    assert read("So it follows.\n\nANSWER: $\\boxed{\\text{B}}$", LETTERS) == ("ok", "B")


NOT_READ = [
    ("", NLI, "empty"),
    ("  \n\t", NLI, "empty"),
    ("<think>It is true.</think>  ", NLI, "empty"),
    ("I cannot tell.", NLI, "unparsed"),
    ("It is true that the wall was painted.", NLI, "unparsed"),
    ("The hypothesis is not True.", NLI, "unparsed"),
    ("Untrue", NLI, "unparsed"),
    ("Falsehood.", NLI, "unparsed"),
    ('{"reasoning": "The answer is True."}', NLI, "unparsed"),
    ('{"label": "maybe"}', NLI, "unparsed"),
    ('{"label": null}', NLI, "unparsed"),
    ("True, False or Unknown", NLI, "ambiguous"),
    ("Answer: True or False", NLI, "ambiguous"),
    ("It is true that much is unknown.", NLI, "ambiguous"),
    ("True\nFalse\nUnknown", NLI, "ambiguous"),
    ("Answer: True\nAnswer: False", NLI, "ambiguous"),
    ('{"label": "True"} {"label": "False"}', NLI, "ambiguous"),
    ('{"label": "True", "label": "False"}', NLI, "ambiguous"),
    ('{"label": "True or Unknown"}', NLI, "ambiguous"),
    ("The answer is True, False or Unknown.", NLI, "ambiguous"),
    ("A. Favors\nB. Challenges", LETTERS, "ambiguous"),
    ("Answer: A dog ran.", LETTERS, "unparsed"),
    ("A dog ran by, and I saw it.", LETTERS, "unparsed"),
    ("The wall, by Jo A. Smith.", LETTERS, "unparsed"),
]


@pytest.mark.parametrize(("text", "labels", "status"), NOT_READ)
def test_does_not_read(text: str, labels: tuple[str, ...], status: str) -> None:
    assert read(text, labels) == (status, None)


def test_trap_29_a_label_inside_a_word_or_in_prose_is_not_taken() -> None:
    assert read("Let's see what the premise says.", ("L", "M")) == ("unparsed", None)
    assert read("It is true that he ran, the rest is unknown.") == ("ambiguous", None)


CUT = [
    ("", "truncated", None),
    ("The answer", "truncated", None),
    ("True", "truncated", None),  # perhaps the beginning of a longer word
    ("Answer: True", "truncated", None),
    ('{"reasoning": "The answer is True.', "truncated", None),
    ('{"reasoning": "so", "label": "True"', "truncated", None),
    ("True, because the premise sa", "ok", "True"),  # whatever the reason, the answer stood first
    ("It is true that it is unknown", "truncated", None),
    ('{"reasoning": "so", "label": "True"}', "ok", "True"),
    ('```json\n{"reasoning": "so", "label": "True"}\n``', "ok", "True"),
    ("So \\boxed{False} and on it we", "ok", "False"),
    ("Answer: True\n\nThe premise sa", "ok", "True"),
    ("Unknown. The premise sa", "ok", "Unknown"),
    ("Answer: True.\nAnswer: False.\nAnsw", "ambiguous", None),
]


@pytest.mark.parametrize(("text", "status", "label"), CUT)
def test_a_reply_that_was_cut_counts_only_with_an_answer_completed_before(
    text: str, status: str, label: str | None
) -> None:
    assert read(text, finish="length") == (status, label)


@pytest.mark.parametrize("finish", ["stop", "length", ""])
def test_trap_31_thinking_that_was_cut_off_is_never_parsed(finish: str) -> None:
    assert read("<think>The answer is True.\nAnswer: True\n", finish=finish) == ("truncated", None)
    assert read("True\n<thinking>hm", finish=finish) == ("truncated", None)
    inside = parse("The answer is True.\nAnswer: True\n", NLI, finish, thinking_open=True)
    assert (inside.status, inside.label) == (Status.TRUNCATED, None)
    assert parse("True?</think>\nFalse.", NLI, finish, thinking_open=True).label == "False"


def test_trap_32_what_cannot_be_read_is_a_status_and_never_a_label() -> None:
    for text in ("", "no idea", "true or false", "<think>"):
        parsed = parse(text, NLI)
        assert parsed.status is not Status.OK
        assert parsed.label is None


def test_a_longer_label_wins_over_one_that_it_contains() -> None:
    labels = ("True", "Not True")
    assert read("Not True", labels) == ("ok", "Not True")
    assert read("Answer: not true.", labels) == ("ok", "Not True")
    assert read("wrong  target", EVIDENCE) == ("ok", "Wrong Target")


def test_labels_that_differ_in_case_alone_are_distinguished_by_it() -> None:
    assert read("Answer: a", ("a", "A")) == ("ok", "a")
    assert read("Answer: A", ("a", "A")) == ("ok", "A")


def test_labels_may_hold_any_character() -> None:
    for label in ("C++", "(x|y)", "a.b", "50%", "naïve", "<label>"):
        assert read(f"Answer: {label}", (label, "other")) == ("ok", label)


MARKS = (*"{}\"':$() .,\n", "**", "\\boxed{", "```json", "<think>", "</think>")
PIECES = st.sampled_from([*NLI, *MARKS, "true", "A", "B", "label", "answer is", "Answer", "because", "İ", "ſ"])


@given(
    text=st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)),
    labels=st.one_of(st.sampled_from(LABEL_SETS), st.lists(st.text(min_size=1, max_size=5), max_size=4).map(tuple)),
    finish=st.sampled_from(["stop", "length", ""]),
    thinking_open=st.booleans(),
)
def test_any_text_is_some_status_and_a_label_is_one_of_the_labels(
    text: str, labels: tuple[str, ...], finish: str, thinking_open: bool
) -> None:
    parsed = parse(text, labels, finish, thinking_open=thinking_open)
    assert (parsed.label is not None) == (parsed.status is Status.OK)
    assert parsed.label is None or parsed.label in labels


LONG = (
    *(piece * 3000 for piece in ("{", '{"a":', "\n", " ", "*", "<think>", "a ", "True ", "$ ", "Answer: ", "(True")),
    "(" * 10000 + "True" + ")" * 10000,
    '{"a":' * 900 + '{"label": "True"}' + "}" * 900,
)


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_no_reply_takes_long(text: str) -> None:
    parse(text, NLI)
