"""From a margin to a share of right answers, by isotonic regression (pool adjacent violators)."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from ml_backend.suggestion import Confidence

HIGH, MEDIUM = 0.75, 0.5
"""Shares of right held-out answers from which a suggestion counts as high or medium confidence."""


class Calibration:
    """How often answers with a given margin were right, as a step function that never falls as the margin grows.

    `margins` and `right` describe answers whose truth is known, in any order; there must be at least one.
    """

    def __init__(self, margins: Sequence[float], right: Sequence[bool]) -> None:
        blocks: list[tuple[float, int, int]] = []  # lowest margin, right answers, answers
        for margin, answers in groupby(sorted(zip(margins, right, strict=True)), key=itemgetter(0)):
            correct = [is_right for _, is_right in answers]
            block = (margin, sum(correct), len(correct))
            while blocks and blocks[-1][1] * block[2] >= block[1] * blocks[-1][2]:
                lowest, hits, size = blocks.pop()
                block = (lowest, hits + block[1], size + block[2])
            blocks.append(block)
        self._lowest = [lowest for lowest, _, _ in blocks]
        self._share = [hits / size for _, hits, size in blocks]

    def share(self, margin: float) -> float:
        """The share of right answers among those with a margin like this one."""
        return self._share[max(0, bisect_right(self._lowest, margin) - 1)]


def confidence(share: float) -> Confidence:
    return "high" if share >= HIGH else "medium" if share >= MEDIUM else "low"
