"""One self-contained form a rater: it opens from a file, asks the network for nothing and saves CSV locally.

What comes from a suite reaches the page escaped by Jinja and nowhere else; its script reads texts from the page's own
elements. The content security policy names the hash of that script, so that no other could run.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from veridical.report.parts import asset, environment, script, source
from veridical.review.blinding import Sheet

PACKAGE = "veridical.review"


@cache
def _environment() -> Environment:
    return environment(PACKAGE)


def form(sheet: Sheet, file_name: str) -> str:
    """The form as one string; `file_name` is what the CSV is saved as."""
    own = script(PACKAGE, "templates", "form.js")
    return (
        _environment()
        .get_template("form.html.jinja")
        .render(
            sheet=sheet,
            file_name=file_name,
            style=Markup(asset(PACKAGE, "templates", "form.css").strip()),
            script=Markup(own),
            source=source(own),
        )
    )
