"""Who answers: one protocol, one module a backend, one row of `providers` for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from veridical.models.server.settings import ServerSettings
from veridical.models.settings import DEVICE_MAPS, DEVICES, DTYPES, DeviceMap, LoadOptions, LoadSettings

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel

__all__ = [
    "DEVICES",
    "DEVICE_MAPS",
    "DTYPES",
    "DeviceMap",
    "LoadOptions",
    "LoadSettings",
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
    from veridical.models.providers import provider_of
    from veridical.models.sources import resolve

    source = resolve(spec)
    return provider_of(source).load(source, settings)
