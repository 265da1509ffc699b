"""Causal models as proposers: whole sentences are ranked, with words from both sides of the place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from veridical.errors import UserError
from veridical.models.hf import HuggingFaceModel
from veridical.variation import minilm
from veridical.variation.causal import CausalProposer, load_causal
from veridical.variation.protocol import Candidate, Proposal, Proposer, Slot

from ..models import tiny
from .masked_models import slot


@dataclass(frozen=True)
class Helper:
    """Proposes the same words for every slot."""

    words: tuple[str, ...] = ()
    name: str = "planted"
    fingerprint: str = "planted"

    def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
        for index in reversed(range(len(slots))):
            yield index, Proposal(None, tuple(Candidate(word, 0.1) for word in self.words[:top]))


TEXT = "A man is playing the guitar on a stage."
WORDS = ("piano", "drums", "banana", "Quzzle", "guitar")


def log_likelihood(model: HuggingFaceModel, text: str) -> float:
    """Of a whole sentence, by one plain pass of transformers over it, after the beginning of text."""
    tokenizer, network = model.encoder.tokenizer, model.engine.model
    tokens = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
    with torch.no_grad():
        steps = torch.log_softmax(network(torch.tensor([tokens])).logits[0].double(), dim=-1)
    return sum(float(steps[place, token]) for place, token in enumerate(tokens[1:]))


def shares(proposal: Proposal) -> dict[str, float]:
    return {candidate.word: candidate.probability for candidate in proposal.candidates}


@pytest.mark.model
class TestSmolLM2:
    def test_probabilities_are_those_of_whole_sentences(self, smollm2: HuggingFaceModel) -> None:
        tried = CausalProposer(smollm2, Helper(WORDS), pool=5)
        (found,) = dict(tried.propose([slot(TEXT, "guitar")], top=100)).values()
        words = [*shares(found)]
        assert set(WORDS[:4]) < set(words)
        assert "guitar" not in words
        sums = {word: log_likelihood(smollm2, TEXT.replace("guitar", word)) for word in (*words, "guitar")}
        total = sum(math.exp(value - sums["guitar"]) for value in sums.values())
        assert found.original == pytest.approx(1 / total, rel=1e-3)
        for word, share in shares(found).items():
            assert share == pytest.approx(math.exp(sums[word] - sums["guitar"]) / total, rel=2e-3)
        assert found.original + sum(shares(found).values()) == pytest.approx(1)
        assert list(shares(found).values()) == sorted(shares(found).values(), reverse=True)

    def test_a_sentence_that_makes_sense_is_likelier(self, smollm2: HuggingFaceModel) -> None:
        tried = CausalProposer(smollm2, Helper(("water", "gravel")), pool=2)
        odd = slot("The child was thirsty and drank a glass of gravel.", "gravel")
        found = dict(tried.propose([odd], top=10))[0]
        assert shares(found)["water"] > 10 * found.original

    def test_what_follows_the_word_counts(self, smollm2: HuggingFaceModel) -> None:
        """The left context is the same: only the rest tells which of the two it is."""
        tried = CausalProposer(smollm2, Helper(("piano", "football")), pool=2)
        texts = [
            "She played the WORD in an orchestra, at the keyboard.",
            "She played the WORD on the field, as a goalkeeper.",
        ]
        slots = [slot(text, "WORD") for text in texts]
        music, sport = (shares(proposal) for _, proposal in sorted(tried.propose(slots, top=10)))
        assert music["piano"] > music["football"]
        assert sport["football"] > sport["piano"]

    def test_the_words_expected_are_the_likeliest_whole_ones_after_the_left_context(
        self, smollm2: HuggingFaceModel
    ) -> None:
        tried = CausalProposer(smollm2, Helper(), pool=8)
        tokenizer, network = smollm2.encoder.tokenizer, smollm2.engine.model
        asked = slot(TEXT, "guitar")
        tokens = [tokenizer.bos_token_id, *tokenizer("A man is playing the", add_special_tokens=False)["input_ids"]]
        with torch.no_grad():
            order = network(torch.tensor([tokens])).logits[0, -1].argsort(descending=True).tolist()
        texts = (tokenizer.decode([number]) for number in order)
        whole = (text[1:] for text in texts if text[:1] == " " and text[1:].isalpha() and len(text) > 2)
        assert tried.expected(asked) == [word for word, _ in zip(whole, range(8), strict=False)]
        assert "guitar" in tried.expected(asked)

    def test_proposals_do_not_depend_on_the_other_slots(self, smollm2: HuggingFaceModel) -> None:
        tried = CausalProposer(smollm2, Helper(WORDS), pool=3)
        slots = [slot(TEXT, "guitar"), slot(TEXT, "stage"), slot(TEXT, "guitar"), slot("The river is deep.", "river")]
        together = dict(tried.propose(slots, top=5))
        assert sorted(together) == [0, 1, 2, 3]
        assert together[0] == together[2]
        for number in (0, 1, 3):
            assert dict(tried.propose([slots[number]], top=5)) == {0: together[number]}

    def test_with_the_embedded_masked_model(self, smollm2: HuggingFaceModel) -> None:
        if minilm.embedded() is None:
            pytest.skip(f"the encoder is not installed: {minilm.INSTALL}")
        tried = CausalProposer(smollm2, minilm.load(device="cpu"), pool=10)
        assert isinstance(tried, Proposer)
        found = dict(tried.propose([slot("A man in a red shirt is standing on the street.", "red")], top=10))[0]
        assert {"white", "black", "blue"} <= set(shares(found))


def tiny_proposer(tokenizer: object, helper: Helper, pool: int = 3) -> CausalProposer:
    network = tiny.llama(len(tokenizer))  # type: ignore[arg-type]
    return CausalProposer(HuggingFaceModel("tiny", network, tokenizer, weights="seed 0"), helper, pool=pool)


TOKENIZERS = {
    "byte-level BPE": tiny.byte_level_tokenizer(bos=True),
    "SentencePiece": tiny.sentencepiece_tokenizer(bos=True),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_words_of_several_tokens_have_a_probability(name: str) -> None:
    tried = tiny_proposer(TOKENIZERS[name], Helper(("unpronounceable", "river")))
    asked = slot("The extraordinarily old town", "extraordinarily")
    found = dict(tried.propose([asked], top=99))[0]
    words = ["extraordinarily", *shares(found)]
    sums = [log_likelihood(tried.model, asked.text.replace("extraordinarily", word)) for word in words]
    expected = torch.softmax(torch.tensor(sums), dim=0).tolist()
    assert [found.original, *shares(found).values()] == pytest.approx(expected, rel=1e-3, abs=1e-9)
    assert "unpronounceable" in words


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", ["The river runs", "river runs", "(river) runs", "the\nriver runs"])
def test_words_expected_take_the_form_of_the_place(name: str, text: str) -> None:
    """Put in the place, each is one token there, as the original's first token is: with a space or bare."""
    tried = tiny_proposer(TOKENIZERS[name], Helper(), pool=4)
    asked = slot(text, "river")
    expected = tried.expected(asked)
    tokenizer = TOKENIZERS[name]
    first = tried.model.encoder.span(text, asked.start, asked.stop)
    form = tokenizer.convert_ids_to_tokens(first[0][first[1][0]])[0] in "Ġ▁"
    for word in expected:
        filled = text.replace("river", word)
        ids, (begin, end) = tried.model.encoder.span(filled, asked.start, asked.start + len(word))
        assert end - begin == 1
        token = tokenizer.convert_ids_to_tokens(ids[begin])
        assert token == ("Ġ" if name == "byte-level BPE" else "▁") * form + word


def test_what_is_not_a_word_has_no_proposal() -> None:
    tried = tiny_proposer(TOKENIZERS["byte-level BPE"], Helper(("boat",)))
    slots = [Slot("The riverboat", 4, 9), Slot("The river", 4, 4)]
    assert dict(tried.propose(slots, top=3)) == {0: Proposal(None), 1: Proposal(None)}


def test_a_sentence_that_is_too_long_has_no_proposal() -> None:
    tried = tiny_proposer(TOKENIZERS["byte-level BPE"], Helper(("boat",)))
    assert dict(tried.propose([slot("The river " + "runs " * 400, "river")], top=3)) == {0: Proposal(None)}


def test_probabilities_that_are_not_numbers_are_refused() -> None:
    tried = tiny_proposer(TOKENIZERS["byte-level BPE"], Helper(("boat",)))
    with torch.no_grad():
        tried.model.engine.model.get_output_embeddings().weight.fill_(torch.nan)
    with pytest.raises(UserError, match="not numbers") as message:
        list(tried.propose([slot("The old river runs", "river")], top=3))
    assert "--" not in str(message.value)  # `vary` has no option to change it


def test_the_fingerprint_holds_the_model_the_helper_and_the_pool() -> None:
    tokenizer = TOKENIZERS["byte-level BPE"]
    first = tiny_proposer(tokenizer, Helper()).fingerprint
    assert tiny_proposer(tokenizer, Helper()).fingerprint == first
    assert tiny_proposer(tokenizer, Helper(fingerprint="other")).fingerprint != first
    assert tiny_proposer(tokenizer, Helper(), pool=4).fingerprint != first
    assert tiny_proposer(TOKENIZERS["SentencePiece"], Helper()).fingerprint != first


def test_a_folder_is_loaded_and_a_model_that_is_not_causal_is_refused(tmp_path: Path) -> None:
    tokenizer = tiny.byte_level_tokenizer(bos=True)
    causal = tiny.saved(tmp_path / "causal", tiny.llama(len(tokenizer)), tokenizer)
    tried = load_causal(f"hf/{causal}", helper=Helper(("boat",)), device="cpu")
    assert tried.name == f"hf/{causal}"
    assert "boat" in shares(dict(tried.propose([slot("The old river runs", "river")], top=99))[0])
    two_sided = tiny.saved(tmp_path / "t5", tiny.t5(len(tokenizer)), tokenizer)
    with pytest.raises(UserError, match="not a causal language model"):
        load_causal(f"hf/{two_sided}", helper=Helper(), device="cpu")
