"""The arms drawn anew many times, and what each drawing would have shown had the suggestion no effect."""

from dataclasses import dataclass

import numpy as np

from evaluators.alpha import AlphaSums
from evaluators.arrays import BoolArray, FloatArray
from evaluators.copilot_votes import CopilotVotes
from evaluators.metrics import metric_for


@dataclass(frozen=True)
class Redraws:
    """What R redrawings give.

    `means[R, Q]` is the mean of each outcome in the shown less that in the control arm; `shown` and `control` are what
    alpha of either arm is built from, all units being one set per redrawing.
    """

    means: FloatArray
    shown: AlphaSums
    control: AlphaSums


def redraw(votes: CopilotVotes, outcomes: FloatArray, redraws: int, seed: int) -> Redraws:
    """Draw the arms anew `redraws` times, at least once."""
    cells = votes.cells
    everything = cells.counts(np.ones_like(cells.given)).astype(np.float64)
    means: list[FloatArray] = []
    shown: list[FloatArray] = []
    control: list[FloatArray] = []
    for piece in votes.arms.redrawn(redraws, seed):
        means.append(np.subtract(*votes.arms.means(outcomes, piece)))
        for arm in piece:
            counts = cells.counts(arm).astype(np.float64)
            shown.append(_nominal_sums(counts))
            control.append(_nominal_sums(everything - counts))
    return Redraws(np.concatenate(means), _joined(shown, cells.values), _joined(control, cells.values))


def _nominal_sums(counts: FloatArray) -> FloatArray:
    """`[C + 1]`: pairable values per category, then the agreeing pairs over `m - 1`, as in `evaluators.alpha`."""
    raters = counts.sum(axis=1)
    pairable: BoolArray = raters >= 2
    weights = np.divide(pairable, raters - 1, out=np.zeros_like(raters), where=pairable)
    agreeing = (weights @ (counts * counts)).sum() - weights @ raters
    return np.append(pairable.astype(np.float64) @ counts, agreeing)


def _joined(sums: list[FloatArray], values: tuple[str, ...]) -> AlphaSums:
    table = np.stack(sums)
    totals, agreeing = table[:, :-1], table[:, -1]
    return AlphaSums(metric_for(values, "nominal")[0], totals, agreeing, totals.sum(axis=1) - agreeing)
