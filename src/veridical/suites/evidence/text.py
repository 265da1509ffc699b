"""The text of the suite as it is written: a TOML file a diagnostic category, under `text/`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from veridical.errors import UserError
from veridical.files.decoding import in_words, leading_fault
from veridical.files.toml_file import read_toml
from veridical.items import Frozen, Name

TEXT = Path(__file__).with_name("text")

Label = Literal["Favors", "Challenges", "Unresolved", "Wrong Target"]
PairKind = Literal["Favors", "Challenges"]
EndpointRole = Literal["addressed", "wrong_target"]
Category = Literal[
    "pre_trends",
    "exclusion",
    "relevance",
    "discontinuity",
    "balance",
    "overlap",
    "negative_controls",
    "mediation",
    "attrition",
]

DIFFERENCES = {
    "population": ("place", "age group", "subgroup"),
    "treatment": ("component", "dose", "version"),
    "outcome": ("domain", "measure", "severity"),
    "comparison group": ("other controls", "not yet treated"),
    "estimand": ("local against average", "direct against total", "assignment against receipt"),
    "instrument": ("other instrument", "other coding"),
    "mediator": ("other mediator", "other link"),
    "adjustment rule": ("covariate set", "matching or weights"),
    "time": ("earlier window", "later horizon", "season"),
    "source of observation": ("register or survey", "device or rater"),
    "assignment threshold": ("other cut-off", "other running variable"),
    "identifying assumption": ("another condition",),
}
"""What may differ between the two endpoints of a pair: twelve dimensions (after arXiv 2607.26929), 28 kinds (defined by
Veridical)."""

KINDS = tuple(f"{dimension}: {kind}" for dimension, kinds in DIFFERENCES.items() for kind in kinds)


class EvidenceTarget(Frozen):
    """A causal claim and the condition that it rests on; `detail` is background that this target alone needs."""

    claim: Name
    condition: Name
    detail: str = ""


class Endpoint(Frozen):
    """One side of a pair. `reasoning` says why its label is what it is: for reviewers, never shown to a model."""

    target: Name
    condition: Name
    detail: str = ""
    reasoning: Name

    @property
    def as_target(self) -> EvidenceTarget:
        """The endpoint's target, condition and detail, as a scenario names its targets."""
        return EvidenceTarget(claim=self.target, condition=self.condition, detail=self.detail)


class EvidencePair(Frozen):
    """One evidence statement under two targets; `kind` is the label of the endpoint that it addresses."""

    id: Name
    kind: PairKind
    field: Name
    differs: Name
    background: Name
    evidence: Name
    addressed: Endpoint
    wrong_target: Endpoint

    @model_validator(mode="after")
    def _kind_is_known(self) -> EvidencePair:
        if self.differs not in KINDS:
            raise ValueError(f"differs is {self.differs!r}, which is none of: {'; '.join(KINDS)}")
        return self

    @property
    def endpoints(self) -> tuple[tuple[EndpointRole, Endpoint, Label], ...]:
        """Role, endpoint and gold label of both endpoints, the addressed one first."""
        return (("addressed", self.addressed, self.kind), ("wrong_target", self.wrong_target, "Wrong Target"))


class TargetReading(Frozen):
    """What an evidence statement is to one target of its scenario."""

    target: Name
    label: Label
    reasoning: Name


class Evidence(Frozen):
    """An evidence statement of a scenario and the targets under which it is read."""

    text: Name
    about: Annotated[tuple[TargetReading, ...], Field(min_length=1)]


class Scenario(Frozen):
    """A development study: several targets and evidence statements on one background."""

    id: Name
    field: Name
    background: Name
    targets: dict[str, EvidenceTarget]
    evidence: Annotated[tuple[Evidence, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _targets_are_there(self) -> Scenario:
        for statement in self.evidence:
            for reading in statement.about:
                if reading.target not in self.targets:
                    raise ValueError(f"evidence is about {reading.target!r}, which is not a target of {self.id}")
        return self


class CategoryText(Frozen):
    """All that is written for one diagnostic category."""

    category: Category
    pair: tuple[EvidencePair, ...]
    scenario: tuple[Scenario, ...]


def read_category(path: Path) -> CategoryText:
    """One file. Raises UserError, naming file and field, where it cannot be read or is malformed."""
    table = read_toml(path)
    try:
        return CategoryText.model_validate(table)
    except ValidationError as error:
        first = leading_fault(error)
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: {where}: {in_words(first)}") from error


def read_text(folder: Path = TEXT) -> tuple[CategoryText, ...]:
    """Every category, in the order in which `Category` names them. Raises as `read_category`."""
    order = list(Category.__args__)  # type: ignore[attr-defined]
    return tuple(sorted((read_category(path) for path in folder.glob("*.toml")), key=lambda c: order.index(c.category)))
