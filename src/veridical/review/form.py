"""One self-contained form a rater: it opens from a file, asks the network for nothing and saves CSV locally.

What comes from a suite reaches the page escaped by Jinja and nowhere else; its script reads texts from the page's own
elements. The content security policy names the hash of that script, so that no other could run.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from veridical.review.blinding import Sheet


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("veridical.review"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _asset(name: str) -> str:
    return resources.files("veridical.review").joinpath("templates", name).read_text("utf-8").strip()


def form(sheet: Sheet, file_name: str) -> str:
    """The form as one string; `file_name` is what the CSV is saved as."""
    # A line feed at either end, so that the hashed text is what stands between the tags.
    script = f"\n{_asset('form.js')}\n"
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("form.html.jinja")
        .render(
            sheet=sheet,
            file_name=file_name,
            style=Markup(_asset("form.css")),
            script=Markup(script),
            source=f"'sha256-{hashed}'",
        )
    )
