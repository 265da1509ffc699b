"""Which column is what: from flags, from a YAML file, or by the columns' own names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from veridical.errors import UserError, unknown
from veridical.files.scalars import whole_number
from veridical.files.yaml_file import read_yaml
from veridical.validity.joint_roles import joint_columns, joint_of_document, joint_of_flags

NAMES: Mapping[str, tuple[str, ...]] = {
    "model": ("model", "model name", "model_name", "model id", "model_id", "model/adapter", "name"),
    "family": ("family", "model family", "model_family"),
    "size": (
        *("size", "model size", "model size (b)", "model_size", "size (b)", "size_b", "parameters", "params"),
        *("n_parameters", "n_params", "num_params", "params_b", "params (b)", "#params", "#params (b)"),
        "parameters (b)",
    ),
    "benchmark": ("benchmark", "task", "dataset", "scenario"),
    "value": ("score", "value", "accuracy"),
}
"""How columns are known where nothing names them, in lower case."""
DUPLICATES = ("refuse", "first", "mean")
"""What several scores of one model on one benchmark come to."""
MOST_ITEMS = 10**9
"""Of a benchmark; more is taken for a slip. A choice of Veridical."""


@dataclass(frozen=True)
class Roles:
    """Column names by role. Empty means: not named.

    `outcomes` maps an outcome to its axis ("" where it has none), `axes` a benchmark to its own. `variants` maps a
    reworked benchmark (or a measure of sets) to the original (or the accuracy) that it is compared with. `items` is the
    number of items behind a column of shares; `percent` names columns of percentages among which some are below 1.
    `jointly` names sets of benchmarks that are looked at as one set of predictors.
    `split` are columns that divide the benchmarks of a long table (metric, tag, shots), `duplicates` is one of
    `DUPLICATES`, and `missing` are cells that stand for no score, in addition to the usual ones.
    """

    model: str = ""
    family: str = ""
    size: str = ""
    benchmark: str = ""
    value: str = ""
    benchmarks: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, int] = field(default_factory=dict)
    percent: tuple[str, ...] = ()
    jointly: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[str, ...] = ()
    duplicates: str = "refuse"
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.duplicates not in DUPLICATES:
            raise unknown("rule for duplicates", self.duplicates, DUPLICATES)

    @property
    def predictors(self) -> tuple[str, ...]:
        """Benchmarks, with the reworked and their originals among them, and those of sets."""
        return tuple(
            dict.fromkeys((*self.benchmarks, *self.variants.values(), *self.variants, *joint_columns(self.jointly)))
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of scores."""
        return tuple(dict.fromkeys((*self.predictors, *self.controls, *self.outcomes)))


def read_roles(path: Path) -> Roles:
    """Roles in a YAML file: a mapping with the names of `Roles` as keys. Raises UserError where it is not one."""
    document = read_yaml(path)
    if not isinstance(document, dict):
        raise UserError(f"{path}: give a mapping with keys such as model, family, size, benchmarks, outcomes")
    known = {one.name for one in fields(Roles)}
    for key in document:
        if key not in known:
            raise unknown(f"role in {path}:", str(key), known)
    rule = _text(path, "duplicates", document.get("duplicates")) or "refuse"
    if rule not in DUPLICATES:
        raise unknown(f"rule for duplicates in {path}:", rule, DUPLICATES)
    axes = _axes(path, document, "axes")
    benchmarks = document.get("benchmarks") or ()
    if isinstance(benchmarks, dict):
        axes |= {name: axis for name, axis in _axes(path, document, "benchmarks").items() if axis}
    return Roles(
        **{name: _text(path, name, document.get(name)) for name in ("model", "family", "size", "benchmark", "value")},
        benchmarks=_names(path, "benchmarks", benchmarks),
        controls=_names(path, "controls", document.get("controls") or ()),
        outcomes=_axes(path, document, "outcomes"),
        axes=axes,
        variants=_valued(path, document, "variants"),
        items={name: _count(path, name, count) for name, count in _valued(path, document, "items").items()},
        percent=_names(path, "percent", document.get("percent") or ()),
        jointly=joint_of_document(path, document.get("jointly")),
        split=_names(path, "split", document.get("split") or ()),
        duplicates=rule,
        missing=_names(path, "missing", document.get("missing") or ()),
    )


def _text(path: Path, key: str, given: object) -> str:
    """One word or number, "" where there is no value. Raises UserError for a list or a mapping."""
    if isinstance(given, dict | list):
        raise UserError(f"{path}: {key} must be one text, and is {given!r}")
    return "" if given is None else str(given)


def _names(path: Path, key: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, dict | list | tuple):
        names = tuple(_text(path, f"a name under {key}", name) for name in given)
        for name, times in Counter(names).items():
            if times > 1:
                raise UserError(f"{path}: {name!r} is listed {times} times under {key}: name a column once")
        return names
    return (_text(path, key, given),)


def _mapping(path: Path, document: Mapping[str, Any], key: str) -> dict[str, str]:
    """`{name: text}`; outcomes in a list have no axis."""
    given = document.get(key) or {}
    if isinstance(given, dict):
        return {str(name): _text(path, f"{key} of {str(name)!r}", text) for name, text in given.items()}
    if key == "outcomes":
        return dict.fromkeys(_names(path, key, given), "")
    raise UserError(f"{path}: {key} must map names to values, and is {given!r}")


def _axes(path: Path, document: Mapping[str, Any], key: str) -> dict[str, str]:
    """`{name: axis}`. Raises UserError for an axis that is a number or a truth value: no axis is called so."""
    found = _mapping(path, document, key)
    for name, axis in found.items():
        if not may_be_axis(axis):
            raise UserError(
                f"{path}: {key} of {name!r} must be the name of an axis, or nothing, and is {axis[:40]!r}; numbers of "
                "items go under items"
            )
    return found


def may_be_axis(text: str) -> bool:
    """Whether an axis may be called so: not by a number or a truth value, which was meant for something else."""
    return _VALUE.fullmatch(text) is None


_VALUE = re.compile(r"[-+]?(\d[\d_,.]*|\.\d+)([eE][-+]?\d+)?%?|true|false|yes|no|null|nan", re.IGNORECASE)


def _valued(path: Path, document: Mapping[str, Any], key: str) -> dict[str, str]:
    """`{name: text}` in which a name without a value would mean nothing. Raises UserError where one has none."""
    found = _mapping(path, document, key)
    for name in found:
        if document[key][name] is None:
            what = f"a whole number from 1 to {MOST_ITEMS:,}" if key == "items" else "the name of a column"
            raise UserError(f"{path}: {key} of {name!r} must be {what}, and has no value")
    return found


def _count(path: Path, name: str, text: str) -> int:
    try:
        count = whole_number(text)
    except ValueError:
        count = 0
    if not 0 < count <= MOST_ITEMS:
        raise UserError(
            f"{path}: items of {name!r} must be a whole number from 1 to {MOST_ITEMS:,}, and is {text[:40]!r}"
        )
    return count


@dataclass(frozen=True, slots=True)
class RoleFlags:
    """What is given of roles in addition to a file, as the command line and `veridical.validity` take it.

    A benchmark or outcome may be `COL:AXIS`, a variant is `REWORKED=ORIGINAL`, a set of predictors `[NAME=]A,B`.
    """

    model: str = ""
    family: str = ""
    size: str = ""
    benchmarks: Sequence[str] = ()
    controls: Sequence[str] = ()
    outcomes: Sequence[str] = ()
    variants: Sequence[str] = ()
    jointly: Sequence[str] = ()
    benchmark_column: str = ""
    score_column: str = ""
    split: Sequence[str] = ()
    duplicates: str = ""
    missing: Sequence[str] = ()

    @property
    def of_long_tables(self) -> RoleFlags:
        """Those that say how a long table becomes a wide one, before its benchmarks have columns."""
        return replace(self, family="", size="", benchmarks=(), controls=(), outcomes=(), variants=(), jointly=())


def with_flags(roles: Roles, known: Sequence[str], flags: RoleFlags) -> Roles:
    """Roles with what flags say put over them. `COL:AXIS` gives an axis, unless a column has that very name."""
    axes, named = dict(roles.axes), []
    for text in flags.benchmarks:
        name, axis = _split_axis(text, known)
        named.append(name)
        if axis:
            axes[name] = axis
    predicted = [_split_axis(text, known) for text in flags.outcomes]
    for kind, given in (
        ("--benchmark", named),
        ("--control", flags.controls),
        ("--outcome", [n for n, _ in predicted]),
    ):
        for name, times in Counter(given).items():
            if times > 1:
                raise UserError(f"{kind} {name!r} is given {times} times: name a column once")
    reworked = [_variant(text, known) for text in flags.variants]
    for name, times in Counter(name for name, _ in reworked).items():
        if times > 1:
            raise UserError(f"--variant {name!r} has {times} originals: it is a reworked version of one")
    return replace(
        roles,
        model=flags.model or roles.model,
        family=flags.family or roles.family,
        size=flags.size or roles.size,
        benchmarks=tuple(named) or roles.benchmarks,
        controls=tuple(flags.controls) or roles.controls,
        outcomes=dict(predicted) or roles.outcomes,
        axes=axes,
        variants=dict(reworked) or roles.variants,
        jointly=joint_of_flags(flags.jointly, known) or roles.jointly,
        benchmark=flags.benchmark_column or roles.benchmark,
        value=flags.score_column or roles.value,
        split=tuple(flags.split) or roles.split,
        duplicates=flags.duplicates or roles.duplicates,
        missing=tuple(flags.missing) or roles.missing,
    )


def _split_axis(text: str, known: Sequence[str]) -> tuple[str, str]:
    name, colon, axis = text.rpartition(":")
    return (text, "") if text in known or not colon else (name, axis)


def _variant(text: str, known: Sequence[str]) -> tuple[str, str]:
    """`REWORKED=ORIGINAL`; where names hold `=` themselves, at the one that leaves two known names."""
    cuts = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    if not cuts:
        raise UserError(f"--variant {text!r}: write REWORKED=ORIGINAL, two names of columns")
    return next((cut for cut in cuts if cut[0] in known and cut[1] in known), cuts[0])


def found_column(role: str, given: str, known: Sequence[str], source: str) -> str:
    """The column for a role: the one that is named, or else the one whose name says it; "" where none does.

    Raises UserError, naming `source`, where the named one is none of those `known`.
    """
    if given:
        if given not in known:
            raise unknown(f"{role} column in {source}:", given, known)
        return given
    by_name = {name.strip().lower(): name for name in reversed(known)}
    return next((by_name[name] for name in NAMES.get(role, ()) if name in by_name), "")


def check_roles(roles: Roles, known: Sequence[str], source: str) -> None:
    """Raise UserError where a role names no column, or one column has two roles that exclude each other."""
    for kind, names in (
        ("benchmark", roles.benchmarks),
        ("control", roles.controls),
        ("outcome", tuple(roles.outcomes)),
        ("variant", (*roles.variants, *roles.variants.values())),
        ("column under axes", tuple(roles.axes)),
        ("column under items", tuple(roles.items)),
        ("column under percent", roles.percent),
        ("column under jointly", tuple(joint_columns(roles.jointly))),
    ):
        for name in names:
            if name not in known:
                raise unknown(f"{kind} in {source}:", name, known)
    for name in roles.controls:
        if name in roles.outcomes:
            raise UserError(f"{name!r} is a control and an outcome: it would be predicted from itself; choose one")
    for name in roles.predictors:
        for kind, others in (("an outcome", roles.outcomes), ("a control", roles.controls)):
            if name in others:
                raise UserError(f"{name!r} is a benchmark and {kind}: a column is used once; choose one")
    for reworked, original in roles.variants.items():
        if reworked == original:
            raise UserError(f"--variant {reworked}={original}: a benchmark is not a reworked version of itself")
        if roles.variants.get(original) == reworked:
            raise UserError(f"--variant {reworked}={original}: each is the reworked version of the other; choose one")
    described: dict[str, str] = {}
    for role in ("model", "family", "size"):
        name = getattr(roles, role)
        if name and described.setdefault(name, role) != role:
            raise UserError(f"{name!r} is the {described[name]} column and the {role} column: a column is used once")
    for name in roles.columns:
        if name in described:
            raise UserError(f"{name!r} is the {described[name]} column and a score: a column is used once; choose one")
