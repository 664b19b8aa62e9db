"""Krippendorff's alpha for nominal values, with missing values.

Klaus Krippendorff (2019), *Content Analysis*, 4th ed., ch. 12; the same in "Computing Krippendorff's
Alpha-Reliability" (2011). Alpha is `1 - D_o / D_e`: the observed over the expected disagreement of pairable values, a
value being pairable when another rater gave its unit a value too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Alpha:
    """`value` and `observed_agreement` (`1 - D_o`) are `None` where they are undefined; `reason` says why alpha is."""

    value: float | None
    observed_agreement: float | None
    reason: str | None = None


def pairable(counts: IntArray) -> IntArray:
    """The rows of `counts` (units x values: how many raters gave that value) with at least two values."""
    enough: NDArray[np.bool_] = counts.sum(axis=1) >= 2
    return counts[enough]


def nominal_alpha(counts: IntArray) -> Alpha:
    """Alpha from `counts[unit, value]`, the number of raters who gave the unit that value.

    >>> nominal_alpha(np.array([[2, 0], [1, 1], [0, 2]]))  # D_o = 1/3, D_e = 18/30
    Alpha(value=0.4444444444444444, observed_agreement=0.6666666666666667, reason=None)
    """
    counts = pairable(counts)
    raters = counts.sum(axis=1)
    totals = counts.sum(axis=0)
    n = int(totals.sum())
    if n == 0:
        return Alpha(None, None, "no unit has values from two raters")
    # m values make m * m - sum(n_c ** 2) ordered pairs that differ; whole numbers stay exact up to the division
    differing = raters * raters - (counts * counts).sum(axis=1)
    observed = float((differing / (raters - 1)).sum()) / n
    expected = (n * n - int((totals * totals).sum())) / (n * (n - 1))
    if expected == 0:
        return Alpha(None, 1.0, "all values that can be paired are the same, so chance cannot be told from agreement")
    return Alpha(1 - observed / expected, 1 - observed)
