"""Votes ready for analysis: a table with one row per vote, convolabel's own or a foreign one, read and checked.

Nothing is guessed: a cell is text as it stands, and what a measure needs but the table lacks is said by the measure.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from convolabel.errors import InputError
from convolabel.units import UNSURE
from convolabel.votes_table import DIMENSION_COLUMN, RATER_COLUMN, UNIT_COLUMNS, UNSURE_COLUMN, VALUE_COLUMN
from evaluators.arrays import BoolArray, IntArray
from evaluators.columns import Column, Columns, Source, coded, read_columns

if TYPE_CHECKING:
    import pandas as pd

OPTIONAL = {
    "conversation": "conversation_id",
    "role": "speaker_role",
    "speaker": "speaker",
    "message": "message_id",
    "time": "time_ms",
}
"""What a table may also say, by the argument of `load_votes`, and the column it is in by default."""

_UNIT_TEXTS = {"text": "span_text"}
_UNIT_NUMBERS = {"start": "span_start", "end": "span_end", "message_index": "message_index"}
_VOTE_TEXTS = {
    "rater_kind": "rater_kind",
    "rater_name": "rater_name",
    "note": "note",
    "created_at": "created_at",
    "arm": "copilot_arm",
    "suggestion": "copilot_label",
    "suggestion_2": "copilot_label_2",
    "confidence": "copilot_confidence",
}
_VOTE_FLAGS = {"shown": "copilot_shown", "accepted": "copilot_accepted", "helpful": "copilot_helpful"}
_VOTE_NUMBERS = {"later_ms": "later_time_ms"}


@dataclass(frozen=True)
class Votes:
    """The votes of a table.

    `frame` has one row per vote in the order of the table: `dimension` (if the table has it), `unit` (a position in
    `units`), `rater`, `rater_kind` (`human` unless the table says otherwise), `value` (`unsure` where the rater was)
    and, as far as the table has them, `rater_name`, `note`, `created_at`, `arm`, `suggestion`, `suggestion_2`,
    `confidence`, `shown`, `accepted`, `helpful`, `time_ms` and `later_ms`. Texts are categorical columns, an empty cell
    is missing; flags are 1, 0 or missing.

    `units` has one row per unit: its `name` (span id, or the texts of its columns), and `conversation`, `role`,
    `speaker`, `message`, `text`, `length` (code points), `position` (0-based place in its conversation) as far as the
    table has them.
    `used` says which columns were read, and what was left out.
    """

    frame: "pd.DataFrame"
    units: "pd.DataFrame"
    used: Mapping[str, Any]

    @cached_property
    def dimensions(self) -> tuple[str | None, ...]:
        """The dimensions in order of first appearance; `(None,)` for a table without such a column."""
        if "dimension" not in self.frame:
            return (None,)
        return tuple(dict.fromkeys(map(str, self.frame["dimension"].unique()))) or (None,)

    def of(self, dimension: str | None) -> "pd.DataFrame":
        """The votes on one dimension."""
        return self.frame if dimension is None else self.frame[self.frame["dimension"] == dimension]

    @cached_property
    def rater_names(self) -> Mapping[str, str]:
        """Rater -> name to show, where the table has one; else the rater itself."""
        raters = self.frame.drop_duplicates("rater")
        named = raters["rater_name"] if "rater_name" in raters else raters["rater"]
        return {
            str(rater): str(rater if name != name else name) for rater, name in zip(raters["rater"], named, strict=True)
        }

    def has(self, *columns: str) -> bool:
        return all(column in self.frame or column in self.units for column in columns)


def load_votes(
    source: Source,
    *,
    unit: str | Sequence[str] = UNIT_COLUMNS,
    rater: str = RATER_COLUMN,
    value: str = VALUE_COLUMN,
    conversation: str | None = None,
    role: str | None = None,
    speaker: str | None = None,
    message: str | None = None,
    time: str | None = None,
    dimension: str | None = None,
    missing: Collection[str] = (),
) -> Votes:
    """Read a long table: a CSV, JSON Lines or Parquet file, a pandas table, or rows (mappings, `Vote`s).

    The arguments name columns; several may name the unit together. The optional ones default to those of the votes
    table (docs/votes-table.md) when the table has them. `dimension` keeps one dimension. A row with an empty value,
    or one in `missing`, is no vote and is left out. A value `unsure`, or `true` in a column `unsure`, is an unsure
    vote.

    Raises `InputError` for a column or a dimension that is not there, a row without unit, rater or dimension, a unit in
    two conversations, and when a rater gave one unit two different values.
    """
    unit_columns = (unit,) if isinstance(unit, str) else tuple(unit)
    asked = {"conversation": conversation, "role": role, "speaker": speaker, "message": message, "time": time}
    names = {key: column or OPTIONAL[key] for key, column in asked.items()}
    wanted = [*unit_columns, rater, value, DIMENSION_COLUMN, UNSURE_COLUMN, *names.values()]
    wanted += [*_UNIT_TEXTS.values(), *_UNIT_NUMBERS.values()]
    wanted += [*_VOTE_TEXTS.values(), *_VOTE_FLAGS.values(), *_VOTE_NUMBERS.values()]
    table = read_columns(source, list(dict.fromkeys(wanted)))
    name = str(source) if isinstance(source, Path | str) else "the table"
    needed = [(column, "unit") for column in unit_columns] + [(rater, "rater"), (value, "value")]
    needed += [(column, key) for key, column in asked.items() if column]
    _check_columns(table, needed, dimension, name)

    reader = _Reader(name, table, unit_columns, rater, value, frozenset(missing))
    rows = reader.votes_of(dimension)
    found = {key: column for key, column in names.items() if column in table.columns}
    used: dict[str, Any] = {
        "table": Path(source).name if isinstance(source, Path | str) else None,
        "columns": {"unit": list(unit_columns), "rater": rater, "value": value, **found},
        "missing": sorted(missing),
        "rows": table.rows,
        "votes": len(rows),
    }
    units, unit_codes = reader.units(rows, {key: found[key] for key in found if key != "time"})
    return Votes(reader.frame(rows, unit_codes, found.get("time")), units, used)


@dataclass(frozen=True)
class _Reader:
    name: str
    table: Columns
    unit_columns: tuple[str, ...]
    rater: str
    value: str
    missing: frozenset[str]

    @cached_property
    def values(self) -> Column:
        """The values, `unsure` where a row says so, empty where it is no vote."""
        column = self.table.columns[self.value]
        kept = coded(["" if value in self.missing else value for value in (*column.values, UNSURE, "")])
        codes = kept.codes[column.codes]
        if UNSURE_COLUMN in self.table.columns:
            said = self.table.columns[UNSURE_COLUMN]
            is_true = np.array([value.lower() == "true" for value in said.values] or [False])
            codes = np.where(is_true[said.codes], kept.codes[-2], codes)
        return Column(codes, kept.values)

    def votes_of(self, dimension: str | None) -> IntArray:
        """Positions of the rows that are votes, repeated ones once."""
        values = self.values
        empty = np.array([value == "" for value in values.values] or [False])
        is_vote = ~empty[values.codes]
        wanted = np.ones(self.table.rows, dtype=np.bool_)
        of_dimension = self.table.columns.get(DIMENSION_COLUMN)
        if of_dimension is not None and dimension is not None:
            if dimension not in of_dimension.values:
                known = ", ".join(f"`{known}`" for known in of_dimension.values if known) or "none"
                raise InputError(f"{self.name} has no votes for the dimension `{dimension}`; it has {known}.")
            wanted = of_dimension.codes == of_dimension.values.index(dimension)
        self._refuse_empty_names(wanted)
        rows: IntArray = np.flatnonzero(wanted & is_vote).astype(np.int64)
        keys = [*self.unit_columns, self.rater, *([DIMENSION_COLUMN] if of_dimension is not None else [])]
        votes = self._groups(keys, rows)
        first = _first_rows(votes)
        differs = values.codes[rows] != values.codes[rows[first[votes]]]
        if differs.any():
            place = int(np.argmax(differs))
            raise InputError(self._two_values(int(rows[place]), int(rows[first[votes[place]]])))
        return rows[first]

    def _two_values(self, row: int, before: int) -> str:
        unit = " ".join(self.table.columns[column][row] for column in self.unit_columns)
        rater = self.table.columns[self.rater][row]
        return (
            f"{self.name}, row {row + 1}: rater `{rater}` gave unit `{unit}` both `{self.values[before]}` and "
            f"`{self.values[row]}`; keep one of the rows, or name every column that tells units apart with --unit."
        )

    def _refuse_empty_names(self, wanted: BoolArray) -> None:
        named = [*self.unit_columns, self.rater, *({DIMENSION_COLUMN} & set(self.table.columns))]
        for column in map(self.table.columns.__getitem__, named):
            empty = np.array([value == "" for value in column.values] or [False])
            wrong = wanted & empty[column.codes]
            if wrong.any():
                row = int(np.argmax(wrong)) + 1
                raise InputError(
                    f"{self.name}, row {row}: the unit, the rater or the dimension is empty; "
                    "fill it in or drop the row."
                )

    def _groups(self, columns: Sequence[str], rows: IntArray) -> IntArray:
        """A number for every row, the same where `columns` hold the same texts; numbers by first appearance."""
        import pandas as pd

        groups = np.zeros(len(rows), dtype=np.int64)
        for column in map(self.table.columns.__getitem__, columns):
            joint = groups * max(1, len(column.values)) + column.codes[rows]
            groups = pd.factorize(joint)[0].astype(np.int64)
        return groups

    def units(self, rows: IntArray, found: Mapping[str, str]) -> tuple["pd.DataFrame", IntArray]:
        """One row per unit, and the unit of every vote."""
        import pandas as pd

        codes = self._groups(self.unit_columns, rows)
        first = rows[_first_rows(codes)]
        conversation = self.table.columns.get(found.get("conversation", ""))
        if conversation is not None:
            moved = conversation.codes[rows] != conversation.codes[first[codes]]
            if moved.any():
                row = int(rows[np.argmax(moved)])
                unit = " ".join(self.table.columns[column][row] for column in self.unit_columns)
                raise InputError(
                    f"{self.name}, row {row + 1}: unit `{unit}` stands in two conversations; "
                    "name every column that tells units apart with --unit."
                )
        named = [self.table.columns[column].where(first) for column in self.unit_columns]
        names = zip(*([column.values[code] for code in column.codes] for column in named), strict=True)
        joined = map(_span_name if self.unit_columns == UNIT_COLUMNS else " ".join, names)
        units = pd.DataFrame({"name": list(joined)}, dtype=object)
        texts = {**found, **{key: column for key, column in _UNIT_TEXTS.items() if column in self.table.columns}}
        for key, column in texts.items():
            units[key] = _series(self.table.columns[column].where(first))
        numbers = {
            key: self.table.columns[column].numbers(column)[first]
            for key, column in _UNIT_NUMBERS.items()
            if column in self.table.columns
        }
        if "start" in numbers and "end" in numbers:
            units["length"] = numbers["end"] - numbers["start"]
        if "conversation" in units:
            units["position"] = _positions(units, numbers)
        return units, codes

    def frame(self, rows: IntArray, unit_codes: IntArray, time: str | None) -> "pd.DataFrame":
        import pandas as pd

        columns = self.table.columns
        cells: dict[str, Any] = {}
        if DIMENSION_COLUMN in columns:
            cells["dimension"] = _series(columns[DIMENSION_COLUMN].where(rows))
        cells |= {"unit": unit_codes, "rater": _series(columns[self.rater].where(rows))}
        cells["value"] = _series(self.values.where(rows))
        for key, name in _VOTE_TEXTS.items():
            if name in columns:
                cells[key] = _series(columns[name].where(rows))
        for key, name in _VOTE_FLAGS.items():
            if name in columns:
                cells[key] = _flags(columns[name], name)[rows]
        for key, name in {**({"time_ms": time} if time else {}), **_VOTE_NUMBERS}.items():
            if name in columns:
                cells[key] = columns[name].numbers(name)[rows]
        if "rater_kind" not in cells:
            cells["rater_kind"] = _series(Column(np.zeros(len(rows), dtype=np.int64), ("human",)))
        return pd.DataFrame(cells)


def _span_name(unit: tuple[str, ...]) -> str:
    span_id, rev = unit
    return span_id if rev == "1" else f"{span_id} rev {rev}"


def _first_rows(groups: IntArray) -> IntArray:
    """The first row of every group; groups are numbered by first appearance."""
    first: IntArray = np.unique(groups, return_index=True)[1].astype(np.int64)
    return first


def _series(column: Column) -> Any:
    """A categorical pandas column; an empty text is missing. Categories that do not occur are dropped."""
    import pandas as pd

    used = np.zeros(len(column.values), dtype=np.bool_)
    used[column.codes] = True
    kept = [place for place in np.flatnonzero(used) if column.values[place] != ""]
    places = np.full(len(column.values) + 1, -1, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    categories = pd.Index([column.values[place] for place in kept], dtype=object)
    return pd.Categorical.from_codes(places[column.codes], categories)


def _flags(column: Column, name: str) -> Any:
    known = {"true": 1.0, "false": 0.0, "": np.nan}
    wrong = np.array([value.lower() not in known for value in column.values] or [False])
    if wrong[column.codes].any():
        row = int(np.argmax(wrong[column.codes])) + 1
        raise InputError(f"Column `{name}`, row {row}: neither true nor false; mend the cell or leave it empty.")
    return np.array([known[value.lower()] for value in column.values] or [np.nan])[column.codes]


def _positions(units: "pd.DataFrame", numbers: Mapping[str, Any]) -> IntArray:
    """0-based places of units in their conversations.

    By message and start where the table has them, else by first appearance. Messages stand in the order of a column
    `message_index`, else in that of their first appearance (a rater's votes are exported in reading order).
    """
    appearance = np.arange(len(units))
    conversation = units["conversation"].cat.codes.to_numpy()
    message, start = appearance, appearance
    if "message" in units and "start" in numbers:
        import pandas as pd

        start = numbers["start"]
        of_message = units["message"].cat.codes.to_numpy().astype(np.int64)
        groups = pd.factorize(conversation.astype(np.int64) * (of_message.max(initial=0) + 1) + of_message)[0]
        message = numbers.get("message_index", groups)
    order = np.lexsort((appearance, start, message, conversation))
    sizes = np.bincount(conversation[order] + 1)
    begins = np.concatenate(([0], np.cumsum(sizes)))[:-1] if len(units) else np.zeros(0, dtype=np.int64)
    positions = np.empty(len(units), dtype=np.int64)
    positions[order] = np.arange(len(units)) - begins[conversation[order] + 1] if len(units) else 0
    return positions


def _check_columns(table: Columns, needed: Sequence[tuple[str, str]], dimension: str | None, name: str) -> None:
    if not table.names and not table.rows:
        raise InputError(f"{name} has no rows; there is nothing to analyse.")
    for column, option in needed:
        if column not in table.columns:
            near = difflib.get_close_matches(column, table.names, n=1, cutoff=0.5)
            hint = f", perhaps `--{option} {near[0]}`" if near else ""
            found = ", ".join(table.names)
            raise InputError(
                f"{name} has no column `{column}` (found: {found}); name the column with --{option}{hint}."
            )
    if dimension is not None and DIMENSION_COLUMN not in table.columns:
        raise InputError(f"{name} has no column `{DIMENSION_COLUMN}`; leave --dimension out.")
