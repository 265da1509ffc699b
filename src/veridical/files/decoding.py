"""One decoder for what users hand in: values become nouns by strict types, and faults are described in plain words.

Strict means that nothing is converted: `true` is not a number, nor is `"5"`, and a number is not text. Names that no
field has are refused with the nearest that one has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from veridical.errors import excerpt, listed
from veridical.files.json_text import kind

Noun = TypeVar("Noun", bound=BaseModel)
FieldPath = tuple[str | int, ...]


class DecodingError(ValueError):
    """What is wrong with a value, in words, and where: `path` holds keys and positions (from 0), outermost first."""

    def __init__(self, message: str, path: FieldPath) -> None:
        super().__init__(message)
        self.path = path


def decode(noun: type[Noun], values: Any, known: Iterable[str] | None = None) -> Noun:
    """The noun with these values, as JSON has them. `known` are further names of fields that may stand there.

    Raises DecodingError for the first fault, misspelt names before anything that may follow from them.
    """
    try:
        return noun.model_validate_json(json.dumps(values, default=_plain), strict=True)
    except ValidationError as error:
        raise first_fault(noun, error, known) from error
    except RecursionError as error:
        raise DecodingError("nested too deeply", ()) from error


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def first_fault(noun: type[BaseModel], error: ValidationError, known: Iterable[str] | None = None) -> DecodingError:
    """The fault to report of those that a noun's validation found."""
    faults, fault = error.errors(include_url=False), leading_fault(error)
    path = tuple(fault["loc"])
    if fault["type"] == "extra_forbidden":
        names = fields_at(noun, path[:-1])
        if len(path) == 1:
            names = [*names, *(name for name in known or () if name not in names)]
        return DecodingError(f"unknown field{suggestion(str(path[-1]), names)}", path)
    several = [one for one in faults if one["loc"][:-1] == path[:-1]]
    if len(several) > 1 and all(one["loc"][-1] in _UNION for one in several):
        kinds = dict.fromkeys(_UNION[str(one["loc"][-1])] for one in several)
        return DecodingError(f"one of {', '.join(kinds)} is needed, this is {kind(fault['input'])}", path[:-1])
    return DecodingError(in_words(fault), path)


def leading_fault(error: ValidationError) -> ErrorDetails:
    """The fault to report: a misspelt name before the first, since it is missing where it should be as well."""
    faults = error.errors(include_url=False)
    return next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])


_UNION = {
    "str": "text",
    "constrained-str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "none": "null",
}
"""What Pydantic calls the members of a union, and what they are."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """`, did you mean …?` where a known name is near, else which names are known."""
    names = list(known)
    nearest = get_close_matches(name[:200], names, n=1, cutoff=0.5)
    return f", did you mean {nearest[0]!r}?" if nearest else f"; known: {listed(names)}" if names else ""


def fields_at(noun: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The names of fields that may stand at a place inside a noun."""
    for part in path:
        field = noun.model_fields.get(part) if isinstance(part, str) else None
        inner = _model_in(field.annotation) if field is not None else None
        noun = inner or noun
    return [field.alias or name for name, field in noun.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner)) is not None), None)


def in_words(fault: ErrorDetails) -> str:
    """A fault in the words of the file that it is in, not of Pydantic or Python."""
    name, context = fault["type"], fault.get("ctx", {})
    given = fault["input"]
    if name in ("value_error", "assertion_error"):
        return excerpt(context.get("error", fault["msg"]), 600)
    if wanted := needed(fault):
        return f"{wanted} is needed, this is {_shown(given)}"
    if name == "literal_error":
        return f"{excerpt(str(given))!r} is not one of {context.get('expected')}"
    return _FIXED.get(name) or f"{_shown(given)} cannot stand here"


def needed(fault: ErrorDetails) -> str:
    """What would have to stand there: `a number of at least 1`, `text`; empty where that is not known."""
    name, context = fault["type"], fault.get("ctx", {})
    if name in _LIMITS:
        sign, limit = _LIMITS[name]
        return f"a number {sign} {context.get(limit)}"
    return _NEEDED.get(name, "")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {excerpt(value, 60)!r}"
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return excerpt(value, 60) if plain else kind(value)


_NEEDED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "none_required": "null",
}
_LIMITS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("of at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("of at most", "le"),
}
_FIXED = {
    "missing": "it is missing",
    "string_too_short": "the text is empty",
    "string_too_long": "the text is too long",
    "too_short": "the list is too short; give one more at least",
    "too_long": "the list is too long",
    "recursion_loop": "it contains itself",
    "extra_forbidden": "unknown field",
    "json_invalid": "not JSON, or cut off",
}
"""Pydantic's types of faults, and what they say of a value."""
