"""Reliability data: the votes on one dimension as codes, who gave which unit which value."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from convolabel.units import UNSURE
from evaluators.arrays import BoolArray, IntArray
from evaluators.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

Unsure = Literal["missing", "category"]
HUMAN = "human"


@dataclass(frozen=True)
class Cells:
    """The votes on one dimension.

    Vote `i` is of `raters[rater[i]]` on the unit at position `unit[i]` of `Votes.units`; it gives `values[value[i]]`
    where `given[i]`, and is left out as unsure elsewhere. `values` stand in alphabetical order, `unsure` last.
    `conversation[u]` is the position of unit u's conversation in `conversations`, which is empty when the table does
    not tell conversations apart. `frame` holds the rows of `Votes.frame`.
    """

    dimension: str | None
    values: tuple[str, ...]
    raters: tuple[str, ...]
    is_human: BoolArray
    conversations: tuple[str, ...]
    conversation: IntArray
    unit: IntArray
    rater: IntArray
    value: IntArray
    given: BoolArray
    frame: "pd.DataFrame"

    @property
    def of_human(self) -> BoolArray:
        """For every vote whether a human gave it."""
        return self.is_human[self.rater]

    def placed(self, places: IntArray) -> IntArray:
        """For every vote the place of its value in a metric; 0 for a vote that is left out."""
        return np.append(places, 0)[self.value]

    def counts(self, votes: BoolArray, codes: IntArray | None = None, size: int | None = None) -> IntArray:
        """Units x values: how many of these votes give the unit that value (or the code in `codes` below `size`)."""
        codes = self.value if codes is None else codes
        size = len(self.values) if size is None else size
        kept = votes & self.given
        cells = self.unit[kept] * size + codes[kept]
        return np.bincount(cells, minlength=len(self.conversation) * size).reshape(len(self.conversation), size)


def cells_of(votes: Votes, dimension: str | None, unsure: Unsure = "missing") -> Cells:
    """The votes on one dimension; an unsure vote is missing, or a category of its own."""
    frame = votes.of(dimension)
    value, values = _sorted_codes(frame["value"])
    given = np.ones(len(frame), dtype=np.bool_)
    if unsure == "missing" and UNSURE in values:
        given = value != values.index(UNSURE)
        values = values[:-1]
    rater = frame["rater"].cat.codes.to_numpy().astype(np.int64)
    present, first, sorted_rater = np.unique(rater, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.argsort(order)
    kinds = frame["rater_kind"].astype(object).to_numpy()[first[order]]
    conversation, conversations = _conversations(votes.units)
    return Cells(
        dimension,
        values,
        tuple(str(frame["rater"].cat.categories[code]) for code in present[order]),
        np.asarray(kinds != "llm", dtype=np.bool_),
        conversations,
        conversation,
        frame["unit"].to_numpy().astype(np.int64),
        places[sorted_rater].astype(np.int64),
        value,
        given,
        frame,
    )


def conversation_count(cells: Cells) -> int:
    """How many clusters `Cells.conversation` names, at least one."""
    return max(1, len(cells.conversations))


def _sorted_codes(column: "pd.Series") -> tuple[IntArray, tuple[str, ...]]:
    codes = column.cat.codes.to_numpy().astype(np.int64)
    names = list(map(str, column.cat.categories))
    used = np.unique(codes)
    order = sorted(used, key=lambda code: (names[code] == UNSURE, names[code]))
    places = np.zeros(len(names) + 1, dtype=np.int64)
    places[order] = np.arange(len(order))
    return places[codes], tuple(names[code] for code in order)


def _conversations(units: "pd.DataFrame") -> tuple[IntArray, tuple[str, ...]]:
    """Units without a conversation, in a table that has them, share one without a name."""
    if "conversation" not in units:
        return np.zeros(len(units), dtype=np.int64), ()
    codes = units["conversation"].cat.codes.to_numpy().astype(np.int64)
    names = tuple(map(str, units["conversation"].cat.categories))
    if (codes < 0).any():
        return np.where(codes < 0, len(names), codes), (*names, "")
    return codes, names
