"""Tables column by column, every cell as text and coded: what a measure over millions of votes reads.

A cell is text as it stands: `1` and `1.0` differ, `NA` is a text, and only an empty cell is empty.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from convolabel.errors import InputError
from convolabel.table_files import read_table, table_format
from convolabel.votes_table import Vote
from evaluators.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = "Path | str | pd.DataFrame | Iterable[Mapping[str, object] | Vote]"
"""A table: the path of a CSV, JSON Lines or Parquet file, a pandas table, or its rows."""


@dataclass(frozen=True)
class Column:
    """Row `i` holds the text `values[codes[i]]`; the values differ from each other, and `""` is an empty cell."""

    codes: IntArray
    values: tuple[str, ...]

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]

    def where(self, rows: Any) -> "Column":
        """The column of some rows (a mask or positions)."""
        return Column(self.codes[rows], self.values)

    def numbers(self, name: str) -> FloatArray:
        """The cells as numbers, not-a-number where empty. Raises `InputError` for anything else."""
        parsed = np.array([_number(value) for value in self.values] or [0.0])
        wrong = np.array([value != "" for value in self.values] or [False]) & np.isnan(parsed)
        if wrong[self.codes].any():
            row = int(np.argmax(wrong[self.codes])) + 1
            raise InputError(f"Column `{name}`, row {row}: not a number; mend the cell or leave it empty.")
        return parsed[self.codes]


@dataclass(frozen=True)
class Columns:
    """`names` are all columns of the table, `columns` those that were asked for and are there."""

    names: tuple[str, ...]
    columns: Mapping[str, Column]
    rows: int


def read_columns(source: Source, wanted: Sequence[str]) -> Columns:
    """Read the `wanted` columns of a `Source`. Raises `InputError` when the file is not such a table."""
    if isinstance(source, Path | str):
        path = Path(source)
        kind = table_format(path)
        if kind == "parquet":
            return _read_parquet(path, wanted)
        return (_read_csv(path, wanted) if kind == "csv" else None) or _read_rows(path, wanted)
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        columns = {name: _of_series(source[name]) for name in wanted if name in source.columns}
        return Columns(tuple(map(str, source.columns)), columns, len(source))
    return _of_mappings(source, wanted)


def coded(cells: Iterable[object]) -> Column:
    """Cells of any kind as a column, its values in order of first appearance."""
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(_text(cell), len(places)) for cell in cells], dtype=np.int64)
    return Column(codes, tuple(places))


def _text(cell: object) -> str:
    """A cell as text; empty for what is missing (`None`, not-a-number, pandas' NA)."""
    if isinstance(cell, str):
        return cell
    # comparing pandas' NA gives NA, which is neither true nor false
    if cell is None or type(cell).__name__ == "NAType" or cell != cell:
        return ""
    return str(cell).lower() if isinstance(cell, bool | np.bool_) else str(cell)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return float("nan")
    return number if np.isfinite(number) else float("nan")


def _recoded(codes: IntArray, distinct: Sequence[object]) -> Column:
    """`codes` point into `distinct`, -1 being an empty cell."""
    texts = coded([*distinct, None])
    return Column(texts.codes[codes], texts.values)


def _of_series(series: Any) -> Column:
    import pandas as pd

    # pandas takes 1, 1.0 and True in a column of mixed objects for the same
    if series.dtype == object:
        return coded(series.tolist())
    codes, distinct = pd.factorize(series)
    return _recoded(codes.astype(np.int64), list(distinct))


def _of_mappings(rows: Iterable[Mapping[str, object] | Vote], wanted: Sequence[str]) -> Columns:
    names: dict[str, None] = {}
    picked: list[tuple[object, ...]] = []
    for row in rows:
        mapping = vars(row) if isinstance(row, Vote) else row
        names.update(dict.fromkeys(mapping))
        picked.append(tuple(map(mapping.get, wanted)))
    return _of_cells(tuple(names), picked, wanted)


def _read_rows(path: Path, wanted: Sequence[str]) -> Columns:
    table = read_table(path, wanted)
    return _of_cells(table.columns, table.rows, wanted)


def _of_cells(names: tuple[str, ...], rows: list[tuple[object, ...]], wanted: Sequence[str]) -> Columns:
    cells: list[tuple[object, ...]] = list(zip(*rows, strict=True)) or [()] * len(wanted)
    columns = {name: coded(column) for name, column in zip(wanted, cells, strict=True) if name in names}
    return Columns(names, columns, len(rows))


def _read_csv(path: Path, wanted: Sequence[str]) -> Columns | None:
    """`None` where Arrow may read a broken file as a whole one or cannot say what is wrong with it.

    Arrow accepts a file that ends inside a quoted cell; such a file has an odd number of quotes.
    """
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, read_csv  # type: ignore[attr-defined]

    try:
        with path.open("rb") as file:
            quotes = sum(block.count(b'"') for block in iter(lambda: file.read(1 << 20), b""))
        with path.open(encoding="utf-8-sig", newline="") as text:
            names = next(csv.reader(text, strict=True), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    if quotes % 2 or not names or len(set(names)) < len(names):
        return None
    present = [name for name in wanted if name in names]
    as_text = pa.dictionary(pa.int32(), pa.string())
    try:
        table = read_csv(
            path,
            parse_options=ParseOptions(newlines_in_values=True),
            convert_options=ConvertOptions(
                column_types=dict.fromkeys(present, as_text), include_columns=present or names[:1]
            ),
        )
    except pa.ArrowException:
        return None
    return Columns(tuple(names), {name: _of_arrow(table.column(name)) for name in present}, table.num_rows)


def _read_parquet(path: Path, wanted: Sequence[str]) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:  # type: ignore[no-untyped-call]
            names = tuple(file.schema_arrow.names)
            if len(set(names)) < len(names):
                return _read_rows(path, wanted)
            table = file.read(columns=[name for name in wanted if name in names])
        columns = {name: _of_arrow(table.column(name)) for name in wanted if name in names}
    except (OSError, pa.ArrowException):
        return _read_rows(path, wanted)
    return Columns(names, columns, table.num_rows)


def _of_arrow(column: Any) -> Column:
    import pyarrow as pa

    if column.num_chunks == 0:
        return Column(np.zeros(0, dtype=np.int64), ())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    array = column.unify_dictionaries().combine_chunks()
    return _recoded(array.indices.fill_null(-1).to_numpy().astype(np.int64), array.dictionary.to_pylist())
