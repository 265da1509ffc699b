"""A recipe in the place of suites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from veridical.errors import UserError

if TYPE_CHECKING:
    from veridical.studies.recipe import Recipe

SAID_BY_THE_RECIPE = ("prompt", "mode", "shots", "orders", "repeats", "max_new_tokens")


def named(context: typer.Context, option: str) -> bool:
    """Whether an option stands in the command line, so that its value is not a default."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def given_recipe(context: typer.Context, suites: Sequence[str]) -> Recipe | None:
    """The recipe that is given as the only suite; None where suites are given.

    Raises UserError where both are, where an option says what the recipe says, and for a recipe at fault.
    """
    from veridical.studies.recipe import is_recipe
    from veridical.studies.recipe_file import read_recipe

    recipes = [name for name in suites if is_recipe(name)]
    if not recipes:
        return None
    if len(suites) > 1:
        raise UserError(f"{recipes[0]} is a recipe, which names its suites: give it alone")
    for name in SAID_BY_THE_RECIPE:
        if named(context, name):
            option = f"--{name.replace('_', '-')}"
            raise UserError(f"{option}: the recipe says that; leave it out, or change it in a copy of {recipes[0]}")
    return read_recipe(Path(recipes[0]))
