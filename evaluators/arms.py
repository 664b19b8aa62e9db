"""Two randomised arms compared: differences of means, their interval, and a randomisation test.

The co-pilot draws for each unit (and rater) whether its suggestion is shown or withheld. The interval resamples
conversations; the test draws the arms anew the way they were drawn, keeping how many of each arm every stratum has
(P. Good (2005), *Permutation, Parametric and Bootstrap Tests of Hypotheses*; R. A. Fisher (1935)).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluators.arrays import BoolArray, FloatArray, IntArray
from evaluators.intervals import Bootstrap

_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Arms:
    """`shown[i]` is the arm of vote i, `cluster[i]` its conversation (below `clusters`).

    The arm was drawn for `item[i]`, the vote itself or its unit, and redrawn within `stratum[item]`.
    """

    shown: BoolArray
    cluster: IntArray
    clusters: int
    item: IntArray
    stratum: IntArray

    def means(self, outcomes: FloatArray, shown: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Mean of each column of `outcomes[n, Q]` in the shown and in the control arm; not-a-number is no outcome.

        `[1, Q]` each, or `[D, Q]` for the arms `shown[D, n]`.
        """
        arm = (self.shown[None, :] if shown is None else shown).astype(np.float64)
        there = (~np.isnan(outcomes)).astype(np.float64)
        values = np.nan_to_num(outcomes)
        sums, n = arm @ values, arm @ there
        return _ratio(sums, n), _ratio(values.sum(axis=0) - sums, there.sum(axis=0) - n)

    def sizes(self, outcomes: FloatArray) -> tuple[IntArray, IntArray]:
        """How many votes each of those means rests on."""
        there = ~np.isnan(outcomes)
        return there[self.shown].sum(axis=0), there[~self.shown].sum(axis=0)

    def conversations(self, outcomes: FloatArray) -> IntArray:
        """How many conversations have an outcome, by column."""
        there = ~np.isnan(outcomes)
        return np.array([len(np.unique(self.cluster[column])) for column in there.T], dtype=np.int64)

    def resampled_means(self, outcomes: FloatArray, bootstrap: Bootstrap) -> tuple[FloatArray, FloatArray]:
        """Both means in every resample of conversations, `[draws, Q]`."""
        sums = [self._cluster_sums(outcomes, arm) for arm in (self.shown, ~self.shown)]
        stacked = np.concatenate([part for pair in sums for part in pair], axis=1)
        stacked = stacked[np.bincount(self.cluster, minlength=self.clusters) > 0]
        drawn = bootstrap.sample(lambda weights: weights @ stacked, len(stacked))
        shown, n_shown, control, n_control = np.split(drawn, 4, axis=1)
        return _ratio(shown, n_shown), _ratio(control, n_control)

    def redrawn(self, redraws: int, seed: int) -> Iterator[BoolArray]:
        """The arms drawn anew, in pieces `[some, n]` of together `redraws` rows."""
        rng = np.random.default_rng(seed)
        items = len(self.stratum)
        arm = np.zeros(items, dtype=np.bool_)
        arm[self.item] = self.shown
        order = np.argsort(self.stratum, kind="stable")
        place = np.argsort(order)[self.item]
        in_order, strata = arm[order], self.stratum[order].astype(np.float64)
        size = max(1, _CELLS_AT_ONCE // max(1, items))
        for done in range(0, redraws, size):
            keys = rng.random((min(size, redraws - done), items)) + strata
            yield in_order[np.argsort(keys, axis=1)][:, place]

    def _cluster_sums(self, outcomes: FloatArray, arm: BoolArray) -> tuple[FloatArray, FloatArray]:
        there = ~np.isnan(outcomes) & arm[:, None]
        values = np.where(there, outcomes, 0.0)
        sums, n = np.zeros((2, self.clusters, outcomes.shape[1]))
        np.add.at(sums, self.cluster, values)
        np.add.at(n, self.cluster, there)
        return sums, n


def p_value(observed: float, redrawn: FloatArray) -> float:
    """Two-sided: twice the smaller tail, the observed value counting as one of the draws."""
    defined = redrawn[~np.isnan(redrawn)]
    # sums of the same numbers in another order differ in the last bits
    slack = 1e-9 * max(1.0, abs(observed))
    above = (1 + int((defined >= observed - slack).sum())) / (len(defined) + 1)
    below = (1 + int((defined <= observed + slack).sum())) / (len(defined) + 1)
    return min(1.0, 2 * min(above, below))


def upper_p_value(observed: float, redrawn: FloatArray) -> float:
    """One-sided, for a statistic that only grows as the arms differ more."""
    return (1 + int((redrawn >= observed - 1e-9).sum())) / (len(redrawn) + 1)


def _ratio(sums: FloatArray, n: FloatArray) -> FloatArray:
    means: FloatArray = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0.5)
    return np.atleast_2d(means)
