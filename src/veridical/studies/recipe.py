"""Recipes: a study as a YAML file, with its models, what they are asked, and what is made of the answers.

`veridical run studies/NAME.yaml` follows one (`studies.follow`); `studies.recipe_file` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, field_validator, model_validator

from veridical.errors import UserError, unknown
from veridical.files.scalars import Decimal, Truth, Whole
from veridical.items import Frozen, Name
from veridical.models import DTYPES
from veridical.prompts.template_arguments import parse_template_arguments
from veridical.runs.plan import MODES
from veridical.studies.fit_on import FITTED_ON, READOUT_MODES
from veridical.validity.roles import may_be_axis

SCHEMA = "veridical.recipe/1"
ENDINGS = (".yaml", ".yml")

_LOCAL = re.compile(r"hf/[\w.-]+/[\w.-]+|hf/[./~].*|gguf/.+|smollm2|minilm-mlm")


class Part(Frozen):
    """Part of a recipe. A key without a value is as if it were not written."""

    @model_validator(mode="before")
    @classmethod
    def _without_absent(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: value for key, value in given.items() if value is not None or key not in known}


def _absent_as(text: str) -> BeforeValidator:
    """For mappings in which a key without a value has a meaning: the text that stands for it."""

    def filled(given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: text if value is None else value for key, value in given.items()}

    return BeforeValidator(filled)


Axes = Annotated[Mapping[Name, str], _absent_as("")]
"""Columns with the axis of each, "" where it has none."""


class Model(Part):
    """A model of a study.

    `name` is as the command line spells it; a model behind an API, which is not asked here, has the name that its
    provider gives it. `family` and `billions` (of parameters) are what analyses of validity control for. `ours` marks
    a checkpoint that the paper does not name: its family or size is the paper's, or all of it is Veridical's choice.
    `base` names the model that a fine-tuned one was made from, as a proposer is named: its variants are its home.
    `classifies` says that it is a sequence classifier, which cannot be known from its name before it is loaded.
    `dtype` is float32 where none is given; `template_args` go to its chat template, as --template-arg does.
    """

    name: Name
    family: str = ""
    billions: Decimal | None = Field(default=None, gt=0, le=1e6, allow_inf_nan=False)
    api: Truth = False
    ours: Truth = False
    base: str = ""
    classifies: Truth = False
    dtype: str | None = None
    template_args: Annotated[Mapping[Name, str], _absent_as("null")] = Field(default_factory=dict)

    @field_validator("name", mode="before")
    @classmethod
    def _is_text(cls, value: object) -> object:
        if not isinstance(value, str):
            raise ValueError("a model's name is a text, as in hf/ORG/NAME")
        return value

    @model_validator(mode="after")
    def _can_be_loaded(self) -> Self:
        if self.dtype is not None and self.dtype not in DTYPES:
            raise ValueError(str(unknown("dtype", self.dtype, DTYPES)))
        try:
            self.arguments()
        except UserError as error:
            raise ValueError(error.reason) from error
        return self

    def arguments(self) -> dict[str, Any]:
        """The template's arguments as values (`false` is false). Raises UserError for a name that rendering sets."""
        return parse_template_arguments(f"{name}={value}" for name, value in self.template_args.items())

    @model_validator(mode="after")
    def _can_be_named(self) -> Self:
        if not self.api and _LOCAL.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is not the name of a model: write hf/ORG/NAME, or add api: true")
        return self


Names = Annotated[tuple[Name, ...], Field(min_length=1)]


class AskStep(Part):
    """Suites put to the models: one call of `run`. With `data`, the user's file (--data) stands in for the items.

    `suites` are built-in suites and benchmarks, or what an earlier step `vary` wrote. With `classify` as well as other
    modes, sequence classifiers are asked in that and language models in the others.
    """

    suites: Names
    prompts: Names | None = None
    mode: Annotated[tuple[Annotated[str, StringConstraints(min_length=1)], ...], Field(min_length=1)] = (
        "loglikelihood",
    )
    orders: Whole | None = Field(default=None, ge=0, le=1000)
    shots: Whole = Field(default=0, ge=0, le=1000)
    max_new_tokens: Whole = Field(default=512, ge=1, le=1_000_000)
    data: Truth = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for mode in self.mode:
            if mode not in MODES:
                raise ValueError(str(unknown("mode", mode, MODES)))
        if self.data and len(self.suites) > 1:
            raise ValueError("data stands in for the items of one suite: name that one alone")
        return self


class ReadoutStep(Part):
    """A linear readout of hidden states: one call of `readout`.

    `fit_on` is a built-in suite, or the path of a suite file as `--fit-on` takes it.
    """

    suite: Name
    prompt: str | None = None
    fit_on: str = ""
    against: str = READOUT_MODES[0]
    max_new_tokens: Whole = Field(default=512, ge=1, le=1_000_000)
    twin: Truth = False
    layer: Whole = Field(default=-2, ge=-1000, le=1000)
    draws: Whole | None = Field(default=None, ge=1, le=1_000_000)
    category_draws: Whole | None = Field(default=None, ge=1, le=1_000_000)
    control_draws: Whole = Field(default=100, ge=1, le=1_000_000)
    data: Truth = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.against not in READOUT_MODES:
            raise ValueError(str(unknown("mode to set a readout against:", self.against, READOUT_MODES)))
        if self.fit_on == self.suite:
            raise ValueError("fit_on: a readout is fitted on another suite than the one that is asked")
        return self

    @property
    def read_out_whole(self) -> bool:
        """Whether every set is read out whatever `--limit` says, since the readout is fitted on another suite."""
        return bool(self.fit_on) or self.suite in FITTED_ON


class VaryStep(Part):
    """Seeds and their variants, written to `writes` in the study's folder.

    The seeds are those of `suite`, or of the user's file (--data) where none is named. `judge` is `veridical vary`'s.
    """

    proposers: Names
    suite: str = ""
    min_ratio: Decimal = Field(default=1.0, ge=0, le=1e6)
    max_variants: Whole = Field(default=20, ge=1, le=1_000_000)
    judge: str = ""
    writes: Annotated[str, StringConstraints(pattern=r"^[\w.-]+\.jsonl$")] = "variants.jsonl"


class ValidityStep(Part):
    """What the scores of benchmarks predict. Columns are called `SUITE/MEASURE`, as in `veridical validity STUDY`.

    `benchmarks` and `outcomes` map a column to its axis ("" where it has none), `variants` a reworked benchmark to its
    original.
    """

    benchmarks: Axes
    outcomes: Axes
    controls: tuple[Name, ...] = ()
    variants: Mapping[Name, str] = Field(default_factory=dict)

    @field_validator("benchmarks", "outcomes")
    @classmethod
    def _axes_are_names(cls, axes: Mapping[str, str]) -> Mapping[str, str]:
        for name, axis in axes.items():
            if not may_be_axis(axis):
                raise ValueError(f"{name!r} must have the name of an axis, or nothing, and has {axis[:40]!r}")
        return axes

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are named, in any role."""
        return (*self.benchmarks, *self.outcomes, *self.controls, *self.variants, *self.variants.values())


class RecipeStep(Part):
    """One thing to do; exactly one of its fields is given."""

    ask: AskStep | None = None
    readout: ReadoutStep | None = None
    vary: VaryStep | None = None
    validity: ValidityStep | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1 or self.what is None:
            raise ValueError("a step is one of ask, readout, vary, validity")
        return self

    @property
    def what(self) -> AskStep | ReadoutStep | VaryStep | ValidityStep | None:
        """The one field that is given; None only while the step is checked."""
        return next((given for given in (self.ask, self.readout, self.vary, self.validity) if given is not None), None)


class Recipe(Part):
    """A study. `data` says what the user's file or folder is, where one is needed; `note` what Veridical chose in
    it."""

    schema_: Literal["veridical.recipe/1"] = Field(alias="schema")
    name: Annotated[str, StringConstraints(pattern=r"^[\w-]+$")]
    title: str = ""
    paper: str = ""
    note: str = ""
    data: str = ""
    models: Annotated[tuple[Model, ...], Field(min_length=1)]
    steps: Annotated[tuple[RecipeStep, ...], Field(min_length=1)]


def is_recipe(suite: str) -> bool:
    """Whether what is given as a suite names a recipe: no suite's file ends so."""
    return suite.endswith(ENDINGS)
