"""Real models of a few thousand weights, made here: one for each way in which models differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
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


def mamba(vocabulary: int, seed: int = 0) -> PreTrainedModel:
    """State-space layers: no attention, and a state in the place of a cache."""
    torch.manual_seed(seed)
    return MambaForCausalLM(
        MambaConfig(
            vocab_size=vocabulary,
            hidden_size=32,
            state_size=8,
            num_hidden_layers=2,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=2,
            initializer_range=0.3,
        )
    ).eval()


def gemma2(vocabulary: int, seed: int = 0, **changes: Any) -> PreTrainedModel:
    """Soft caps on attention and on logits; every second layer has a sliding window, unless changed."""
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "sliding_window": 8,
        "attn_logit_softcapping": 2.0,
        "final_logit_softcapping": 5.0,
        "query_pre_attn_scalar": 8,
        "max_position_embeddings": 256,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
        "initializer_range": 0.3,
    }
    return Gemma2ForCausalLM(Gemma2Config(**{**sizes, **changes})).eval()


def t5(vocabulary: int, seed: int = 0) -> PreTrainedModel:
    """An encoder-decoder with relative positions, whose decoder begins with the padding token (0)."""
    torch.manual_seed(seed)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=vocabulary,
            d_model=32,
            d_kv=8,
            d_ff=64,
            num_layers=2,
            num_heads=4,
            pad_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=0,
            initializer_factor=1.0,
        )
    ).eval()
    with torch.no_grad():  # T5's own initial weights leave attention flat and every context alike
        for name, weight in model.named_parameters():
            if name.endswith(("q.weight", "k.weight", "v.weight", "o.weight", "relative_attention_bias.weight")):
                weight.normal_(0, 0.5)
    return model


_ROBERTA = ("<s> $A </s> </s> $B </s>", "<s> $A </s>")
ENDS = {"bert": ("[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS] $A [SEP]"), "roberta": _ROBERTA, "bart": _ROBERTA}


def pair_tokenizer(kind: str, *, pad_is_eos: bool = False, closes: bool = False) -> Any:
    """How `bert`, `roberta` (and BART), or `gpt2` put two texts together; `closes` ends them with an end of text."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXT, trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    )
    pair, single = ENDS.get(kind, ("$A $B </s>", "$A </s>") if closes else ("$A $B", "$A"))
    ids = [(token, tokenizer.token_to_id(token)) for token in special]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="</s>" if pad_is_eos else "<pad>",
        model_max_length=128,
        model_input_names=["input_ids", *(["token_type_ids"] if kind == "bert" else []), "attention_mask"],
    )


def classifier(
    kind: str, vocabulary: int, names: Sequence[str], *, seed: int = 0, pad_token_id: int | None = 1
) -> PreTrainedModel:
    """A `bert`, `roberta`, `gpt2` or `bart` with a class for each name.

    The weights of a class go with its name, so that classifiers with the names in another order are one model.
    """
    torch.manual_seed(seed)
    shared: dict[str, Any] = {
        "vocab_size": vocabulary,
        "id2label": dict(enumerate(names)),
        "label2id": {name: number for number, name in enumerate(names)},
        "bos_token_id": 0,
        "pad_token_id": pad_token_id,
        "eos_token_id": 2,
        "initializer_range": 0.3,
    }
    layers: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 128,
    }
    sides: dict[str, Any] = {
        "d_model": 32,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "max_position_embeddings": 128,
        "init_std": 0.3,
    }
    model: PreTrainedModel
    if kind == "bert":
        model = BertForSequenceClassification(BertConfig(**shared, **layers))
    elif kind == "roberta":
        model = RobertaForSequenceClassification(RobertaConfig(**shared, **layers, type_vocab_size=1))
    elif kind == "gpt2":
        model = GPT2ForSequenceClassification(GPT2Config(**shared, n_embd=32, n_layer=2, n_head=4, n_positions=128))
    else:
        model = BartForSequenceClassification(BartConfig(**shared, **sides))
    head = [parameter for parameter in model.parameters() if parameter.shape[0] == len(names)]
    for parameter in head:
        for number, name in enumerate(names):
            own = torch.Generator().manual_seed(sum(name.casefold().encode()))
            parameter.data[number] = 0.3 * torch.randn(parameter.shape[1:], generator=own)
    return model.eval()


def saved(folder: Path, model: PreTrainedModel, tokenizer: Any) -> Path:
    """The model as a folder that `hf/PATH` names."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
