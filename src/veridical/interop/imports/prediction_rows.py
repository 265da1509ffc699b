"""The rows of a file of predictions: a table with a header, or JSON objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from veridical.errors import UserError
from veridical.files.tables import Table, TableRow, open_table
from veridical.interop.imports.records import RecordFile, lost_records
from veridical.runs.provenance import LeftOut


@dataclass(frozen=True)
class PredictionRows:
    """Rows, the columns of the header, and what of the file is not among them."""

    rows: Sequence[TableRow]
    columns: Sequence[str] = ()
    left_out: Sequence[LeftOut] = ()


def read_rows(path: Path) -> PredictionRows:
    """The rows of a CSV or TSV file, or of one of JSON objects: one a line, or an array.

    Logs are written by programs that know NaN, and their last line may be cut off: what is not a JSON object is left
    out and counted. Raises UserError where the file cannot be read, or is none of these.
    """
    records = RecordFile(path)
    if not records.begins_as_json():
        table = open_table(path, advice="save it as UTF-8")
        return PredictionRows(list(_whole(table)), table.columns)
    rows = [TableRow(number, _cells(record)) for number, record in enumerate(records, 1)]
    records.ledger.check_readable(str(path))
    if not any(row.values for row in rows):
        raise UserError(
            f"{path}: no JSON object with an answer is in it; write one a line (or an array of them), or a table with "
            "a header"
        )
    return PredictionRows(rows, left_out=lost_records(path, records.ledger))


def _whole(table: Table) -> Iterator[TableRow]:
    """The rows of a table with a header. A row that lacks cells raises UserError: a file that is cut off ends so."""
    for row in table.rows():
        if len(row.values) < len(table.columns) and table.kind != "jsonl":
            raise UserError(
                f"{table.path}, line {row.line}: {len(row.values)} cell{'' if len(row.values) == 1 else 's'} under "
                f"{len(table.columns)} columns; is the file cut off? A cell that is empty has its separator too"
            )
        yield row


def _cells(record: Mapping[str, object]) -> dict[str, str]:
    return {name: _cell(value) for name, value in record.items()}


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
