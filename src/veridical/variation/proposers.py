"""Proposers by the name of their model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from veridical.errors import UserError
from veridical.installing import install_command
from veridical.models import DeviceMap
from veridical.models.model_source import ModelSource
from veridical.models.sources import classifies, resolve_local
from veridical.variation.protocol import Proposer

EMBEDDED = {"minilm-mlm": "veridical.variation.minilm:load"}
"""Proposers with a name of their own, and what loads them."""

MASKED = "veridical.variation.masked:load_masked"
CAUSAL = "veridical.variation.causal:load_causal"


def load(spec: str, *, device_map: DeviceMap | None = None) -> Proposer:
    """The proposer that `spec` names: `minilm-mlm`, or any model (`hf/ORG/NAME`, `hf/PATH`, `gguf/PATH`, `smollm2`).

    A masked language model proposes by what it predicts in the word's place, a causal one by the likelihood of the
    whole sentence. `device_map` spreads its weights over devices (`veridical.models.LoadSettings`). Raises UserError
    for an unknown name, and for a model that proposes no words.
    """
    if spec in EMBEDDED:
        return cast("Proposer", _function(EMBEDDED[spec])())
    try:
        source = resolve_local(spec)
    except UserError as error:
        hint = "" if "/" in spec else f"; embedded proposer: {', '.join(EMBEDDED)}"
        raise UserError(f"proposer: {error}{hint}") from error
    return cast("Proposer", _function(MASKED if _is_masked(source) else CAUSAL)(spec, device_map=device_map))


def _function(place: str) -> Any:
    """The function at `module:name`. Raises UserError where a package that it needs is not installed."""
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "veridical":
            raise  # the installation is broken: no extra would help
        raise UserError(f"proposers need {error.name}, which is not installed: {install_command('hf')}") from error


def _is_masked(source: ModelSource) -> bool:
    """Whether the model's own configuration calls it a masked language model."""
    if source.kind == "gguf":
        return False
    config = _folder_config(source) if source.kind == "folder" else _hub_config(source)
    architectures = config.get("architectures") or ()
    if classifies(architectures):
        raise UserError(f"proposer {source.spec!r} is a sequence classifier, which proposes no words")
    if architectures:
        return any(name.endswith(("ForMaskedLM", "ForPreTraining")) for name in architectures)
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    return config.get("model_type") in MODEL_FOR_MASKED_LM_MAPPING_NAMES


def _folder_config(source: ModelSource) -> Mapping[str, Any]:
    try:
        config = json.loads((source.path / "config.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"proposer {source.spec!r}: its config.json cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"proposer {source.spec!r}: its config.json is not valid JSON; copy it again") from error
    if not isinstance(config, dict):
        raise UserError(f"proposer {source.spec!r}: its config.json is not a JSON object")
    return config


def _hub_config(source: ModelSource) -> Mapping[str, Any]:
    try:
        from transformers import PretrainedConfig
    except ModuleNotFoundError as error:
        raise UserError(f"models need torch and transformers: {install_command('hf')}") from error
    for only_local in (True, False):
        try:
            config, _ = PretrainedConfig.get_config_dict(source.location, local_files_only=only_local)
        except OSError:
            continue
        if config:
            return cast("Mapping[str, Any]", config)
    raise UserError(
        f"proposer {source.spec!r} stands for {source.location} on the Hugging Face hub, which could not be reached or "
        "has no such model, and no copy is in the local cache; offline, use minilm-mlm"
    )
