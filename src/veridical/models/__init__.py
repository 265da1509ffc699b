"""Who answers: one protocol, one module a backend, one row of `providers` for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from veridical.errors import UserError
from veridical.models.server.settings import ServerSettings
from veridical.models.settings import DEVICE_MAPS, DEVICES, DTYPES, DeviceMap, LoadOptions, LoadSettings, RaySettings

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel

__all__ = [
    "DEVICES",
    "DEVICE_MAPS",
    "DTYPES",
    "DeviceMap",
    "LoadOptions",
    "LoadSettings",
    "RaySettings",
    "ServerSettings",
    "load",
    "load_with",
]


def load(spec: str, **loading: Unpack[LoadOptions]) -> LanguageModel:
    """The model that `spec` names (`smollm2`, `hf/ORG/NAME`, `hf/PATH`, `gguf/PATH`), ready to answer.

    The other arguments are the fields of `LoadSettings`. Raises UserError for a spec that names nothing, files that are
    not a model's, or a missing extra.
    """
    return load_with(spec, LoadSettings(**loading))


def load_with(spec: str, settings: LoadSettings) -> LanguageModel:
    """As `load`, with the settings as one object."""
    settings.check()
    if settings.engine != "local":
        raise UserError(f"model {spec!r}: --engine {settings.engine} asks the questions of a run or a readout alone")
    from veridical.models.providers import provider_of
    from veridical.models.sources import resolve

    source = resolve(spec)
    return provider_of(source).load(source, settings)
