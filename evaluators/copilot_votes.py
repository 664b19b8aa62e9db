"""The votes that tell the co-pilot's effect: those of human raters on units whose arm was drawn."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from convolabel.errors import InputError
from convolabel.units import UNSURE
from evaluators.arms import Arms
from evaluators.arrays import FloatArray, IntArray
from evaluators.cells import Cells, Unsure, cells_of, conversation_count
from evaluators.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

ControlUnit = Literal["rater_span", "span"]
By = Literal["arm", "shown"]

NEEDED = {"arm": "copilot_arm", "suggestion": "copilot_label"}


@dataclass(frozen=True)
class CopilotVotes:
    """The compared votes on one dimension: rows of `frame` in the arms `shown` and `control`, `arms` alongside.

    `cells` are the same votes as reliability data. A unit whose suggestion failed, or came late, is in neither arm.
    """

    frame: "pd.DataFrame"
    cells: Cells
    arms: Arms
    unsure: Unsure

    def agrees(self, suggestion: str = "suggestion") -> FloatArray:
        """1 where the vote is what was (or would have been) suggested, 0 where not, not-a-number without either.

        An unsure vote is no outcome when unsure is missing, and disagrees when it is a category.
        """
        said = self.frame[suggestion].astype(object).to_numpy()
        value = self.frame["value"].astype(object).to_numpy()
        outcome = (said == value).astype(np.float64)
        lacking = np.asarray(self.frame[suggestion].isna(), dtype=np.bool_)
        left_out = value == UNSURE if self.unsure == "missing" else np.zeros_like(lacking)
        return np.where(lacking | left_out, np.nan, outcome)

    def values(self) -> FloatArray:
        """`[n, C]`: 1 in the column of the vote's category in `cells.values`; not-a-number where it is left out."""
        one_hot = np.eye(len(self.cells.values) + 1)[self.cells.value][:, :-1]
        return np.where(self.cells.given[:, None], one_hot, np.nan)

    def is_unsure(self) -> FloatArray:
        return np.asarray(self.frame["value"] == UNSURE, dtype=np.float64)

    def log_time(self) -> FloatArray | None:
        """Natural logarithm of the milliseconds; a time of 0 ms counts as 1 ms. `None` without any time."""
        if "time_ms" not in self.frame:
            return None
        time = np.maximum(self.frame["time_ms"].to_numpy(dtype=np.float64), 1.0)
        return np.asarray(np.log(time), dtype=np.float64)


def check_copilot_columns(votes: Votes) -> None:
    """Raises `InputError` when the table does not say what the co-pilot did."""
    for key, column in NEEDED.items():
        if key not in votes.frame:
            raise InputError(
                f"The table has no column `{column}`, so nothing can be said about the co-pilot; "
                "export it with `convolabel export`, or add the column."
            )


def draws_by_unit(votes: Votes) -> ControlUnit:
    """For what the arms were drawn: `span` when no unit was shown to one rater and withheld from another.

    A table without a unit that two raters could differ on is taken for `rater_span`.
    """
    frame = votes.frame[votes.frame["arm"].isin(["shown", "control"])].drop_duplicates(["unit", "rater"])
    by_unit = frame.groupby("unit")["arm"].agg(["size", "nunique"])
    shared = by_unit[by_unit["size"] > 1]
    return "span" if len(shared) and (shared["nunique"] == 1).all() else "rater_span"


def copilot_votes(
    votes: Votes, dimension: str | None, unsure: Unsure, by: By, control_unit: ControlUnit
) -> CopilotVotes:
    """The compared votes on one dimension. `by="shown"` leaves out what the shown arm did not get on screen in time."""
    frame = votes.frame
    compared = (frame["rater_kind"] != "llm") & frame["arm"].isin(["shown", "control"])
    if by == "shown":
        if "shown" not in frame:
            raise InputError("The table has no column `copilot_shown`; compare the arms as drawn instead.")
        compared &= (frame["arm"] == "control") | (frame["shown"] == 1)
    # A suggestion is about one dimension; the arm is the unit's, whatever the dimension.
    has_suggestion = (
        frame["suggestion"].notna().groupby([frame["unit"], frame["rater"]], observed=True).transform("any")
    )
    kept = Votes(frame[compared & has_suggestion].reset_index(drop=True), votes.units, votes.used)
    cells = cells_of(kept, dimension, unsure)
    shown = (cells.frame["arm"] == "shown").to_numpy()
    cluster = cells.conversation[cells.unit]
    item, stratum = _items(cells, cluster, control_unit)
    arms = Arms(np.asarray(shown, dtype=np.bool_), cluster, conversation_count(cells), item, stratum)
    return CopilotVotes(cells.frame, cells, arms, unsure)


def _items(cells: Cells, cluster: IntArray, control_unit: ControlUnit) -> tuple[IntArray, IntArray]:
    """What each vote's arm was drawn for, and the stratum of each of these items."""
    if control_unit == "span":
        first, item = np.unique(cells.unit, return_index=True, return_inverse=True)[1:]
        return item.astype(np.int64), cluster[first]
    return np.arange(len(cells.unit)), cells.rater * (int(cluster.max(initial=0)) + 1) + cluster
