"""The four prompts of the imperfective suites, in our own words.

What each must contain follows arXiv 2601.09373; the wording is Veridical's. The system turn holds all that is the
same for every item, the form of the answer included, so that items share it as a prefix; the user turn is the
premise, after it the hypothesis and, where one word is asked for, `Answer:`. A premise that is withheld
(input `hypothesis_only`) is said to be withheld.
"""

from __future__ import annotations

from veridical.items import Choice
from veridical.prompts.template import Prompt

LABELS = ("True", "False", "Unknown")

CHOICES = tuple(Choice(label=label, continuation=label) for label in LABELS)
"""The bare labels: what goes between them and the prompt is decided where the prompt is rendered."""

INPUTS = {"full": ("premise", "hypothesis"), "hypothesis_only": ("hypothesis",)}

CLASSES = {
    "True": ("entailment", "entailed", "entails"),
    "False": ("contradiction", "contradicted", "contradicts"),
    "Unknown": ("neutral",),
}
"""What classifiers of natural language inference call the labels."""

GLOSSES = {
    "True": "given what is stated, the hypothesis must hold.",
    "False": "what is stated contradicts the hypothesis.",
    "Unknown": "the hypothesis is possible, but not guaranteed.",
}

_LOGICIAN = """\
You are a strict logician. {% if premise is defined -%}
Judge the hypothesis by the premise alone, without common-sense assumptions.
{% else -%}
Judge the hypothesis with no premise given, without common-sense assumptions.
{% endif %}
{% for label in labels %}
{{ label }}: {{ glosses[label] }}
{% endfor %}
"""

_LABELS_IN_ORDER = "{{ labels[:-1] | join(', ') }} or {{ labels[-1] }}."
_ONE_WORD = "Answer with one word: " + _LABELS_IN_ORDER

_ASPECT = """\
Rule: a goal-directed verb in the progressive does not imply that the goal was reached; \
for an activity, which has no endpoint of its own, the process is enough for the event to have happened.
"""

_ENDPOINT = """\
First analyse the event: does the verb phrase have an endpoint of its own, and does what is stated \
guarantee that it was reached? Then reply with one JSON object:
{"reasoning": "<your analysis>", "label": "<your answer>"}
"""

_INTERRUPTIONS = """\
First list three ways in which the action could take place and its result never come about, \
then judge in the light of them. Reply with one JSON object:
{"possible_interruptions": ["<first>", "<second>", "<third>"], "label": "<your answer>"}
"""

_LABEL = "The label is " + _LABELS_IN_ORDER

_QUESTION = """\
{% if premise is defined %}
Premise: {{ premise }}
{% else %}
Premise: (none given)
{% endif %}
Hypothesis: {{ hypothesis }}
"""

# Asked for after the item: without it a small model repeats the list at the end of the system turn instead of choosing.
# The list again in its place would cost more tokens, and is repeated as well.
_ANSWERED = _QUESTION + "Answer:"

PROMPTS = (
    Prompt(name="zero-shot", system=_LOGICIAN + _ONE_WORD, user=_ANSWERED, orders=3, glosses=GLOSSES),
    Prompt(name="dap", system=_LOGICIAN + _ASPECT + _ONE_WORD, user=_ANSWERED, glosses=GLOSSES),
    Prompt(
        name="cot",
        system=_LOGICIAN + _ENDPOINT + _LABEL,
        user=_QUESTION,
        answer="json",
        reasons=True,
        glosses=GLOSSES,
    ),
    Prompt(
        name="counterfactual",
        system=_LOGICIAN + _INTERRUPTIONS + _LABEL,
        user=_QUESTION,
        answer="json",
        reasons=True,
        glosses=GLOSSES,
    ),
)
