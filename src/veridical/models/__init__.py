"""Who answers: one protocol, one module a backend."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from veridical.errors import UserError, unknown
from veridical.installing import install_command

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel

DTYPES = ("float32", "bfloat16", "float16", "auto")
DEVICES = ("auto", "cpu", "cuda")


DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
DeviceMap = str | Mapping[str, int | str]
"""How weights are spread over devices: a word of accelerate's, or the device of each module by name."""


def check_settings(dtype: str, device: str, device_map: DeviceMap | None = None) -> None:
    """Raise UserError for a dtype or device that there is not; only a CUDA device needs torch to tell."""
    if isinstance(device_map, str) and device_map not in DEVICE_MAPS:
        raise unknown("device map", device_map, DEVICE_MAPS)
    if device_map is not None and device != "auto":
        raise UserError(f"--device-map and --device {device}: give one of them")
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    kind, colon, number = device.partition(":")
    if kind not in DEVICES:
        raise unknown("device", device, DEVICES)
    if colon and (kind != "cuda" or re.fullmatch("[0-9]{1,4}", number) is None):
        raise UserError(f"--device {device}: give auto, cpu, cuda or cuda:N, where N is a device's number")
    if kind == "cuda" and find_spec("torch") is not None:
        import torch

        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if not count:
            raise UserError(f"--device {device}: torch {torch.__version__} finds no CUDA device on this machine")
        if colon and int(number) >= count:
            raise UserError(f"--device {device}: the last CUDA device of this machine is cuda:{count - 1}")


def load(
    spec: str,
    *,
    dtype: str = "float32",
    device: str = "auto",
    batch_tokens: int | None = None,
    template_args: Mapping[str, object] | None = None,
    device_map: DeviceMap | None = None,
) -> LanguageModel:
    """The model that `spec` names (`smollm2`, `hf/ORG/NAME`, `hf/PATH`, `gguf/PATH`), ready to answer.

    `dtype` `auto` is the checkpoint's own; `device` `auto` is CUDA where there is one. `batch_tokens` bounds a
    forward pass (from free memory by default). `template_args` go to the chat template. A model whose config
    names an architecture `...ForSequenceClassification` is asked as a classifier. `device_map` spreads the weights of a
    model that no one device holds (`auto`: over all that there are); `device` is then left at `auto`.

    Raises UserError for a spec that names nothing, files that are not a model's, or a missing extra.
    """
    check_settings(dtype, device, device_map)
    from veridical.models.sources import resolve

    source = resolve(spec)
    try:
        from veridical.models.checkpoint import load_checkpoint
        from veridical.models.classifier import SequenceClassifier
        from veridical.models.hf import HuggingFaceModel
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "veridical":
            raise  # ours is broken: no extra brings it
        raise UserError(
            f"model {spec!r} needs {error.name}, which is not installed: {install_command('hf')}"
        ) from error
    found = load_checkpoint(source, dtype=dtype, device=device, device_map=device_map)
    if found.classifies:
        return SequenceClassifier(
            source.spec,
            found.model,
            found.tokenizer,
            weights=found.weights,
            batch_tokens=batch_tokens,
            loading=found.loading,
        )
    return HuggingFaceModel(
        source.spec,
        found.model,
        found.tokenizer,
        weights=found.weights,
        batch_tokens=batch_tokens,
        template_args=template_args or {},
        loading=found.loading,
    )
