"""A prompt: how an item is put to a model, as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from jinja2 import StrictUndefined, Template, UndefinedError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from veridical.errors import excerpt, listed
from veridical.prompts.bounded import check_length, is_harmless, limits

Role = Literal["system", "user", "assistant"]

# Sandboxed, since a suite file may come from anywhere; strict, since a misspelt field must not vanish.
_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A context in turns. A last turn of the assistant's is the beginning of its answer."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class PlainText:
    """A context that is put to the model as it stands, with no chat template."""

    text: str


@dataclass(frozen=True, slots=True)
class TextPair:
    """What a sequence classifier is shown; a text that the input withholds is empty."""

    first: str
    second: str


Context = Conversation | PlainText | TextPair


_OTHER_TEMPLATES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


@lru_cache(maxsize=256)
def _compiled(source: str) -> tuple[Template, bool]:
    """The template, and whether it has to be run with limits.

    Raises whatever Jinja does, and ValueError for a template that needs another: there are none to be had.
    """
    with limits():
        parsed = _ENVIRONMENT.parse(source)
        if next(parsed.find_all(_OTHER_TEMPLATES), None) is not None:
            raise ValueError("a prompt's template cannot include, import or extend another")
        return _ENVIRONMENT.from_string(source), not is_harmless(parsed)


def _rendered(source: str, values: Mapping[str, Any]) -> str:
    template, limited = _compiled(source)
    with limits() if limited else nullcontext():
        return check_length(template.render(values))


def _reason(error: Exception, known: Iterable[str] = ()) -> str:
    """What a template did wrong. Code in a template may raise anything, and some of it says nothing."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UndefinedError) and (named := _UNDEFINED.fullmatch(str(error))):
        nearest = get_close_matches(named[1], list(known), n=1, cutoff=0.5)
        hint = f", did you mean {nearest[0]!r}?" if nearest else f"; there are {listed(known)}"
        return f"there is no field {named[1]!r}{hint}"
    return excerpt(error, 300) or type(error).__name__


_UNDEFINED = re.compile(r"'(.{1,100})' is undefined")


class Prompt(BaseModel):
    """A prompt of a suite.

    `system`, `user` and `assistant` are Jinja templates over the item's fields, `labels` (the label names in
    the order in which they are to be named) and `glosses` (what each label means). A field that the input
    withholds is undefined, and `{% if premise is defined %}` says what to do then.
    `answer` says what form of reply is asked for; a prompt that `reasons` needs mode `generate`.
    `orders` is how many rotations of the label order are asked where the user does not say; 0 stands for all.
    `plain` puts `user` to the model as text, as it stands and without a chat template (benchmarks scored by
    continuation); it may be empty. `delimiter` is what then stands between it and a choice; without one that is
    decided where the prompt is put to a model (`prompts.chat.delimiter`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(min_length=1)]
    system: str = ""
    user: str
    assistant: str = ""
    answer: Literal["label", "json"] = "label"
    reasons: bool = False
    orders: int = Field(default=1, ge=0, le=1000)
    glosses: Mapping[str, str] = Field(default_factory=dict)
    plain: bool = False
    delimiter: str | None = None

    @model_validator(mode="after")
    def _templates_compile(self) -> Self:
        if self.delimiter is not None and not self.plain:
            raise ValueError(f"prompt {self.name!r} has a delimiter, which goes with a plain prompt")
        if not self.plain and not any(getattr(self, part).strip() for part in ("system", "user", "assistant")):
            raise ValueError(f"prompt {self.name!r} is empty: there is nothing to ask")
        for part in ("system", "user", "assistant"):
            try:
                _compiled(getattr(self, part))
            except Exception as error:  # whatever a template of the user's brings about is the user's to mend
                raise ValueError(f"template {part!r} of prompt {self.name!r}: {_reason(error)}") from error
        return self

    @property
    def computes(self) -> bool:
        """Whether a template does more than put fields in places, so that it may fail for one item and not another."""
        return any(_compiled(getattr(self, part))[1] for part in ("system", "user", "assistant"))

    def render(self, fields: Mapping[str, str], labels: Sequence[str]) -> Context:
        """The context for an item that shows `fields`, naming the labels in the order given.

        Raises ValueError where a template fails: it needs a field that is not there, or computes what cannot be.
        """
        values = {**fields, "labels": list(labels), "glosses": dict(self.glosses)}

        def part(name: str) -> str:
            try:
                text = _rendered(getattr(self, name), values)
            except Exception as error:  # division by zero, text plus number, ...: as in `_templates_compile`
                raise ValueError(f"prompt {self.name!r}, {name} part: {_reason(error, values)}") from error
            if any("\ud800" <= letter <= "\udfff" for letter in text):
                raise ValueError(f"prompt {self.name!r}, {name} part: it writes half of a character (a lone surrogate)")
            return text if self.plain else text.strip()

        if self.plain:
            return PlainText(part("user"))
        turns: tuple[tuple[Role, str], ...] = (
            ("system", part("system")),
            ("user", part("user")),
            ("assistant", part("assistant")),
        )
        return Conversation(tuple(Message(role, content) for role, content in turns if content))


def rotations(labels: Sequence[str], orders: int) -> tuple[tuple[str, ...], ...]:
    """The first `orders` rotations of `labels` (0 means all, which puts each label once in each place)."""
    count = len(labels) if orders == 0 else min(orders, max(len(labels), 1))
    return tuple((*labels[k:], *labels[:k]) for k in range(count))
