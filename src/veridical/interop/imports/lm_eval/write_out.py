"""The `write_out` records of lm-evaluation-harness 0.3 as answers: `TASK_write_out_info.json`.

A record holds, of each request, context and continuation as one text and the log-likelihood (or the text that was
generated), the right answer and the metrics as text. It holds no document: what item sets could be made of is missing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from veridical.interop.imports.answer import Answer, as_text, letters, made_fit, shared_beginning
from veridical.interop.imports.lm_eval.rules import is_metric, of_choices
from veridical.interop.imports.lm_eval.samples import UNFILTERED, UNREADABLE
from veridical.status import Status

_NUMBERED = re.compile(r"(prompt|logit)_(\d{1,9})")
NO_DOCUMENTS = "documents: item sets can be made of the prompt alone"


@dataclass
class WriteOutReader:
    """The records of one task as answers."""

    task: str
    declared: Collection[str] = ()
    """The metrics that the results file names."""
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=lambda: [NO_DOCUMENTS])

    def answers(self, records: Iterable[dict[str, Any]]) -> Iterator[Answer]:
        """An answer for every record; records without prompts and numbers are counted in `skipped`."""
        for record in records:
            prompts, returned = _numbered(record, "prompt"), _numbered(record, "logit")
            if not prompts or len(prompts) != len(returned):
                self.skipped[UNREADABLE] += 1
                continue
            yield _answer(record, [as_text(prompt) for prompt in prompts], returned, self.declared)


def is_write_out(record: Mapping[str, Any]) -> bool:
    """Whether a record is one of `--write_out` of harness 0.3."""
    return "prompt_0" in record and "logit_0" in record


def _numbered(record: Mapping[str, Any], name: str) -> list[Any]:
    found = ((match, value) for key, value in record.items() if (match := _NUMBERED.fullmatch(key)))
    return [value for match, value in sorted(found, key=lambda pair: int(pair[0][2])) if match[1] == name]


def _answer(record: Mapping[str, Any], prompts: list[str], returned: list[Any], declared: Collection[str]) -> Answer:
    own = {"doc_id", "truth", *(key for key in record if _NUMBERED.fullmatch(key))}
    answer = Answer(
        document=str(record.get("doc_id", "")),
        fields={},
        reading=UNFILTERED,
        metrics={
            name: value
            for name, value in record.items()
            if name not in own and (name in declared or (not declared and is_metric(name)))
        },
        factors={"doc_id": as_text(record["doc_id"])} if "doc_id" in record else {},
        contexts=prompts[:1] if len(set(prompts)) == 1 else prompts,
    )
    truth = record.get("truth")
    numbers = [value for value in returned if isinstance(value, int | float) and not isinstance(value, bool)]
    chosen = isinstance(truth, int) and not isinstance(truth, bool) and 0 <= truth < len(prompts)
    if len(numbers) == len(returned) > 1 and chosen and len(set(prompts)) == len(prompts):
        return _choices(answer, prompts, [float(value) for value in numbers], int(truth))  # type: ignore[arg-type]
    answer.fields = {"prompt": prompts[0], "target": as_text(truth)}
    if not numbers:
        answer.text = as_text(returned[0])
    else:
        answer.scores, answer.lengths = [float(value) for value in numbers[:1]], ()
        if not all(map(math.isfinite, answer.scores)):
            answer.status = Status.NON_FINITE
        greedy = [value for value in returned if isinstance(value, bool)]
        if greedy and "acc" in answer.metrics:
            answer.recomputed["acc"] = float(greedy[0])
    return answer


def _choices(answer: Answer, prompts: list[str], scores: list[float], truth: int) -> Answer:
    start = _last_word(shared_beginning(prompts))
    answer.fields = {"prompt": prompts[0][:start]}
    answer.choices = [prompt[start:] for prompt in prompts]
    answer.labels = letters(len(prompts))
    answer.scores, answer.gold = scores, (truth,)
    made_fit(answer)
    if answer.scores and not all(map(math.isfinite, scores)):
        answer.status = Status.NON_FINITE
    if answer.scores:
        answer.recomputed = of_choices(answer)
    return answer


def _last_word(shared: str) -> int:
    """Where the last word of a text begins: choices that begin alike differ from there."""
    ends = [match.end() for match in re.finditer(r"\s", shared)]
    return ends[-1] - 1 if ends else 0
