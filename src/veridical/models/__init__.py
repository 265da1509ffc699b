"""Who answers: one protocol, one module a backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from veridical.errors import UserError, unknown

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel

DTYPES = ("float32", "bfloat16", "float16", "auto")
DEVICES = ("auto", "cpu", "cuda")


def load(
    spec: str,
    *,
    dtype: str = "float32",
    device: str = "auto",
    batch_tokens: int | None = None,
    template_args: Mapping[str, object] | None = None,
) -> LanguageModel:
    """The model that `spec` names (`smollm2`, `hf/ORG/NAME`, `hf/PATH`, `gguf/PATH`), ready to answer.

    `dtype` `auto` is the checkpoint's own; `device` `auto` is CUDA where there is one. `batch_tokens` bounds a
    forward pass (from free memory by default). `template_args` go to the chat template. A model whose config
    names an architecture `...ForSequenceClassification` is asked as a classifier.

    Raises UserError for a spec that names nothing, files that are not a model's, or a missing extra.
    """
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    if device.partition(":")[0] not in DEVICES:
        raise unknown("device", device, DEVICES)
    from veridical.models.sources import resolve

    source = resolve(spec)
    try:
        from veridical.models.checkpoint import load_checkpoint
        from veridical.models.classifier import SequenceClassifier
        from veridical.models.hf import HuggingFaceModel
    except ModuleNotFoundError as error:
        raise UserError(
            f"model {spec!r} needs {error.name}, which is not installed: pip install 'veridical[hf]'"
        ) from error
    found = load_checkpoint(source, dtype=dtype, device=device)
    if found.classifies:
        return SequenceClassifier(spec, found.model, found.tokenizer, weights=found.weights, batch_tokens=batch_tokens)
    return HuggingFaceModel(
        spec,
        found.model,
        found.tokenizer,
        weights=found.weights,
        batch_tokens=batch_tokens,
        template_args=template_args or {},
    )
