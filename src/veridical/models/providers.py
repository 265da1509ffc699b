"""The providers of models, one row each: how names are read, where the loader is. A backend is a module and a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from veridical.models.model_source import ModelSource

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel
    from veridical.models.settings import LoadSettings

Locator = Callable[[str, str], ModelSource]
Loader = Callable[[ModelSource, "LoadSettings"], "LanguageModel"]


@dataclass(frozen=True, slots=True)
class Provider:
    """What stands before the first slash of a model's name.

    `forms` are how such names are written, for messages. `locator` and `loader` are `module:function`, imported when
    they are needed: the locator turns a name and what follows its first slash into a source without loading anything,
    the loader turns a source into a model.
    """

    name: str
    forms: tuple[str, ...]
    locator: str
    loader: str

    def locate(self, spec: str, rest: str) -> ModelSource:
        """What `spec`, the provider's name, a slash and `rest`, stands for. Raises UserError where that is nothing."""
        locator: Locator = _attribute(self.locator)
        return locator(spec, rest)

    def load(self, source: ModelSource, settings: LoadSettings) -> LanguageModel:
        """The model of that source, ready to answer. Raises UserError where it cannot be loaded."""
        loader: Loader = _attribute(self.loader)
        return loader(source, settings)


def _attribute(path: str) -> Any:
    module, name = path.split(":")
    return getattr(import_module(module), name)


_LOCAL = "veridical.models.local:load_local"

PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("hf", ("hf/ORG/NAME", "hf/PATH"), "veridical.models.local_files:hugging_face", _LOCAL),
        Provider("gguf", ("gguf/PATH",), "veridical.models.local_files:gguf_file", _LOCAL),
        Provider(
            "openai",
            ("openai/NAME",),
            "veridical.models.server.openai_model:server_model",
            "veridical.models.server.openai_model:load_server",
        ),
        Provider(
            "inspect",
            ("inspect/PROVIDER/NAME",),
            "veridical.models.server.inspect_model:inspect_source",
            "veridical.models.server.inspect_model:load_inspect",
        ),
    )
}


def provider_of(source: ModelSource) -> Provider:
    """Who loads the model of that source."""
    return PROVIDERS[source.provider]
