"""From a context to the text that a model reads, and what may stand around that text.

Three things are decided here and nowhere else: how a conversation is put through a chat template (`render`),
whether the tokenizer may add its special tokens (`adds_special_tokens`), and what joins a context to its
continuation (`delimiter`). Whatever rendering had to do to the conversation is noted, never silent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from jinja2 import TemplateError

from veridical.errors import UserError, excerpt
from veridical.prompts.bounded import TemplateLimitError, check_length, limits
from veridical.prompts.channels import opens_thinking
from veridical.prompts.opening import AUTO, CHANNEL, HEADER, THINKING_LEFT, missing_header, opening_notes
from veridical.prompts.template import Context, Conversation, Message, PlainText, TextPair

SYSTEM_FOLDED = "system_folded"
"""The template takes no system turn: its text went to the head of the user turn."""
DATE_PINNED = "date_pinned"
"""The template inserts today's date: it was given `PINNED_DATE` instead."""
NO_CHAT_TEMPLATE = "no_chat_template"
"""The tokenizer has no chat template: the conversation was put as plain text."""
PREFILL_APPENDED = "prefill_appended"
"""The template cannot leave the last turn open: the prefill was put after its generation prefix."""

PINNED_DATE = datetime(2024, 7, 26)
"""The date that a template gets as today's: the date that Llama 3's template falls back on, so
that its text is that of an engine which has no clock."""
_OTHER_DATE = datetime(2001, 2, 3)


class ChatTemplate(Protocol):
    """What rendering needs of a Hugging Face tokenizer."""

    @property
    def chat_template(self) -> str | dict[str, str] | None:
        """The Jinja source, several by name, or None."""

    def apply_chat_template(self, conversation: list[dict[str, str]], /, **kwargs: Any) -> Any:
        """The conversation as text or token ids, as in transformers' tokenizers."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A context as text.

    `special_tokens_already` says that the text carries its own special tokens. `opens_turn` says that it
    ends with a generation prefix, so that the answer begins there. `notes` says what rendering had to do.
    """

    text: str
    notes: tuple[str, ...] = ()
    special_tokens_already: bool = False
    opens_turn: bool = False

    @property
    def opens_thinking(self) -> bool:
        """The text leaves a thinking block open, so that a reply begins inside it (see `parsing.parse`)."""
        return opens_thinking(self.text)


def adds_special_tokens(rendered: Rendered) -> bool:
    """What to pass as the tokenizer's `add_special_tokens`.

    False for a rendered chat, whose template wrote them (a second BOS costs points); True for plain text,
    where the tokenizer's own rule says whether there are any to add.
    """
    return not rendered.special_tokens_already


def delimiter(rendered: Rendered, continuation: str) -> str:
    """What stands between a context and its continuation.

    Nothing after a generation prefix, after white space, after an opening bracket or quotation mark (as in
    `{"label": "`), or before a continuation that brings its own space; a space after any other text.
    """
    if rendered.opens_turn or not rendered.text or continuation[:1].isspace():
        return ""
    return "" if rendered.text[-1].isspace() or rendered.text[-1] in '([{"“' else " "


def joined(rendered: Rendered, continuation: str, between: str | None) -> tuple[Rendered, str]:
    """The context and what stands between it and its continuation, where the user of the text says what (`between`).

    White space at the end of a context then goes to the continuation and is scored with it (a text that ends in a
    space has other tokens than the same text in a longer one): lm-eval does the same.
    """
    if between is None:
        return rendered, delimiter(rendered, continuation)
    bare = rendered.text.rstrip()
    return replace(rendered, text=bare), rendered.text[len(bare) :] + between


def render(context: Context, template: ChatTemplate, arguments: Mapping[str, Any] | None = None) -> Rendered:
    """The text of `context` for the model whose tokenizer is `template`.

    `arguments` are passed through to the chat template, but for `generation_header`, a text that is put after what the
    template ends with (`auto`: what the template itself has before an answer). Raises UserError where the template
    rejects the conversation even without a system turn, or leaves out a part of it.
    """
    if isinstance(context, PlainText):
        return Rendered(context.text)
    if isinstance(context, TextPair):
        raise UserError("a pair of texts is for a sequence classifier: a language model is asked with a prompt")
    source = _source(template)
    given, header = _without_header(arguments)
    if source is None:
        if header:
            raise UserError("a generation header goes with a chat template, and the model's tokenizer has none")
        return Rendered(_as_plain_text(context), (NO_CHAT_TEMPLATE,))
    chat = _Chat(template, source, given, header)
    messages = context.messages
    if not any(message.content.strip() for message in messages):
        raise UserError("the prompt renders to an empty conversation: there is nothing to ask")
    notes: tuple[str, ...] = ()
    try:
        rendered = chat.render(messages)
    except (TemplateError, _LeftOutError) as error:
        if messages[0].role != "system":
            raise _rejected(error) from error
        notes = (SYSTEM_FOLDED,)
        try:
            rendered = chat.render(_folded(messages))
        except (TemplateError, _LeftOutError) as second:
            raise _rejected(second) from second
    return replace(rendered, notes=(*notes, *rendered.notes))


def _without_header(arguments: Mapping[str, Any] | None) -> tuple[dict[str, Any], str]:
    given = dict(arguments or {})
    return given, str(given.pop(HEADER, ""))


_REPLY = "OK"
_FINISHED = Conversation((Message("user", "a"), Message("assistant", _REPLY)))


def end_of_turn(template: ChatTemplate, arguments: Mapping[str, Any] | None = None) -> str:
    """What the chat template puts after a finished answer; empty where that cannot be found.

    Takes what `render` takes: a template that needs its arguments, or asks for the date, is asked as it will be.
    """
    try:
        source = _source(template)
        chat = _Chat(template, _pinned(source or "", PINNED_DATE), _without_header(arguments)[0])
        _, reply, after = chat.finished(_FINISHED.messages).rpartition(_REPLY) if source else ("", "", "")
    except Exception:  # a template may object to this conversation in any way; then nothing is known of it
        return ""
    return after.lstrip() if reply else ""


class _LeftOutError(Exception):
    """The template dropped the text of a turn without an error."""


@dataclass(frozen=True, slots=True)
class _Chat:
    """A chat template and its further arguments."""

    template: ChatTemplate
    source: str
    arguments: Mapping[str, Any]
    header: str = ""

    def render(self, messages: Sequence[Message]) -> Rendered:
        """Raises TemplateError where the template objects, _LeftOutError where it drops a turn's text."""
        if "strftime_now" not in self.source:
            return self._with_source(messages, self.source)
        pinned = self._with_source(messages, _pinned(self.source, PINNED_DATE))
        if pinned.text == self._with_source(messages, _pinned(self.source, _OTHER_DATE)).text:
            return pinned
        return replace(pinned, notes=(*pinned.notes, DATE_PINNED))

    def finished(self, messages: Sequence[Message]) -> str:
        """The conversation as it stands in a longer one, its last turn closed."""
        return self._apply(messages, self.source, add_generation_prompt=False)

    def _with_source(self, messages: Sequence[Message], source: str) -> Rendered:
        prefill = messages[-1].content if messages[-1].role == "assistant" else ""
        if not prefill.strip():
            messages = [message for message in messages if message.content.strip()]
            rendered = self._opened(messages, source)
        else:
            rendered = self._continued(messages, prefill, source)
        for message in messages:
            if message.content.strip() not in rendered.text:
                raise _LeftOutError(f"it leaves out the text of the {message.role} turn")
        return rendered

    def _opened(self, messages: Sequence[Message], source: str) -> Rendered:
        """The conversation up to where an answer begins, with a note on what the template leaves out or open there."""

        def apply(turns: Sequence[Message], **changes: Any) -> str:
            return self._apply(turns, source, **changes)

        text = apply(messages)
        if self.header == AUTO:
            return Rendered(text + missing_header(messages, text, apply), (), True, opens_turn=True)
        notes = opening_notes(messages, text, source, apply)
        if self.header:
            closes = "</" in self.header or CHANNEL in self.header
            notes = (THINKING_LEFT,) if THINKING_LEFT in notes and not closes else ()
        return Rendered(text + self.header, notes, True, opens_turn=True)

    def _continued(self, messages: Sequence[Message], prefill: str, source: str) -> Rendered:
        """The last turn left open. Its trailing white space is kept: `apply_chat_template` cuts it off where
        the template trims contents. What a header is put before cannot be the template's to write."""
        if self.header:
            opened = self._opened(messages[:-1], source)
            return replace(opened, text=opened.text + prefill, opens_turn=False)
        try:
            text = self._apply(messages, source, continue_final_message=True)
        except (TemplateError, ValueError):
            text = ""
        if text and text.rstrip().endswith(prefill.strip()):
            return Rendered(text.rstrip() + prefill[len(prefill.rstrip()) :], (), True)
        opened = self._opened(messages[:-1], source)
        return Rendered(opened.text + prefill, (*opened.notes, PREFILL_APPENDED), True)

    def _apply(
        self,
        messages: Sequence[Message],
        source: str,
        *,
        continue_final_message: bool = False,
        add_generation_prompt: bool = True,
        **changes: Any,
    ) -> str:
        try:
            with limits():
                text = self.template.apply_chat_template(
                    [{"role": message.role, "content": message.content} for message in messages],
                    chat_template=source,
                    tokenize=False,
                    add_generation_prompt=add_generation_prompt and not continue_final_message,
                    continue_final_message=continue_final_message,
                    **{**self.arguments, **changes},
                )
            return check_length(str(text))
        except TemplateLimitError as error:
            raise UserError(
                f"the model's chat template does not come to an end: {error}; take a model with another template"
            ) from error
        except (TemplateError, ValueError, UserError):
            raise
        except Exception as error:  # code in a template may raise anything
            raise TemplateError(f"{type(error).__name__}: {error}") from error


def _rejected(error: Exception) -> UserError:
    return UserError(
        f"the model's chat template does not take this conversation: {excerpt(error, 300)}; "
        "see whether --template-arg can change that, or take a model with another template"
    )


def _source(template: ChatTemplate) -> str | None:
    """The Jinja source that `apply_chat_template` would take: the default where there are several."""
    source = template.chat_template
    if isinstance(source, dict):
        if "default" not in source:
            names = ", ".join(sorted(source))
            raise UserError(f"of the tokenizer's chat templates ({names}) none is the default")
        return source["default"]
    return source or None


def _as_plain_text(conversation: Conversation) -> str:
    """The turns one under the other, and `Answer:` where the answer is to begin."""
    turns = [message.content for message in conversation.messages]
    if conversation.messages[-1].role == "assistant":
        return "\n\n".join([*turns[:-1], f"Answer: {turns[-1]}"])
    return "\n\n".join([*turns, "Answer:"])


def _folded(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The conversation with its system text at the head of the first user turn."""
    system, *rest = messages
    if rest and rest[0].role == "user":
        return (Message("user", f"{system.content}\n\n{rest[0].content}"), *rest[1:])
    return (Message("user", system.content), *rest)


_DIRECTIVES = (*"aAbBcdHIjmMpSUwWxXyYZfGuV", "-d", "-m", "-H", "-I", "-M", "-S", "-j")


@lru_cache(maxsize=8)
def _pinned(source: str, date: datetime) -> str:
    """The template with a clock that stands still.

    `strftime_now` cannot be passed in (transformers lets plain data alone reach a template), so a macro of
    that name, which replaces each directive by its value, shadows it. `trim_blocks` eats the line break after
    the macro, so that the template's own text begins where it did.
    """
    steps = "".join(f' | replace("%{d}", {json.dumps(date.strftime(f"%{d}"))})' for d in _DIRECTIVES)
    return f"{{% macro strftime_now(format) %}}{{{{ format{steps} }}}}{{% endmacro %}}\n{source}"
