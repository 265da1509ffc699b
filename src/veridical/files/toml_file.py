"""A TOML file of Veridical's own formats, read with its faults reported in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.syntax_faults import toml_fault


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises UserError, naming it, where it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); give a readable TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {toml_fault(error)}") from error
