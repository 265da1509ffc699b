"""Suite files: what is written is read back, and a faulty file is named with its line and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.errors import UserError
from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.prompts.parsing import parse
from veridical.prompts.template import Prompt
from veridical.suites.file_writer import SCHEMA, write_suite
from veridical.suites.files import read_suite

LABELS = ("True", "False", "Unknown")

HEADER: dict[str, Any] = {
    "schema": SCHEMA,
    "name": "kettles",
    "version": "1",
    "labels": list(LABELS),
    "prompts": [{"name": "ask", "user": "{{ premise }} {{ hypothesis }}"}],
}
BOILED: dict[str, Any] = {
    "fields": {"premise": "Uma was filling the kettle.", "hypothesis": "Uma filled the kettle."},
    "gold": ["Unknown"],
    "factors": {"verb": "fill"},
    "sets": [{"grouping": "verb", "set": "fill", "role": "C"}],
}
SANG: dict[str, Any] = {
    "fields": {"premise": "Uma was singing.", "hypothesis": "Uma sang."},
    "gold": ["True"],
    "sets": [{"grouping": "verb", "set": "sing", "role": "D"}],
}


def written(folder: Path, *lines: dict[str, Any] | str) -> Path:
    path = folder / "kettles.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def fault(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_suite(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path)).lstrip(":, ")


def suite(**changes: Any) -> Suite:
    items = (
        Item(
            fields={"text": "one\u2028line “é”"},
            choices=tuple(Choice(label=label, continuation=label) for label in ("yes", "no")),
            gold=("yes", "no"),
            golds={"pragmatic": ("no",)},
            human={"yes": 0.1, "no": 0.9},
            factors={"n": 1, "x": 1.0, "flag": True, "kind": "a"},
            name="first",
        ),
        Item(
            fields={"text": "two"},
            choices=(
                Choice(label="yes", continuation=" yes"),
                Choice(label="no", continuation="no", context="Two, no"),
            ),
        ),
        Item(fields={"text": "three"}, choices=(Choice(label="yes", continuation="yes"),)),
    )
    ids = [item.id for item in items]
    parts: dict[str, Any] = {
        "name": "toy",
        "version": "2.1",
        "title": "A toy",
        "licence": "CC0",
        "labels": ("yes", "no"),
        "measures": "accuracy",
        "normalisation": "byte",
        "prompts": (Prompt(name="a", user="{{ text }}?", glosses={"yes": "so"}, orders=0), Prompt(name="b", user="b")),
        "inputs": {"full": ("text",)},
        "classes": {"yes": ("acceptable", "good"), "no": ("bad",)},
        "pair": ("text", "text"),
        "groupings": (
            Grouping(name="pair", members=tuple(Member(set="s", item=i, role="r", cluster="k") for i in ids[:2])),
            # Not in the items' order, an item in two sets, and one that is in no set.
            Grouping(name="two", members=tuple(Member(set=s, item=ids[i]) for s, i in (("u", 2), ("v", 0), ("u", 0)))),
            Grouping(name="empty", members=()),
        ),
        "items": items,
    }
    return Suite(**{**parts, **changes})


@pytest.mark.parametrize("changes", [{}, {"groupings": ()}, {"labels": ()}], ids=["all", "no groupings", "no labels"])
def test_what_is_written_is_read_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = tmp_path / "toy.jsonl"
    write_suite(suite(**changes), path)
    assert read_suite(path) == suite(**changes)
    assert read_suite(path).content_hash == suite(**changes).content_hash


def test_writing_again_gives_the_same_bytes_and_leaves_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    write_suite(suite(), path)
    first = path.read_bytes()
    write_suite(read_suite(path), path)
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


@settings(max_examples=40)
@given(
    st.permutations(range(6)), st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xyz")), max_size=12, unique=True)
)
def test_any_grouping_is_read_back_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], picks: list[tuple[int, str]]
) -> None:
    items = tuple(Item(fields={"n": str(n)}, choices=(Choice(label="a", continuation="a"),)) for n in order)
    members = tuple(Member(set=name, item=items[position].id) for position, name in picks)
    toy = Suite(
        name="toy",
        version="1",
        prompts=(Prompt(name="p", user="{{ n }}"),),
        groupings=(Grouping(name="g", members=members),),
        items=items,
    )
    path = tmp_path_factory.mktemp("suite") / "toy.jsonl"
    write_suite(toy, path)
    assert read_suite(path) == toy


def test_an_unwritable_file_is_a_user_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write"):
        write_suite(suite(), tmp_path / "nowhere" / "toy.jsonl")
    with pytest.raises(UserError, match="cannot write"):
        write_suite(suite(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_written_by_hand_needs_little(tmp_path: Path) -> None:
    found = read_suite(written(tmp_path, HEADER, "", BOILED, SANG))
    assert found.name == "kettles"
    assert [item.labels for item in found.items] == [LABELS, LABELS]
    assert [choice.continuation for choice in found.items[0].choices] == list(LABELS)
    assert found.grouping("verb").members == (
        Member(set="fill", item=found.items[0].id, role="C"),
        Member(set="sing", item=found.items[1].id, role="D"),
    )


def test_a_byte_order_mark_windows_line_ends_and_line_separators_do_no_harm(tmp_path: Path) -> None:
    odd = {**SANG, "fields": {"premise": "Uma\u2028was singing.", "hypothesis": "Uma sang."}}
    path = written(tmp_path, HEADER, BOILED, odd)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_suite(path).items[1].fields["premise"] == "Uma\u2028was singing."


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert fault(tmp_path / "none.jsonl") == "no such file; check the path"
    assert fault(tmp_path) == "a folder, not a file; give a file in it"
    path = tmp_path / "file.jsonl"
    for content in (b"", b" \n\n"):
        path.write_bytes(content)
        assert fault(path) == "the file is empty"
    path.write_bytes(json.dumps(HEADER).encode() + b"\n" + "café".encode("latin-1") + b" ")
    assert fault(path) == "line 2: not UTF-8 text; save the file as UTF-8"


def test_a_file_that_was_cut_off_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, BOILED, SANG)
    path.write_bytes(path.read_bytes()[:-30])
    assert fault(path) == "line 3: the last line is cut off; is the file complete?"
    whole = written(tmp_path, {**HEADER, "items": 3}, BOILED, SANG)
    assert fault(whole) == "the header says 3 items and 2 are there; is the file cut off?"
    assert fault(written(tmp_path, HEADER)) == "a header and no items; add one item a line"


def test_json_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    assert fault(written(tmp_path, HEADER, '{"fields": }', SANG)).startswith(
        "line 2: not one JSON object a line: a value is"
    )
    assert "'gold' is given twice" in fault(written(tmp_path, HEADER, '{"gold": [], "gold": []}'))
    assert "NaN is not a JSON number" in fault(written(tmp_path, HEADER, '{"factors": {"x": NaN}}'))
    assert fault(written(tmp_path, HEADER, "[1]")) == "line 2: a JSON object is needed, this is a list"
    assert "--data" in fault(written(tmp_path, '[{"id": "A_001"}]'))


UNASKABLE = [
    ('{"fields": {"a": "\\ud800"}}', "field 'fields.a': half of a character (a lone surrogate, "),
    ('{"fields": {"\\udc00x": "a"}}', "field 'fields.\\udc00x': half of a character"),
    ('{"gold": ["a", "\\ud800\\ud800"]}', "field 'gold[1]': half of a character"),
    ('{"factors": {"x": 1e999}}', "field 'factors.x': 1e999 is too large a number"),
    ('{"factors": {"x": -1e999}}', "field 'factors.x': -1e999 is too large a number"),
    ('{"factors": {"x": Infinity}}', "field 'factors.x': Infinity is not a JSON number"),
    ('{"factors": {"x": -Infinity}}', "field 'factors.x': -Infinity is not a JSON number"),
    ('{"factors": {"x": NaN}}', "field 'factors.x': NaN is not a JSON number"),
    (f'{{"factors": {{"x": {"9" * 5000}}}}}', "field 'factors.x': a number that is too long"),
    (f'{{"factors": {{"x": 0.{"9" * 5000}}}}}', "field 'factors.x': a number that is too long"),
    ('{"human": {"True": 1, "True": 1}}', "field 'human.True': the key 'True' is given twice"),
    (f'{{"fields": {"[" * 40}{"]" * 40}}}', "field 'fields[0]': nested too deeply"),
    (f'{{"fields": {"[" * 990}{"]" * 990}}}', "nested too deeply"),
    (f'{{"fields": {"[" * 100000}{"]" * 100000}}}', "nested too deeply"),
]


@pytest.mark.parametrize("end", ["", "\n"], ids=["last", "ended"])
@pytest.mark.parametrize(("line", "says"), UNASKABLE, ids=lambda value: value[:30])
def test_a_value_that_cannot_be_asked_is_named_with_its_place(tmp_path: Path, line: str, says: str, end: str) -> None:
    path = written(tmp_path, HEADER, BOILED)
    path.write_text(path.read_text() + line + end)
    message = fault(path)
    assert message.startswith("line 3")
    assert says in message
    path.write_text(line)
    assert says in fault(path)


def test_a_whole_pair_of_surrogates_is_a_character(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, json.dumps({**BOILED, "fields": {"premise": "\U0001f600", "hypothesis": "x"}}))
    assert "\\ud83d" in path.read_text()
    assert read_suite(path).items[0].fields["premise"] == "\U0001f600"


def test_a_nul_byte_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, BOILED)
    path.write_bytes(path.read_bytes() + b'{"fi\0elds": {}}')
    assert fault(path) == "line 3: a NUL byte, which no text has; save the file as UTF-8"


def test_no_message_lets_a_terminal_be_steered(tmp_path: Path) -> None:
    hostile = "\x1b[2J\x07\u202e\n"
    for change in ({hostile: 1}, {"gold": [hostile]}, {"sets": [{"grouping": hostile, "set": "x", hostile: ""}]}):
        assert fault(written(tmp_path, HEADER, {**BOILED, **change})).isprintable()
    for change in ({hostile: 1}, {"schema": hostile}, {"measures": hostile}, {"labels": [hostile, hostile]}):
        assert fault(written(tmp_path, {**HEADER, **change}, BOILED)).isprintable()


@pytest.mark.parametrize("labels", [("yes", "YES"), ("yes", "yes no"), ("not", "not true", "true")], ids=" ".join)
def test_labels_that_a_reply_tells_apart_are_taken(tmp_path: Path, labels: tuple[str, ...]) -> None:
    found = read_suite(written(tmp_path, {**HEADER, "labels": list(labels)}, {**BOILED, "gold": []}))
    for label in found.items[0].labels:
        for reply in (label, f"Answer: {label}.", f"**{label}**", f'{{"label": "{label}"}}', f"{label}, because so."):
            assert parse(reply, found.labels).label == label


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (None, "not a suite file: the first line is a header"),
        ("veridical.suite/2", "newer than this version of veridical reads; upgrade it"),
        ("veridical.suite/²", "it must be 'veridical.suite/1'"),
        ("veridical.suite/" + "9" * 5000, "it must be 'veridical.suite/1'"),
        ("veridical.run/1", "it must be 'veridical.suite/1'"),
        (1, "it must be 'veridical.suite/1'"),
    ],
)
def test_a_wrong_schema_is_refused(tmp_path: Path, schema: object, says: str) -> None:
    message = fault(written(tmp_path, {**HEADER, "schema": schema}, BOILED))
    assert message.startswith("line 1, field 'schema': ")
    assert says in message


HEADER_FAULTS = [
    ({"lables": ["a"]}, "line 1, field 'lables': unknown field, did you mean 'labels'?"),
    ({"version": ""}, "line 1, field 'version': "),
    ({"version": None}, "line 1, field 'version': "),
    ({"normalisation": "words"}, "line 1, field 'normalisation': "),
    ({"prompts": []}, "line 1, field 'prompts': "),
    ({"prompts": [{"name": "a", "usr": "x"}]}, "line 1, field 'prompts[0].usr': unknown field, did you mean 'user'?"),
    ({"prompts": [{"name": "a", "user": "x", "sistem": ""}]}, "sistem': unknown field, did you mean 'system'?"),
    ({"prompts": [{"name": "a", "user": "{{ x"}]}, "line 1, field 'prompts[0]': template 'user' of prompt 'a'"),
    ({"items": "many"}, "line 1, field 'items': "),
    ({"pair": ["premise"]}, "line 1, field 'pair"),
    ({"classes": {"True": []}}, "line 1, field 'classes.True': "),
    ({"classes": {"Treu": ["entailment"]}}, "line 1: classes name an unknown label 'Treu': the labels are True, "),
    ({"classes": {"True": ["A"], "False": ["a"]}}, "line 1: class 'a' stands for two labels, True and False"),
    ({"groupings": "verb"}, "line 1, field 'groupings': "),
    ({"groupings": [""]}, "line 1, field 'groupings': every grouping needs a name of its own"),
    ({"groupings": ["verb", "verb"]}, "line 1, field 'groupings': every grouping needs a name of its own"),
    ({"measures": "acuracy"}, "line 1, field 'measures': unknown measure set 'acuracy': did you mean 'accuracy'?"),
    ({"measures": "zzz"}, "line 1, field 'measures': unknown measure set 'zzz'; known: accuracy, "),
    ({"labels": ["", ""]}, "line 1, field 'labels[0]': "),
    ({"labels": ["yes", "yes"]}, "line 1: labels repeat a label: yes, yes"),
    ({"labels": ["yes no", "yes  no "]}, "line 1: labels repeat a label: yes no"),
    ({"labels": [" "]}, "line 1: a label is blank"),
    ({"prompts": [{"name": "a", "user": " "}]}, "line 1, field 'prompts[0]': prompt 'a' is empty"),
    ({"prompts": [{"name": "a", "user": "{% include 'x' %}"}]}, "field 'prompts[0]': template 'user' of prompt 'a': "),
]


@pytest.mark.parametrize(("change", "says"), HEADER_FAULTS, ids=lambda value: str(value)[:40])
def test_a_fault_of_the_header_is_named(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    assert says in fault(written(tmp_path, {**HEADER, **change}, BOILED))


ITEM_FAULTS = [
    ({"factros": {}}, "line 2, field 'factros': unknown field, did you mean 'factors'?"),
    ({"fields": None}, "line 2, field 'fields': "),
    ({"fields": {"premise": 3}}, "line 2, field 'fields.premise': "),
    ({"gold": ["Ture"]}, "line 2, field 'gold': unknown label 'Ture', did you mean 'True'? the labels are True, Fal"),
    ({"gold": "True"}, "line 2, field 'gold': "),
    ({"golds": {"logical": ["Maybe"]}}, "line 2, field 'golds.logical': unknown label 'Maybe'"),
    ({"human": {"Flase": 1.0}}, "line 2, field 'human': unknown label 'Flase', did you mean 'False'?"),
    ({"human": {"False": 0.5}}, "line 2: human label distribution sums to 0.5, not 1"),
    ({"choices": []}, "line 2, field 'choices': "),
    ({"choices": [{"label": "Tru", "continuation": "x"}]}, "line 2, field 'choices': unknown label 'Tru', did you me"),
    ({"choices": [{"label": "True", "continuation": "x"}]}, "line 2, field 'gold': unknown label 'Unknown'"),
    ({"gold": [], "choices": [{"label": "True"}]}, "line 2, field 'choices[0].continuation': "),
    ({"gold": [], "choices": [{"label": "True", "continuation": 1}]}, "line 2, field 'choices[0].continuation': "),
    (
        {"gold": [], "choices": [{"label": "True", "continuation": "x", "contxt": "y"}]},
        "line 2, field 'choices[0].contxt': unknown field, did you mean 'context'?",
    ),
    ({"human": {"False": -0.5, "True": 1.5}}, "line 2: human label distribution gives 'False' -0.5, which is not"),
    (
        {"gold": [], "choices": [{"label": "True", "continuation": ""}]},
        "field 'choices[0]': choice 'True' has an empty",
    ),
    ({"fields": {"labels": "x"}}, "line 2: a field cannot be called 'labels'"),
    ({"fields": {"glosses": "x"}}, "line 2: a field cannot be called 'glosses'"),
    ({"factors": {"n": 2**63}}, "line 2: factor 'n' is a number that is too long"),
    ({"sets": [{"grouping": "verb", "set": "a"}] * 2}, "field 'sets[1]': the item is in set 'a' of 'verb' already"),
    ({"sets": {}}, "line 2, field 'sets': a list is needed"),
    ({"sets": ["fill"]}, "line 2, field 'sets[0]': "),
    (
        {"sets": [{"grouping": "verb", "sett": "fill"}]},
        "line 2, field 'sets[0].sett': unknown field, did you mean 's",
    ),
    ({"sets": [{"grouping": "verb", "set": "a", "rôle": "C"}]}, "'sets[0].rôle': unknown field, did you mean 'role'?"),
]


@pytest.mark.parametrize(("change", "says"), ITEM_FAULTS, ids=lambda value: str(value)[:40])
def test_a_fault_of_an_item_is_named(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    assert says in fault(written(tmp_path, HEADER, {**BOILED, **change}, SANG))


def test_a_grouping_that_the_header_does_not_name_is_refused(tmp_path: Path) -> None:
    message = fault(written(tmp_path, {**HEADER, "groupings": ["verbs"]}, BOILED))
    assert message == "line 2, field 'sets[0].grouping': the header names no grouping 'verb', did you mean 'verbs'?"


def test_the_same_item_twice_names_both_lines(tmp_path: Path) -> None:
    message = fault(written(tmp_path, HEADER, BOILED, SANG, {**BOILED, "name": "again", "factors": {}}))
    assert message == "line 4: the same item as on line 2; take one out"


def test_an_item_needs_choices_where_the_header_names_no_labels(tmp_path: Path) -> None:
    header = {name: value for name, value in HEADER.items() if name != "labels"}
    assert fault(written(tmp_path, header, BOILED)).startswith("line 2, field 'choices': ")


def test_an_input_that_shows_a_field_of_no_item_is_refused(tmp_path) -> None:
    path = tmp_path / "suite.jsonl"
    prompt = {"name": "p", "user": "{{ premise }}"}
    header = {"schema": "veridical.suite/1", "name": "s", "version": "1", "labels": ["a", "b"], "prompts": [prompt]}
    item = {"fields": {"premise": "x"}, "gold": ["a"]}
    for inputs, message in (
        ({"short": ["premise"]}, ""),
        ({"short": ["premis"]}, "no item has a field 'premis', did you"),
    ):
        path.write_text(json.dumps({**header, "inputs": inputs}) + "\n" + json.dumps(item) + "\n")
        if not message:
            assert dict(read_suite(path).inputs) == {"short": ("premise",)}
            continue
        with pytest.raises(UserError, match=message):
            read_suite(path)


def test_accents_typed_in_two_ways_are_one_label_and_one_set(tmp_path) -> None:
    one, other = "caf\u00e9", "cafe\u0301"
    prompt = {"name": "p", "user": "{{ text }}"}
    header = {"schema": "veridical.suite/1", "name": "s", "version": "1", "labels": [one, "b"], "prompts": [prompt]}
    items = [
        {"fields": {"text": "x"}, "gold": [other], "human": {other: 1.0}, "sets": [{"grouping": "g", "set": one}]},
        {"fields": {"text": "y"}, "gold": [one], "golds": {"z": [other]}, "sets": [{"grouping": "g", "set": other}]},
    ]
    path = tmp_path / "suite.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (header, *items)) + "\n")
    suite = read_suite(path)
    assert [item.gold for item in suite.items] == [(one,), (one,)]
    assert dict(suite.items[0].human) == {one: 1.0}
    assert list(suite.grouping().sets()) == [one]
    path.write_text(json.dumps({**header, "labels": [one, other]}) + "\n" + json.dumps(items[0]) + "\n")
    with pytest.raises(UserError, match="repeat a label"):
        read_suite(path)
