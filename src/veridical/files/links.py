"""Where links lead."""

from __future__ import annotations

import os
from pathlib import Path


def real_path(path: Path) -> Path:
    """The absolute path without links. Of links that lead round in a circle it follows what can be followed.

    `Path.resolve` raises RuntimeError for such a circle, on some releases of Python and not on others.
    """
    return Path(os.path.realpath(path))
