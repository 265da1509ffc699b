"""Reading a recipe file. Everything in it is checked before anything is loaded: keys, and the names of suites, prompts
and modes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from pydantic import ValidationError

from veridical.errors import UserError, excerpt, unknown
from veridical.files.decoding import fields_at, in_words, leading_fault
from veridical.files.yaml_file import read_yaml
from veridical.studies.recipe import (
    SCHEMA,
    AskStep,
    ReadoutStep,
    Recipe,
    ValidityStep,
    VaryStep,
)


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file.

    Raises UserError, naming file and place, for what is not valid YAML, an unknown key, and a name that nothing has.
    """
    document = read_yaml(path)
    if not isinstance(document, dict):
        raise UserError(f"{path}: not a recipe: a mapping with the keys schema, name, models, steps is needed")
    if document.get("schema") != SCHEMA:
        raise UserError(f"{path}: not a recipe: it must say 'schema: {SCHEMA}'")
    try:
        recipe = Recipe.model_validate(document)
    except ValidationError as error:
        raise UserError(f"{path}: {_fault(error)}") from error
    for place, message in _unknown_names(recipe):
        raise UserError(f"{path}: {place}: {message}")
    return recipe


def _fault(error: ValidationError) -> str:
    fault = leading_fault(error)
    location = [part for part in fault["loc"] if part != "schema_"]
    place = _place(location)
    if fault["type"] == "extra_forbidden":
        known = fields_at(Recipe, location[:-1])
        hint = get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
        hint_or_known = f"did you mean {hint[0]!r}?" if hint else f"known: {', '.join(known)}"
        where = _place(location[:-1])
        return f"unknown key {excerpt(location[-1])!r}{f' in {where}' if where else ''}: {hint_or_known}"
    message = _MESSAGES.get(fault["type"]) or in_words(fault)
    return f"{place}: {message}" if place else message


_MESSAGES = {
    "tuple_type": "a list is needed, as in [a, b]",
    "dict_type": "a mapping is needed, as in {key: value}",
    "model_type": "a mapping is needed, as in {key: value}",
    "too_short": "the list is empty; give one at least",
    "string_type": "a text is needed",
    "string_too_short": "the text is empty",
    "missing": "is missing",
    "bool_parsing": "true or false is needed",
}
"""Pydantic's error types, in the words of YAML rather than of Python."""


def _place(location: Iterable[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _unknown(kind: str, given: str, known: Iterable[str]) -> str:
    return str(unknown(kind, given, known))


def _unknown_names(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """(place, what is wrong) of names that stand for nothing."""
    from veridical.suites.registry import BUILT_IN, benchmarks

    known = {*BUILT_IN, *benchmarks()}
    written: set[str] = set()
    for number, step in enumerate(recipe.steps, 1):
        place = f"steps[{number}]"
        match step.what:
            case AskStep(suites=suites, prompts=prompts, shots=shots, data=data):
                for name in suites:
                    if name not in known | written:
                        yield f"{place}.ask", _unknown("suite", name, known | written)
                    elif shots and name not in benchmarks():
                        yield f"{place}.ask", f"shots: suite {name!r} has no examples to show; benchmarks do"
                    elif data and not _reads_file(name):
                        yield f"{place}.ask", f"data: suite {name!r} reads no file of yours"
                yield from ((f"{place}.ask", message) for message in _unknown_prompts(suites, prompts or ()))
            case ReadoutStep(suite=name, prompt=prompt, data=data, fit_on=fit_on):
                if name not in known:
                    yield f"{place}.readout", _unknown("suite", name, known)
                elif fit_on and fit_on not in known and not Path(fit_on).is_file():
                    yield f"{place}.readout", f"fit_on: no file is there, and {_unknown('suite', fit_on, known)}"
                elif data and not _reads_file(name):
                    yield f"{place}.readout", f"data: suite {name!r} reads no file of yours"
                given = () if prompt is None else (prompt,)
                yield from ((f"{place}.readout", message) for message in _unknown_prompts((name,), given))
            case VaryStep(suite=name, writes=writes):
                if name and name not in known:
                    yield f"{place}.vary", _unknown("suite", name, known)
                if writes in written:
                    yield f"{place}.vary", f"writes: an earlier step writes {writes!r} too; name another file"
                written.add(writes)
            case ValidityStep() as validity:
                asked = {name for one in recipe.steps if one.ask for name in one.ask.suites}
                for column in validity.columns:
                    if (name := column.partition("/")[0]) not in asked:
                        yield f"{place}.validity", f"{column!r}: no step asks {_unknown('suite', name, asked)[8:]}"


def _reads_file(suite: str) -> bool:
    """Whether a suite takes its items from the user's file."""
    from veridical.suites.registry import BUILT_IN, benchmarks

    return suite in benchmarks() or (suite in BUILT_IN and BUILT_IN[suite].read_data is not None)


def _unknown_prompts(suites: Iterable[str], prompts: Iterable[str]) -> Iterator[str]:
    """Of suites that are in the package; what a benchmark or a file has shows when it is asked."""
    from veridical.suites.registry import BUILT_IN, load

    suites = list(suites)
    if any(name not in BUILT_IN for name in suites):
        return
    known = {prompt.name for name in suites for prompt in load(name).prompts}
    yield from (_unknown("prompt", name, known) for name in prompts if name not in known)
