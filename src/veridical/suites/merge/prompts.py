"""How natural language inference is asked, of seeds and variants alike, in our own words.

The system turn holds all that is the same for every item, the labels and the form of the answer included, so that a
seed and its variants share it as a prefix; the user turn is the premise and, after it, the hypothesis.
"""

from __future__ import annotations

from veridical.items import Choice
from veridical.prompts.template import Prompt

LABELS = ("entailment", "neutral", "contradiction")

CHOICES = tuple(Choice(label=label, continuation=label) for label in LABELS)
"""The bare labels: what goes between them and the prompt is decided where the prompt is rendered."""

INPUTS = {"full": ("premise", "hypothesis"), "hypothesis_only": ("hypothesis",)}

PAIR = ("premise", "hypothesis")
"""What a sequence classifier is shown."""

CLASSES = {
    "entailment": ("entailment", "entailed", "entails"),
    "neutral": ("neutral",),
    "contradiction": ("contradiction", "contradicted", "contradicts"),
}
"""What classifiers of natural language inference call the labels."""

GLOSSES = {
    "entailment": "if the premise is true, the hypothesis is true.",
    "neutral": "if the premise is true, the hypothesis may be true or false.",
    "contradiction": "if the premise is true, the hypothesis is false.",
}

_READER = """\
You compare two sentences, a premise and a hypothesis about one and the same situation. {% if premise is defined -%}
Say how the hypothesis stands to the premise.
{% else -%}
The premise is withheld: say how the hypothesis most likely stands to it.
{% endif %}
{% for label in labels %}
{{ label }}: {{ glosses[label] }}
{% endfor %}
"""

_IN_ORDER = "{{ labels[:-1] | join(', ') }} or {{ labels[-1] }}."
_ONE_WORD = "Answer with one word: " + _IN_ORDER

_REASONS = """\
First say what the premise tells of the situation, and whether the hypothesis can fail to hold in it. \
Then reply with one JSON object:
{"reasoning": "<your analysis>", "label": "<your answer>"}
"""

_QUESTION = """\
Premise: {{ premise if premise is defined else "(withheld)" }}
Hypothesis: {{ hypothesis }}
"""

PROMPTS = (
    Prompt(name="zero-shot", system=_READER + _ONE_WORD, user=_QUESTION, orders=3, glosses=GLOSSES),
    Prompt(
        name="cot",
        system=_READER + _REASONS + "The label is " + _IN_ORDER,
        user=_QUESTION,
        answer="json",
        reasons=True,
        glosses=GLOSSES,
    ),
)
