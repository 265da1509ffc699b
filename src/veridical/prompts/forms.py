r"""The forms in which a reply gives its answer, as tables.

A *wrapper* stands directly around a label (`"True"`, `\text{True}`) and is taken off, layer by layer. A *form* is what
stands before and after a label that is an answer. In its patterns `before` ends where the label begins, and `after`
begins where it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from veridical.prompts.phrases import (
    ADVERB,
    CLAUSE,
    CLOSERS,
    END,
    FINAL_NOUN,
    INTERJECTION,
    IS,
    LINE,
    MORE,
    NOUN,
    SENTENCE,
    SIGN,
    STOP,
    THING,
    YES,
)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Two texts around a label, and an example that answers True."""

    name: str
    open: str
    close: str
    example: str


@dataclass(frozen=True, slots=True)
class Form:
    """One accepted form of reply: what stands around the label, and an example that answers `label`.

    `decisive` forms announce a final answer and outweigh what was said on the way to it. An `opening` begins a line
    that goes on, and a `remark` closes a sentence on something else (`He stopped: False.`); both are read only where
    nothing claims more. `governed` forms are sentences, which something else in
    them may deny or suppose (`prompts.clauses`). `letters` says whether the form is for labels of a single
    character alone, for longer ones alone, or for any; `goes_on` whether the text of a choice may follow its letter.
    """

    name: str
    rank: Literal["decisive", "claim", "opening", "remark"]
    before: str
    after: str
    example: str
    label: str = "True"
    governed: bool = True
    letters: bool | None = None
    goes_on: bool = True


WRAPPERS: tuple[Wrapper, ...] = (
    Wrapper("double_quoted", '"', '"', '"True"'),
    Wrapper("single_quoted", "'", "'", "'True'"),
    Wrapper("parenthesised", "(", ")", "(True)"),
    Wrapper("bracketed", "[", "]", "[True]"),
    Wrapper("angled", "<", ">", "<True>"),
    Wrapper("dollar", "$", "$", "$True$"),
    Wrapper("latex_inline", r"\(", r"\)", r"\(True\)"),
    Wrapper("latex_display", r"\[", r"\]", r"\[True\]"),
    Wrapper("latex_text", r"\text{", "}", r"\text{True}"),
    Wrapper("latex_textbf", r"\textbf{", "}", r"\textbf{True}"),
    Wrapper("latex_textit", r"\textit{", "}", r"\textit{True}"),
    Wrapper("latex_textrm", r"\textrm{", "}", r"\textrm{True}"),
    Wrapper("latex_mathrm", r"\mathrm{", "}", r"\mathrm{True}"),
    Wrapper("latex_mathbf", r"\mathbf{", "}", r"\mathbf{True}"),
    Wrapper("html_bold", "<b>", "</b>", "<b>True</b>"),
    Wrapper("html_strong", "<strong>", "</strong>", "<strong>True</strong>"),
)
"""Markdown's emphasis and code ticks are not wrappers: they are taken out of the whole text (`parsing`)."""

FORMS: tuple[Form, ...] = (
    Form(
        "boxed",
        "decisive",
        r"\\(?:boxed|fbox)\{\s{0,5}(?:\\text\w{0,4}\{\s{0,5})?",
        r"\s{0,5}(?:[.:),]|\}|\Z)",
        r"So it is $\boxed{True}$, as shown",
        governed=False,
    ),
    Form(
        "tagged",
        "decisive",
        r"<(?:final_?)?(?:answer|label|output|result)>\s{0,20}(?:option )?",
        r"\s{0,20}(?:\.\s{0,5})?(?:</|[.:)] )",
        "<answer>True</answer>",
        governed=False,
    ),
    Form("final", "decisive", rf"\b{FINAL_NOUN}\b{SIGN}", MORE, "It seems False. Final answer: True"),
    Form(
        "the_final_is",
        "decisive",
        rf"\b{FINAL_NOUN} {IS}[ \t]{{0,2}}:?\s{{0,20}}(?:option )?",
        MORE,
        "The answer is False, or so I thought. My final answer is True.",
    ),
    Form("marked", "claim", rf"\b{NOUN}\b{SIGN}", MORE, "After all that, Answer: True"),
    Form("answer_line", "claim", rf"^[ \t#>]{{0,8}}{NOUN}[ \t]{{0,4}}\n\s{{0,8}}", MORE, "### Answer\n\nTrue"),
    Form(
        "the_answer_is",
        "claim",
        rf"\b{NOUN}(?: (?:here|then|therefore|that (?:best )?(?:fits|applies)(?: best)?"
        rf"|(?:to|for|of|in) [^.,:;!?\n]{{1,60}}))?"
        rf" {IS}[ \t]{{0,2}}:?\s{{0,20}}(?:option )?",
        MORE,
        "So the answer is True.",
    ),
    Form(
        "i_answer",
        "claim",
        rf"\b(?:i|we)(?:'d|'ll|'m)?(?: (?:would|will|must|can|should|am|have to"
        rf"|choose to))?(?: {ADVERB})? (?:output|answer"
        r"|think|believe|guess|suspect|bet|reckon|suppose|say|choose|pick|select|go with|go for|going with|going for"
        r"|vote(?: for)?|lean (?:towards?|to)|inclined to say|respond with"
        r"|reply(?: with)?|conclude|label (?:it"
        r"|this)(?: as)?|judge"
        r" (?:it|this)(?: to be| as)?)[ \t]{0,2}:?\s{0,5}(?:that )?(?:it is |it's |this is )?(?:option )?",
        MORE,
        'I would output "True"',
    ),
    Form(
        "the_hypothesis_is",
        "claim",
        rf"{CLAUSE}(?:the|this) {THING} {IS} ",
        MORE,
        "It does not follow. Therefore, the hypothesis is True.",
    ),
    Form(
        "so",
        "claim",
        rf"(?:{SENTENCE}|[,;—–][ \t]{{1,4}})(?:so|thus|therefore|hence|in conclusion|overall|in short"
        rf"|finally|→|=>),? ?"
        rf"(?:(?:it|this|that)(?:'s| {IS}) )?:?[ \t]{{0,2}}",
        END,
        "He stopped half way, so it is True.",
        goes_on=False,
    ),
    Form(
        "option",
        "claim",
        rf"{CLAUSE}(?:option|choice|letter|answer)[ \t]{{1,3}}",
        rf"{END}|[ \t]*[:(,]|[.)][ \t]",
        "Option True",
    ),
    Form(
        "is_right",
        "claim",
        rf"{CLAUSE}(?:the )?(?:option |choice |answer |letter )?",
        r"[ \t](?:is|would be|must be)(?: clearly| therefore| definitely)?(?: the)?"
        r"(?: most)? (?:correct|right|best|likely|plausible|accurate)"
        r"(?: (?:answer|choice|option|one|label|response|verdict|fit))?"
        r"(?=[ \t]*(?:[.!;,:)—–\n]|\Z)"
        r"|[ \t]+(?:because|since|here|given|as (?:the|it|he|she|they)|and|but|while|whereas)\b)"
        r"|[ \t]fits(?: \w+){0,4} best\b|[ \t]it is(?=[.!]|\Z)",
        "True is the correct answer.",
        goes_on=False,
    ),
    Form(
        "correction",
        "claim",
        r"\b(?:not|isn't|wasn't|neither)\b(?! (?:only|just|merely|simply)\b)[^.!?\n]{1,80}?"
        r"(?:,? but(?: rather| instead| is| it is| it's)?|,? (?:rather|instead)"
        r"|[,;:—–-][ \t]?(?:it is|it's|it must be|the answer is|rather|instead)),?:?[ \t](?:option )?",
        MORE,
        "It is not the first label but True.",
        goes_on=False,
    ),
    Form(
        "neither_nor",
        "claim",
        r"\bneither [^.!?;:\n]{1,80}? nor [^.!?;:\n]{1,80}?[;:—–][ \t]{1,3}"
        r"(?:(?:so|thus|therefore|hence|but),? )?(?:(?:it is|it's|the answer is) )?(?:option )?",
        END,
        "Neither the first nor the second label; True.",
        goes_on=False,
    ),
    Form(
        "asked",
        "claim",
        rf"{SENTENCE}(?:so,? |then,? )?is (?:it|this|that|the (?:answer|label|verdict)|(?:the|this) {THING}) "
        r"(?:an? |the )?(?:option )?",
        YES,
        "Is it True? Yes.",
        governed=False,
        goes_on=False,
    ),
    Form(
        "asked_in_turn",
        "claim",
        r"(?<=\bno[.!])\s{1,4}(?:an? )?",
        YES,
        "False? No. True? Yes.",
        governed=False,
        letters=False,
        goes_on=False,
    ),
    Form(
        "i_mean",
        "claim",
        r"\b(?:i mean|i meant|make that|scratch that|strike that|correction|sorry|oops|no(?=[,:]))[,:]?[ \t]"
        r"(?:it's |it is )?",
        MORE,
        "The answer is False. Sorry, I meant True.",
        goes_on=False,
    ),
    Form(
        "leaves",
        "claim",
        r"\b(?:leaving|leaves|left with)(?: us| me)?(?: with)?(?: only| just)? (?:option )?",
        END,
        "The others fail, which leaves True.",
        goes_on=False,
    ),
    Form(
        "going_with",
        "claim",
        rf"{SENTENCE}(?:going with|choosing|picking|selecting|choose|select|pick) (?:option )?",
        END,
        "Going with True.",
        goes_on=False,
    ),
    Form(
        "alone",
        "claim",
        rf"{SENTENCE}{INTERJECTION}(?:an? )?",
        END,
        "True.",
        governed=False,
        letters=False,
        goes_on=False,
    ),
    Form(
        "alone_letter",
        "claim",
        rf"{LINE}{INTERJECTION}",
        rf"{CLOSERS}[ \t]*{STOP}?{CLOSERS}[ \t]*(?:\Z|\n)",
        "D",
        "D",
        governed=False,
        letters=True,
        goes_on=False,
    ),
    Form(
        "opening",
        "opening",
        LINE,
        rf"{CLOSERS}(?:\)[ \t]|[ \t]*[:;,—–(]|[ \t]+-[ \t]|[ \t]+(?:because|since)\b)",
        "True, because it says so.",
        letters=False,
    ),
    Form(
        "reasoned_letter",
        "opening",
        LINE,
        rf"{CLOSERS},?[ \t]+(?:because|since)\b",
        "B, because A is too short.",
        "B",
        letters=True,
    ),
    Form(
        "opening_letter",
        "opening",
        LINE,
        rf"{CLOSERS}(?:[.:)][ \t]|[ \t]*[;—–(]|[ \t]+-[ \t])",
        "B) a wooden ladder",
        "B",
        letters=True,
    ),
    Form(
        "it_is",
        "remark",
        rf"{CLAUSE}(?:it|this|that)(?:'s|(?: is| must be| has to be| can only be))(?: {ADVERB}| really)?"
        r" (?:option )?",
        rf"{END}|{CLOSERS}[ \t]*[;:—–(]|,?[ \t]+(?:because|since|as (?:the|it|he|she|they|there|we)|given)\b",
        "It's True.",
        goes_on=False,
    ),
    Form(
        "closing",
        "remark",
        r"[\w\"')\]](?:[:;][ \t]{1,4}|[ \t]?[—–][ \t]?|[ \t]-{1,2}[ \t]|[ \t](?:→|=>|⇒|->)[ \t])"
        r"(?:so |therefore |thus |hence )?(?:option )?",
        rf"{CLOSERS}[ \t]*{STOP}?{CLOSERS}[ \t]*(?:\Z|\n)",
        "The text does not say whether he arrived: True.",
        governed=False,
        goes_on=False,
    ),
)
"""Every accepted form, each with an example of its own. JSON objects are read before (`prompts.objects`)."""
