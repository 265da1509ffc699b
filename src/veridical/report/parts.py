"""What every self-contained page is made of: templates and files of a package, and inline scripts that may run.

What comes from a model or a file reaches a page in two ways: escaped by Jinja, or as JSON in which no `<` survives. A
page's content security policy names the hash of each script, so that nothing else could run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def script_json(value: object) -> Markup:
    """JSON that may stand in a script element: nothing in it can end the element or a line of it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.translate(_ESCAPES))


def environment(package: str) -> Environment:
    """Jinja over the templates of a package: everything is escaped, and a misspelt name is an error."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def asset(package: str, folder: str, name: str) -> str:
    """A text file of a package."""
    return resources.files(package).joinpath(folder, name).read_text("utf-8")


def script(package: str, folder: str, name: str) -> str:
    """A script of a package as it stands between its tags: a line feed at either end is part of what is hashed."""
    return f"\n{asset(package, folder, name).strip()}\n"


def source(script: str) -> str:
    """The content security policy's name for an inline script: the hash of exactly these characters."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
