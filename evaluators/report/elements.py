"""What a report is made of: sections of listings, heat maps and curves. Plain data; `page` draws it.

Every number keeps its full precision beside the text a reader sees.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evaluators.tidy_tables import records

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["text", "count", "number", "coefficient", "difference", "share", "seconds", "ratio", "p"]
Row: TypeAlias = Mapping[str, Any]

MISSING = "–"
MINUS = "−"
_MOST_NUMBERS = 600
_RESAMPLES = re.compile(r"^undefined in \d+ of \d+ resamples$")


def said(value: Any, form: Form) -> str:
    """A cell as a reader sees it; times are given in milliseconds.

    >>> [said(0.7367, "coefficient"), said(-0.05, "difference"), said(0.7367, "share"), said(3400, "seconds")]
    ['0.737', '−0.050', '73.7%', '3.4 s']
    >>> [said(1234, "count"), said(0.0004, "p"), said(None, "share"), said(0.9051, "ratio")]
    ['1,234', '< 0.001', '–', '× 0.905']
    >>> [said(-0.0004, "difference"), said(0, "count")]
    ['0.000', '0']
    """
    if value is None:
        return MISSING
    if form == "text":
        return str(value)
    text = _FORMS[form](value)
    # what rounds to nothing has no sign
    return text.lstrip("+-") if not text.strip("+-0.") else text.replace("-", MINUS)


_FORMS: dict[Form, Callable[[Any], str]] = {
    "count": lambda value: f"{value:,.0f}",
    "number": lambda value: f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}",
    "coefficient": lambda value: f"{value:.3f}",
    "difference": lambda value: f"{value:+.3f}",
    "share": lambda value: f"{value:.1%}",
    "seconds": lambda value: f"{value / 1000:.1f} s" if value < 99_950 else f"{value / 1000:,.0f} s",
    "ratio": lambda value: f"× {value:.3f}",
    "p": lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}",
}


@dataclass(frozen=True)
class Column:
    """A column of a listing: the cell `key`, or, with `to`, an interval from one cell to the other."""

    key: str
    title: str
    form: Form = "count"
    to: str = ""


@dataclass(frozen=True)
class Scale:
    """Places numbers between 0 and 100 percent of a plot's width; `marks` are lines a reader compares with."""

    low: float
    high: float
    ticks: tuple[float, ...]
    form: Form
    marks: tuple[float, ...] = ()
    is_log: bool = False

    def at(self, value: float) -> float:
        """Percent of the width, kept inside of it."""
        if self.is_log:
            place = math.log(max(value, 1e-300) / self.low) / math.log(self.high / self.low)
        else:
            place = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, place)), 2)

    def tick_text(self, value: float) -> str:
        """Short, since ticks are round."""
        if self.form == "share":
            return f"{value:.0%}"
        if self.form == "seconds":
            return f"{value / 1000:g} s"
        if self.form == "ratio":
            return f"× {value:g}"
        return f"{round(value, 9):g}".replace("-", MINUS)


@dataclass(frozen=True)
class Plot:
    """The column of a listing that draws `value`, and the line from `low` to `high`, on one scale for all rows."""

    scale: Scale
    title: str
    value: str
    low: str = "low"
    high: str = "high"
    why: str = "reason"
    """The cell that says why there is no value."""


@dataclass(frozen=True)
class Listing:
    """A table that may draw its numbers in a column of its own; `source` names its CSV."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    source: str
    plot: Plot | None = None
    notes: tuple[str, ...] = ()
    kind: str = "listing"

    @property
    def labels(self) -> tuple[Column, ...]:
        """The leading columns, which name a row; the plot stands after them."""
        return tuple(takewhile(lambda column: column.form == "text", self.columns))

    @property
    def rest(self) -> tuple[Column, ...]:
        return self.columns[len(self.labels) :]


@dataclass(frozen=True)
class HeatCell:
    """`strength`, 0 to 1, is how dark the cell is; `n` is what the number rests on."""

    value: Any
    n: int | None
    strength: float


@dataclass(frozen=True)
class Heat:
    """A matrix whose cells are shaded by their numbers. `cells` maps (row, column) to what stands there; a cell's `n`
    is `None` where all of them are the same, and a note says it."""

    caption: str
    row_title: str
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], HeatCell]
    form: Form
    source: str
    notes: tuple[str, ...] = ()
    kind: str = "heat"

    @property
    def is_wide(self) -> bool:
        """Whether the names of the columns take more room beside each other than a page has."""
        return sum(max(6, len(name)) for name in self.columns) > 90


@dataclass(frozen=True)
class Panel:
    """One curve: points with `x`, `value`, `low`, `high` and `n`."""

    title: str
    points: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True)
class Curves:
    """Small curves of the same axes, one per panel."""

    caption: str
    panels: tuple[Panel, ...]
    x: Scale
    y: Scale
    x_title: str
    y_title: str
    source: str
    notes: tuple[str, ...] = ()
    kind: str = "curves"

    @property
    def lists_numbers(self) -> bool:
        """Whether they are few enough to stand below the plot; they are in the file in any case."""
        return sum(len(panel.points) for panel in self.panels) <= _MOST_NUMBERS


@dataclass(frozen=True)
class Histogram:
    """Counts between the edges of bins: rows with `from_ms`, `to_ms`, `n`."""

    caption: str
    rows: tuple[Row, ...]
    x: Scale
    x_title: str
    y_title: str
    source: str
    notes: tuple[str, ...] = ()
    kind: str = "histogram"

    @property
    def most(self) -> int:
        return max((int(row["n"]) for row in self.rows), default=1)


Element: TypeAlias = Listing | Heat | Curves | Histogram


@dataclass(frozen=True)
class Section:
    """`says` are paragraphs before its elements; `name`, that of a whole chapter, is its place in links."""

    title: str
    says: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    parts: tuple["Section", ...] = ()
    name: str = ""

    def every_element(self) -> Iterable[Element]:
        yield from self.elements
        for part in self.parts:
            yield from part.every_element()


def rows_of(table: "pd.DataFrame", **equal: Any) -> tuple[Row, ...]:
    """The rows of a tidy table where every named column holds the given value; `None` matches a missing cell."""
    rows = records(table)
    return tuple(row for row in rows if all(row[name] == value for name, value in equal.items()))


def of_dimension(table: "pd.DataFrame", dimension: str | None) -> tuple[Row, ...]:
    return rows_of(table, dimension=dimension)


def missing_notes(rows: Sequence[Row], key: str, what: str) -> tuple[str, ...]:
    """Why some rows have no interval, each reason once."""
    reasons = [_RESAMPLES.sub("undefined in more than 5% of the resamples", row[key]) for row in rows if row.get(key)]
    return tuple(
        f"{what} {'in all rows' if n == len(rows) else f'in {n} of {len(rows)} rows'}: {reason}."
        for reason, n in Counter(reasons).items()
    )


def ends(rows: Sequence[Row], key: str, most: int) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """At most `most` rows, those with the lowest and the highest `key`, and a note when some are left out."""
    if len(rows) <= most:
        return tuple(rows), ()
    known = sorted((row for row in rows if row[key] is not None), key=lambda row: row[key])
    half = most // 2
    kept = (*known[:half], *known[len(known) - half :]) if len(known) > most else tuple(known)
    return kept, (f"The {len(kept)} rows at both ends of {len(rows)}; all of them are in the CSV file.",)
