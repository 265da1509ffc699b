"""One request state of HELM's as an answer: what the completion maps to, and HELM's own scores of it."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from veridical.interop.imports.answer import Answer, as_text, held, letters, listed, number
from veridical.interop.imports.helm_stats import BOOKKEEPING, StatKey, part_of, perturbation_of, trial_of
from veridical.status import Status

NO_RESULT = "the log has no completion of this request"
UNPERTURBED = "as-logged"
JOINT = "multiple_choice_joint"
THOUGHT = "multiple_choice_joint_chain_of_thought"
THOUGHT_GRADE = "chain_of_thought_correctness"
ALONE = ("multiple_choice_separate_original", "multiple_choice_separate_calibrated", "ranking_binary")
"""HELM's methods that put each reference by itself."""

RequestState = Mapping[str, Any]


def key_of(state: RequestState) -> StatKey:
    """Instance, trial and perturbation of a request."""
    instance = held(state.get("instance"))
    return str(instance.get("id", "")), trial_of(state), perturbation_of(instance)


def _references(state: RequestState) -> list[Mapping[str, Any]]:
    found = listed(held(state.get("instance")).get("references"))
    return [one for one in found if isinstance(one, dict)]


def right_places(state: RequestState) -> list[int]:
    """Which of an instance's references are right."""
    return [place for place, one in enumerate(_references(state)) if "correct" in listed(one.get("tags"))]


def answer_of(state: RequestState, key: StatKey, stats: Mapping[str, float], method: str) -> Answer:
    """The answer to a request that was adapted by `method`; `stats` are HELM's scores of this instance."""
    instance = held(state.get("instance"))
    split = str(instance.get("split") or "")
    references = _references(state)
    fields = {"input": _of_text(instance.get("input")), "split": split}
    for name, value in held(instance.get("extra_data")).items():
        fields.setdefault(str(name), as_text(value))
    answer = Answer(
        document=f"{key[0]} {key[2]}".strip(),
        fields={name: value for name, value in fields.items() if value},
        reading=key[2] or UNPERTURBED,
        metrics={name: value for name, value in stats.items() if not name.startswith(BOOKKEEPING)},
        part=part_of(split, key[2]),
        factors={"instance_id": key[0], **_tags(references)},
        repeat=key[1],
        contexts=[as_text(held(state.get("request")).get("prompt", ""))],
        text=_completion(state),
    )
    texts = [_of_text(reference.get("output")) for reference in references]
    right = right_places(state)
    mapping = state.get("output_mapping")
    if method in (JOINT, THOUGHT) and isinstance(mapping, dict) and mapping:
        named = {str(key): as_text(value) for key, value in mapping.items()}
        answer = _joint(answer, named, [texts[p] for p in right], thought=method == THOUGHT)
    elif method in ALONE and "predicted_index" in stats and all(texts):
        answer = _by_index(answer, texts, right, stats["predicted_index"])
    elif right:
        answer.fields["target"] = as_text(texts[right[0]] if len(right) == 1 else [texts[place] for place in right])
    return _failed(answer, state, alone=method in ALONE)


def _failed(answer: Answer, state: RequestState, *, alone: bool) -> Answer:
    """The answer, which is none where the request failed or nothing came back."""
    result = held(state.get("result"))
    error = result.get("error") or held(state.get("instance")).get("error") or state.get("error")
    if result.get("success") is False or error:
        answer.status, answer.label = Status.ERROR, None
        answer.detail = as_text(error or "the request failed")[:500]
    elif not alone and not listed(result.get("completions")):
        answer.status, answer.label, answer.detail = Status.ERROR, None, NO_RESULT
    # A metric may be 1 of an empty text (where nothing is the right answer): a grade as any other.
    elif not alone and answer.status is Status.OK and not answer.text and 1.0 not in answer.metrics.values():
        answer.status, answer.label = Status.EMPTY, None
    return answer


def _tags(references: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The tags of the references other than `correct`, such as the position or the group that a scenario gives them."""
    tags = (as_text(tag) for reference in references for tag in listed(reference.get("tags")))
    found = sorted({tag for tag in tags if tag != "correct"})
    return {"reference_tags": ", ".join(found)} if found else {}


_LETTERS = (re.compile(r"answer is \(?([A-J])\)?"), re.compile(r"[aA]nswer:\s*\(?([A-J])\)?"))


def _after_thought(text: str) -> str:
    """The letter in which a chain of thought ends, as HELM's extraction has it: `answer is B`, else `answer: B`."""
    found = (pattern.search(text) for pattern in _LETTERS)
    return next((match[1] for match in found if match), "")


def _joint(answer: Answer, mapping: Mapping[str, str], right: Sequence[str], *, thought: bool) -> Answer:
    answer.labels, answer.choices = list(mapping), [text or " " for text in mapping.values()]
    answer.gold = [place for place, text in enumerate(mapping.values()) if text in right]
    said = _after_thought(answer.text or "") if thought else (answer.text or "").strip()
    if thought:
        answer.label = said if said in mapping else None
        answer.status = Status.OK if answer.label else Status.UNPARSED if (answer.text or "").strip() else Status.EMPTY
        return answer
    if said in mapping:
        answer.label = said
    else:
        answer.status = Status.UNPARSED if said else Status.EMPTY
    if said in mapping:
        answer.recomputed = {
            name: rule(mapping[said], right) for name, rule in _MATCHES.items() if name in answer.metrics
        }
    else:
        answer.recomputed = {name: 0.0 for name in _MATCHES if name in answer.metrics}
    return answer


def _normal(text: str) -> str:
    """Lower case, without punctuation, articles and needless space, as HELM's quasi matches compare."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))


_MATCHES: Mapping[str, Callable[[str, Sequence[str]], float]] = {
    "exact_match": lambda said, right: float(any(said.strip() == one.strip() for one in right)),
    "quasi_exact_match": lambda said, right: float(any(_normal(said) == _normal(one) for one in right)),
    "prefix_exact_match": lambda said, right: float(any(said.strip().startswith(one.strip()) for one in right)),
    "quasi_prefix_exact_match": lambda said, right: float(any(_normal(said).startswith(_normal(one)) for one in right)),
}
"""HELM's matches of a completion that names a choice with the right references."""


def _by_index(answer: Answer, texts: Sequence[str], right: Sequence[int], index: float) -> Answer:
    answer.labels, answer.choices, answer.gold = letters(len(texts)), texts, right
    answer.text = None
    predicted = int(index) if math.isfinite(index) else -1
    if 0 <= predicted < len(texts):
        answer.label = answer.labels[predicted]
    else:
        answer.status = Status.ERROR
    if "exact_match" in answer.metrics:
        answer.recomputed["exact_match"] = float(predicted in right)
    return answer


def _of_text(value: Any) -> str:
    if isinstance(value, dict):
        return as_text(value.get("text", ""))
    return "" if value is None else as_text(value)


def _completion(state: RequestState) -> str:
    """What was written: the completion that HELM scores, the likeliest of those asked for."""
    found = map(held, listed(held(state.get("result")).get("completions")))
    best = max(found, key=lambda one: number(one.get("logprob")) or 0.0, default={})
    return as_text(best.get("text", ""))
