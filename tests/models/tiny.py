"""Real models of a few thousand weights, made here: one for each way in which models differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

TEXT = [
    "The carpenter was building a gazebo when the storm came, and she gave it up for good.",
    "True, False or Unknown: answer with one word. The answer is A, B, C or D.",
    "A river runs through the old town; the boats on it carry bread, books and bricks.",
    "Premise: the cat sat. Hypothesis: the cat sat down. Is it true? It is unknown whether it is.",
] * 4

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<unk>", "<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]


def byte_level_tokenizer(*, bos: bool = False, pad_is_eos: bool = True, template: str | None = TEMPLATE) -> Any:
    """Byte-level BPE, as GPT-2 and Llama 3 have it: a space belongs to the word after it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXT, trainers.BpeTrainer(vocab_size=420, special_tokens=SPECIAL, initial_alphabet=alphabet)
    )
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
        )
    return _wrapped(tokenizer, pad_is_eos=pad_is_eos, template=template)


def sentencepiece_tokenizer(*, bos: bool = True, template: str | None = None) -> Any:
    """The way of SentencePiece (Llama 2): the first word gets a space before it, and spaces are characters."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=300, special_tokens=SPECIAL))
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
        )
    return _wrapped(tokenizer, pad_is_eos=False, template=template)


def _wrapped(tokenizer: Tokenizer, *, pad_is_eos: bool, template: str | None) -> Any:
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="</s>" if pad_is_eos else "<unk>",
        additional_special_tokens=SPECIAL[3:],
        model_max_length=256,
    )
    fast.chat_template = template
    return fast


def llama(vocabulary: int, seed: int = 0, **changes: Any) -> PreTrainedModel:
    """Rotary positions and grouped key-value heads."""
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
        "initializer_range": 0.3,
    }
    return LlamaForCausalLM(LlamaConfig(**{**sizes, **changes})).eval()


def gpt2(vocabulary: int, seed: int = 0) -> PreTrainedModel:
    """Learned positions, and one key-value head a query head."""
    torch.manual_seed(seed)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            n_embd=32,
            n_layer=2,
            n_head=4,
            n_positions=256,
            bos_token_id=1,
            eos_token_id=2,
            initializer_range=0.3,
        )
    ).eval()


def mistral_with_window(vocabulary: int, seed: int = 0) -> PreTrainedModel:
    """A sliding window, so that a shared prefix is not all that a later token sees."""
    torch.manual_seed(seed)
    return MistralForCausalLM(
        MistralConfig(
            vocab_size=vocabulary,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            sliding_window=8,
            max_position_embeddings=256,
            initializer_range=0.3,
        )
    ).eval()


def saved(folder: Path, model: PreTrainedModel, tokenizer: Any) -> Path:
    """The model as a folder that `hf/PATH` names."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
