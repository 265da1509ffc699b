"""Replies that name a label and disown it: the least likely one, an example, wrong, or what evidence is lacking for.

Each value was decided by hand before the reader was tried. None says that there is no answer; where two values stand,
either will do.
"""

from __future__ import annotations

import pytest

from veridical.prompts.parsing import parse

NLI = ("True", "False", "Unknown")
ABCD = ("A", "B", "C", "D")

REPLIES: list[tuple[tuple[str, ...], str, tuple[str | None, ...]]] = [
    (ABCD, "The least likely answer is B.", (None,)),
    (ABCD, "The most likely answer is B.", ("B",)),
    (ABCD, "The less likely option is C.", (None,)),
    (ABCD, "The most unlikely answer is D.", (None,)),
    (ABCD, "A less plausible answer is A.", (None,)),
    (ABCD, "The weakest option is D.", (None,)),
    (ABCD, "The least correct answer is B, so the answer is C.", ("C",)),
    (NLI, "We lack evidence that the answer is True.", (None,)),
    (NLI, "We lack evidence that the hypothesis is True.", (None,)),
    (NLI, "There is too little evidence to conclude that the answer is True.", (None,)),
    (NLI, "There is insufficient information to say that the statement is False.", (None,)),
    (NLI, "The text lacks any indication that the answer is False.", (None,)),
    (NLI, "In the absence of proof that the answer is True, it stays open.", (None,)),
    (NLI, "It is unclear that the hypothesis is True.", (None,)),
    (NLI, "It is debatable that the answer is False.", (None,)),
    (NLI, "I am not convinced that the answer is True.", (None,)),
    (NLI, "We lack evidence, so the answer is Unknown.", ("Unknown",)),
    (NLI, "Because we lack evidence, the answer is Unknown.", ("Unknown",)),
    (NLI, "There is insufficient information: the answer is Unknown.", ("Unknown",)),
    (NLI, "The text lacks proof that she finished, so the answer is False.", ("False",)),
    (NLI, "It is unclear whether she finished. Answer: Unknown", ("Unknown",)),
    (NLI, "The evidence is insufficient, therefore the hypothesis is Unknown.", ("Unknown",)),
    (NLI, "The answer is True, which is incorrect.", (None,)),
    (NLI, "The answer is True (which is wrong).", (None,)),
    (NLI, "The answer is True, but that is untrue.", (None,)),
    (NLI, "Answer: False, and that is not right.", (None,)),
    (NLI, "The answer is False, which isn't correct.", (None,)),
    (NLI, "The answer is True, which is correct.", ("True",)),
    (NLI, "The answer is False, which means that it was not built.", ("False",)),
    (NLI, "The answer is False, since the claim that she finished is wrong.", ("False",)),
    (NLI, "Example: Answer: True", (None,)),
    (NLI, "Sample: Answer: True", (None,)),
    (NLI, "An example: the answer is True.", (None,)),
    (NLI, "Example answer: False", (None,)),
    (NLI, "Format: Answer: True", (None,)),
    (NLI, "The premise gives an example. Answer: False", ("False",)),
    (ABCD, "It's not B, it's D.", ("D",)),
    (NLI, "It's not True, it's Unknown.", ("Unknown",)),
    (NLI, "That's not False but Unknown.", ("Unknown",)),
    (NLI, "John's answer is True.", (None,)),
    (NLI, "Instead of True I choose Unknown.", ("Unknown", None)),
    (ABCD, "Rather than B, I pick D.", ("D",)),
]


@pytest.mark.parametrize(("labels", "text", "right"), REPLIES, ids=[text[:48] for _, text, _ in REPLIES])
def test_a_label_that_is_disowned_is_no_answer(
    labels: tuple[str, ...], text: str, right: tuple[str | None, ...]
) -> None:
    assert parse(text, labels).label in right
