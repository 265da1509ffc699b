"""BLiMP: which of two sentences is the acceptable one.

Rows as in `data/*.jsonl` of github.com/alexwarstadt/blimp (Warstadt et al. 2020), one file a paradigm.
"""

from __future__ import annotations

from veridical.suites.commonsense.row import Row
from veridical.suites.commonsense.task import Files, Hub, Sets, Task, columns

PARADIGMS = (
    "adjunct_island",
    "anaphor_gender_agreement",
    "anaphor_number_agreement",
    "animate_subject_passive",
    "animate_subject_trans",
    "causative",
    "complex_NP_island",
    "coordinate_structure_constraint_complex_left_branch",
    "coordinate_structure_constraint_object_extraction",
    "determiner_noun_agreement_1",
    "determiner_noun_agreement_2",
    "determiner_noun_agreement_irregular_1",
    "determiner_noun_agreement_irregular_2",
    "determiner_noun_agreement_with_adj_2",
    "determiner_noun_agreement_with_adj_irregular_1",
    "determiner_noun_agreement_with_adj_irregular_2",
    "determiner_noun_agreement_with_adjective_1",
    "distractor_agreement_relational_noun",
    "distractor_agreement_relative_clause",
    "drop_argument",
    "ellipsis_n_bar_1",
    "ellipsis_n_bar_2",
    "existential_there_object_raising",
    "existential_there_quantifiers_1",
    "existential_there_quantifiers_2",
    "existential_there_subject_raising",
    "expletive_it_object_raising",
    "inchoative",
    "intransitive",
    "irregular_past_participle_adjectives",
    "irregular_past_participle_verbs",
    "irregular_plural_subject_verb_agreement_1",
    "irregular_plural_subject_verb_agreement_2",
    "left_branch_island_echo_question",
    "left_branch_island_simple_question",
    "matrix_question_npi_licensor_present",
    "npi_present_1",
    "npi_present_2",
    "only_npi_licensor_present",
    "only_npi_scope",
    "passive_1",
    "passive_2",
    "principle_A_c_command",
    "principle_A_case_1",
    "principle_A_case_2",
    "principle_A_domain_1",
    "principle_A_domain_2",
    "principle_A_domain_3",
    "principle_A_reconstruction",
    "regular_plural_subject_verb_agreement_1",
    "regular_plural_subject_verb_agreement_2",
    "sentential_negation_npi_licensor_present",
    "sentential_negation_npi_scope",
    "sentential_subject_island",
    "superlative_quantifiers_1",
    "superlative_quantifiers_2",
    "tough_vs_raising_1",
    "tough_vs_raising_2",
    "transitive",
    "wh_island",
    "wh_questions_object_gap",
    "wh_questions_subject_gap",
    "wh_questions_subject_gap_long_distance",
    "wh_vs_that_no_gap",
    "wh_vs_that_no_gap_long_distance",
    "wh_vs_that_with_gap",
    "wh_vs_that_with_gap_long_distance",
)


def _pair(row: Row) -> str:
    return f"{row.text('UID')} {row.text('pairID' if row.has('pairID') else 'pair_id')}"


def _field(row: Row) -> str:
    """The field; one paradigm writes `syntax/semantics` where the others write `syntax_semantics`."""
    return row.maybe("field").strip().replace("/", "_")


BLIMP = Task(
    name="blimp",
    title="BLiMP: minimal pairs of acceptable and unacceptable sentences",
    axis="control",
    licence="CC BY 4.0",
    citation="Warstadt et al. (2020), BLiMP, TACL 8; github.com/alexwarstadt/blimp",
    files=Files(
        names=("blimp*.jsonl", *(f"{name}{ending}" for name in PARADIGMS for ending in (".jsonl", "/*.parquet"))),
        folders=("data", "blimp/data"),
        every=True,
        hub=Hub(path="nyu-mll/blimp", config=PARADIGMS, split="train"),
    ),
    fields={},
    prompt="",
    choices=columns("sentence_good", "sentence_bad"),
    gold=lambda row: 0,
    shuffle=True,
    id=_pair,
    factors={"paradigm": "UID", "phenomenon": "linguistics_term", "field": _field},
    sets=(Sets(name="pair", set=_pair), Sets(name="paradigm", set="UID")),
    normalisation="sum",
    lm_eval="blimp",
    decisions=(
        "A pair is one item with its two sentences as choices: to be right on the item is to be right on the pair.",
        "Which of A and B is the acceptable sentence their texts decide; the file has it first always.",
    ),
)

TASKS = (BLIMP,)
