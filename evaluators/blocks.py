"""Runs of neighbouring units with the same codes, collapsed for analysis; spans themselves are never touched.

Each rater has runs of their own, so runs are no cells that raters share. The cells that they do share are those of the
common refinement: neighbouring units of one message are collapsed only where no rater changes their answer from one to
the next. Such a block has one answer of every rater, and counts once, however long it is (docs/agreement.md).
"""

import numpy as np

from evaluators.arrays import BoolArray, IntArray
from evaluators.cells import Cells
from evaluators.votes import Votes


def block_starts(votes: Votes, cells: Cells, counted: BoolArray) -> IntArray:
    """The first unit of every block, by the votes `counted`; a missing answer is an answer like any other here.

    `votes` must have `conversation` and `message`.
    """
    counted = counted & cells.given
    raters = np.unique(cells.rater[counted])
    every = np.full((len(votes.units), len(cells.raters)), -1, dtype=np.int32)
    every[cells.unit[counted], cells.rater[counted]] = cells.value[counted]
    answers = every[:, raters]
    message = votes.units["message"].cat.codes.to_numpy()
    order = np.lexsort((votes.units["position"].to_numpy(), cells.conversation))
    before, after = order[:-1], order[1:]
    joined = (cells.conversation[before] == cells.conversation[after]) & (message[before] == message[after])
    joined &= (answers[before] == answers[after]).all(axis=1)
    starts: IntArray = order[np.concatenate(([True], ~joined))] if len(order) else order
    return starts
