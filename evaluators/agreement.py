"""Agreement between raters: Krippendorff's nominal alpha of a votes table, one result per dimension."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from convolabel.votes_table import RATER_COLUMN, UNIT_COLUMNS, VALUE_COLUMN
from evaluators.alpha import nominal_alpha, pairable
from evaluators.reliability_data import ReliabilityData, Source, Unsure, VoteColumns, read_reliability_data


@dataclass(frozen=True)
class Agreement:
    """Agreement on one dimension.

    `alpha` is `None` when it is undefined, and then `reason` is a sentence that says why. `observed_agreement` is the
    share of agreeing pairs that alpha is built on (`1 - D_o`, a unit of m values weighing m), `None` without any pair.
    `units` and `raters` are those with at least one value, `pairable_units` those units with two or more;
    `values` counts the values given, `unsure` the votes left out as unsure, `categories` the values per category.
    """

    dimension: str | None
    alpha: float | None
    reason: str | None
    observed_agreement: float | None
    units: int
    pairable_units: int
    raters: int
    values: int
    unsure: int
    categories: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """For JSON: plain values, `None` where something is undefined, never a NaN."""
        return asdict(self)


def agreement(
    table: Source,
    *,
    unit: str | Sequence[str] = UNIT_COLUMNS,
    rater: str = RATER_COLUMN,
    value: str = VALUE_COLUMN,
    dimension: str | None = None,
    unsure: Unsure = "missing",
    missing: Collection[str] = (),
) -> list[Agreement]:
    """Agreement of a long table (a CSV, JSON Lines or Parquet file, or its rows), one result per dimension.

    `unit`, `rater` and `value` name the columns; several columns may name the unit together. The rest is as in
    `evaluators.reliability_data.read_reliability_data`, with the same `InputError`s.
    """
    columns = VoteColumns((unit,) if isinstance(unit, str) else tuple(unit), rater, value)
    found = read_reliability_data(table, columns, dimension=dimension, unsure=unsure, missing=missing)
    return [agreement_of(data) for data in found]


def agreement_of(data: ReliabilityData) -> Agreement:
    """Agreement of the votes of one dimension."""
    counts = data.counts
    alpha = nominal_alpha(counts)
    return Agreement(
        dimension=data.dimension,
        alpha=alpha.value,
        reason=_reason(data, alpha.reason),
        observed_agreement=alpha.observed_agreement,
        units=len(data.units),
        pairable_units=len(pairable(counts)),
        raters=len(data.raters),
        values=len(data.value_codes),
        unsure=data.unsure,
        categories=dict(zip(data.values, map(int, np.sum(counts, axis=0)), strict=True)),
    )


def agreement_text(results: Sequence[Agreement]) -> str:
    """The results as a plain table, one line each; alpha comes last because it may be a reason instead."""
    rows = [("dimension", "units", "pairable", "raters", "observed", "alpha")]
    for result in results:
        observed = "-" if result.observed_agreement is None else f"{result.observed_agreement:.3f}"
        alpha = f"undefined: {result.reason}" if result.alpha is None else f"{result.alpha:.3f}"
        sizes = (str(result.units), str(result.pairable_units), str(result.raters))
        rows.append((result.dimension or "-", *sizes, observed, alpha))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _reason(data: ReliabilityData, undefined: str | None) -> str | None:
    if undefined is not None and len(data.raters) < 2:
        given = "one rater gave values" if data.raters else "nobody gave a value"
        return f"alpha compares raters, and {given}"
    return undefined
