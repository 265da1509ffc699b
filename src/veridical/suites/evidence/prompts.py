"""How the suite is asked, in our own words.

The labels and their order of questions (does the evidence address the target, and if so what does it say) follow
arXiv 2607.26929. What two endpoints of a pair share, background and evidence, stands before what differs, so that the
engine runs it once.
"""

from __future__ import annotations

from veridical.prompts.template import Prompt

LABELS = ("Favors", "Challenges", "Unresolved", "Wrong Target")

INPUTS = {
    "full": ("background", "evidence", "target", "condition"),
    "no_evidence": ("background", "target", "condition"),
    "evidence_only": ("evidence",),
}

GLOSSES = {
    "Favors": "the result is about this condition for this target, and speaks for it.",
    "Challenges": "the result is about this condition for this target, and speaks against it.",
    "Unresolved": "the result is about this condition for this target, but is too weak or imprecise to tell.",
    "Wrong Target": "the result is about something else, and does not bear on this condition for this target.",
}

_METHODOLOGIST = """\
You judge what a diagnostic result says about a causal claim. You are shown the background of a study, one diagnostic \
result as evidence, a target claim, and a condition that the claim rests on. Judge only what this result says about \
this condition for this target: not whether the claim is true, and not whether other conditions hold.
{% for label in labels %}
{{ label }}: {{ glosses[label] }}
{% endfor %}
"""

_IN_ORDER = "{{ labels[:-1] | join(', ') }} or {{ labels[-1] }}."
_ONE_LABEL = "Answer with one label: " + _IN_ORDER
_REASONS = """\
First ask whether the result is about this condition for this target at all; if it is, ask what it shows and how \
precisely. Then reply with one JSON object:
{"reasoning": "<your analysis>", "label": "<your answer>"}
"""

_QUESTION = """\
Background: {{ background if background is defined else "(none given)" }}
Evidence: {{ evidence if evidence is defined else "(none given)" }}
Target claim: {{ target if target is defined else "(none given)" }}
Condition: {{ condition if condition is defined else "(none given)" }}
"""

PROMPTS = (
    Prompt(name="zero-shot", system=_METHODOLOGIST + _ONE_LABEL, user=_QUESTION, orders=0, glosses=GLOSSES),
    Prompt(
        name="cot",
        system=_METHODOLOGIST + _REASONS + "The label is " + _IN_ORDER,
        user=_QUESTION,
        answer="json",
        reasons=True,
        glosses=GLOSSES,
    ),
)
