"""Masked models of a few thousand weights, one for each kind of tokenizer, and models whose preferences are planted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

from veridical.variation.masked import MaskedProposer
from veridical.variation.protocol import Slot

COLOURS, THINGS = ("red", "blue", "green"), ("ball", "dog", "cat", "kid")
WORDS = (*COLOURS, *THINGS, "round", "the", "a", "and", "saw", "threw", "over", "there")
PUNCTUATION = (".", ",", "(", ")", '"')
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "initializer_range": 0.5,
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of tokenizer. `mark` is how it marks a space, `at_start` whether it does so at the beginning of a text."""

    name: str
    tokenizer: Any
    mark: str = ""
    at_start: bool = False

    def token(self, word: str, spaced: bool) -> int:
        """The number of a word's token, looked up by the form that it has by hand."""
        number = self.tokenizer.get_vocab()[(self.mark if spaced else "") + word]
        return int(number)


def wordpiece() -> Kind:
    """The way of BERT, uncased: pieces that go on are marked, spaces are not."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *PUNCTUATION, "##s", "##ball", "##ing"]
    numbers = {token: number for number, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=64, **{f"{kind}_token": token for kind, token in names.items()}
    )
    return Kind("WordPiece", fast)


_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_MASK = AddedToken("<mask>", lstrip=True, special=True)


def byte_level(*, trim_offsets: bool = True) -> Kind:
    """The way of RoBERTa: a space is part of the word after it, and the mask takes the space before it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    text = [f"{word} {word} {mark} {mark}" for word in WORDS for mark in PUNCTUATION]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        text, trainers.BpeTrainer(vocab_size=600, special_tokens=[*_SPECIAL[:-1], _MASK], initial_alphabet=alphabet)
    )
    template = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=trim_offsets), template])
    return Kind("byte-level BPE" if trim_offsets else "byte-level BPE, spaces in spans", _taking_space(tokenizer), "Ġ")


def sentencepiece(*joined: str) -> Kind:
    """The way of ALBERT and XLM-R: a space is part of the word after it, also of a text's first word.

    `joined` are pieces that go beyond a word (`▁red▁ball`), as some vocabularies have them.
    """
    pieces = [(token, 0.0) for token in _SPECIAL]
    pieces += [(f"▁{word}", -3.0) for word in WORDS] + [(word, -6.0) for word in WORDS]
    pieces += [(mark, -4.0) for mark in PUNCTUATION] + [("▁", -7.0), ("ing", -7.0), ("s", -7.0), ("wug", -7.0)]
    pieces += [(piece, -0.5) for piece in joined]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=not joined)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return Kind("SentencePiece", _taking_space(tokenizer), "▁", at_start=True)


def _taking_space(tokenizer: Tokenizer) -> Any:
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        mask_token=_MASK,
        model_max_length=60,
    )


def kinds() -> list[Kind]:
    return [wordpiece(), byte_level(), byte_level(trim_offsets=False), sentencepiece()]


def network(kind: Kind, seed: int = 0) -> PreTrainedModel:
    """A masked model with random weights, of the architecture that goes with the tokenizer."""
    torch.manual_seed(seed)
    size = len(kind.tokenizer)
    model: PreTrainedModel
    if kind.name == "WordPiece":
        model = BertForMaskedLM(BertConfig(vocab_size=size, pad_token_id=0, **SIZES))
    elif kind.name == "SentencePiece":
        model = AlbertForMaskedLM(AlbertConfig(vocab_size=size, embedding_size=16, pad_token_id=1, **SIZES))
    else:
        model = RobertaForMaskedLM(RobertaConfig(vocab_size=size, pad_token_id=1, type_vocab_size=1, **SIZES))
    return model.eval()


@torch.no_grad()
def planted(kind: Kind, weights: Mapping[int, float]) -> PreTrainedModel:
    """A model that gives every place the same probabilities: those of `weights` (by token), in proportion."""
    model = network(kind)
    bias = model.get_output_embeddings().bias
    bias.fill_(-torch.inf)
    for token, weight in weights.items():
        bias[token] = torch.tensor(weight).log()
    head = re.compile(r"(cls|lm_head|predictions).*norm", re.IGNORECASE)
    (norm,) = [module for name, module in model.named_modules() if head.search(name)]
    norm.weight.zero_()
    norm.bias.zero_()
    return model


def proposer(kind: Kind, model: PreTrainedModel | None = None, batch_tokens: int | None = None) -> MaskedProposer:
    return MaskedProposer("tiny", model or network(kind), kind.tokenizer, weights="seed 0", batch_tokens=batch_tokens)


def slot(text: str, word: str, occurrence: int = 0) -> Slot:
    """The slot of a word in a text, by its first occurrence or another."""
    found = [match.span() for match in re.finditer(rf"\b{re.escape(word)}\b", text)]
    return Slot(text, *found[occurrence])
