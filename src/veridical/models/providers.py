"""The providers of models: one row each, which says where its loader is. A backend is a module and a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from veridical.models.model_source import ModelSource

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel
    from veridical.models.settings import LoadSettings

Loader = Callable[[ModelSource, "LoadSettings"], "LanguageModel"]


@dataclass(frozen=True, slots=True)
class Provider:
    """What stands before the slash of a model's name. `loader` is `module:function`, imported to load a model."""

    name: str
    loader: str

    def load(self, source: ModelSource, settings: LoadSettings) -> LanguageModel:
        """The model of that source, ready to answer. Raises UserError where it cannot be loaded."""
        module, function = self.loader.split(":")
        loader: Loader = getattr(import_module(module), function)
        return loader(source, settings)


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("hf", "veridical.models.local:load_local"),
        Provider("gguf", "veridical.models.local:load_local"),
    )
}


def provider_of(source: ModelSource) -> Provider:
    """Who loads the model of that source."""
    return PROVIDERS["gguf" if source.kind == "gguf" else "hf"]
