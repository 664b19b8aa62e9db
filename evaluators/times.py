"""Time on task: how long raters take for a first decision, where, and whether they get faster (docs/agreement.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from convolabel.errors import InputError
from evaluators.intervals import wilson
from evaluators.tidy_tables import Tables, tidy
from evaluators.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

FAST_MS = 500
"""Below this a suggestion can hardly have been read."""
ALL = "all raters"

SPREAD = ("n", "unmeasured", "q1_ms", "median_ms", "q3_ms")
"""`n` decisions with a measured time, `unmeasured` without; quartiles in milliseconds."""
LATER_COLUMNS = ("rater", "decisions", "returned", "share", "q1_ms", "median_ms", "q3_ms")
SLOPE_COLUMNS = ("rater", "n", "slope", "ratio_per_doubling", "reason")
FAST_COLUMNS = ("rater", "suggestion", "n", "under", "share", "low", "high")
_LEAST_FOR_SLOPE = 10


@dataclass(frozen=True)
class Times(Tables):
    """Time on task in tables; a decision is one unit by one rater, all dimensions together, but for `by_category`.

    `overall`, `by_rater`, `by_category`, `by_conversation`, `by_position` (1 is a conversation's first unit) and
    `learning` (a rater's decisions `first` to `last` in the order they were made) hold `SPREAD`. `learning_slope` is
    the power law of practice per rater: time is proportional to `number ** slope`, and `ratio_per_doubling`
    (`2 ** slope`) is what is left of it when the number of decisions doubles. `later` is the time spent on units after
    their first decision. `fast` counts first decisions under `fast_ms` where a suggestion was on screen, and, for
    comparison, where it was withheld.
    """

    overall: "pd.DataFrame"
    by_rater: "pd.DataFrame"
    by_category: "pd.DataFrame"
    by_position: "pd.DataFrame"
    by_conversation: "pd.DataFrame"
    learning: "pd.DataFrame"
    learning_slope: "pd.DataFrame"
    later: "pd.DataFrame"
    fast: "pd.DataFrame"


def times(votes: Votes, *, fast_ms: int = FAST_MS, step: int = 20) -> Times:
    """Time on task, from the time on a unit before its first decision. `step` decisions make a point of `learning`.

    Raises `InputError` when the table has no times.
    """
    if "time_ms" not in votes.frame:
        raise InputError("The table has no column `time_ms` for the time of first decisions; name it with --time.")
    if step < 1:
        raise InputError(f"A point of the learning curve needs one decision or more, not {step}; set another step.")
    decisions = _decisions(votes)
    used = {
        **votes.used,
        "time": "milliseconds on the unit in a visible tab before the first decision",
        "fast": f"first decision under {fast_ms} ms on the unit",
        "order_of_decisions": "created_at" if "created_at" in decisions else "order of the table",
        "learning_step": step,
        "not_computed": None
        if "position" in decisions
        else {"by_position": "the table has no column for the conversation"},
    }
    numbered = decisions.assign(point=(decisions["number"] - 1) // step)
    return Times(
        used,
        _spread(decisions.assign(decisions="first"), ["decisions"]),
        _spread(decisions, ["rater", "rater_kind"]),
        _by_category(votes),
        _spread(decisions, ["position"], sort=True),
        _spread(decisions, ["conversation"]),
        _learning(numbered, step),
        tidy((_slope(rater, group) for rater, group in _by_rater(decisions)), SLOPE_COLUMNS),
        _later(decisions),
        _fast(decisions, fast_ms),
    )


def _decisions(votes: Votes) -> "pd.DataFrame":
    """One row per unit and rater, numbered from 1 in the order in which the rater decided."""
    import pandas as pd

    frame = votes.frame.drop_duplicates(["unit", "rater"]).copy()
    for column in ("conversation", "position"):
        if column in votes.units:
            frame[column] = votes.units[column].to_numpy()[frame["unit"].to_numpy()]
    if "position" in frame:
        frame["position"] += 1
    if "created_at" in frame:
        said = frame["created_at"].astype(object)
        frame["created_at"] = pd.to_datetime(said, format="ISO8601", utc=True, errors="coerce")
        frame = frame.sort_values("created_at", kind="stable")
    frame["number"] = frame.groupby("rater", observed=True).cumcount() + 1
    return frame


def _spread(frame: "pd.DataFrame", keys: Sequence[str], *, sort: bool = False) -> "pd.DataFrame":
    """Quartiles of `time_ms` by the columns `keys`; no rows when a key is not there."""
    if any(key not in frame for key in keys):
        return tidy([], [*keys, *SPREAD])
    groups = frame.groupby(list(keys), observed=True, sort=sort)["time_ms"]
    table = groups.count().to_frame("n")
    table["unmeasured"] = groups.size() - table["n"]
    for name, share in (("q1_ms", 0.25), ("median_ms", 0.5), ("q3_ms", 0.75)):
        table[name] = groups.quantile(share)
    return table.reset_index()


def _by_category(votes: Votes) -> "pd.DataFrame":
    frame = votes.frame.rename(columns={"value": "category"})
    if "dimension" in frame:
        return _spread(frame, ["dimension", "category"])
    table = _spread(frame, ["category"])
    table.insert(0, "dimension", None)
    return table


def _learning(numbered: "pd.DataFrame", step: int) -> "pd.DataFrame":
    table = _spread(numbered, ["rater", "point"], sort=True)
    table.insert(1, "first", table["point"] * step + 1)
    table.insert(2, "last", table["first"] + table["n"] + table["unmeasured"] - 1)
    return table.drop(columns="point")


def _by_rater(decisions: "pd.DataFrame") -> "list[tuple[str, pd.DataFrame]]":
    return [(str(rater), group) for rater, group in decisions.groupby("rater", observed=True, sort=False)]


def _slope(rater: str, decisions: "pd.DataFrame") -> dict[str, Any]:
    """Least squares of log time on log number. A time of 0 ms counts as 1 ms."""
    measured = decisions[decisions["time_ms"].notna()]
    n = len(measured)
    if n < _LEAST_FOR_SLOPE:
        return {"rater": rater, "n": n, "reason": f"fewer than {_LEAST_FOR_SLOPE} decisions with a time"}
    number = np.log(measured["number"].to_numpy(dtype=np.float64))
    time = np.log(np.maximum(measured["time_ms"].to_numpy(dtype=np.float64), 1.0))
    centred = number - number.mean()
    slope = float(centred @ (time - time.mean()) / (centred @ centred))
    return {"rater": rater, "n": n, "slope": slope, "ratio_per_doubling": 2.0**slope}


def _later(decisions: "pd.DataFrame") -> "pd.DataFrame":
    if "later_ms" not in decisions:
        return tidy([], LATER_COLUMNS)
    rows = []
    for rater, group in _by_rater(decisions):
        returned = group["later_ms"][group["later_ms"] > 0]
        quartiles = dict(zip(LATER_COLUMNS[4:], returned.quantile([0.25, 0.5, 0.75]), strict=True))
        share = len(returned) / len(group)
        rows.append({"rater": rater, "decisions": len(group), "returned": len(returned), "share": share, **quartiles})
    return tidy(rows, LATER_COLUMNS)


def _fast(decisions: "pd.DataFrame", fast_ms: int) -> "pd.DataFrame":
    if "shown" not in decisions:
        return tidy([], FAST_COLUMNS)
    measured = decisions[decisions["time_ms"].notna()]
    on_screen = measured["shown"] == 1
    withheld = measured["arm"] == "control" if "arm" in measured else on_screen & False
    rows = []
    for suggestion, of_kind in (("on screen", on_screen), ("withheld", withheld)):
        chosen = measured[of_kind]
        for rater, group in [(ALL, chosen), *_by_rater(chosen)]:
            under = int((group["time_ms"] < fast_ms).sum())
            low, high = wilson(under, len(group))
            share = under / len(group) if len(group) else None
            rows.append(
                {"rater": rater, "suggestion": suggestion, "n": len(group), "under": under, "share": share}
                | {"low": low, "high": high}
            )
    return tidy(rows, FAST_COLUMNS)
