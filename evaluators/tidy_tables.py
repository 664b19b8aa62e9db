"""Results as tidy tables: what every analysis returns, for notebooks, files, JSON and people."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convolabel.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def tidy(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> "pd.DataFrame":
    """A table with these columns in this order, also when there is no row; `None` is a missing cell.

    A column of numbers is one of floats also when all of them are missing.
    """
    import pandas as pd

    table = pd.DataFrame(list(rows), columns=list(columns))
    without = [name for name in columns if not _is_text(name) and table[name].isna().all()]
    return table.astype(dict.fromkeys(without, "float64"))


def _is_text(column: str) -> bool:
    return column in ("dimension", "conversation", "text") or column.endswith("reason")


@dataclass(frozen=True)
class Tables:
    """An analysis: `used` names the choices it was made with, every other attribute is a tidy pandas table.

    An undefined number is a missing cell, and the column `reason` beside it says why.
    """

    used: Mapping[str, Any]

    def tables(self) -> dict[str, "pd.DataFrame"]:
        """The tables by name, in order."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "used"}

    def as_dict(self) -> dict[str, Any]:
        """For JSON: `used`, and each table as a list of rows; `None` where something is undefined, never a NaN."""
        return {"used": dict(self.used), **{name: records(table) for name, table in self.tables().items()}}

    def text(self, *, rows: int = 20) -> str:
        """For people: the choices, then the tables with at most `rows` rows each."""
        used = [f"{name.replace('_', ' ')}: {_said(value)}" for name, value in self.used.items() if value is not None]
        parts = ["\n".join(used)]
        for name, table in self.tables().items():
            if len(table):
                parts.append(f"{name.replace('_', ' ').upper()}\n{_aligned(table, rows)}")
        return "\n\n".join(parts)

    def write(self, folder: Path) -> list[Path]:
        """Write each table as CSV, and `used.json`, into `folder`. Raises `InputError` when that cannot be done."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = [folder / "used.json"]
            written[0].write_text(json.dumps(dict(self.used), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            for name, table in self.tables().items():
                written.append(folder / f"{name}.csv")
                table.to_csv(written[-1], index=False, lineterminator="\r\n")
        except OSError as error:
            raise InputError(f"Cannot write to {folder}: {error.strerror}; choose another folder.") from None
        return written


def records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows as plain Python values, `None` for a missing cell."""
    missing = table.isna().to_numpy()
    names = [str(name) for name in table.columns]
    rows = zip(table.astype(object).itertuples(index=False, name=None), missing, strict=True)
    return [
        {name: None if gone else _plain(cell) for name, cell, gone in zip(names, row, gaps, strict=True)}
        for row, gaps in rows
    ]


def _plain(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_said(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _aligned(table: "pd.DataFrame", rows: int) -> str:
    shown = records(table.head(rows))
    kept = [name for name in map(str, table.columns) if any(row[name] is not None for row in shown)]
    cells = [kept, *([_cell(row[name]) for name in kept] for row in shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    if len(table) > rows:
        lines.append(f"... and {len(table) - rows} more rows (all of them with --json)")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1000 else f"{value:.0f}"
    return " ".join(str(value).split())
