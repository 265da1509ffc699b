"""The lexicon of the suite `imperfective`: typed, validated reading of `lexicon.toml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from veridical.errors import UserError
from veridical.files.decoding import in_words, leading_fault
from veridical.files.toml_file import read_toml
from veridical.items import Frozen
from veridical.suites.imperfective.sentences import Forms, Pronoun, VerbPhrase, fill

LEXICON = Path(__file__).with_name("lexicon.toml")

VerbClass = Literal["Creation", "Change_of_State", "Consumption", "Motion_to_Goal"]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]

DETERMINERS = frozenset({"a", "an", "the", "his", "her", "its", "my", "our"})
"""What a singular count object begins with. Bare nouns, plural or mass, begin with none of them."""


class Judgements(Frozen):
    """What the verb phrase as a whole admits, as a native speaker judges it.

    "In an hour" and "for an hour" stand for an adverbial of the same kind with a span that fits the event.
    `singular_count_object` is there exactly where there is an object.
    """

    in_an_hour: bool
    for_an_hour: bool
    progressive_entails_past: bool
    singular_count_object: bool | None = None


class Frame(Frozen):
    """An interruption clause with the slots {he}, {him} and {his}.

    `rules_out` says why no telic event with this frame was completed at any time up to the time of speech.
    """

    id: Text
    text: Text
    rules_out: Text

    @field_validator("text")
    @classmethod
    def _slots_are_known(cls, text: str) -> str:
        fill(text, "he")
        if text != text.rstrip(".,") or text[0] == ",":
            raise ValueError("is a clause without punctuation at its ends")
        return text


class Entry(Frozen):
    """A subject, a verb phrase, and the frame of its interruption. `verb` is a lemma.

    `object` is a direct object; `phrase` any other complement or adjunct. `forms` overrides the inflector
    where it is wrong.
    """

    verb: Text
    particle: Text | None = None
    subject: Text
    pronoun: Pronoun
    object: Text | None = None
    phrase: Text | None = None
    frame: Text
    forms: Forms = Forms()
    judgements: Judgements

    @property
    def verb_phrase(self) -> VerbPhrase:
        """The verb with all that follows it: particle, object, phrase."""
        rest = " ".join(part for part in (self.particle, self.object, self.phrase) if part)
        return VerbPhrase(self.verb, rest, self.forms)

    @model_validator(mode="after")
    def _object_is_singular_count(self) -> Self:
        if self.object is None:
            if self.judgements.singular_count_object is not None:
                raise ValueError("judgements.singular_count_object: there is no object to judge")
            return self
        if self.judgements.singular_count_object is not True:
            raise ValueError("judgements.singular_count_object: must be true where there is an object")
        if self.object.split()[0] not in DETERMINERS:
            raise ValueError(f"object: {self.object!r} has no determiner, so it is a bare plural or mass noun")
        return self

    @model_validator(mode="after")
    def _verb_is_inflected(self) -> Self:
        for part in (self.verb_phrase.ing, self.verb_phrase.past):
            if part != part.lower():
                raise ValueError(f"forms: {part!r} is not in lower case")
        return self

    def _expect(self, **judgements: bool) -> None:
        for name, expected in judgements.items():
            if getattr(self.judgements, name) is not expected:
                raise ValueError(f"judgements.{name}: must be {str(expected).lower()} for this telicity")


class TelicEntry(Entry):
    """A verb phrase with an endpoint of its own; `completion` entails that the endpoint was reached."""

    verb_class: VerbClass = Field(alias="class")
    completion: Text

    @model_validator(mode="after")
    def _judged_telic(self) -> Self:
        self._expect(in_an_hour=True, for_an_hour=False, progressive_entails_past=False)
        return self


class AtelicEntry(Entry):
    """A verb phrase without an endpoint: its progressive entails its simple past."""

    @model_validator(mode="after")
    def _judged_atelic(self) -> Self:
        self._expect(in_an_hour=False, for_an_hour=True, progressive_entails_past=True)
        return self


class Lexicon(Frozen):
    """All of `lexicon.toml`. Verbs are unique, across telicity too, and every frame is defined once."""

    frame: tuple[Frame, ...]
    telic: tuple[TelicEntry, ...]
    atelic: tuple[AtelicEntry, ...]

    @model_validator(mode="after")
    def _references_hold(self) -> Self:
        frames = [frame.id for frame in self.frame]
        if repeated := _repeated(frames):
            raise ValueError(f"frame ids defined twice: {', '.join(repeated)}")
        for entry in (*self.telic, *self.atelic):
            if entry.frame not in frames:
                raise ValueError(f"entry {entry.verb!r}, field frame: no frame is called {entry.frame!r}")
        if repeated := _repeated(entry.verb for entry in (*self.telic, *self.atelic)):
            raise ValueError(f"verbs with two entries: {', '.join(repeated)}")
        return self

    def interruption(self, entry: Entry) -> str:
        """The entry's interruption clause, its slots filled."""
        return fill({frame.id: frame.text for frame in self.frame}[entry.frame], entry.pronoun)


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def read_lexicon(path: Path = LEXICON) -> Lexicon:
    """Read a lexicon. Raises UserError, naming the file, the entry and the field, where it is not valid."""
    raw = read_toml(path)
    try:
        return Lexicon.model_validate(raw)
    except ValidationError as error:
        raise UserError(f"lexicon {path}: {_where(raw, error)}") from error


def _where(raw: dict[str, object], error: ValidationError) -> str:
    """The first fault in words: the entry by its verb or id, the field, and what is wrong with it."""
    fault = leading_fault(error)
    message = in_words(fault)
    match fault["loc"]:
        case (str(table), int(position), *fields):
            rows = raw[table]
            row = rows[position] if isinstance(rows, list) else {}
            name = row.get("verb") or row.get("id") if isinstance(row, dict) else None
            entry = f"[[{table}]] number {position + 1}" + (f" ({name})" if name else "")
            field = f", field {'.'.join(map(str, fields))}" if fields else ""
            return f"{entry}{field}: {message}"
        case location:
            field = f"field {'.'.join(map(str, location))}: " if location else ""
            return f"{field}{message}"
