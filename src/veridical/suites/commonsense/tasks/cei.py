"""CEI: what a speaker feels who does not say it.

Rows as in `data/human-gold/data_<subtype>.csv` of the CEI benchmark (CC BY 4.0): a scenario, the first emotions that
three annotators named (`sl_plutchik_primary_ann1` to `_ann3`) and `gold_standard`, which is their majority and,
where all three differ (94 of the 300), an adjudicator's word.
"""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Task, fixed, named

EMOTIONS = ("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation")
SUBTYPES = ("deflection-misdirection", "mixed-signals", "passive-aggression", "sarcasm-irony", "strategic-politeness")

_KNOWN = {emotion: emotion for emotion in EMOTIONS}
_ANNOTATED = "sl_plutchik_primary_"


def votes(row: Row) -> Counter[str]:
    """How many annotators named each emotion; a blank cell is no vote."""
    cells = [name for name in row.values if name.casefold().startswith(_ANNOTATED) and row.has(name)]
    if not cells:
        row.fail("no annotator named an emotion", f"{_ANNOTATED}ann1")
    return Counter(str(named(name, _KNOWN)(row)) for name in cells)


def majority(row: Row) -> list[str]:
    """The emotion that more than half of the annotators named; none where there is no such one."""
    counts = votes(row)
    return [emotion for emotion, n in counts.items() if 2 * n > counts.total()]


def agreement(row: Row) -> str:
    """`unanimous`, `majority` or `split` (no emotion has a majority)."""
    if len(votes(row)) == 1:
        return "unanimous"
    return "majority" if majority(row) else "split"


def _gold(row: Row) -> list[str]:
    most = majority(row)
    if not row.has("gold_standard"):
        return most
    gold = str(named("gold_standard", _KNOWN)(row))
    if most and most != [gold]:
        row.fail(f"{gold!r} is not what most annotators named, {most[0]!r}", "gold_standard")
    return [gold]


def _human(row: Row) -> dict[str, float]:
    counts = votes(row)
    return {emotion: counts[emotion] / counts.total() for emotion in EMOTIONS if counts[emotion]}


def _subtype(row: Row) -> str:
    named_in_row = row.maybe("subtype").strip()
    return named_in_row or PurePath(row.source).stem.removeprefix("data_")


CEI = Task(
    name="cei",
    title="CEI: the emotion behind an indirect utterance",
    axis="social",
    licence="CC BY 4.0",
    citation="Contextual Emotional Inference benchmark, v1.0.0; github.com/jon-chun/cei-tom-dataset-base",
    files=Files(
        names=tuple(f"data_{subtype}.csv" for subtype in SUBTYPES),
        folders=("human-gold", "data/human-gold"),
        every=True,
    ),
    fields={
        "situation": lambda row: row.text("sd_situation").strip(),
        "speaker": lambda row: row.text("sd_speaker_role").strip(),
        "listener": lambda row: row.text("sd_listener_role").strip(),
        "utterance": lambda row: row.text("sd_utterance").strip(),
    },
    prompt=(
        "Situation: {{ situation }}\nSpeaker: {{ speaker }}\nListener: {{ listener }}\n"
        "The speaker says: {{ utterance }}\n"
        f"Which of these does the speaker feel above all: {', '.join(EMOTIONS[:-1])} or {EMOTIONS[-1]}?\nAnswer:"
    ),
    choices=fixed(*EMOTIONS),
    labels=EMOTIONS,
    gold=_gold,
    golds={"majority": majority},
    human=_human,
    id=lambda row: f"{_subtype(row)} {row.text('id')}",
    factors={"subtype": _subtype, "agreement": agreement},
    normalisation="sum",
    decisions=(
        "The words of the prompt, and the eight names as they are for choices.",
        "Where all three annotators differ (agreement: split) gold is the published adjudication; under the gold "
        "system `majority` such a scenario has no gold and is not judged.",
    ),
)

TASKS = (CEI,)
