"""Time on task, as the report tells it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from convolabel.units import UNSURE
from evaluators.report.elements import (
    Column,
    Curves,
    Element,
    Histogram,
    Listing,
    Panel,
    Plot,
    Row,
    Scale,
    Section,
    ends,
    missing_notes,
    rows_of,
    said,
)
from evaluators.report.scales import linear, logarithmic, numbers
from evaluators.times import Times

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 40
_MOST_PANELS = 24
_FEW_POINTS = 3
_SPREAD = (
    Column("median_ms", "Median", "seconds"),
    Column("q1_ms", "Quartiles", "seconds", to="q3_ms"),
    Column("n", "Decisions"),
    Column("unmeasured", "Without a time"),
)


def times_section(times: Times, spread: Sequence[Row] = ()) -> Section:
    """`spread` are the rows of `Overview.time_spread`."""
    overall = rows_of(times.overall)[0]
    q1, median, q3 = (said(overall[key], "seconds") for key in ("q1_ms", "median_ms", "q3_ms"))
    says = (
        f"A time is that of one rater on one unit, all dimensions together: {times.used['time']}.",
        f"Half of the {said(overall['n'], 'count')} first decisions with a time took between {q1} and {q3}, the median "
        f"is {median}; {said(overall['unmeasured'], 'count')} decisions have no time. Times are skewed, so medians and "
        "quartiles are given, on logarithmic scales.",
    )
    elements = (
        *_histogram(spread),
        *_spreads(times.by_rater, "Time by rater", Column("rater", "Rater", "text"), "times/by_rater.csv"),
        *_by_category(times),
        *_spreads(
            times.by_conversation,
            "Time by conversation",
            Column("conversation", "Conversation", "text"),
            "times/by_conversation.csv",
        ),
        *_by_position(times),
    )
    parts = (
        Section("Learning", elements=(*_learning(times), *_slopes(times))),
        Section("Fast decisions, and time spent later", elements=(*_fast(times), *_later(times))),
    )
    kept = tuple(part for part in parts if part.elements)
    return Section("Time on task", says, elements, kept, name="times")


def _scale(rows: Iterable[Row]) -> Scale:
    return logarithmic(numbers(rows, "q1_ms", "median_ms", "q3_ms"), "seconds")


def _spreads(table: "pd.DataFrame", caption: str, part: Column, source: str) -> tuple[Element, ...]:
    rows, left_out = ends(rows_of(table), "median_ms", _MOST_ROWS)
    return _spread(rows, caption, (part,), source, left_out)


def _spread(
    rows: Sequence[Row], caption: str, parts: tuple[Column, ...], source: str, notes: tuple[str, ...] = ()
) -> tuple[Element, ...]:
    if not rows:
        return ()
    plot = Plot(_scale(rows), "Median and quartiles", "median_ms", "q1_ms", "q3_ms")
    return (Listing(caption, (*parts, *_SPREAD), tuple(rows), source, plot, notes),)


def _by_category(times: Times) -> tuple[Element, ...]:
    rows, left_out = ends(rows_of(times.by_category), "median_ms", _MOST_ROWS)
    rows = tuple(sorted(rows, key=lambda row: (row["dimension"] or "", row["category"] == UNSURE, row["category"])))
    has_dimension = any(row["dimension"] is not None for row in rows)
    parts: tuple[Column, ...] = (Column("category", "Category", "text"),)
    if has_dimension:
        parts = (Column("dimension", "Dimension", "text"), *parts)
    return _spread(rows, "Time by category given", parts, "times/by_category.csv", left_out)


def _histogram(rows: Sequence[Row]) -> tuple[Element, ...]:
    if not rows:
        return ()
    edges = [max(row["from_ms"], 50.0) for row in rows] + [rows[-1]["to_ms"]]
    total = said(sum(row["n"] for row in rows), "count")
    return (
        Histogram(
            "Spread of the times of first decisions",
            tuple(rows),
            logarithmic(edges, "seconds"),
            "Time to first decision (logarithmic)",
            "Decisions",
            "overview/time_spread.csv",
            notes=(f"{total} decisions; two bins per doubling of the time.",),
        ),
    )


def _by_position(times: Times) -> tuple[Element, ...]:
    rows = rows_of(times.by_position)
    if len(rows) < _FEW_POINTS:
        return ()
    panel = Panel("All raters and conversations", _points(rows, "position"))
    return (
        _curves(
            "Time by place of the unit in its conversation",
            (panel,),
            "Place in the conversation",
            "times/by_position.csv",
            (f"Later places rest on fewer decisions: {said(rows[-1]['n'], 'count')} at the last one.",),
        ),
    )


def _learning(times: Times) -> tuple[Element, ...]:
    rows = rows_of(times.learning)
    slopes = {row["rater"]: row for row in rows_of(times.learning_slope)}
    panels = []
    for rater in dict.fromkeys(row["rater"] for row in rows):
        slope = slopes[rater]["ratio_per_doubling"]
        note = "" if slope is None else f"{said(slope, 'ratio')} per doubling"
        mine = [row for row in rows if row["rater"] == rater]
        points = _points(mine, "last")
        if len(points) >= _FEW_POINTS:
            panels.append(Panel(f"Rater {rater}", points, note))
    if not panels:
        return ()
    left_out = len(panels) - _MOST_PANELS
    notes = (
        f"Each point: the median of {times.used['learning_step']} decisions in the order in which they were made "
        f"({times.used['order_of_decisions']}), at the last of them; the band joins the quartiles.",
        *((f"{left_out} more raters are in the CSV file.",) if left_out > 0 else ()),
    )
    return (
        _curves(
            "Learning curve of each rater",
            tuple(panels[:_MOST_PANELS]),
            "Decisions made",
            "times/learning.csv",
            notes,
        ),
    )


def _points(rows: Sequence[Row], x: str) -> tuple[Row, ...]:
    return tuple(
        {"x": row[x], "value": row["median_ms"], "low": row["q1_ms"], "high": row["q3_ms"], "n": row["n"]}
        for row in rows
        if row["median_ms"] is not None
    )


def _curves(caption: str, panels: tuple[Panel, ...], x_title: str, source: str, notes: tuple[str, ...]) -> Curves:
    points = [point for panel in panels for point in panel.points]
    return Curves(
        caption,
        panels,
        linear(numbers(points, "x"), "count", around=(0.0,)),
        logarithmic(numbers(points, "low", "high"), "seconds"),
        x_title,
        "Median time",
        source,
        notes,
    )


def _slopes(times: Times) -> tuple[Element, ...]:
    rows = rows_of(times.learning_slope)
    columns = (
        Column("rater", "Rater", "text"),
        Column("ratio_per_doubling", "Time when experience doubles", "ratio"),
        Column("slope", "Slope", "difference"),
        Column("n", "Decisions with a time"),
    )
    notes = (
        "Newell and Rosenbloom (1981): log time fitted on log number of the decision, by least "
        "squares, per rater. It also holds what the order of the conversations brings.",
        *missing_notes(rows, "reason", "No slope"),
    )
    return (Listing("Power law of practice", columns, rows, "times/learning_slope.csv", notes=notes),) if rows else ()


def _fast(times: Times) -> tuple[Element, ...]:
    rows = rows_of(times.fast)
    if not any(row["n"] for row in rows):
        return ()
    columns = (
        Column("suggestion", "Suggestion", "text"),
        Column("rater", "Rater", "text"),
        Column("share", "Fast", "share"),
        Column("low", "95% interval", "share", to="high"),
        Column("under", "Fast decisions"),
        Column("n", "Decisions"),
    )
    plot = Plot(linear(numbers(rows, "share", "high"), "share", around=(0.0,)), "Share of fast decisions", "share")
    notes = (
        f"Fast: {times.used['fast']}. A suggestion can hardly be read in that time. The comparison is with units whose "
        "suggestion was withheld. Wilson intervals.",
    )
    return (Listing("Fast first decisions", columns, rows, "times/fast.csv", plot, notes),)


def _later(times: Times) -> tuple[Element, ...]:
    rows = rows_of(times.later)
    if not any(row["returned"] for row in rows):
        return ()
    columns = (
        Column("rater", "Rater", "text"),
        Column("share", "Came back to", "share"),
        Column("returned", "Units with later time"),
        Column("decisions", "Of"),
        Column("median_ms", "Median later time", "seconds"),
        Column("q1_ms", "Quartiles", "seconds", to="q3_ms"),
    )
    notes = ("Time spent on a unit after its first decision; it is never added to the time of the decision.",)
    return (Listing("Time after the first decision", columns, rows, "times/later.csv", notes=notes),)
