"""Tables that only a report needs: what the votes are, who confuses what with what, how times are spread."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from convolabel.units import UNSURE
from evaluators.agreement import Agreement
from evaluators.tidy_tables import Tables, records, tidy
from evaluators.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

VOTE_COLUMNS = ("dimension", "votes", "unsure", "units", "conversations", "raters", "categories")
RATER_COLUMNS = ("dimension", "rater", "rater_kind", "votes", "unsure")
CONFUSION_COLUMNS = ("dimension", "row_raters", "column_raters", "row_value", "column_value", "n", "share")
TIME_COLUMNS = ("from_ms", "to_ms", "n")
HUMANS = "humans"
_BINS_PER_DOUBLING = 2

Row = dict[str, Any]


@dataclass(frozen=True)
class Overview(Tables):
    """What a report shows beside the four analyses.

    `votes` and `raters` count what was read; `unsure` votes are among the `votes`. `confusion` adds up the confusion
    matrices of pairs of humans (of two humans in one order, of more in both, so that it is symmetric), and of all
    humans with each assessor; `share` is of the row. `time_spread` counts decisions with a time in bins, two per
    doubling.
    """

    votes: "pd.DataFrame"
    raters: "pd.DataFrame"
    confusion: "pd.DataFrame"
    time_spread: "pd.DataFrame"


def overview(votes: Votes, agreement: Agreement) -> Overview:
    return Overview(
        dict(votes.used),
        tidy((_sizes(votes, dimension) for dimension in votes.dimensions), VOTE_COLUMNS),
        tidy((row for dimension in votes.dimensions for row in _raters(votes, dimension)), RATER_COLUMNS),
        confusion_table(agreement),
        tidy(_time_spread(votes), TIME_COLUMNS),
    )


def confusion_table(agreement: Agreement) -> "pd.DataFrame":
    """`Overview.confusion`."""
    return tidy(_confusion(agreement), CONFUSION_COLUMNS)


def _sizes(votes: Votes, dimension: str | None) -> Row:
    frame = votes.of(dimension)
    unit = frame["unit"].unique()
    conversations = votes.units["conversation"].iloc[unit].nunique() if votes.has("conversation") else None
    return {
        "dimension": dimension,
        "votes": len(frame),
        "unsure": int((frame["value"] == UNSURE).sum()),
        "units": len(unit),
        "conversations": conversations,
        "raters": int(frame["rater"].nunique()),
        "categories": len(set(frame["value"].unique()) - {UNSURE}),
    }


def _raters(votes: Votes, dimension: str | None) -> Iterator[Row]:
    for rater, group in votes.of(dimension).groupby("rater", observed=True, sort=False):
        yield {
            "dimension": dimension,
            "rater": str(rater),
            "rater_kind": str(group["rater_kind"].iloc[0]),
            "votes": len(group),
            "unsure": int((group["value"] == UNSURE).sum()),
        }


def _confusion(agreement: Agreement) -> Iterator[Row]:
    kinds = {
        (row["dimension"], row["rater_a"], row["rater_b"]): (row["kind_a"], row["kind_b"])
        for row in records(agreement.pairs)
    }
    counts: dict[tuple[str | None, str, str], Counter[tuple[str, str]]] = {}
    for dimension, rows in groupby(records(agreement.confusion), key=lambda row: row["dimension"]):
        human_pairs = [pair for pair, kind in kinds.items() if pair[0] == dimension and set(kind) == {"human"}]
        for row in rows:
            pair = (dimension, row["rater_a"], row["rater_b"])
            told = _told(*pair[1:], *kinds[pair], one_pair=len(human_pairs) == 1)
            for who, swapped in told:
                met = (row["value_a"], row["value_b"])
                counts.setdefault((dimension, *who), Counter())[met[::-1] if swapped else met] += row["n"]
    for (of, row_raters, column_raters), matrix in counts.items():
        totals: Counter[str] = Counter()
        for (row_value, _), n in matrix.items():
            totals[row_value] += n
        for (row_value, column_value), n in sorted(matrix.items()):
            yield {
                "dimension": of,
                "row_raters": row_raters,
                "column_raters": column_raters,
                "row_value": row_value,
                "column_value": column_value,
                "n": n,
                "share": n / totals[row_value],
            }


def _told(a: str, b: str, kind_a: str, kind_b: str, *, one_pair: bool) -> list[tuple[tuple[str, str], bool]]:
    """The matrices that a pair of raters belongs to, and whether its two values change places there."""
    if kind_a == kind_b == "human":
        return [((a, b), False)] if one_pair else [((HUMANS, HUMANS), False), ((HUMANS, HUMANS), True)]
    if kind_a == "human":
        return [((HUMANS, b), False)]
    return [((HUMANS, a), True)] if kind_b == "human" else []


def _time_spread(votes: Votes) -> Iterator[Row]:
    """Bins two per doubling, from the first with a time to the last; one bin holds all times under 141 ms."""
    if "time_ms" not in votes.frame:
        return
    time = votes.frame.drop_duplicates(["unit", "rater"])["time_ms"].dropna().to_numpy(dtype=np.float64)
    if not len(time):
        return
    bins = np.floor(_BINS_PER_DOUBLING * np.log2(np.maximum(time, 100.0) / 100.0) + 1e-9).astype(np.int64)
    counts = np.bincount(bins)
    for place in range(int(bins.min()), len(counts)):
        low, high = (100.0 * 2 ** ((place + side) / _BINS_PER_DOUBLING) for side in (0, 1))
        yield {"from_ms": low if place else 0.0, "to_ms": high, "n": int(counts[place])}
