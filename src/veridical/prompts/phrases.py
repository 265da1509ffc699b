"""Parts of the patterns of `prompts.forms`: how sentences begin and end, and the words around an answer."""

from __future__ import annotations

# Line breaks and the beginning of a line: quotation marks, headings, bullets and numbers may stand before a label.
LINE = r"^[ \t>#•·\-–]{0,20}(?:\d{1,2}[.)][ \t]{0,4})?"
SENTENCE = rf"(?:{LINE}|(?:(?<=\w\w[.!?])|(?<=[.!?][.!?]))[ \t]{{1,4}})"
CLAUSE = (
    rf"(?:{SENTENCE}|[,;:—–][ \t]{{1,4}}(?:and |but |so |then )?|\b(?:so|thus|therefore|hence|that|means|and|but),? )"
)
# Closing quotation marks and brackets may follow a label that does not have its opening ones next to it.
CLOSERS = r"[\"')\]}$]{0,4}"
# Dots that trail off close an answer at the end of a line alone: what follows them on it may be a doubt.
STOP = r"(?:\.|!{1,20}|\.{2,6}(?=[ \t]*(?:\Z|\n)))"
END = rf"{CLOSERS}[ \t]*(?:\Z|\n|{STOP}{CLOSERS}(?=[\s<]|\Z)|\||</)"
MORE = (
    rf"{END}|{CLOSERS}[ \t]*(?:[;,—–(]|[-:.)][ \t])"
    r"|[ \t]+(?:because|since|given|as (?:the|it|he|she|they|there|we)|based on|due to|according to"
    r"|in this case|here|rather than|instead of|as opposed to|over|(?:and )?not)\b"
)
QUALITY = r"(?:final|correct|right|best|true|my|most likely|most plausible|likely|overall|predicted)"
NOUN = (
    rf"(?:(?:the |my |our )?(?:{QUALITY} ){{0,2}}(?:answer|label|verdict|judge?ment|conclusion"
    rf"|classification|choice|option"
    r"|output|response|result|prediction|decision|ans))"
)
FINAL_NOUN = r"final[ _](?:answer|label|verdict|judge?ment|decision|choice|output)"
ADVERB = (
    r"(?:therefore|thus|then|hence|clearly|definitely|almost certainly|certainly|surely|obviously|indeed|simply"
    r"|(?:most |very |quite )?likely|probably|still|actually)"
)
SIGN = (
    r"[\"')\]]{0,2}[ \t]{0,3}(?:\([^()\n]{0,80}\)[ \t]{0,3})?(?::|=>?|→|->|(?<=[ \t])[-–—](?=[ \t]))\s{0,20}"
    r"(?:option[ \t])?"
)
THING = r"(?:hypothesis|statement|claim|sentence|proposition)"
# What may stand before a bare answer and says nothing about it.
INTERJECTION = (
    r"(?:(?:oh|ah|well|hm{1,3}|um|uh|ok|okay|sure|alright|right|yeah|indeed|honestly|clearly|definitely|certainly|surely"
    r"|obviously|simply|probably|(?:most |very |quite )?likely|almost certainly)[,:!.…]{0,3}[ \t]{1,2}){0,3}"
)
# Yes to a question that the reply itself has asked, which nothing takes back or limits.
YES = (
    rf"{CLOSERS}\?{CLOSERS}\s{{1,4}}(?:yes|yep|indeed|absolutely|it is)(?:,? (?:it is|it does|this is|that is))?"
    rf"(?:,? (?:because|since)\b|[ \t]{{0,2}}(?:\Z|\n|{STOP}(?=\s|\Z))"
    r"(?!\s{0,4}(?:but|however|no|not|wait|actually|or|and|maybe|perhaps|probably|possibly|then|although|though|hm+|still"
    r"|yet|unless|if|only|almost|nearly|partly|sort|kind|said)\b))"
)
IS = rf"(?:is|must be|should be|would be|will be|has to be)(?: {ADVERB})?"
