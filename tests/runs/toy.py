"""A small suite, and a deterministic model that answers it without weights."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from veridical.digests import digest
from veridical.items import Choice, Grouping, Item, Member, Mode, Suite
from veridical.models.protocol import (
    LANGUAGE_MODES,
    ChoiceScore,
    Fingerprint,
    GenerationSettings,
    Outcome,
    Query,
    Request,
    TokenSequence,
)
from veridical.prompts.template import Conversation, Prompt, TextPair
from veridical.status import Status

LABELS = ("True", "False", "Unknown")
# The restricted input has no premise, which the templates must allow.
STORY = "{% if premise is defined %}{{ premise }} {% endif %}{{ hypothesis }}"
PROMPTS = (
    Prompt(name="plainly", user=STORY + " {{ labels | join(', ') }}?", orders=0),
    Prompt(name="rule", system="Mind the aspect.", user=STORY),
    Prompt(name="think", user=STORY + " Think first.", reasons=True),
)


def toy_suite(n_verbs: int = 6, **changes: object) -> Suite:
    """`n_verbs` telic sets (roles A, C) and as many atelic ones (roles B, D)."""
    items: list[Item] = []
    members: list[Member] = []
    for telic in (True, False):
        for number in range(n_verbs):
            verb = f"{'built' if telic else 'pushed'} cart {number}"
            for role, gold in (("A", "False"), ("C", "Unknown")) if telic else (("B", "True"), ("D", "True")):
                premise = f"Ada was doing what {verb} says{', but stopped' if role in 'AB' else ''}."
                item = Item(
                    fields={"premise": premise, "hypothesis": f"Ada {verb}."},
                    choices=tuple(Choice(label=label, continuation=label) for label in LABELS),
                    gold=(gold,),
                    factors={
                        "group": role,
                        "telic": telic,
                        "verb_class": "Creation" if telic else "Activity",
                    },
                )
                items.append(item)
                members.append(Member(set=verb, item=item.id, role=role))
    parts: dict[str, object] = {
        "name": "toy",
        "version": "1",
        "labels": LABELS,
        "measures": "accuracy",
        "prompts": PROMPTS,
        "inputs": {"hypothesis_only": ("hypothesis",)},
        "groupings": (Grouping(name="verb", members=tuple(members)),),
        "items": tuple(items),
    }
    return Suite(**{**parts, **changes})


def _ids(text: str) -> tuple[int, ...]:
    return tuple(text.encode())


@dataclass
class ToyModel:
    """Scores by a hash of its weights and the token ids. `asked` lists what it was made to compute."""

    name: str = "hf/toys/small"
    weights: str = "w0"
    template: str = "{role}: {text}\n"
    fails: frozenset[int] = frozenset()
    seconds: float = 0.0
    asked: list[Request] = field(default_factory=list)
    n_parameters: int | None = 1_000
    dtype: str = "float32"
    stops_after: int | None = None
    modes: tuple[Mode, ...] = LANGUAGE_MODES

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint({"weights": self.weights, "template": self.template, "dtype": self.dtype})

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        if isinstance(pair := query.contexts[0], TextPair):
            context = _ids(f"{pair.first}|{pair.second}")
            return Request(tuple(TokenSequence(context, _ids(names[0])[:1], 1, 1) for names in query.classes))
        texts = [
            "".join(self.template.format(role=m.role, text=m.content) for m in context.messages)
            if isinstance(context, Conversation)
            else context.text
            for context in query.contexts
        ]
        notes = ("system_folded",) if "system" in texts[0] else ()
        if not query.continuations:
            return Request((TokenSequence(_ids(texts[0])),), settings=settings or GenerationSettings(), notes=notes)
        if len(texts) == 1:
            texts *= len(query.continuations)
        return Request(
            tuple(
                TokenSequence(_ids(text), _ids(c), len(c), len(c.encode()))
                for text, c in zip(texts, query.continuations, strict=True)
            ),
            notes=notes,
        )

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        for position, request in reversed(list(enumerate(requests))):
            if self.stops_after is not None and len(self.asked) >= self.stops_after:
                raise KeyboardInterrupt
            self.asked.append(request)
            time.sleep(self.seconds)
            if len(self.asked) in self.fails:
                yield position, Outcome(Status.ERROR, detail="planted failure")
            elif request.scores_choices:
                scores = tuple(self._score(sequence) for sequence in request.sequences)
                yield position, Outcome(Status.OK, scores)
            else:
                label = LABELS[int(digest([self.weights, list(request.sequences[0].context)]), 16) % 3]
                yield position, Outcome(Status.OK, text=f"Answer: {label}", n_tokens=3, finish="stop")

    def _score(self, sequence: TokenSequence) -> ChoiceScore:
        noise = int(digest([self.weights, list(sequence.context), list(sequence.continuation)]), 16)
        total = -1.0 - (noise % 10_007) / 1_000
        return ChoiceScore(total, len(sequence.continuation), sequence.n_chars, sequence.n_bytes)
