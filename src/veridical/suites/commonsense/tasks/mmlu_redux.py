"""MMLU-Redux 2.0: 57 subjects of MMLU whose questions were checked by hand.

Rows with the fields `question`, `choices` (four), `answer` (from 0), `error_type`, `source`, `correct_answer` and
`potential_reason` (Gema et al. 2024; edinburgh-dawg/mmlu-redux-2.0 on the Hugging Face hub, one configuration a
subject). A file is of one subject, which is its name; or every row has a field `subject`. The CSV files of
github.com/aryopg/mmlu-redux (`mmlu_<subject>.csv`) write `choices` as Python does, and error types in words
(`Bad Question Clarity`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from veridical.files.binary_file import plain_name
from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Task, fixed, numbered

SUBJECTS = (
    "abstract_algebra",
    "anatomy",
    "astronomy",
    "business_ethics",
    "clinical_knowledge",
    "college_biology",
    "college_chemistry",
    "college_computer_science",
    "college_mathematics",
    "college_medicine",
    "college_physics",
    "computer_security",
    "conceptual_physics",
    "econometrics",
    "electrical_engineering",
    "elementary_mathematics",
    "formal_logic",
    "global_facts",
    "high_school_biology",
    "high_school_chemistry",
    "high_school_computer_science",
    "high_school_european_history",
    "high_school_geography",
    "high_school_government_and_politics",
    "high_school_macroeconomics",
    "high_school_mathematics",
    "high_school_microeconomics",
    "high_school_physics",
    "high_school_psychology",
    "high_school_statistics",
    "high_school_us_history",
    "high_school_world_history",
    "human_aging",
    "human_sexuality",
    "international_law",
    "jurisprudence",
    "logical_fallacies",
    "machine_learning",
    "management",
    "marketing",
    "medical_genetics",
    "miscellaneous",
    "moral_disputes",
    "moral_scenarios",
    "nutrition",
    "philosophy",
    "prehistory",
    "professional_accounting",
    "professional_law",
    "professional_medicine",
    "professional_psychology",
    "public_relations",
    "security_studies",
    "sociology",
    "us_foreign_policy",
    "virology",
    "world_religions",
)

ERROR_TYPES = (
    "ok",
    "wrong_groundtruth",
    "no_correct_answer",
    "multiple_correct_answers",
    "bad_question_clarity",
    "bad_options_clarity",
    "expert",
)


SAME_ERROR_TYPES = {
    "no_correct_answers": "no_correct_answer",
    "multiple_correct_answer": "multiple_correct_answers",
    "unclear_question": "bad_question_clarity",
    "unclear_options": "bad_options_clarity",
}
"""What the CSV files of github.com/aryopg/mmlu-redux call the error types, where it is something else."""


def subject(row: Row) -> str:
    """The subject, as MMLU writes it: the row's own, the hub's configuration, or the name of the file or folder."""
    for name in ("subject", "config"):
        if row.has(name):
            return row.text(name).strip()
    path = plain_name(PurePath(row.source))
    stem = path.stem.removeprefix("mmlu_")
    found = next((name for name in (stem, path.parent.name, path.parent.parent.name) if name in SUBJECTS), "")
    if not found:
        row.fail("of which subject? Name the file after it, as in virology.jsonl, or give the rows a field 'subject'")
    return found


def _aside(row: Row) -> str:
    kind = "_".join(row.text("error_type").casefold().split())
    kind = SAME_ERROR_TYPES.get(kind, kind)
    if kind not in ERROR_TYPES:
        row.fail(f"unknown error type {kind!r}: they are {', '.join(ERROR_TYPES)}", "error_type")
    return "" if kind == "ok" else f"error type {kind}"


def _choice(place: int) -> Callable[[Row], str]:
    def choice(row: Row) -> str:
        choices = row.texts("choices")
        if len(choices) != 4:
            row.fail(f"four choices are needed, these are {len(choices)}", "choices")
        return choices[place]

    return choice


MMLU_REDUX = Task(
    name="mmlu-redux",
    title="MMLU-Redux 2.0: questions of MMLU that experts found to be sound",
    axis="control",
    licence="CC BY 4.0",
    citation="Gema et al. (2024), Are We Done with MMLU?, arXiv 2406.04127; edinburgh-dawg/mmlu-redux-2.0 (hub)",
    files=Files(
        names=(
            "mmlu-redux*.jsonl",
            "mmlu_redux*.jsonl",
            *(
                f"{name}{ending}"
                for name in SUBJECTS
                for ending in (".jsonl", ".parquet", ".csv", "/*.parquet", "/*.arrow", "/test.csv")
            ),
            *(f"mmlu_{name}.csv" for name in SUBJECTS),
        ),
        folders=("mmlu_redux", "mmlu-redux-2.0"),
        every=True,
        hub=Hub(path="edinburgh-dawg/mmlu-redux-2.0", config=SUBJECTS, split="test"),
    ),
    fields={
        "subject": lambda row: subject(row).replace("_", " "),
        "question": lambda row: row.text("question").strip(),
        **{letter: _choice(place) for place, letter in enumerate("ABCD")},
    },
    prompt=(
        "The following are multiple choice questions (with answers) about {{ subject }}.\n\n"
        "{{ question }}\nA. {{ A }}\nB. {{ B }}\nC. {{ C }}\nD. {{ D }}\nAnswer:"
    ),
    choices=fixed("A", "B", "C", "D"),
    gold=numbered("answer"),
    factors={"subject": subject},
    normalisation="sum",
    aside=_aside,
    lm_eval="mmlu_redux_generative",
    differs=(
        "lm-eval has MMLU-Redux as text to be generated only. The requests here are those of its `mmlu` tasks (by "
        "log-likelihood, without examples), over the questions of MMLU-Redux."
    ),
    decisions=(
        "Version 2.0, of all 57 subjects.",
        "Only questions of error type `ok` are asked, as in lm-eval's generative version: the corrected answers of "
        "the others are free text, and some have none.",
    ),
)

TASKS = (MMLU_REDUX,)
