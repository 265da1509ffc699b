"""Masked models as proposers: the right token is masked, the right ones compared, for every kind of tokenizer."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
import torch
from transformers import BertModel

from veridical.errors import UserError
from veridical.variation.masked import load_masked
from veridical.variation.protocol import Proposal, Proposer, Slot

from ..models import tiny
from . import masked_models
from .masked_models import WORDS, Kind, kinds, network, planted, proposer, slot

KINDS = {kind.name: kind for kind in kinds()}
SENTENCES = (
    "the red ball and the blue ball",
    "a kid threw the green ball over there.",
    'the dog saw "red balls", and the cat (there) saw a ball',
    "red and blue",
    "the kid, the dog and the cat saw the round red ball over there, and threw the blue ball.",
)


def every_word(text: str) -> list[Slot]:
    return [Slot(text, *match.span()) for match in re.finditer("[a-z]+", text) if match.group() in WORDS]


def one_at_a_time(kind: Kind, model: torch.nn.Module, asked: Slot) -> tuple[torch.Tensor, bool]:
    """Probabilities where the tokenizer itself puts the mask, and whether the word's token has a space with it."""
    text = asked.text[: asked.start] + kind.tokenizer.mask_token + asked.text[asked.stop :]
    tokens = kind.tokenizer(text, return_tensors="pt")["input_ids"]
    place = tokens[0].tolist().index(kind.tokenizer.mask_token_id)
    with torch.no_grad():
        probabilities = torch.softmax(model(tokens).logits[0, place], dim=0)
    spaced = asked.text[asked.start - 1 : asked.start] == " " if asked.start else kind.at_start
    return probabilities, spaced


@pytest.mark.parametrize("name", KINDS)
def test_proposals_are_those_of_one_sentence_at_a_time(name: str) -> None:
    kind, model = KINDS[name], network(KINDS[name])
    slots = [one for text in SENTENCES for one in every_word(text)]
    assert len(slots) > 30
    found = dict(proposer(kind, model).propose(slots, top=3))
    assert sorted(found) == list(range(len(slots)))
    for index, asked in enumerate(slots):
        if asked.start and not kind.mark and asked.text[asked.start - 1] == '"':
            continue
        expected, spaced = one_at_a_time(kind, model, asked)
        assert found[index].original == pytest.approx(float(expected[kind.token(asked.word, spaced)]), rel=1e-4)
        others = {word: float(expected[kind.token(word, spaced)]) for word in WORDS if word not in (asked.word, "a")}
        best = sorted(others, key=lambda word: -others[word])[:3]
        assert [candidate.word for candidate in found[index].candidates] == best
        assert [c.probability for c in found[index].candidates] == pytest.approx([others[w] for w in best], rel=1e-4)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.mark])
def test_a_mask_does_not_swallow_the_space(name: str) -> None:
    """Behind a space the words are those that have their space with them, however likely the bare ones are."""
    kind = KINDS[name]
    weights = {kind.token("red", True): 1.0, kind.token("blue", True): 4.0, kind.token("green", True): 2.0}
    weights |= {kind.token("dog", False): 9.0, kind.token("red", False): 3.0, kind.token("cat", False): 1.0}
    model = planted(kind, weights)
    spaced, bare = slot("the red ball", "red"), slot("the (red) ball", "red")
    found = dict(proposer(kind, model).propose([spaced, bare], top=10))
    assert found[0].original == pytest.approx(1 / 20)
    assert shares(found[0]) == {"blue": pytest.approx(4 / 20), "green": pytest.approx(2 / 20)}
    assert found[1].original == pytest.approx(3 / 20)
    assert shares(found[1]) == {"dog": pytest.approx(9 / 20), "cat": pytest.approx(1 / 20)}


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.mark])
def test_the_first_word_has_the_form_that_the_tokenizer_gives_it(name: str) -> None:
    kind = KINDS[name]
    weights = {kind.token("red", True): 1.0, kind.token("blue", True): 2.0}
    weights |= {kind.token("red", False): 3.0, kind.token("green", False): 4.0}
    (found,) = dict(proposer(kind, planted(kind, weights)).propose([slot("red ball", "red")], top=5)).values()
    assert found.original == pytest.approx(0.1 if kind.at_start else 0.3)
    assert list(shares(found)) == (["blue"] if kind.at_start else ["green"])


def shares(proposal: Proposal) -> dict[str, float]:
    return {candidate.word: candidate.probability for candidate in proposal.candidates if candidate.probability}


@pytest.mark.parametrize("name", KINDS)
def test_only_whole_words_are_proposed(name: str) -> None:
    kind = KINDS[name]
    numbers = kind.tokenizer.get_vocab()
    wanted = {kind.token("red", True): 1.0, kind.token("blue", True): 1.0}
    pieces = {"WordPiece": ("##s", "##ing", "."), "SentencePiece": ("ing", "▁", "s", ".")}.get(name, ("Ġ", "."))
    weights = {**{numbers[piece]: 50.0 for piece in pieces}, kind.tokenizer.mask_token_id: 50.0, **wanted}
    (found,) = dict(proposer(kind, planted(kind, weights)).propose([slot("the red ball", "red")], top=9)).values()
    assert list(shares(found)) == ["blue"]


def test_a_bare_token_is_a_word_only_where_it_is_one_with_a_space_too() -> None:
    """`wug` is in the SentencePiece vocabulary without a space alone: it goes on with a word."""
    kind = KINDS["SentencePiece"]
    weights = {kind.token("wug", False): 5.0, kind.token("red", False): 1.0, kind.token("blue", False): 2.0}
    (found,) = dict(proposer(kind, planted(kind, weights)).propose([slot("(red) ball", "red")], top=9)).values()
    assert list(shares(found)) == ["blue"]


SPLIT = {
    "a word of several pieces": slot("the reds saw", "reds"),
    "a word that the vocabulary lacks": slot("the xyzzy ball", "xyzzy"),
    "the beginning of a compound": Slot("the redball", 4, 7),
    "the end of a compound": Slot("the redball", 7, 11),
    "half a word": Slot("the round ball", 4, 6),
    "two words": Slot("the red ball", 4, 12),
    "a word and the space before it": Slot("the red ball", 3, 7),
    "a word before a mark upon its last letter": Slot("the red\u0301 ball", 4, 7),
    "nothing": Slot("the red ball", 4, 4),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("case", SPLIT)
def test_what_is_not_one_token_is_left_alone_and_costs_nothing(name: str, case: str) -> None:
    tried = proposer(KINDS[name])
    assert dict(tried.propose([SPLIT[case]], top=5)) == {0: Proposal(None)}
    assert tried.n_tokens_run == 0


@pytest.mark.parametrize(
    ("text", "piece", "words"),
    [
        ("the red ball", "▁red▁ball", ("red", "ball")),
        ("the red, there", "▁red,", ("red",)),
        ("(red there", "(red", ("red",)),
    ],
)
def test_a_word_in_a_token_that_holds_more_is_left_alone(text: str, piece: str, words: tuple[str, ...]) -> None:
    kind = masked_models.sentencepiece(piece)
    assert piece in kind.tokenizer.tokenize(text)
    tried = proposer(kind)
    asked = [slot(text, word) for word in words]
    assert list(dict(tried.propose(asked, top=5)).values()) == [Proposal(None)] * len(words)
    assert tried.n_tokens_run == 0


def test_a_word_that_was_split_from_its_space_is_left_alone() -> None:
    """SentencePiece writes `▁` and `wug` where it has no `▁wug`."""
    kind = KINDS["SentencePiece"]
    assert kind.tokenizer.tokenize("a wug") == ["▁a", "▁", "wug"]
    assert dict(proposer(kind).propose([slot("a wug", "wug"), slot("wug ran", "wug")], top=5)) == {
        0: Proposal(None),
        1: Proposal(None),
    }


@pytest.mark.parametrize("name", KINDS)
def test_proposals_do_not_depend_on_the_batch(name: str) -> None:
    """To the last bit: a near tie of P(r) and P(o) does not move with the company that a sentence is in."""
    kind = KINDS[name]
    slots = [one for text in SENTENCES for one in every_word(text)]
    tried = proposer(kind, batch_tokens=40)
    together = dict(tried.propose(slots, top=4))
    order = list(range(len(slots)))
    random.Random(0).shuffle(order)
    shuffled = dict(tried.propose([slots[number] for number in order], top=4))
    assert [shuffled[order.index(number)] for number in range(len(slots))] == [together[n] for n in range(len(slots))]
    for number in order[:12]:
        assert dict(tried.propose([slots[number]], top=4)) == {0: together[number]}


def test_equal_masked_sentences_run_once_and_keep_their_own_words() -> None:
    kind = KINDS["WordPiece"]
    tried = proposer(kind, batch_tokens=1)
    slots = [slot("the red ball", "red"), slot("the blue ball", "blue"), slot("the red ball", "red")]
    found = dict(tried.propose(slots, top=20))
    assert tried.n_tokens_run == len(["[CLS]", "the", "[MASK]", "ball", "[SEP]"])
    assert found[0] == found[2] != found[1]
    asked = {candidate.word: candidate.probability for candidate in found[0].candidates}
    assert found[1].original == asked["blue"]
    assert "red" not in asked


def test_a_vocabulary_without_capitals_takes_those_of_the_word() -> None:
    kind = KINDS["WordPiece"]
    model = planted(kind, {kind.token("red", False): 1.0, kind.token("blue", False): 2.0})
    texts = ["Red ball", "the RED ball", "the red ball"]
    found = dict(proposer(kind, model).propose([Slot(texts[0], 0, 3), *(Slot(t, 4, 7) for t in texts[1:])], top=1))
    assert [found[number].candidates[0].word for number in range(3)] == ["Blue", "BLUE", "blue"]
    assert [found[number].original for number in range(3)] == pytest.approx([1 / 3] * 3)


def test_at_most_so_many_candidates_best_first() -> None:
    tried = proposer(KINDS["WordPiece"])
    for top in (0, 1, 5, 10_000):
        (found,) = dict(tried.propose([slot("the red ball", "red")], top)).values()
        assert len(found.candidates) == min(top, len(WORDS) - 2)  # all but the word itself and `a`, which is one letter
        probabilities = [candidate.probability for candidate in found.candidates]
        assert probabilities == sorted(probabilities, reverse=True)


def test_a_sentence_that_is_too_long_is_seen_through_a_window_around_the_word() -> None:
    """64 places, two of which are the tokenizer's own: 62 words, 31 of them before the masked one."""
    kind = KINDS["WordPiece"]
    words = random.Random(0).choices([word for word in WORDS if word != "red"], k=100)
    words[50] = "red"
    tried = proposer(kind)

    def found(some: list[str]) -> Proposal:
        return dict(tried.propose([slot(" ".join(some), "red")], top=5))[0]

    assert found(words) == found(words[50 - 31 : 50 + 31])
    words[50], words[1] = "a", "red"
    assert found(words) == found(words[:62])
    words[1], words[98] = "a", "red"
    assert found(words) == found(words[38:])


def test_a_padded_vocabulary_proposes_nothing_that_has_no_token() -> None:
    kind = KINDS["WordPiece"]
    model = network(kind)
    model.resize_token_embeddings(len(kind.tokenizer) + 9)
    (found,) = dict(proposer(kind, model).propose([slot("the red ball", "red")], top=99)).values()
    assert {candidate.word for candidate in found.candidates} == set(WORDS) - {"red", "a"}


def test_probabilities_that_are_not_numbers_are_refused() -> None:
    kind = KINDS["WordPiece"]
    model = network(kind)
    with torch.no_grad():
        model.get_output_embeddings().bias.fill_(torch.nan)
    with pytest.raises(UserError, match="not numbers") as message:
        list(proposer(kind, model).propose([slot("the red ball", "red")], top=1))
    assert "--" not in str(message.value)  # `vary` has no option to change it


def test_no_slot_no_proposal() -> None:
    assert dict(proposer(KINDS["WordPiece"]).propose([], top=3)) == {}


def test_the_fingerprint_holds_whatever_can_change_a_proposal(tmp_path: Path) -> None:
    def saved(name: str, kind: Kind, seed: int) -> str:
        folder = tiny.saved(tmp_path / name, network(kind, seed), kind.tokenizer)
        return load_masked(f"hf/{folder}", device="cpu").fingerprint

    one = KINDS["byte-level BPE"]
    first = saved("a", one, 0)
    assert saved("b", one, 0) == first
    assert saved("c", one, 1) != first
    other = masked_models.byte_level()
    other.tokenizer.backend_tokenizer.pre_tokenizer = KINDS["WordPiece"].tokenizer.backend_tokenizer.pre_tokenizer
    assert saved("d", other, 0) != first


@pytest.mark.parametrize("name", KINDS)
def test_a_folder_is_loaded_and_proposes_as_its_model_does(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    model = network(kind)
    loaded = load_masked(f"hf/{tiny.saved(tmp_path, model, kind.tokenizer)}", device="cpu")
    assert isinstance(loaded, Proposer)
    slots = every_word(SENTENCES[0])
    assert dict(loaded.propose(slots, 3)) == dict(proposer(kind, model).propose(slots, 3))


def test_a_model_that_has_learned_no_words_for_masked_places_is_refused(tmp_path: Path) -> None:
    kind = KINDS["WordPiece"]
    encoder = tiny.saved(tmp_path / "encoder", BertModel(network(kind).config), kind.tokenizer)
    with pytest.raises(UserError, match="computes with: cls"):
        load_masked(f"hf/{encoder}", device="cpu")
    tokenizer = tiny.byte_level_tokenizer()
    causal = tiny.saved(tmp_path / "causal", tiny.llama(len(tokenizer)), tokenizer)
    with pytest.raises(UserError, match="cannot be loaded"):
        load_masked(f"hf/{causal}", device="cpu")
    maskless = tiny.saved(tmp_path / "maskless", network(kind), tiny.byte_level_tokenizer())
    with pytest.raises(UserError, match="no mask"):
        load_masked(f"hf/{maskless}", device="cpu")
    with pytest.raises(UserError, match="there is no folder"):
        load_masked(f"hf/{tmp_path / 'nowhere'}", device="cpu")
