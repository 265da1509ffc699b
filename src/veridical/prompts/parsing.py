r"""From a reply to an answer, or to the reason why there is none.

Thinking is taken out first (`prompts.channels`), then JSON objects are read for their label and set aside
(`prompts.objects`), so that nothing inside their reasoning is read. In the text that is left every mention of a
label is looked at (`prompts.mentions`): what stands around it (`prompts.forms`), and whether its sentence asserts it
(`prompts.clauses`). Of the claims that are left some outweigh others (`prompts.weighing`).

A label that a sentence merely mentions is never taken. Claims that disagree make a reply `ambiguous`, as does
prose that mentions several labels, or a question of its own whose answer it contradicts
(`prompts.contradictions`); one mention in prose is `unparsed`. A claim that announces a final answer
outweighs those before it, words such as `Wait, let me reconsider` take back what stands before them, and what comes
after an answer and a line such as `Question:` is a run-on and is not read.

A reply that was cut off is `truncated` unless its answer had been completed before the cut: an object or a
box that was closed, a claim that a full stop or a line break had ended, or a label at the very beginning that its
reasons follow. Thinking that was never closed is always `truncated`, whatever stands in it. Time is linear in the
text's length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from veridical.prompts.channels import said
from veridical.prompts.contradictions import Contradiction
from veridical.prompts.reader import Reader
from veridical.status import Status


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says. `label` is set exactly where `status` is `ok`; `form` names its form."""

    status: Status
    label: str | None = None
    form: str = ""


def parse(
    text: str,
    labels: Sequence[str],
    finish: str = "stop",
    *,
    thinking_open: bool = False,
    texts: Mapping[str, str] | None = None,
) -> Parsed:
    """The answer that `text`, the whole of a reply, gives among `labels`.

    `finish` is the finish reason (`length`: the reply was cut off). `thinking_open` says that the context had
    opened thinking, so that the reply begins inside it. `texts` holds, by label, the text of a choice, which is read as
    its label where a reply repeats it. Texts and labels are compared in normal form KC. Never raises; any text is some
    status.
    """
    cut = finish == "length"
    answer, unclosed = said(text, thinking_open)
    if unclosed:
        return Parsed(Status.TRUNCATED)
    if not answer.strip():
        return Parsed(Status.TRUNCATED if cut else Status.EMPTY)
    reader = _reader(tuple(dict.fromkeys(labels)), tuple((texts or {}).items()))
    claims, mentioned = reader.read(answer)
    if cut:
        claims = [claim for claim in claims if claim.complete]
    claimed = {claim.label for claim in claims}
    if claims and all(claim.rank != "decisive" for claim in claims) and _contradiction(tuple(labels)).found(answer):
        return Parsed(Status.AMBIGUOUS)
    if len(claimed) == 1:
        return Parsed(Status.OK, claims[0].label, claims[0].form)
    if claimed:
        return Parsed(Status.AMBIGUOUS)
    if cut:
        return Parsed(Status.TRUNCATED)
    return Parsed(Status.AMBIGUOUS if len(mentioned) > 1 else Status.UNPARSED)


@lru_cache(maxsize=256)
def _contradiction(labels: tuple[str, ...]) -> Contradiction:
    return Contradiction(labels)


@lru_cache(maxsize=256)
def _reader(labels: tuple[str, ...], texts: tuple[tuple[str, str], ...]) -> Reader:
    return Reader(labels, dict(texts))
