"""What a user gives a chat template: `--template-arg NAME=VALUE` and `--generation-header`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from veridical.errors import UserError
from veridical.prompts.opening import HEADER

_RESERVED = frozenset(
    {"messages", "tools", "documents", "conversation", "chat_template", "add_generation_prompt"}
    | {"continue_final_message", "tokenize", "return_dict", "return_tensors", "tokenizer_kwargs"}
)


def parse_template_arguments(pairs: Iterable[str], header: str | None = None) -> dict[str, Any]:
    r"""Values for a chat template from `NAME=VALUE`: JSON where it is JSON (`false`, `3`), else the text.

    `header` is the text of --generation-header, in which `\n` stands for a line break.

    Raises UserError for a pair without a name or a value, and for names that rendering itself sets.
    """
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise UserError("give NAME=VALUE, as in enable_thinking=false", where=f"--template-arg {pair!r}")
        if name.strip() in _RESERVED:
            raise UserError(f"{name.strip()!r} is not the user's to set", where=f"--template-arg {pair!r}")
        try:
            arguments[name.strip()] = json.loads(value)
        except ValueError:
            # Python's spelling of the three constants is what people write first.
            arguments[name.strip()] = {"True": True, "False": False, "None": None}.get(value, value)
    if header:
        arguments[HEADER] = header.replace("\\n", "\n")
    return arguments
