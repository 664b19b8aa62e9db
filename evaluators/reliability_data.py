"""Reliability data: which rater gave which unit which value, read from a long table with one row per vote."""

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from convolabel.errors import InputError
from convolabel.table_files import Row, Table, read_table
from convolabel.units import UNSURE
from convolabel.votes_table import DIMENSION_COLUMN, RATER_COLUMN, UNIT_COLUMNS, UNSURE_COLUMN, VALUE_COLUMN, Vote
from evaluators.alpha import IntArray

Source = Path | str | Iterable[Mapping[str, object] | Vote]
"""A table: the path of a CSV, JSON Lines or Parquet file, or its rows."""
Unsure = Literal["missing", "category"]

UnitKey = tuple[str, ...]


@dataclass(frozen=True)
class VoteColumns:
    """Which columns of a table name the unit (one, or several together), the rater and the value."""

    unit: tuple[str, ...] = UNIT_COLUMNS
    rater: str = RATER_COLUMN
    value: str = VALUE_COLUMN


@dataclass(frozen=True)
class ReliabilityData:
    """The votes of one dimension (`None` when the table has no such column).

    `units`, `raters` and `values` are in order of first appearance and hold only what some vote names;
    `unit_codes` and `value_codes` have one entry per vote, a position in `units` and in `values`.
    `unsure` counts the votes left out because their rater was unsure.
    """

    dimension: str | None
    units: tuple[UnitKey, ...]
    raters: tuple[str, ...]
    values: tuple[str, ...]
    unit_codes: IntArray
    value_codes: IntArray
    unsure: int

    @property
    def counts(self) -> IntArray:
        """Units x values: how many raters gave the unit that value."""
        shape = (len(self.units), len(self.values))
        cells = self.unit_codes * shape[1] + self.value_codes
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def read_reliability_data(
    source: Source,
    columns: VoteColumns | None = None,
    *,
    dimension: str | None = None,
    unsure: Unsure = "missing",
    missing: Collection[str] = (),
) -> list[ReliabilityData]:
    """The votes of a long table, one `ReliabilityData` per dimension in order of first appearance.

    A table with a column `dimension` is read by dimension; `dimension` picks one of them. An empty value is missing,
    as is every value in `missing`. A vote is unsure when its value is `unsure` or its column `unsure` says true; by
    default it is missing too, with `unsure="category"` it is a value of its own.

    Raises `InputError` for a column or a dimension that is not there, for a row without unit or rater, and when
    a rater gave one unit two different values.
    """
    columns = columns or VoteColumns()
    wanted = [*columns.unit, columns.rater, columns.value, DIMENSION_COLUMN, UNSURE_COLUMN]
    name = str(source) if isinstance(source, Path | str) else "the table"
    table = read_table(Path(source), wanted) if isinstance(source, Path | str) else _table_of(source, wanted)
    _check_columns(table, columns, dimension, name)
    votes: dict[str | None, _Votes] = {}
    for number, (*cells, said, of_dimension, flagged) in enumerate(table.rows, start=1):
        key = _text(of_dimension) or None
        of_its_dimension = votes.setdefault(key, {})
        if dimension is not None and key != dimension:
            continue
        *unit, rater = map(_text, cells)
        if not rater or not all(unit):
            raise InputError(f"{name}, row {number}: the unit or the rater is empty; fill it in or drop the row.")
        value = UNSURE if flagged and _text(flagged).lower() == "true" else _text(said)
        if not value or value in missing:
            continue
        before = of_its_dimension.setdefault((tuple(unit), rater), value)
        if before != value:
            raise InputError(
                f"{name}, row {number}: rater `{rater}` gave unit `{' '.join(unit)}` both `{before}` and `{value}`; "
                "keep one of the rows, or name every column that tells units apart with --unit."
            )
    if dimension is not None and dimension not in votes:
        known = ", ".join(f"`{known}`" for known in votes if known) or "none"
        raise InputError(f"{name} has no votes for the dimension `{dimension}`; it has {known}.")
    asked = list(votes or [None]) if dimension is None else [dimension]
    return [_coded(key, votes.get(key, {}), unsure) for key in asked]


_Votes = dict[tuple[UnitKey, str], str]
"""Unit and rater -> the value the rater gave the unit."""


def _coded(dimension: str | None, votes: _Votes, unsure: Unsure) -> ReliabilityData:
    units: dict[UnitKey, int] = {}
    raters: dict[str, None] = {}
    values: dict[str, int] = {}
    unit_codes: list[int] = []
    value_codes: list[int] = []
    left_out = 0
    for (unit, rater), value in votes.items():
        if value == UNSURE and unsure == "missing":
            left_out += 1
            continue
        raters[rater] = None
        unit_codes.append(units.setdefault(unit, len(units)))
        value_codes.append(values.setdefault(value, len(values)))
    return ReliabilityData(
        dimension,
        tuple(units),
        tuple(raters),
        tuple(values),
        np.array(unit_codes, dtype=np.int64),
        np.array(value_codes, dtype=np.int64),
        left_out,
    )


def _table_of(rows: Iterable[Mapping[str, object] | Vote], wanted: Sequence[str]) -> Table:
    columns: dict[str, None] = {}

    def cells() -> Iterator[Row]:
        for row in rows:
            mapping = vars(row) if isinstance(row, Vote) else row
            columns.update(dict.fromkeys(mapping))
            yield tuple(map(mapping.get, wanted))

    picked = list(cells())
    return Table(tuple(columns), picked)


def _check_columns(table: Table, columns: VoteColumns, dimension: str | None, name: str) -> None:
    asked = [(column, "--unit") for column in columns.unit]
    asked += [(columns.rater, "--rater"), (columns.value, "--value")]
    if not table.columns and not table.rows:
        raise InputError(f"{name} has no rows; there is nothing to agree on.")
    for column, option in asked:
        if column not in table.columns:
            near = difflib.get_close_matches(column, table.columns, n=1, cutoff=0.5)
            hint = f", perhaps `{option} {near[0]}`" if near else ""
            found = ", ".join(table.columns)
            raise InputError(f"{name} has no column `{column}` (found: {found}); name the column with {option}{hint}.")
    if dimension is not None and DIMENSION_COLUMN not in table.columns:
        raise InputError(f"{name} has no column `{DIMENSION_COLUMN}`; leave --dimension out.")


def _text(cell: object) -> str:
    """A cell as a nominal value; empty for what is missing (`None`, an empty text, not-a-number)."""
    if isinstance(cell, str):
        return cell
    if cell is None or cell != cell:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
