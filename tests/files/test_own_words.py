"""Whatever a library's reader says of a damaged file, the user reads our words for it, with the file's name."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from veridical.errors import UserError
from veridical.files.binary_file import read_bytes
from veridical.files.tables import open_table
from veridical.files.toml_file import read_toml
from veridical.files.yaml_file import read_yaml
from veridical.models import load
from veridical.review.key import read_key
from veridical.review.questions import Question
from veridical.review.reading import read_sheet
from veridical.suites.commonsense.rows import read_rows
from veridical.suites.files import read_suite
from veridical.suites.imperfective.lexicon import read_lexicon
from veridical.suites.imperfective.published import read_published
from veridical.validity.reading import read_raw
from veridical.variation import proposers
from veridical.variation.tagging import load_tagger


def parquet() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame({"a": list(range(100))}).write_parquet(buffer)
    return buffer.getvalue()


def rows(path: Path) -> object:
    return list(open_table(path).rows())


def ratings(path: Path) -> object:
    return list(read_sheet(path, [Question(name="grammar", text="?", values=("1", "2"))]))


def folder(read: Callable[[str], object], scheme: str = "hf/") -> Callable[[Path], object]:
    """What is read as the folder in which the file stands."""
    return lambda path: read(f"{scheme}{path.parent}")


OPEN_QUOTE = 'a,b\n1,2\n"open,3\n'
SPLIT_QUOTE = 'a,b\n1,2\n"one"two,3\n'
JSON = ('{"a": }', '{"a" 1}', '{"a": 1,}', "{a: 1}", '{"a": "x', '{"a": 1} {', '{"a": "\\q"}', '{"a": "x\ty"}', "[1,")
READERS: dict[str, tuple[Callable[[Path], object], str, tuple[str | bytes, ...]]] = {
    "TOML": (read_toml, "x.toml", ("a = \n", "[[a", "a = 1\na = 2\n", 'a = "x', b"a = '\xff'\n")),
    "lexicon": (read_lexicon, "x.toml", ("a = \n", "[[telic", b"a = '\xff'\n")),
    "YAML": (
        read_yaml,
        "x.yaml",
        ("a: b: c\n", "a: [1, 2\n", "\ta: 1\n", "a: *b\n", "a: 1\n---\nb: 2\n", "a: \x01\n", "- 1\n b: 2\n"),
    ),
    "gzip": (read_bytes, "x.gz", ("not gzip", gzip.compress(b"text" * 999)[:-12])),
    "bzip2": (read_bytes, "x.bz2", ("not bzip2", b"BZh9")),
    "xz": (read_bytes, "x.xz", ("not xz", b"\xfd7zXZ\x00")),
    "Zstandard": (read_bytes, "x.zst", (b"\x28\xb5\x2f\xfd\x24",)),
    "table, JSONL": (rows, "x.jsonl", tuple(f'{{"a": 0}}\n{line}\n' for line in JSON)),
    "table, CSV": (rows, "x.csv", (OPEN_QUOTE, SPLIT_QUOTE)),
    "ratings": (ratings, "x.csv", tuple(text.replace("a,b", "id,grammar") for text in (OPEN_QUOTE, SPLIT_QUOTE))),
    "benchmark, JSON": (read_rows, "x.json", JSON),
    "benchmark, JSONL": (read_rows, "x.jsonl", JSON),
    "benchmark, CSV": (read_rows, "x.csv", (OPEN_QUOTE, SPLIT_QUOTE, 'a,b\n"' + "x" * 140_000 + '",1\n')),
    "benchmark, Parquet": (read_rows, "x.parquet", ("PAR1", parquet()[:-50], b"")),
    "benchmark, Arrow": (read_rows, "x.arrow", ("ARROW1 and no more", b"\xff\xff\xff\xff\x10")),
    "suite file": (read_suite, "x.jsonl", tuple(f"{line}\n" for line in JSON)),
    "published pairs": (read_published, "x.json", JSON),
    "key of sheets": (read_key, "key.json", JSON),
    "scores, JSON": (read_raw, "x.json", JSON),
    "scores, JSONL": (read_raw, "x.jsonl", tuple(f'{{"a": 0}}\n{line}\n' for line in JSON)),
    "scores, CSV": (read_raw, "x.csv", (OPEN_QUOTE, SPLIT_QUOTE)),
    "scores, Parquet": (read_raw, "x.parquet", ("PAR1", parquet()[:-50])),
    "proposer": (folder(proposers.load), "config.json", ("{", "[")),
    "spaCy pipeline": (folder(load_tagger, ""), "config.cfg", ("[nlp", "[nlp]\nlang = \n", "[a]\nb = ${c}\n")),
    "GGUF": (lambda path: load(f"gguf/{path}"), "x.gguf", (b"GGUF", b"GGUF\x03\x00\x00\x00" + b"\xff" * 40)),
}
CASES = [
    pytest.param(read, name, text, id=f"{kind} {place}")
    for kind, (read, name, texts) in READERS.items()
    for place, text in enumerate(texts)
]


def causes(error: BaseException) -> Iterator[BaseException]:
    while (cause := error.__cause__ or error.__context__) is not None:
        yield cause
        error = cause


def phrases(text: str) -> set[str]:
    """Every four words that follow each other."""
    words = re.findall(r"[a-z']+", text.lower())
    return {" ".join(words[place : place + 4]) for place in range(len(words) - 3)}


def beginning(text: str) -> str:
    """How a message begins, before any place or value: `Expecting value` of `Expecting value: line 1 column 7`."""
    found = re.split(r"[:(\[]", text.lower())[0].strip()
    return found if " " in found else "(none)"


@pytest.mark.parametrize(("read", "name", "text"), CASES)
def test_a_damaged_file_is_named_without_a_librarys_words(
    read: Callable[[Path], object], name: str, text: str | bytes, tmp_path: Path
) -> None:
    path = tmp_path / "copy" / name
    path.parent.mkdir()
    if name == "config.json":
        (path.parent / "model.safetensors").write_bytes(b"")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError) as caught:
        read(path)
    line = str(caught.value)
    assert str(path if name[:6] != "config" else path.parent) in line
    plain = line.replace(str(path), "").replace(str(path.parent), "")
    for cause in causes(caught.value):
        if not type(cause).__module__.startswith("veridical"):
            said = str(cause).replace(str(path), "").replace(str(path.parent), "")
            assert not phrases(plain) & phrases(said)
            assert beginning(said) not in plain.lower()


def test_json_at_fault_is_described_by_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    said = {
        '{"a": }': "a value is missing here, or is not written as JSON writes it (column 7)",
        '{"a" 1}': "a colon is missing here (column 6)",
        "{a: 1}": "a key in double quotation marks is needed here (column 2)",
        '{"a": "x': "a quotation mark is left open, or a line break stands within a text (column 9)",
        '{"a": 1} {': "there is more behind the end of the value (column 10)",
    }
    for text, words in said.items():
        path.write_text(f'{{"a": 0}}\n{text}\n')
        with pytest.raises(UserError, match=re.escape(f"line 2: not one JSON object a line: {words}")):
            rows(path)


def test_lines_that_a_reader_names_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    for text, words in (
        ("a = 1\nb = \n", "line 2 is not a key with a value"),
        ("a = 1\n\nb = '\udcff'\n", "line 3 is not UTF-8 text"),
        ("a = [1,\n", "it ends too early"),
    ):
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(UserError, match=words):
            read_toml(path)
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\nb: c: d\n")
    with pytest.raises(UserError, match=r"x.yaml, line 2, column 5: not valid YAML: a colon"):
        read_yaml(path)
