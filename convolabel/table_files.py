"""Reading tables from files: CSV (RFC 4180), JSON Lines and Parquet, whoever wrote them."""

import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from convolabel.errors import InputError, MissingExtraError

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
"""File suffix -> format."""

Row = tuple[object, ...]


@dataclass(frozen=True)
class Table:
    """`columns` are all that the file has; `rows` hold the wanted ones, in the order they were asked for.

    A cell is text in CSV and a plain Python value in the other formats; `None` where a row has no such cell.
    """

    columns: tuple[str, ...]
    rows: list[Row]


def table_format(path: Path) -> str:
    """`csv`, `jsonl` or `parquet`. Raises `InputError` for a suffix that is none of theirs."""
    try:
        return FORMATS[path.suffix.lower()]
    except KeyError:
        raise InputError(
            f"Cannot tell the format of {path} by its suffix `{path.suffix}`; use one of {', '.join(FORMATS)}."
        ) from None


def read_table(path: Path, wanted: Sequence[str]) -> Table:
    """Read the columns `wanted`. Raises `InputError` when the file cannot be read or is not such a table."""
    read = {"csv": _read_csv, "jsonl": _read_json_lines, "parquet": _read_parquet}[table_format(path)]
    try:
        return read(path, wanted)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or 'not such a file'}; check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"Cannot read {path}: it is not UTF-8; save it as UTF-8 and try again.") from None


def _read_csv(path: Path, wanted: Sequence[str]) -> Table:
    # The module's limit of 128 KiB a cell is for all readers of the process; it is only ever raised.
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader, None)
            if not header:
                raise InputError(f"{path} is empty; a table begins with a row of column names.")
            _refuse_repeats(header, path)
            places = [header.index(column) if column in header else None for column in wanted]
            rows: list[Row] = []
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(header):
                    raise InputError(
                        f"{path}, line {reader.line_num}: {len(cells)} cells where the header has {len(header)}; "
                        "check the quotes of that row."
                    )
                rows.append(tuple(None if place is None else cells[place] for place in places))
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.line_num}: not valid CSV ({error}).") from None
    return Table(tuple(header), rows)


def _read_json_lines(path: Path, wanted: Sequence[str]) -> Table:
    columns: dict[str, None] = {}
    rows: list[Row] = []
    # newline="\n": U+2028 and a carriage return may stand inside a line
    with path.open(encoding="utf-8-sig", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}, line {number}: not valid JSON ({error}).") from None
            if not isinstance(row, dict):
                raise InputError(f"{path}, line {number}: a row is one JSON object, found {type(row).__name__}.")
            columns.update(dict.fromkeys(row))
            rows.append(tuple(map(row.get, wanted)))
    return Table(tuple(columns), rows)


def _read_parquet(path: Path, wanted: Sequence[str]) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Reading Parquet", "parquet") from None
    try:
        with pq.ParquetFile(path) as file:  # type: ignore[no-untyped-call]
            names = list(file.schema_arrow.names)
            _refuse_repeats(names, path)
            content = file.read(columns=[column for column in wanted if column in names])
    except pa.ArrowException as error:
        raise InputError(f"{path} is not a Parquet file that can be read ({type(error).__name__}).") from None
    missing = [None] * content.num_rows
    cells = [content.column(column).to_pylist() if column in names else missing for column in wanted]
    return Table(tuple(names), list(zip(*cells, strict=True)))


def _refuse_repeats(header: list[str], path: Path) -> None:
    repeated = next((name for name in header if header.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"{path}: the column `{repeated}` stands twice; rename one of them.")
