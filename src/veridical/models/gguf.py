"""GGUF files, dequantised by transformers and kept as safetensors, since that takes 15 seconds each time."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stderr
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from veridical.errors import UserError
from veridical.library_messages import collected
from veridical.models.cache import cache_folder, check_writable, file_hash, put
from veridical.models.gguf_metadata import NEW_READER, Header, read_header, rope_tensor, settle
from veridical.models.protocol import LoadingNotes

LARGEST_CONVERTED = 2**30
"""Bytes of a GGUF file that is converted into the cache; a larger one is dequantised at each load."""

VERSION = "3"
"""Part of a converted folder's name: raised when a change here can move a weight or a setting."""

NOTES = "veridical_loading.json"
"""In a converted folder: what was found when the file was read."""


def converted(file: Path) -> Path | None:
    """The folder of `file`'s weights as float32 safetensors with its tokenizer, made if need be.

    None where the file is too large to keep a copy of. The folder's name has the file's hash, so a changed file
    is converted anew.

    Raises UserError where the cache folder cannot be written, and as `load_dequantised` does.
    """
    if file.stat().st_size > LARGEST_CONVERTED:
        return None
    folder = cache_folder() / "gguf" / f"{file.stem}-{file_hash(file)[:16]}-{VERSION}"
    if not os.path.isdir(folder):  # noqa: PTH112  # `Path.is_dir` raises for some paths that cannot be
        check_writable(folder.parent)
        put(folder, lambda temporary: _convert(file, temporary))
    return folder


def stored_notes(folder: Path) -> LoadingNotes:
    """What was found when the file of a converted folder was read."""
    stored: dict[str, list[str]] = json.loads((folder / NOTES).read_text(encoding="utf-8"))
    return LoadingNotes(**{name: tuple(texts) for name, texts in stored.items()})


def _convert(file: Path, folder: Path) -> None:
    from transformers import AutoTokenizer

    with collected() as warnings:
        model, remarks = load_dequantised(file, torch.float32)
        model.save_pretrained(folder)
        AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    notes = LoadingNotes(warnings=tuple(warnings), remarks=remarks)
    (folder / NOTES).write_text(json.dumps(asdict(notes)), encoding="utf-8")


def load_dequantised(file: Path, dtype: torch.dtype | str, device_map: Any = None) -> tuple[Any, tuple[str, ...]]:
    """A causal model with plain weights of `dtype`, from a GGUF file, and remarks on what nothing reads.

    Raises UserError where the file says something of the model that cannot be met, lacks weights or holds others.
    """
    from transformers import AutoConfig, AutoModelForCausalLM

    from veridical.models.weights import load_weights

    header = read_header(file)
    # The reader draws a progress bar of its own, whatever transformers' own setting for bars.
    with redirect_stderr(io.StringIO()):
        config = AutoConfig.from_pretrained(file.parent, gguf_file=file.name)
        remarks = settle(config, header)
        model: Any
        model, unused = load_weights(
            AutoModelForCausalLM,
            file.parent,
            gguf_file=file.name,
            config=config,
            dtype=dtype,
            device_map=device_map,
        )
    if unread := _unread(model, header, unused):
        raise UserError(
            f"it has tensors that {type(model).__name__} does not use: {', '.join(unread[:6])}"
            f"{f' and {len(unread) - 6:,} more' if len(unread) > 6 else ''}; the model that would run is not "
            "that of the file: give it in safetensors"
        )
    # transformers refuses to save what it takes for a quantised model. The weights are plain by now.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.hf_quantizer = None
    model.is_quantized = False
    return model, remarks


def _unread(model: Any, header: Header, unused: tuple[str, ...]) -> list[str]:
    """Tensors that became no weight; `unused` are those that transformers says so of."""
    from transformers import modeling_gguf_pytorch_utils

    reader: Any = modeling_gguf_pytorch_utils  # which has no types
    if unused:
        return sorted(unused)
    if header.architecture in NEW_READER:
        return []  # it says itself what it does not use
    processor = reader.TENSOR_PROCESSORS.get(header.architecture, reader.TensorProcessor)(config=model.config.to_dict())
    known = set(reader.get_gguf_hf_weights_map(model, processor))
    if header.architecture == "gpt2":
        known.add("output.weight")  # put in its place by hand there
    return sorted(name for name in header.tensors if name not in known and rope_tensor(name) is None)
