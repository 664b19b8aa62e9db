r"""The votes table as a file: CSV, JSON Lines or Parquet, chosen by the suffix, all with the same rows.

CSV is UTF-8 without a byte order mark and follows RFC 4180: rows end with CR LF, a cell that holds a quote, a comma,
CR or LF is quoted, a quote is doubled. Cells are byte-true: `\r\n` or a lone `\r` in a note comes back as it was.
In a column that may be unknown an empty cell is `None`; in the others (`note`, `span_text`, ...) it is an empty text.
JSON Lines writes `null` for `None`. Reading a file and writing it again gives the same bytes.
"""

import csv
import io
import itertools
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, get_args

from pydantic import ValidationError

from convolabel.errors import InputError, MissingExtraError
from convolabel.table_files import read_table, table_format
from convolabel.votes_table import COLUMNS, Vote

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_PARQUET_ROW_GROUP = 50_000


def write_votes(path: Path, votes: Iterable[Vote], *, excel_safe: bool = False) -> int:
    """Write `votes` to `path` and return how many there were; on any failure the old file stays as it was.

    `excel_safe` puts an apostrophe before every CSV cell that a spreadsheet would run as a formula (one that begins
    with `=`, `+`, `-`, `@`, TAB or CR). Such a file is for looking at: reading it back keeps the apostrophes.

    Raises `InputError` for an unknown suffix, `excel_safe` with another format, or a path that cannot be written.
    """
    kind = table_format(path)
    if excel_safe and kind != "csv":
        raise InputError(f"Formula cells are guarded in CSV only; {path} is {kind}, leave the guard out.")
    write: Callable[[BinaryIO, Iterable[Vote]], int]
    if kind == "csv":
        write = _write_guarded_csv if excel_safe else _write_csv
    else:
        write = _write_json_lines if kind == "jsonl" else _write_parquet
    with _replacing(path) as file:
        return write(file, votes)


def read_votes(path: Path) -> list[Vote]:
    """Read a file that `write_votes` wrote.

    Raises `InputError` when the file cannot be read, a column is missing or unknown, or a cell is not what the column
    holds; the message names the row (1 is the first after the header) and the column.
    """
    table = read_table(path, COLUMNS)
    if table.rows or table.columns:
        _check_columns(table.columns, path)
    return [_vote(cells, number, path) for number, cells in enumerate(table.rows, start=1)]


def _check_columns(found: tuple[str, ...], path: Path) -> None:
    missing = [column for column in COLUMNS if column not in found]
    unknown = [column for column in found if column not in COLUMNS]
    if missing or unknown:
        parts = [("lacks", missing), ("has unknown", unknown)]
        said = " and ".join(f"{verb} {', '.join(f'`{name}`' for name in names)}" for verb, names in parts if names)
        raise InputError(f"{path} is not a votes table: it {said}; export it again with `convolabel export`.")


def _vote(cells: tuple[object, ...], number: int, path: Path) -> Vote:
    try:
        return Vote.model_validate(dict(zip(COLUMNS, cells, strict=True)))
    except ValidationError as error:
        # The message leaves the value out: it may be what someone said in a conversation.
        first = error.errors(include_input=False, include_url=False)[0]
        column = f", column `{first['loc'][0]}`" if first["loc"] else ""
        raise InputError(f"{path}, row {number}{column}: {first['msg'].removeprefix('Value error, ')}.") from None


def _write_csv(file: BinaryIO, votes: Iterable[Vote]) -> int:
    return _write_csv_cells(file, votes, _csv_cell)


def _write_guarded_csv(file: BinaryIO, votes: Iterable[Vote]) -> int:
    return _write_csv_cells(file, votes, _guarded_csv_cell)


def _write_csv_cells(file: BinaryIO, votes: Iterable[Vote], shown: Callable[[Any], object]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    count = 0
    for count, vote in enumerate(votes, start=1):  # noqa: B007
        writer.writerow([shown(value) for value in _cells(vote)])
    text.detach()
    return count


def _csv_cell(value: Any) -> object:
    return ("true" if value else "false") if isinstance(value, bool) else value


def _guarded_csv_cell(value: Any) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else _csv_cell(value)


def _write_json_lines(file: BinaryIO, votes: Iterable[Vote]) -> int:
    count = 0
    for count, vote in enumerate(votes, start=1):  # noqa: B007
        row = dict(zip(COLUMNS, _cells(vote), strict=True))
        file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return count


def _write_parquet(file: BinaryIO, votes: Iterable[Vote]) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Writing Parquet", "parquet") from None
    arrow_type = {bool: pa.bool_(), int: pa.int64(), str: pa.string()}
    schema = pa.schema([(column, arrow_type[_python_type(column)]) for column in COLUMNS])
    rows = iter(votes)
    count = 0
    with pq.ParquetWriter(file, schema) as writer:  # type: ignore[no-untyped-call]
        while group := list(itertools.islice(rows, _PARQUET_ROW_GROUP)):
            columns = zip(*map(_cells, group), strict=True)
            writer.write_table(pa.table([list(column) for column in columns], schema=schema))
            count += len(group)
    return count


def _python_type(column: str) -> type:
    annotation = Vote.model_fields[column].annotation
    members = get_args(annotation) or (annotation,)
    return next((kind for kind in (bool, int) if kind in members), str)


def _cells(vote: Vote) -> list[Any]:
    return [getattr(vote, column) for column in COLUMNS]


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file beside `path` that takes its place once it is whole, and is gone otherwise."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}; choose another place.") from None
    finally:
        part.unlink(missing_ok=True)
