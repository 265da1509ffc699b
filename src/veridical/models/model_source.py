"""The files of a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model is: a folder with weights, a GGUF file, a repository on the Hugging Face hub, or elsewhere.

    `spec` is what the user wrote; `location` a path (`folder`, `gguf`), ORG/NAME (`hub`), or the name by which a
    service knows the model (`remote`). `provider` is the name of the row of `veridical.models.providers` that loads it.
    """

    spec: str
    kind: Literal["folder", "gguf", "hub", "remote"]
    location: str
    provider: str = "hf"

    @property
    def path(self) -> Path:
        """The folder or file; meaningful where `kind` is `folder` or `gguf`."""
        return Path(self.location)
