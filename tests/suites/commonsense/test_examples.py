"""Few-shot examples: which are shown, and that an item is never shown itself nor a member of its set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.items import Suite
from veridical.limits import limited
from veridical.prompts.template import PlainText
from veridical.runs.shots import shown_examples, with_examples
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy
from veridical.suites.file_writer import write_suite
from veridical.suites.files import read_suite

from .asking import PUBLISHED, requests


def built(name: str, folder: str | Path, shots: int, seed: int = 0) -> Suite:
    return benchmark(TASKS[name], Copy(folder=PUBLISHED / folder), shots=shots, seed=seed).suite


def test_examples_of_a_training_split_stand_solved_before_every_item() -> None:
    suite = built("piqa", "piqa", 2)
    contexts = [pairs[0][0] for _, pairs in requests(suite)]
    before = contexts[0].removesuffix("Question: keep a door from slamming\nAnswer:")
    first, second, rest = before.split("\n\n")
    assert rest == ""
    for example in (first, second):
        question, answer = example.split("\nAnswer: ")
        assert question.startswith("Question: ")
        assert answer.startswith("use a ")  # the right answer of every training row
    assert all(context.startswith(before) for context in contexts)  # one beginning, shared by all
    assert suite.prompts[0].name == "2-shot"


def test_examples_stand_before_each_filling_of_winogrande() -> None:
    _, pairs = requests(built("winogrande", "winogrande", 1))[0]
    example = pairs[0][0].split("\n\n")[0]
    assert example in {
        f"The {a} scratched the {b} because the {b} was softer."
        for a, b in (("key", "tin"), ("nail", "soap"), ("stone", "candle"))
    }
    assert [context for context, _ in pairs] == [
        f"{example}\n\nThe ladder would not go into the shed because the {option}" for option in ("ladder", "shed")
    ]


FOLDERS = {
    **{name: f"imppres/{name}" for name in ("implicature", "presupposition")},
    **dict.fromkeys(("winowhat", "winowhat-pairs"), "winogrande"),
    **dict.fromkeys(("piqa-rup", "piqa-pairs"), "piqa"),
    "goldenswag": "hellaswag",
    "social-iqa-filtered": "social-iqa",
}
"""Benchmark to the folder of our small files, where it is not called like the benchmark."""


@pytest.mark.parametrize("name", TASKS)
def test_every_benchmark_shows_examples_and_none_of_an_item_s_own_set_or_cluster(name: str) -> None:
    folder = FOLDERS.get(name, name)
    plain = {item.id: pairs for item, pairs in requests(built(name, folder, 0))}
    suite = built(name, folder, 1)
    assert len(suite.items) == len(plain)
    for item, pairs in requests(suite):
        groups = {(m.set, m.cluster) for g in suite.groupings for m in g.members if m.item == item.id}
        sets, clusters = {one for one, _ in groups}, {one for _, one in groups if one}
        members = [m.item for g in suite.groupings for m in g.members if m.set in sets or m.cluster in clusters]
        for (context, text), (own, own_text) in zip(pairs, plain[item.id], strict=True):
            assert text == own_text
            assert context.endswith(f"\n\n{own}")
            example = context.removesuffix(own)
            for other in (item.id, *members):
                assert not any(question + answer in example for question, answer in plain[other])


def test_another_seed_shows_other_examples_and_one_seed_the_same() -> None:
    shown = {seed: built("piqa", "piqa", 3, seed).examples for seed in range(6)}
    assert shown[0] == built("piqa", "piqa", 3, 0).examples
    assert len(set(shown.values())) > 1


def data_of(folder: Path, rows: Sequence[dict[str, object]]) -> Path:
    (folder / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def schemas(n: int) -> list[dict[str, object]]:
    """`n` pairs of twin sentences."""
    return [
        {
            "qID": f"S{i}-{twin}",
            "sentence": f"Cup {i} did not fit in box {i} because _ was too {word}.",
            "option1": f"cup {i}",
            "option2": f"box {i}",
            "answer": str(twin),
        }
        for i in range(n)
        for twin, word in ((1, "big"), (2, "small"))
    ]


def test_no_item_is_shown_itself_or_a_member_of_its_set(tmp_path: Path) -> None:
    """Trap 51: the examples come from the very data that are asked."""
    suite = built("winogrande", data_of(tmp_path, schemas(4)), 3)
    for item, pairs in requests(suite):
        number = item.fields["sentence"].split()[1]
        for context, _ in pairs:
            *examples, _ = context.split("\n\n")
            assert len(examples) == 3
            assert not any(f"Cup {number} " in example for example in examples)


def test_items_keep_their_examples_when_fewer_are_asked(tmp_path: Path) -> None:
    suite = built("winogrande", data_of(tmp_path, schemas(4)), 3)
    whole = {item.id: shown_examples(suite, item) for item in suite.items}
    part = limited(suite, 2, 0)
    assert {item.id: shown_examples(part, item) for item in part.items} == {
        item.id: whole[item.id] for item in part.items
    }


def test_a_pool_that_is_too_small_is_refused(tmp_path: Path) -> None:
    data_of(tmp_path, schemas(2))
    with pytest.raises(UserError, match="--shots 3: of 4 examples some item may see only 2; give fewer"):
        built("winogrande", tmp_path, 3)
    assert built("winogrande", tmp_path, 2).shots == 2


def test_a_training_split_that_holds_the_asked_item_does_not_show_it_to_it(tmp_path: Path) -> None:
    rows = schemas(3)
    data_of(tmp_path, rows[:1])
    (tmp_path / "train_xl.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = built("winogrande", tmp_path, 4)
    ((_, pairs),) = requests(suite)
    *examples, _ = pairs[0][0].split("\n\n")
    assert not any("Cup 0 " in example for example in examples)


def test_a_prompt_that_would_hold_the_item_itself_is_refused() -> None:
    suite = built("piqa", "piqa", 2)
    item = suite.items[0]
    (context, answer), _ = requests(suite)[0][1]
    leaked = suite.examples[0].model_copy(update={"text": f"Question: keep a door from slamming\nAnswer:{answer}"})
    spoilt = suite.model_copy(update={"examples": (leaked, *suite.examples[1:])})
    own = PlainText(context.split("\n\n")[-1])
    with pytest.raises(UserError, match="the examples hold the item that is asked"):
        with_examples(spoilt, item, [own])


def test_zero_shots_change_nothing() -> None:
    assert (
        built("piqa", "piqa", 0).content_hash
        == benchmark(TASKS["piqa"], Copy(folder=PUBLISHED / "piqa")).suite.content_hash
    )
    assert built("piqa", "piqa", 1).content_hash != built("piqa", "piqa", 0).content_hash


def test_a_suite_with_examples_survives_a_file(tmp_path: Path) -> None:
    suite = built("winogrande", "winogrande", 2)
    write_suite(suite, tmp_path / "suite.jsonl")
    again = read_suite(tmp_path / "suite.jsonl")
    assert again.content_hash == suite.content_hash
    assert requests(again) == requests(suite)
