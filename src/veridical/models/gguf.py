"""GGUF files, dequantised by transformers and kept as safetensors, since that takes 15 seconds each time."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import torch

from veridical.models.cache import cache_folder, check_writable, file_hash, put

LARGEST_CONVERTED = 2**30
"""Bytes of a GGUF file that is converted into the cache; a larger one is dequantised at each load."""


def converted(file: Path) -> Path | None:
    """The folder of `file`'s weights as float32 safetensors with its tokenizer, made if need be.

    Raises UserError where the cache folder cannot be written.

    None where the file is too large to keep a copy of. The folder's name has the file's hash, so a changed file
    is converted anew.
    """
    if file.stat().st_size > LARGEST_CONVERTED:
        return None
    folder = cache_folder() / "gguf" / f"{file.stem}-{file_hash(file)[:16]}"
    if not os.path.isdir(folder):  # noqa: PTH112  # `Path.is_dir` raises for some paths that cannot be
        check_writable(folder.parent)
        put(folder, lambda temporary: _convert(file, temporary))
    return folder


def _convert(file: Path, folder: Path) -> None:
    from transformers import AutoTokenizer

    model = load_dequantised(file, torch.float32)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)


def load_dequantised(file: Path, dtype: torch.dtype | str) -> Any:
    """A causal model with plain weights of `dtype`, from a GGUF file."""
    from transformers import AutoModelForCausalLM

    # The reader draws a progress bar of its own, whatever transformers is told about bars.
    with redirect_stderr(io.StringIO()):
        model: Any = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=dtype)
    # transformers refuses to save what it takes for a quantised model. The weights are plain by now.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.hf_quantizer = None
    model.is_quantized = False
    return model
