"""Krippendorff's alpha with missing values, from sums that add up over clusters of units.

Klaus Krippendorff (2019), *Content Analysis*, 4th ed., ch. 12; the same in "Computing Krippendorff's
Alpha-Reliability" (2011). Alpha is `1 - D_o / D_e`: the observed over the expected disagreement of pairable values, a
value being pairable when another rater gave its unit a value too.

What alpha needs of a set of units is a few sums, so that a resample of conversations is a weighted sum of theirs:
1,000 bootstrap draws are one product of matrices, whatever the number of units.
"""

from dataclasses import dataclass

import numpy as np

from evaluators.arrays import BoolArray, FloatArray, IntArray
from evaluators.metrics import Metric, metric_for

NO_PAIR = "no unit has values from two raters"
NO_VARIATION = "all values that can be paired are the same, so chance cannot be told from agreement"


@dataclass(frozen=True)
class AlphaSums:
    """Sums over the pairable units of each of K sets of units (clusters, or resamples of them).

    `totals[K, C]` counts the pairable values; `agreeing[K]` sums the pairs that agree over `m - 1`; `observed` sums the
    disagreement of pairs over `m - 1`: `[K]` where the metric is fixed, coincidences `[K, C, C]` where it is ordinal.
    """

    metric: Metric
    totals: FloatArray
    agreeing: FloatArray
    observed: FloatArray

    def weighted(self, weights: FloatArray) -> "AlphaSums":
        """The sums of resamples: `weights[D, K]` says how often each of the K sets is in each of D resamples."""
        observed = np.asarray(np.tensordot(weights, self.observed, axes=(1, 0)), dtype=np.float64)
        return AlphaSums(self.metric, weights @ self.totals, weights @ self.agreeing, observed)

    def __len__(self) -> int:
        return len(self.agreeing)

    def where(self, kept: BoolArray) -> "AlphaSums":
        """The sums of some of the sets."""
        return AlphaSums(self.metric, self.totals[kept], self.agreeing[kept], self.observed[kept])

    def pairable(self) -> "AlphaSums":
        """The sets that have pairable values."""
        return self.where(self.totals.sum(axis=1) > 0)

    def together(self) -> "AlphaSums":
        """The sums of all sets as one."""
        return self.weighted(np.ones((1, len(self.agreeing))))

    def values(self) -> FloatArray:
        """Alpha of each set, not-a-number where it is undefined."""
        n = self.totals.sum(axis=-1)
        differences = self.metric.differences(self.totals)
        observed = self.observed if self.observed.ndim == 1 else (self.observed * differences).sum(axis=(-2, -1))
        crossed = np.matmul(self.totals[..., None, :], differences)[..., 0, :]
        # in one fraction: n * D_o over n * D_e
        expected = (crossed * self.totals).sum(axis=-1) / np.where(n > 1, n - 1, 1)
        alpha: FloatArray = 1 - np.divide(observed, expected, out=np.full_like(n, np.nan), where=expected > 0)
        return alpha

    def agreement(self) -> FloatArray:
        """The share of pairs that agree in each set (a unit of m values weighing m), not-a-number without any pair."""
        n = self.totals.sum(axis=-1)
        agreement: FloatArray = np.divide(self.agreeing, n, out=np.full_like(n, np.nan), where=n > 0)
        return agreement

    def category_values(self) -> FloatArray:
        """`[K, C]`: nominal alpha of each category against all others. Needs `observed` by `category_sums`."""
        n = self.totals.sum(axis=-1, keepdims=True)
        expected = 2 * self.totals * (n - self.totals) / np.where(n > 1, n - 1, 1)
        alpha: FloatArray = 1 - np.divide(
            self.observed, expected, out=np.full_like(expected, np.nan), where=expected > 0
        )
        return alpha


def alpha_sums(
    counts: IntArray,
    metric: Metric,
    *,
    clusters: IntArray | None = None,
    size: int = 1,
    weights: IntArray | None = None,
) -> AlphaSums:
    """Sums of `counts[unit, category]`, the number of raters who gave the unit that category.

    `clusters[unit]` below `size` says which set a unit is in (one set by default). `weights[unit]` lets a unit count as
    so many units with the same values.
    """
    units = _PairableUnits.of(counts, clusters, weights)
    given = units.counts
    scale = units.weight / (units.raters - 1)
    agreeing = units.add((given * (given - 1)).sum(axis=1) * scale, size)
    if metric.fixed is None:
        by_category = [units.add(given * given[:, [c]] * scale[:, None], size) for c in range(given.shape[1])]
        observed = np.stack(by_category, axis=1) if by_category else np.zeros((size, 0, 0))
    else:
        observed = units.add((given * (given @ metric.fixed)).sum(axis=1) * scale, size)
    return AlphaSums(metric, units.add(given * units.weight[:, None], size), agreeing, observed)


def category_sums(counts: IntArray, *, clusters: IntArray | None = None, size: int = 1) -> AlphaSums:
    """Sums for `AlphaSums.category_values`: `observed[K, C]` sums the pairs that differ on category C over `m - 1`."""
    units = _PairableUnits.of(counts, clusters, None)
    differing = 2 * units.counts * (units.raters[:, None] - units.counts) / (units.raters[:, None] - 1)
    nominal = metric_for(["" for _ in range(counts.shape[1])], "nominal")[0]
    totals = units.add(units.counts.astype(np.float64), size)
    return AlphaSums(nominal, totals, np.zeros(size), units.add(differing, size))


@dataclass(frozen=True)
class _PairableUnits:
    counts: IntArray
    raters: IntArray
    clusters: IntArray
    weight: FloatArray

    @classmethod
    def of(cls, counts: IntArray, clusters: IntArray | None, weights: IntArray | None) -> "_PairableUnits":
        raters = counts.sum(axis=1)
        kept = raters >= 2
        clusters = np.zeros(len(counts), dtype=np.int64) if clusters is None else clusters
        weight = np.ones(len(counts)) if weights is None else weights.astype(np.float64)
        return cls(counts[kept], raters[kept], clusters[kept], weight[kept])

    def add(self, values: FloatArray, size: int) -> FloatArray:
        """Sum `values[unit, ...]` by cluster."""
        if values.ndim == 1:
            return np.bincount(self.clusters, weights=values, minlength=size).astype(np.float64)
        columns = [np.bincount(self.clusters, weights=column, minlength=size) for column in values.T]
        return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


@dataclass(frozen=True)
class Alpha:
    """`value` and `observed_agreement` are `None` where they are undefined; `reason` says why alpha is."""

    value: float | None
    observed_agreement: float | None
    reason: str | None = None


def alpha_of(sums: AlphaSums) -> Alpha:
    """Alpha of all units of `sums` together."""
    together = sums.together()
    if not together.totals.sum():
        return Alpha(None, None, NO_PAIR)
    value, agreement = float(together.values()[0]), float(together.agreement()[0])
    return Alpha(None, agreement, NO_VARIATION) if np.isnan(value) else Alpha(value, agreement)


def value_counts(codes: IntArray, size: int) -> IntArray:
    """Units x values from a matrix of raters x units: codes from 0 below `size`, anything negative is missing.

    >>> value_counts(np.array([[0, 1, -1], [0, 0, 1]]), 2).tolist()
    [[2, 0], [1, 1], [0, 1]]
    """
    units = codes.shape[1]
    cells = np.arange(units) * size + codes
    return np.bincount(cells[codes >= 0], minlength=units * size).reshape(units, size)


def nominal_alpha(counts: IntArray) -> Alpha:
    """Nominal alpha from `counts[unit, value]`, the number of raters who gave the unit that value.

    >>> nominal_alpha(np.array([[2, 0], [1, 1], [0, 2]]))  # D_o = 1/3, D_e = 18/30, alpha = 1 - 5/9
    Alpha(value=0.4444444444444444, observed_agreement=0.6666666666666666, reason=None)
    """
    metric, _ = metric_for([str(value) for value in range(counts.shape[1])], "nominal")
    return alpha_of(alpha_sums(counts, metric))
