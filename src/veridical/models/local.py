"""Loading weights that are run in this process: Hugging Face folders, the hub, and GGUF files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from veridical.errors import UserError
from veridical.installing import install_command
from veridical.models.model_source import ModelSource
from veridical.models.settings import LoadSettings

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel


def load_local(source: ModelSource, settings: LoadSettings) -> LanguageModel:
    """The model in a folder, a GGUF file or a repository of the hub, ready to answer.

    A model whose configuration names an architecture `...ForSequenceClassification` is asked as a classifier. Raises
    UserError for files that are not a model's, and for a package that is missing.
    """
    try:
        from veridical.models.checkpoint import load_checkpoint
        from veridical.models.classifier import SequenceClassifier
        from veridical.models.hf import HuggingFaceModel
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "veridical":
            raise  # a module of this package is missing: no extra brings it
        raise UserError(
            f"model {source.spec!r} needs {error.name}, which is not installed: {install_command('hf')}"
        ) from error
    found = load_checkpoint(source, dtype=settings.dtype, device=settings.device, device_map=settings.device_map)
    if found.classifies:
        return SequenceClassifier(
            source.spec,
            found.model,
            found.tokenizer,
            weights=found.weights,
            batch_tokens=settings.batch_tokens,
            loading=found.loading,
        )
    return HuggingFaceModel(
        source.spec,
        found.model,
        found.tokenizer,
        weights=found.weights,
        batch_tokens=settings.batch_tokens,
        template_args=settings.template_args,
        loading=found.loading,
    )
