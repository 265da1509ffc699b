"""Words that make of a claim something that is not asserted: the vocabulary and the table of `prompts.clauses`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that govern a claim.

    `reach`: what follows in the sentence; in the clause; a noun right after; or, the other way, the words before.
    """

    name: str
    reach: Literal["sentence", "clause", "noun", "after", "contrast"]
    pattern: str
    example: str


_OWN = (
    r"(?:i|we|it|this|that|which|premises?|texts?|passages?|evidence|statements?|hypothes[ie]s|sentences?|contexts?"
    r"|stor(?:y|ies)|articles?|rules?|definitions?|paragraphs?|descriptions?|questions?|problems?"
    r"|would|will|can|could|must|should|may|might|to|not|also|often|first|then|even|let's|us|be|is|are|was|were|do"
    r"|does|did|don't|the|a|an|my|our|and|or|but|so)"
)
"""Words before a verb of saying that do not make it someone else's saying."""
_SAY = (
    r"(?:think|say|believe|claim|argue|assume|guess|suppose|expect|conclude|answer|infer|imagine|insist|write|reply"
    r"|suggest|agree)"
)
_SAYS = (
    r"(?:thinks|thought|says|said|believe[sd]|claim(?:s|ed)|argue[sd]|assume[sd]|guess(?:es|ed)|suppose[sd]|expect(?:s|ed)"
    r"|conclude[sd]|answer(?:s|ed)|infer(?:s|red)|imagine[sd]|insist(?:s|ed)|writes|wrote|repli(?:es|ed)|suggest(?:s|ed)"
    r"|stated|maintain(?:s|ed)|object(?:s|ed)|respond(?:s|ed)|told (?:me|us)|asked|agree[sd])"
)
_OTHERS_SAY = (
    rf"\b(?!{_OWN}\b)[\w'-]{{1,40}}\s(?:(?:(?:has|had|also|often|first|then|even|once|wrongly)\s){{0,2}}{_SAYS}"
    rf"|(?:would|will|might|may|could)\s(?:(?:also|often|first|then|even|well)\s){{0,2}}(?:be tempted to\s)?{_SAY})\b"
    rf"|\b(?!(?:was|is|this|its|thus|does|premises|texts|passages|sentences|rules)\b)"
    rf"(?:[\w-]{{2,40}}s|one|some|many|most|people|they|you|few|nobody|anyone|everyone)\s(?:also\s|often\s)?{_SAY}\b"
)
SAYING = rf"(?:{_SAYS}|{_SAY}|states?)"
"""A verb of saying or thinking, as a part of a pattern."""
_OTHER = (
    r"(?:wrong|incorrect|false|mistaken|other|opposite|first|initial|previous|prior|earlier|original|old|alternative"
    r"|official|published|reported|naive|obvious|tempting|apparent|seeming|intuitive|superficial|common|usual|popular|typical|rejected|worst|worse"
    r"|second(?:-best)?|next|expected|default|possible|potential|hypothetical|candidate|sample|example|so-called"
    r"|supposed|alleged|human|majority|bad|poor|weak(?:er|est)?|one|another|any|each|either|neither|your|his|her|their"
    r"|(?:least|less|un|im)[ -]?(?:likely|probable|plausible|convincing|correct|right|good)|least|less"
    r"|(?!(?:hypothesis|statement|claim|item|it|that|this|what|there|here|he|she|who|let)'s)[\w-]{1,30}'s)"
)
"""What makes of an answer another one than the reply's own."""
_GROUNDS = (
    r"(?:reason|evidence|proof|way|basis|guarantee|indication|support|grounds?|information|details?|data|justification)"
)
_EVALUATION = (
    r"(?:wrong|incorrect|mistaken|a mistake|an error|erroneous|premature|tempting|misleading|hasty|rash|careless"
    r"|unsafe"
    r"|a fallacy|fallacious|unjustified|unwarranted|false|untrue|easy|natural|impossible|hard|difficult"
    r"|too (?:quick|early|much|strong))"
)

CUES: tuple[Cue, ...] = (
    Cue(
        "condition",
        "sentence",
        r"\b(?:if|unless|suppose|supposing|assuming|assume|imagine|provided|in case|otherwise|as long as|were it"
        r"|depending on|let's say|let us say"
        r"|(?:under|on|in) (?:this|that|one|another|a|an|the|the first|the second|the other)"
        r" (?:reading|interpretation|assumption|scenario|view))\b",
        "If she had finished, the answer would be <label>. She had not.",
    ),
    Cue(
        "inversion",
        "sentence",
        r"\A\W*(?:had|were|should)\s(?!the answer|i\b)\w+",
        "Had he finished, the answer would be <label>.",
    ),
    Cue(
        "without",
        "sentence",
        r"\b(?:without|but for|in (?:a|another) (?:world|reading|scenario|case) (?:where|in which|that))\b",
        "Without the rain, the answer would be <label>.",
    ),
    Cue(
        "first_impression",
        "sentence",
        r"\b(?:at first|at a (?:quick )?glance|on the (?:surface|face of it)|initially|naively"
        r"|superficially|my first)\b",
        "At first sight the answer is <label>.",
    ),
    Cue(
        "source",
        "sentence",
        r"\b(?:according to (?!the (?:premise|text|passage|evidence|statement))"
        r"|for some\b|to some\b|in the eyes of)",
        "According to some, the answer is <label>.",
    ),
    Cue(
        "negation",
        "clause",
        r"\b(?:not|never|cannot|neither|nor|hardly|nothing|nobody|no one|none|without|unable|unlikely"
        r"|far from|far be it|fails? to"
        r"|refuse[sd]?|deny|denies|denied|doubt(?:s|ed|ful)?|reject(?:s|ed)?|rules? out|ruled out"
        r"|instead of|rather than|take back|taking back|retract|withdraw|abandon|regret)\b"
        rf"|n't\b|\bno (?:\w+ )?{_GROUNDS}\b"
        r"|\b(?:lack(?:s|ed|ing)?|lack of|absence of|insufficient|inadequate|scant|little|short of|missing)"
        rf" (?:\w+ ){{0,2}}{_GROUNDS}(?: (?:that|to|for|which)\b|\s\Z)"
        r"|\b(?:unclear|uncertain|unsure|unproven|unconvinced|debatable|questionable|disputed|sc?k?eptical)"
        r" (?:(?:that|if|how|why)\b|\Z)",
        "It does not follow that the answer is <label>.",
    ),
    Cue(
        "evaluation",
        "clause",
        rf"\b{_EVALUATION} (?:for \w+ )?(?:to|that)\b",
        "It would be wrong to say the answer is <label>.",
    ),
    Cue(
        "possibility",
        "clause",
        r"\b(?:might|may|could|perhaps|maybe|possibly|possible|whether|wonder(?:s|ed|ing)?|question of)\b",
        "It could be that the answer is <label>.",
    ),
    Cue(
        "others_say",
        "clause",
        _OTHERS_SAY,
        "Some would say that the answer is <label>.",
    ),
    Cue(
        "past_self",
        "clause",
        r"\bi (?:\w{1,12} )?(?:thought|assumed|guessed|believed|supposed|would have|was (?:going|about|tempted) to)\b",
        "I wrongly thought that the answer is <label>.",
    ),
    Cue(
        "example",
        "sentence",
        r"(?:\A|\W)(?:an? )?(?:example|sample|template|format)s?(?: \w+)?\s?:"
        r"|\b(?:for example|for instance|e\.g\.|such as|in the form|in the format|(?:the )?format (?:is|should be))",
        "For example, the answer is <label>.",
    ),
    Cue(
        "another_answer",
        "noun",
        rf"\b{_OTHER} ?(?:final |correct |right |best |true |most likely |likely ){{0,2}}\Z",
        "The wrong answer is <label>.",
    ),
    Cue(
        "exception",
        "noun",
        r"\b(?:everything|anything|nothing|none|all|every \w{1,20}|any \w{1,20})(?: but| except| other than)?\s*\Z"
        r"|\b(?:opposite|contrary|negation|reverse|denial) (?:of|to) (?:the )?\Z",
        "Everything but <label> is correct.",
    ),
    Cue(
        "attributed",
        "after",
        rf"[.,]?[\"']{{0,2}},?\s(?:(?:said|says|say|claim(?:s|ed)|argue[sd]|wrote|replied|answered)\s(?!i\b)"
        r"|(?:according to|in the (?:eyes|opinion|view) of) "
        r"(?!the (?:premise|text|passage|evidence|statement|story)\b|me\b)"
        rf"|(?!{_OWN}\b)\w{{1,30}}\s(?:said|says|claim(?:s|ed)|argue[sd]|thinks|thought|wrote|insist(?:s|ed)|replied)\b)",
        "The answer is <label>, said my friend.",
    ),
    Cue(
        "reserve",
        "after",
        r"(?:\.{2,6})?\s{0,2}[,;:—–-]{0,2}\s\(?(?:but )?(?:only )?(?:if|unless|provided|assuming|depending|or|one might"
        r"|some would|some might|at first)\b",
        "The answer is <label>, if she finished.",
    ),
    Cue(
        "taken_back",
        "after",
        r"[\"')\]]{0,3},?\s\(?(?:which|that|but (?:that|this|it)|and (?:that|this)|though (?:that|this|it))"
        r"(?: is|'s| was| would be| must be| has to be)(?: clearly| obviously| of course| simply| just)?"
        r" (?:wrong|incorrect|false|untrue|mistaken|a mistake|an error|not (?:right|correct|true|so))\b"
        r"|[\"')\]]{0,3},?\s\(?(?:which|but that|but this) (?:isn't|cannot be|can't be|wasn't)"
        r" (?:right|correct|true)\b",
        "The answer is <label>, which is incorrect.",
    ),
    Cue(
        "contrast",
        "contrast",
        r"\W*(?:but|however|yet|actually|wait|on the other hand|still|no,|hmm|although|though|that would be wrong)\b",
        "It seems that the answer is <label>. However, the text leaves it open.",
    ),
)
"""Every cue, with an example in which `<label>` is not an answer."""
