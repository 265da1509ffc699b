r"""The forms in which a reply gives its answer, as tables.

A *wrapper* stands directly around a label (`"True"`, `\text{True}`) and is taken off, layer by layer. A *form* is what
stands before and after a label that is an answer. In its patterns `before` ends where the label begins, and `after`
begins where it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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

# Line breaks and the beginning of a line: quotation marks, headings, bullets and numbers may stand before a label.
_LINE = r"^[ \t>#•·\-–]{0,20}(?:\d{1,2}[.)][ \t]{0,4})?"
_SENTENCE = rf"(?:{_LINE}|(?<=\w\w[.!?])[ \t]{{1,4}})"
_CLAUSE = (
    rf"(?:{_SENTENCE}|[,;:—–][ \t]{{1,4}}(?:and |but |so |then )?|\b(?:so|thus|therefore|hence|that|means|and|but),? )"
)
# Closing quotation marks and brackets may follow a label that does not have its opening ones next to it.
_CLOSERS = r"[\"')\]}$]{0,4}"
_END = rf"{_CLOSERS}[ \t]*(?:\Z|\n|[.!]{_CLOSERS}(?=[\s<]|\Z)|\||</)"
_MORE = (
    rf"{_END}|{_CLOSERS}[ \t]*(?:[;,—–(]|[-:.)][ \t])"
    r"|[ \t]+(?:because|since|given|as (?:the|it|he|she|they|there|we)|based on|due to|according to"
    r"|in this case|here|rather than|instead of|as opposed to|over|(?:and )?not)\b"
)
_QUALITY = r"(?:final|correct|right|best|true|my|most likely|most plausible|likely|overall|predicted)"
_NOUN = (
    rf"(?:(?:the |my |our )?(?:{_QUALITY} ){{0,2}}(?:answer|label|verdict|judge?ment|conclusion"
    rf"|classification|choice|option"
    r"|output|response|result|prediction|decision|ans))"
)
_FINAL_NOUN = r"final[ _](?:answer|label|verdict|judge?ment|decision|choice|output)"
_ADVERB = (
    r"(?:therefore|thus|then|hence|clearly|definitely|almost certainly|certainly|surely|obviously|indeed|simply"
    r"|(?:most |very |quite )?likely|probably|still|actually)"
)
_SIGN = (
    r"[\"')\]]{0,2}[ \t]{0,3}(?:\([^()\n]{0,80}\)[ \t]{0,3})?(?::|=>?|→|->|(?<=[ \t])[-–—](?=[ \t]))\s{0,20}"
    r"(?:option[ \t])?"
)
_THING = r"(?:hypothesis|statement|claim|sentence|proposition)"
# What may stand before a bare answer and says nothing about it.
_INTERJECTION = (
    r"(?:(?:oh|ah|well|hm{1,3}|um|uh|ok|okay|sure|alright|right|yeah|indeed|honestly|clearly|definitely|certainly|surely"
    r"|obviously|simply|probably|(?:most |very |quite )?likely|almost certainly)[,:!.…]{0,3}[ \t]{1,2}){0,3}"
)
_IS = rf"(?:is|must be|should be|would be|will be|has to be)(?: {_ADVERB})?"

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
    Form("final", "decisive", rf"\b{_FINAL_NOUN}\b{_SIGN}", _MORE, "It seems False. Final answer: True"),
    Form(
        "the_final_is",
        "decisive",
        rf"\b{_FINAL_NOUN} {_IS}[ \t]{{0,2}}:?\s{{0,20}}(?:option )?",
        _MORE,
        "The answer is False, or so I thought. My final answer is True.",
    ),
    Form("marked", "claim", rf"\b{_NOUN}\b{_SIGN}", _MORE, "After all that, Answer: True"),
    Form("answer_line", "claim", rf"^[ \t#>]{{0,8}}{_NOUN}[ \t]{{0,4}}\n\s{{0,8}}", _MORE, "### Answer\n\nTrue"),
    Form(
        "the_answer_is",
        "claim",
        rf"\b{_NOUN}(?: (?:here|then|therefore|that (?:best )?(?:fits|applies)(?: best)?"
        rf"|(?:to|for|of|in) [^.,:;!?\n]{{1,60}}))?"
        rf" {_IS}[ \t]{{0,2}}:?\s{{0,20}}(?:option )?",
        _MORE,
        "So the answer is True.",
    ),
    Form(
        "i_answer",
        "claim",
        rf"\b(?:i|we)(?:'d|'ll|'m)?(?: (?:would|will|must|can|should|am|have to"
        rf"|choose to))?(?: {_ADVERB})? (?:output|answer"
        r"|think|believe|guess|suspect|bet|reckon|suppose|say|choose|pick|select|go with|go for|going with|going for"
        r"|vote(?: for)?|lean (?:towards?|to)|inclined to say|respond with"
        r"|reply(?: with)?|conclude|label (?:it"
        r"|this)(?: as)?|judge"
        r" (?:it|this)(?: to be| as)?)[ \t]{0,2}:?\s{0,5}(?:that )?(?:it is |it's |this is )?(?:option )?",
        _MORE,
        'I would output "True"',
    ),
    Form(
        "the_hypothesis_is",
        "claim",
        rf"{_CLAUSE}(?:the|this) {_THING} {_IS} ",
        _MORE,
        "It does not follow. Therefore, the hypothesis is True.",
    ),
    Form(
        "so",
        "claim",
        rf"(?:{_SENTENCE}|[,;—–][ \t]{{1,4}})(?:so|thus|therefore|hence|in conclusion|overall|in short"
        rf"|finally|→|=>),? ?"
        rf"(?:(?:it|this|that)(?:'s| {_IS}) )?:?[ \t]{{0,2}}",
        _END,
        "He stopped half way, so it is True.",
        goes_on=False,
    ),
    Form(
        "option",
        "claim",
        rf"{_CLAUSE}(?:option|choice|letter|answer)[ \t]{{1,3}}",
        rf"{_END}|[ \t]*[:(,]|[.)][ \t]",
        "Option True",
    ),
    Form(
        "is_right",
        "claim",
        rf"{_CLAUSE}(?:the )?(?:option |choice |answer |letter )?",
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
        _MORE,
        "It is not the first label but True.",
        goes_on=False,
    ),
    Form(
        "i_mean",
        "claim",
        r"\b(?:i mean|i meant|make that|scratch that|strike that|correction|sorry|oops|no(?=[,:]))[,:]?[ \t]"
        r"(?:it's |it is )?",
        _MORE,
        "The answer is False. Sorry, I meant True.",
        goes_on=False,
    ),
    Form(
        "leaves",
        "claim",
        r"\b(?:leaving|leaves|left with)(?: us| me)?(?: with)?(?: only| just)? (?:option )?",
        _END,
        "The others fail, which leaves True.",
        goes_on=False,
    ),
    Form(
        "going_with",
        "claim",
        rf"{_SENTENCE}(?:going with|choosing|picking|selecting|choose|select|pick) (?:option )?",
        _END,
        "Going with True.",
        goes_on=False,
    ),
    Form("alone", "claim", rf"{_SENTENCE}{_INTERJECTION}", _END, "True.", governed=False, letters=False, goes_on=False),
    Form(
        "alone_letter",
        "claim",
        rf"{_LINE}{_INTERJECTION}",
        rf"{_CLOSERS}[ \t]*[.!]?{_CLOSERS}[ \t]*(?:\Z|\n)",
        "D",
        "D",
        governed=False,
        letters=True,
        goes_on=False,
    ),
    Form(
        "opening",
        "opening",
        _LINE,
        rf"{_CLOSERS}(?:\)[ \t]|[ \t]*[:;,—–(]|[ \t]+-[ \t]|[ \t]+(?:because|since)\b)",
        "True, because it says so.",
        letters=False,
    ),
    Form(
        "reasoned_letter",
        "opening",
        _LINE,
        rf"{_CLOSERS},?[ \t]+(?:because|since)\b",
        "B, because A is too short.",
        "B",
        letters=True,
    ),
    Form(
        "opening_letter",
        "opening",
        _LINE,
        rf"{_CLOSERS}(?:[.:)][ \t]|[ \t]*[;—–(]|[ \t]+-[ \t])",
        "B) a wooden ladder",
        "B",
        letters=True,
    ),
    Form(
        "it_is",
        "remark",
        rf"{_CLAUSE}(?:it|this|that)(?:'s|(?: is| must be| has to be| can only be))(?: {_ADVERB}| really)?"
        r" (?:option )?",
        rf"{_END}|{_CLOSERS}[ \t]*[;:—–(]|,?[ \t]+(?:because|since|as (?:the|it|he|she|they|there|we)|given)\b",
        "It's True.",
        goes_on=False,
    ),
    Form(
        "closing",
        "remark",
        r"[\w\"')\]](?:[:;][ \t]{1,4}|[ \t]?[—–][ \t]?|[ \t]-{1,2}[ \t]|[ \t](?:→|=>|⇒|->)[ \t])"
        r"(?:so |therefore |thus |hence )?(?:option )?",
        rf"{_CLOSERS}[ \t]*[.!]?{_CLOSERS}[ \t]*(?:\Z|\n)",
        "The text does not say whether he arrived: True.",
        governed=False,
        goes_on=False,
    ),
)
"""Every accepted form, each with an example of its own. JSON objects are read before (`prompts.objects`)."""
