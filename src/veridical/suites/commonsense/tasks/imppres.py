"""IMPPRES: what a sentence implicates, and what it presupposes, as natural language inference.

Rows as in `IMPPRES/implicature/*.jsonl` and `IMPPRES/presupposition/*.jsonl` of github.com/facebookresearch/Imppres
(Jeretič et al. 2020). The hub's version calls the sentences `premise` and `hypothesis`, numbers the labels and writes
`Not_In_Example` where the files have no such key; both are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain

from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from veridical.digests import digest
from veridical.errors import unknown
from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Gold, Hub, Sets, Task, fixed

LABELS = ("entailment", "neutral", "contradiction")
_ABSENT = "Not_In_Example"

SCALES = (
    "connectives",
    "gradable_adjective",
    "gradable_verb",
    "modals",
    "numerals_10_100",
    "numerals_2_3",
    "quantifiers",
)
TRIGGERS = (
    "all_n_presupposition",
    "both_presupposition",
    "change_of_state",
    "cleft_existence",
    "cleft_uniqueness",
    "only_presupposition",
    "possessed_definites_existence",
    "possessed_definites_uniqueness",
    "question_presupposition",
)

PROMPT = "{{ premise }}\nClaim: {{ hypothesis }}\nIs the claim true, false, or neither?\nAnswer:"
ANSWERS = ("true", "neither", "false")
"""The answers to the prompt, in the order of `LABELS`."""


def premise(row: Row) -> str:
    """The first sentence."""
    return row.text("sentence1" if "sentence1" in row.values else "premise").strip()


def hypothesis(row: Row) -> str:
    """The second sentence."""
    return row.text("sentence2" if "sentence2" in row.values else "hypothesis").strip()


def labelled(field: str) -> Gold:
    """The label in a field: a name in any case, or its number (0 entailment, 1 neutral, 2 contradiction)."""

    def gold(row: Row) -> str:
        value = row.text(field).strip().casefold()
        label = LABELS[int(value)] if value in ("0", "1", "2") else value
        if label not in LABELS:
            row.fail(str(unknown("label", row.text(field), LABELS)), field)
        return label

    return gold


def given(*names: str) -> Callable[[Row], str]:
    """The first of the fields that the row has; empty where it has none."""

    def text(row: Row) -> str:
        values = (row.maybe(name).strip() for name in names)
        return next((value for value in values if value and value != _ABSENT), "")

    return text


def with_paradigms(rows: Sequence[Row]) -> list[Row]:
    """The rows of the implicature files with their `paradigm`, which the files do not name.

    A paradigm is twelve rows over four sentences, paired in every order. So the sentences of one scale (`lexemes`)
    that rows join, directly or through others, are one paradigm. Its name comes from its sentences.
    """
    scales = [given("lexemes", "trigger")(row) for row in rows]
    pairs = [((scale, premise(row)), (scale, hypothesis(row))) for row, scale in zip(rows, scales, strict=True)]
    codes = {sentence: code for code, sentence in enumerate(dict.fromkeys(chain.from_iterable(pairs)))}
    ends = [[codes[pair[side]] for pair in pairs] for side in (0, 1)]
    joined = coo_array(([1] * len(pairs), ends), shape=(len(codes), len(codes)))
    component = connected_components(joined, directed=False)[1].tolist()
    sentences: defaultdict[int, list[str]] = defaultdict(list)
    for (_, sentence), code in codes.items():
        sentences[component[code]].append(sentence)
    names = {number: digest(sorted(found), 8) for number, found in sentences.items()}
    paradigms = [names[component[code]] for code in ends[0]]
    return [
        row.having(paradigm=f"{scale} {name}".strip()) for row, scale, name in zip(rows, scales, paradigms, strict=True)
    ]


def _is_control(row: Row) -> str:
    return "control" if given("trigger1")(row) or row.values.get("control_item") is True else "target"


IMPLICATURE = Task(
    name="implicature",
    title="Implicature: scalar implicatures of IMPPRES, pragmatic and logical gold",
    axis="pragmatic",
    licence="CC BY-NC 4.0 (your copy)",
    citation="Jeretič et al. (2020), IMPPRES, ACL; github.com/facebookresearch/Imppres",
    files=Files(
        names=(*(f"{scale}.jsonl" for scale in SCALES), *(f"implicature_{scale}/*.parquet" for scale in SCALES)),
        folders=("IMPPRES/implicature", "imppres/implicature", "imppres"),
        every=True,
        hub=Hub(path="facebook/imppres", config=tuple(f"implicature_{scale}" for scale in SCALES), split=""),
    ),
    fields={"premise": premise, "hypothesis": hypothesis},
    prompt=PROMPT,
    choices=fixed(*ANSWERS),
    labels=LABELS,
    gold=labelled("gold_label_prag"),
    id=lambda row: f"{row.text('paradigm')} {row.maybe('spec_relation')}".strip(),
    golds={"pragmatic": labelled("gold_label_prag"), "logical": labelled("gold_label_log")},
    factors={
        "trigger": given("trigger"),
        "lexemes": given("lexemes"),
        "relation": given("spec_relation"),
        "item_type": given("item_type"),
    },
    sets=(Sets(name="paradigm", set="paradigm"),),
    normalisation="sum",
    prepare=with_paradigms,
    decisions=(
        "The words of the prompt, and true, neither and false for entailment, neutral and contradiction.",
        "Gold is the pragmatic reading, as the task stands for pragmatics; both readings are judged as gold systems.",
        "Target and control items are asked alike; accuracy is given by item_type.",
    ),
)

PRESUPPOSITION = Task(
    name="presupposition",
    title="Presupposition: presuppositions of IMPPRES under embedding",
    axis="pragmatic",
    licence="CC BY-NC 4.0 (your copy)",
    citation="Jeretič et al. (2020), IMPPRES, ACL; github.com/facebookresearch/Imppres",
    files=Files(
        names=(*(f"{name}.jsonl" for name in TRIGGERS), *(f"presupposition_{name}/*.parquet" for name in TRIGGERS)),
        folders=("IMPPRES/presupposition", "imppres/presupposition", "imppres"),
        every=True,
        hub=Hub(path="facebook/imppres", config=tuple(f"presupposition_{trigger}" for trigger in TRIGGERS), split=""),
    ),
    fields={"premise": premise, "hypothesis": hypothesis},
    prompt=PROMPT,
    choices=fixed(*ANSWERS),
    labels=LABELS,
    gold=labelled("gold_label"),
    id=lambda row: f"{row.maybe('UID')} {row.maybe('pairID')}".strip() or row.place,
    factors={
        "kind": given("UID"),
        "embedding": given("trigger", "trigger1"),
        "presupposition": given("presupposition"),
        "item_type": _is_control,
    },
    sets=(Sets(name="paradigm", set=lambda row: f"{row.maybe('UID')} {row.maybe('paradigmID')}".strip()),),
    normalisation="sum",
    decisions=(
        "The words of the prompt, and true, neither and false for entailment, neutral and contradiction.",
        "Target and control items are asked alike; accuracy is given by item_type.",
    ),
)

TASKS = (IMPLICATURE, PRESUPPOSITION)
