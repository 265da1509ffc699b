"""Models given by name: what is known of them before they are loaded, and loading them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from veridical import models
from veridical.errors import UserError
from veridical.items import Mode
from veridical.models.protocol import CLASSIFIER_MODES, LANGUAGE_MODES, LanguageModel
from veridical.models.settings import LoadSettings
from veridical.progress import Progress
from veridical.runs import manifest as manifests
from veridical.runs.load import open_run, run_folders


@dataclass(frozen=True, slots=True)
class Loading:
    """Models given by name: what is known of them before they are loaded, and loading them with these settings."""

    settings: LoadSettings

    def check(self, given: Sequence[str | LanguageModel], modes: Sequence[Mode], *, local: bool = False) -> None:
        """Raise UserError for a name, setting or mode that is wrong, as far as it shows before a model is loaded.

        With `local` a name of a model that a server runs is wrong too.
        """
        for model in given:
            if not isinstance(model, str):
                check_modes(model.name, model.modes, modes)
        names = [model for model in given if isinstance(model, str)]
        if names:
            from veridical.models.sources import known_to_classify, resolve, resolve_local

            sources = [resolve_local(name) if local else resolve(name) for name in names]
            self.settings.check()
            for name, source in zip(names, sources, strict=True):
                known = known_to_classify(source)
                if known is not None:
                    check_modes(name, CLASSIFIER_MODES if known else LANGUAGE_MODES, modes)

    def check_stored(self, study: Path, given: str | LanguageModel, settings: manifests.RunSettings) -> None:
        """Raise UserError where a run of this model in the study has other settings.

        A model given by name has a fingerprint when it is loaded; until then its run is one of its name and
        dtype, and is not known where the dtype is `auto` or the chat template has arguments.
        """
        for folder in run_folders(study):
            stored = open_run(folder).manifest
            if isinstance(given, str):
                known = (given, self.settings.dtype) == (stored.model.name, stored.model.fingerprint.get("dtype"))
                known = known and not self.settings.template_args
            else:
                known = given.fingerprint.digest == stored.model.digest
            if known:
                manifests.merged_settings(folder, stored.settings, settings)

    @contextmanager
    def opened(self, given: str | LanguageModel, progress: Progress) -> Iterator[LanguageModel]:
        """The model, on the workers of a cluster where the settings say so; its memory is free again afterwards."""
        if isinstance(given, str) and self.settings.engine == "ray":
            from veridical.cluster.remote_model import start

            remote = start(given, self.settings, progress)
            try:
                yield remote
            finally:
                remote.close()
        else:
            yield self.load(given, progress)
        free_memory()

    def load(self, given: str | LanguageModel, progress: Progress) -> LanguageModel:
        """The model of that name, loaded with these settings; a model that is given loaded is returned as it is."""
        if not isinstance(given, str):
            return given
        progress.say(f"loading {given}")
        return models.load_with(given, self.settings)


def spelled(model: str | LanguageModel) -> str | LanguageModel:
    """A model as its run names it: `ORG/NAME` is `hf/ORG/NAME`. What names nothing stays as it is."""
    if not isinstance(model, str):
        return model
    from veridical.models.sources import resolve

    try:
        return resolve(model).spec
    except UserError:
        return model  # refused where it is to be loaded, once what is wrong with the rest was said


def check_modes(name: str, has: Sequence[Mode], wanted: Sequence[Mode]) -> None:
    """Raise UserError where a model cannot be asked in a mode."""
    if lacking := [mode for mode in wanted if mode not in has]:
        kind = "a sequence classifier" if has == CLASSIFIER_MODES else "a language model"
        others = " and ".join(has)
        raise UserError(f"model {name!r} is {kind} and cannot be asked in mode {lacking[0]}: it has mode {others}")


def free_memory() -> None:
    """Give back the memory of a model that nothing refers to any more."""
    gc.collect()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()
