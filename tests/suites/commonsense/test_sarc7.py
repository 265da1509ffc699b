"""SARC7: records of our own in the form of data/sarcasmdata.json of github.com/langlglang/sarc7.

That file writes its labels in mixed case (`Polite sarcasm`, `polite sarcasm`, `Not sarcasm`, `not sarcasm`), at times
with a space behind them (`obnoxious sarcasm `), and some of them disagree with MUStARD's `sarcasm`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import judged, named, of_file, published
from veridical.errors import UserError

FILE = PUBLISHED / "sarc7" / "sarcasmdata.json"


def _changed(tmp_path: Path, name: str, **values: object) -> Path:
    records = json.loads(FILE.read_text(encoding="utf-8"))
    records[name] |= values
    path = tmp_path / "sarcasmdata.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_the_utterance_is_put_after_its_dialogue_and_eight_labels_are_scored() -> None:
    asked = {item.name: pairs for item, pairs in requests(published("sarc7").suite)}
    context, first = asked["1_11"][0]

    assert context == (
        "BEN: The boss wants us at four.\nANNA: All of us?\nANNA: Oh good, another meeting.\n"
        "What is the last line: self-deprecating sarcasm, brooding sarcasm, deadpan sarcasm, polite sarcasm, "
        "obnoxious sarcasm, raging sarcasm, manic sarcasm, or not sarcasm?\nAnswer:"
    )
    assert first == " self-deprecating sarcasm"
    assert len(asked["1_11"]) == 8


def test_an_utterance_without_a_dialogue_stands_alone() -> None:
    asked = {item.name: pairs for item, pairs in requests(published("sarc7").suite)}

    assert asked["1_14"][0][0].startswith("CARL: It is raining.\nWhat is the last line")


def test_labels_are_read_whatever_their_case_and_the_space_behind_them() -> None:
    golds = {name: item.gold for name, item in named(published("sarc7").suite).items()}

    assert golds == {
        "1_11": ("polite sarcasm",),  # "Polite sarcasm"
        "1_12": ("self-deprecating sarcasm",),  # "Self-deprecating sarcasm"
        "1_13": ("not sarcasm",),  # "Not sarcasm"
        "1_14": ("not sarcasm",),  # "not sarcasm"
        "2_21": ("obnoxious sarcasm",),  # "obnoxious sarcasm "
        "2_22": ("deadpan sarcasm",),
        "2_23": ("brooding sarcasm",),
        "2_24": ("raging sarcasm",),  # "Raging sarcasm"
        "2_25": ("manic sarcasm",),
    }


def test_an_unknown_label_is_one_line_with_file_record_and_field(tmp_path: Path) -> None:
    with pytest.raises(UserError) as expected:
        of_file("sarc7", _changed(tmp_path, "2_22", label="dry sarcasm"))

    message = str(expected.value)
    assert "sarcasmdata.json, record '2_22', field 'label': unknown label 'dry sarcasm'" in message
    assert "\n" not in message


def test_a_line_without_a_speaker_is_put_without_one(tmp_path: Path) -> None:
    suite = of_file("sarc7", _changed(tmp_path, "1_11", context_speakers=["BEN"])).suite

    assert named(suite)["1_11"].fields["dialogue"] == "BEN: The boss wants us at four.\nAll of us?"


def test_a_context_that_is_not_a_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"record '1_11', field 'context': a list of texts is needed"):
        of_file("sarc7", _changed(tmp_path, "1_11", context="The boss wants us at four."))


def test_where_the_label_disagrees_with_the_older_mark_the_label_is_gold() -> None:
    """2_23 is brooding by `label` and no sarcasm by `sarcasm`."""
    item = named(published("sarc7").suite)["2_23"]
    measured = judged(published("sarc7").suite, lambda item: item.gold[0])

    assert item.factors["marked"] == "not sarcastic"
    assert item.gold == ("brooding sarcasm",)
    assert measured("accuracy", marked="not sarcastic").n_items == 3
