"""Intervals: the percentile bootstrap over conversations, and Wilson's interval of a share.

Units of one conversation are not independent, so whole conversations are drawn with replacement (B. Efron and
R. Tibshirani (1993), *An Introduction to the Bootstrap*, ch. 8 and 13).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from evaluators.arrays import FloatArray

DEFAULT_SEED = 20_250_301
DEFAULT_DRAWS = 1_000
ONE_CONVERSATION = "an interval over conversations needs two or more of them"
_MOST_UNDEFINED = 0.05
_CELLS_AT_ONCE = 4_000_000

Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Interval:
    """`low` and `high` are `None` where there is no interval; `reason` says why."""

    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Bootstrap:
    """Resamples of conversations; the same seed gives the same resamples, so intervals can be repeated.

    Only conversations that have a say in the statistic are drawn, so that those which have none change nothing.
    """

    draws: int = DEFAULT_DRAWS
    seed: int = DEFAULT_SEED
    level: float = 0.95
    lacking: str = ""
    """Why there is nothing to resample, when there is not."""

    def why_not(self, clusters: int) -> str | None:
        """Why there is no interval over so many conversations."""
        if self.lacking:
            return self.lacking
        if self.draws < 1:
            return "no bootstrap draws were asked for"
        return None if clusters >= 2 else ONE_CONVERSATION

    def sample(self, statistic: Statistic, clusters: int) -> FloatArray:
        """`statistic` of every resample: it takes `weights[D, clusters]`, how often each conversation was drawn."""
        if self.draws * clusters <= _CELLS_AT_ONCE:
            return statistic(_all_resamples(clusters, self.draws, self.seed))
        return np.concatenate([statistic(weights) for weights in _resamples(clusters, self.draws, self.seed)])

    def interval(self, statistic: Statistic, clusters: int) -> Interval:
        """The percentile interval of one statistic of so many conversations."""
        reason = self.why_not(clusters)
        if reason:
            return Interval(None, None, reason)
        return self.of_sample(self.sample(statistic, clusters))

    def of_sample(self, sample: FloatArray) -> Interval:
        """The percentile interval of a sample; resamples where the statistic is undefined are left out if few."""
        defined = sample[~np.isnan(sample)]
        undefined = len(sample) - len(defined)
        if undefined > _MOST_UNDEFINED * len(sample):
            return Interval(None, None, f"undefined in {undefined} of {len(sample)} resamples")
        tail = (1 - self.level) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        return Interval(float(low), float(high))


@lru_cache(maxsize=4)
def _all_resamples(clusters: int, draws: int, seed: int) -> FloatArray:
    return np.concatenate(list(_resamples(clusters, draws, seed)))


def _resamples(clusters: int, draws: int, seed: int) -> Iterator[FloatArray]:
    rng = np.random.default_rng(seed)
    size = max(1, _CELLS_AT_ONCE // max(1, clusters))
    for done in range(0, draws, size):
        number = min(size, draws - done)
        picked = rng.integers(0, clusters, (number, clusters)) + clusters * np.arange(number)[:, None]
        counts = np.bincount(picked.ravel(), minlength=number * clusters)
        yield counts.reshape(number, clusters).astype(np.float64)


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float] | tuple[None, None]:
    """Wilson's interval of a share (1927), `(None, None)` without any trial.

    >>> [round(bound, 4) for bound in wilson(5, 10)]  # z = 1.96: centre .5, half width .2634
    [0.2366, 0.7634]
    """
    if n == 0:
        return None, None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    shrink = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / shrink
    low = 0.0 if successes == 0 else centre - half
    return low, 1.0 if successes == n else centre + half
