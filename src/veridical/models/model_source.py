"""The files of a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Files of a model: a folder with weights, a GGUF file, or a repository on the Hugging Face hub.

    `spec` is what the user wrote; `location` a path (`folder`, `gguf`) or ORG/NAME (`hub`).
    """

    spec: str
    kind: Literal["folder", "gguf", "hub"]
    location: str

    @property
    def path(self) -> Path:
        """The folder or file; meaningful unless `kind` is `hub`."""
        return Path(self.location)
