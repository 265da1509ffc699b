"""Published files with faults put into them: one clear line, or every row accounted for.

Each benchmark's small file is damaged in seeded ways. What holds of any damage: nothing but a UserError of one line
that names the file; and where the file is read, the rows that are asked, left out and repeated are all its rows, and
those that were not damaged have the right answer that they had.
"""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.suites.commonsense.asking import PUBLISHED
from veridical.errors import UserError
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.build import asked_and_left_out
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy, asked_rows

MUTANTS = 20
"""Damaged files of each benchmark."""
LONGEST_LINE = 450
"""Characters of a message: a path and about 300 more."""
SLOWEST = 5.0
"""Seconds."""

FILES = {
    "winogrande": "winogrande/dev.jsonl",
    "winowhat": "winogrande/WinoWhat.csv",
    "winowhat-pairs": "winogrande/WinoWhat.csv",
    "hellaswag": "hellaswag/hellaswag_val.jsonl",
    "goldenswag": "hellaswag/goldenswag.txt",
    "social-iqa": "social-iqa/dev.jsonl",
    "social-iqa-filtered": "social-iqa/social-iqa-filtered.txt",
    "piqa": "piqa/valid.jsonl",
    "piqa-rup": "piqa/piqa_rup.jsonl",
    "piqa-pairs": "piqa/piqa_rup.jsonl",
    "blimp": "blimp/wh_island.jsonl",
    "gpqa-diamond": "gpqa-diamond/gpqa_diamond.csv",
    "mmlu-redux": "mmlu-redux/virology.jsonl",
    "cei": "cei/data_sarcasm-irony.csv",
    "sarc7": "sarc7/sarcasmdata.json",
    "false-beliefs": "false-beliefs/fb.csv",
    "implicature": "imppres/implicature/connectives.jsonl",
    "presupposition": "imppres/presupposition/change_of_state.jsonl",
    "indirect-requests": "indirect-requests/ir.csv",
    "timedial": "timedial/test.json",
    "trip": "trip/trip-ClozeTest.jsonl",
}
COPIES = 12
"""How often the rows stand in the file that is damaged: few faults among many rows are left out, many are an error."""

Record = dict[str, Any]
STRANGE: tuple[Any, ...] = (
    None, "", " \t", 0, -1, 7, 10**40, 1e308, 2.5, True, "none", "\u202e\u0000"[:1], "é" * 3, "x" * 5000, [], {}, [[]],
    ["a"], [None, 1], {"a": {"b": []}}, "[1, 2", "0", "99",
)  # fmt: skip


def drop(row: Record, pick: random.Random) -> None:
    del row[pick.choice(list(row))]


def strange(row: Record, pick: random.Random) -> None:
    row[pick.choice(list(row))] = pick.choice(STRANGE)


def inner(row: Record, pick: random.Random) -> None:
    """Put something strange into a list, or in its place where the value is none."""
    name = pick.choice(list(row))
    value = row[name]
    if isinstance(value, list) and value:
        row[name] = [*value]
        row[name][pick.randrange(len(value))] = pick.choice(STRANGE)
    else:
        row[name] = pick.choice(STRANGE)


def extra(row: Record, pick: random.Random) -> None:
    row[pick.choice(("extra", "config", "subject", "version", "beside"))] = pick.choice(STRANGE)


def same(row: Record, pick: random.Random) -> None:
    """Give two fields, or two parts of a list, one value."""
    name = pick.choice(list(row))
    value = row[name]
    row[name] = [value[0]] * len(value) if isinstance(value, list) and value else row[pick.choice(list(row))]


ON_ROWS: tuple[Callable[[Record, random.Random], None], ...] = (drop, strange, strange, inner, extra, same)
LINES = (b"\n{}\n", b"\n[]\n", b"\nnull\n", b"\n\n", b"\n,\n")
ON_BYTES: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "CRLF": lambda data, pick: data.replace(b"\n", b"\r\n"),
    "cut off": lambda data, pick: data[: pick.randrange(len(data))],
    "a byte": lambda data, pick: data.replace(b"e", bytes([pick.randrange(256)]), 1),
    "UTF-16": lambda data, pick: data.decode().encode("utf-16"),
    "latin-1": lambda data, pick: data.decode().replace("e", "é", 3).encode("latin-1"),
    "BOM": lambda data, pick: b"\xef\xbb\xbf" + data,
    "a line": lambda data, pick: data.replace(
        b"\n", pick.choice([b"\n{}\n", b"\n[]\n", b"\nnull\n", b"\n\n", b"\n,\n"]), 1
    ),
    "quote": lambda data, pick: data.replace(b'"', b"", 1),
}


def records_of(path: Path) -> list[Record]:
    text = path.read_text("utf-8")
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(text, newline="")))
    if path.suffix == ".json":
        found = json.loads(text)
        return [{"id": name, **one} for name, one in found.items()] if isinstance(found, dict) else found
    if path.suffix == ".txt":
        return [{"value": line} for line in text.splitlines()]
    return [json.loads(line) for line in text.splitlines()]


def written(records: list[Record], ending: str) -> bytes:
    if ending == ".csv":
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, list(dict.fromkeys(name for row in records for name in row)), restval="")
        writer.writeheader()
        writer.writerows(records)
        return out.getvalue().encode()
    if ending == ".json":
        return json.dumps(records).encode()
    if ending == ".txt":
        return "".join(f"{row.get('value', '')}\n" for row in records).encode()
    return "".join(json.dumps(row) + "\n" for row in records).encode()


def marked(number: int, record: Record) -> Record:
    """The record's copy of this number, so that copies are not one item: its longest text says which copy it is."""
    texts = [name for name, value in record.items() if isinstance(value, str) and " " in value and name != "label"]
    if not number or not texts:
        return dict(record)
    name = max(texts, key=lambda one: len(record[one]))
    return {**record, name: f"Case {number}: {record[name]}"}


class Damaged:
    """A benchmark's folder of which one file is damaged: `touched` are the numbers (from 0) of its damaged records,
    None where any may be."""

    def __init__(self, name: str, seed: int, folder: Path) -> None:
        self.pick = random.Random(f"{name} {seed}")
        source = PUBLISHED / FILES[name]
        self.folder = folder / source.parent.name
        shutil.copytree(source.parent, self.folder)
        self.path = self.folder / source.name
        # Lists, and rows that rework others, name rows of another file by their number: these stay as they are.
        n_copies = 1 if source.suffix == ".txt" or name in ("piqa-rup", "piqa-pairs") else COPIES
        records = [marked(number, one) for number in range(n_copies) for one in records_of(source)]
        for labels in self.folder.glob(f"{source.stem}-labels.lst"):
            labels.write_text(labels.read_text("utf-8") * n_copies, "utf-8")
        self.path.write_bytes(written(records, source.suffix))
        self.n_records = len(records)
        self.touched: set[int] | None = set()
        self._records = records

    def damage(self) -> str:
        """Put a fault into the file; what it is."""
        if self.pick.random() < 0.3:
            what = self.pick.choice(list(ON_BYTES))
            data = ON_BYTES[what](self.path.read_bytes(), self.pick)
            self.touched = None
        else:
            what = ""
            self.touched = set()
            for number in self.pick.sample(range(self.n_records), self.pick.choice((1, 1, 2, self.n_records))):
                fault = self.pick.choice(ON_ROWS)
                if self._records[number]:
                    fault(self._records[number], self.pick)
                    self.touched.add(number)
                    what += f" {fault.__name__}"
            if self.path.suffix == ".txt":
                self.touched = None  # a list names rows, and has none
            data = written(self._records, self.path.suffix)
        self.path.write_bytes(data)
        return what


def golds(name: str, path: Path) -> dict[int, list[tuple[str, ...]]]:
    """The right continuations of every row that is asked, by its number, after the ledger was seen to add up."""
    rows = asked_rows(TASKS[name], Copy(file=path))
    asked, _, ledger = asked_and_left_out(TASKS[name], rows)
    assert ledger.used + ledger.left_out.total() == ledger.read == len(rows)
    found: dict[int, list[tuple[str, ...]]] = {}
    for one in asked:
        draft = one.draft
        right = tuple(option.continuation for option in draft.choices if option.label in draft.gold)
        found.setdefault(one.row.number, []).append(right)
    assert len(found) >= ledger.used
    return found


@pytest.mark.parametrize("name", list(FILES))
def test_a_damaged_file_is_one_line_or_its_rows_add_up(name: str, tmp_path: Path) -> None:
    assert set(FILES) == set(TASKS)
    for seed in range(MUTANTS):
        copy = Damaged(name, seed, tmp_path / str(seed))
        before = golds(name, copy.path)
        what = copy.damage()
        began = time.process_time()
        try:
            after = golds(name, copy.path)
            benchmark(TASKS[name], Copy(file=copy.path))
        except UserError as error:
            line = str(error)
            assert "\n" not in line, (seed, what, line)
            assert len(line) < LONGEST_LINE, (seed, what, line)
            assert str(copy.folder) in line, (seed, what, line)
        else:
            if copy.touched is not None:
                kept = {number: right for number, right in before.items() if number not in copy.touched}
                assert {number: after.get(number) for number in kept} == kept, (seed, what)
        assert time.process_time() - began < SLOWEST, (seed, what)
