"""The co-pilot's effect, as the report tells it."""

from collections.abc import Sequence

from evaluators.copilot import CopilotEffect
from evaluators.report.elements import Column, Element, Listing, Plot, Row, Section, missing_notes, of_dimension, said
from evaluators.report.scales import linear, numbers, ratios

_N = (Column("n_shown", "n shown"), Column("n_control", "n control"), Column("conversations", "Conver\u00adsations"))


def copilot_section(effect: CopilotEffect, dimensions: Sequence[str | None]) -> Section:
    used = effect.used
    says = (
        "For a share of units, drawn before anything is shown, the suggestion is made but withheld (control). The two "
        "arms differ only in the suggestion being on screen, so a difference between them is the co-pilot's effect, up "
        f"to chance. Compared: {used['compared']}, of human raters.",
        f"Intervals: {used['interval']}, {used['draws']:,} draws. p: {used['test']}, {used['redraws']:,} redrawings of "
        f"the arms, two-sided. Arms were drawn for {_drawn_for(used['control_unit'])}. Interval and test ask "
        "different questions (other conversations; other draws of the arms).",
        "A pull towards right suggestions raises quality, a pull towards wrong ones lowers it; this comparison shows "
        "the pull, not which of the two. What raters learn from suggestions they carry to control units, so the pull "
        "is that of a suggestion on screen, not of working with a co-pilot as a whole.",
    )
    parts = [_of_dimension(effect, dimension) for dimension in dimensions]
    parts = [part for part in parts if part.parts]
    kept = parts[0].parts if len(parts) == 1 else tuple(parts)
    return Section("Effect of the co-pilot", says, parts=kept, name="copilot")


def anchoring_sentence(row: Row) -> str:
    """The first row of `effects` in one sentence."""
    if row["effect"] is None:
        return f"the effect of showing suggestions is not defined ({row['reason']})."
    interval = ""
    if row["low"] is not None:
        interval = f" (95% interval {said(row['low'], 'difference')} to {said(row['high'], 'difference')})"
    p = "" if row["p"] is None else f", p {_p(row['p'])}"
    return (
        f"{said(row['shown'], 'share')} of votes agree with the suggestion when it is shown, "
        f"{said(row['control'], 'share')} when it is withheld: a difference of {said(row['effect'], 'difference')}"
        f"{interval}{p}, on {said(row['n_shown'], 'count')} and {said(row['n_control'], 'count')} votes."
    )


def _p(value: float) -> str:
    text = said(value, "p")
    return text if text.startswith("<") else f"= {text}"


def _drawn_for(control_unit: str) -> str:
    unit, _, source = control_unit.partition(" ")
    what = "each rater and unit on its own" if unit == "rater_span" else "each unit, for all raters together"
    return f"{what} {source}".strip()


def _of_dimension(effect: CopilotEffect, dimension: str | None) -> Section:
    topics = (
        Section("What showing a suggestion changes", elements=_effects(effect, dimension)),
        Section("Agreement with the suggestion", elements=_anchoring(effect, dimension)),
        Section("Uptake and thumbs", elements=_uptake(effect, dimension)),
    )
    kept = tuple(topic for topic in topics if topic.elements)
    return Section(dimension or "All votes", parts=kept)


def _effects(effect: CopilotEffect, dimension: str | None) -> tuple[Element, ...]:
    rows = of_dimension(effect.effects, dimension)
    differences = [row for row in rows if row["scale"] == "difference"]
    times = [row for row in rows if row["scale"] == "ratio"]
    distances = [row for row in rows if row["scale"] not in ("difference", "ratio")]
    return (*_arms(effect, dimension), *_differences(differences), *_ratios(times), *_distances(distances))


def _differences(rows: Sequence[Row]) -> tuple[Element, ...]:
    if not rows:
        return ()
    columns = (
        Column("measure", "Measure", "text"),
        Column("shown", "Shown", "coefficient"),
        Column("control", "Control", "coefficient"),
        Column("effect", "Difference", "difference"),
        Column("low", "95% interval", "difference", to="high"),
        Column("p", "p", "p"),
        *_N,
    )
    scale = linear(numbers(rows, "effect", "low", "high"), "difference", around=(0.0,), marks=(0.0,))
    notes = (
        "Shown less control; the dashed line is no effect. n: votes; for alpha and agreement between raters, values in "
        "pairs of raters who both had the unit in that arm. Many measures make small p by chance: the first row is the "
        "main one.",
        *missing_notes(rows, "interval_reason", "No interval"),
    )
    plot = Plot(scale, "Difference, shown less control", "effect")
    return (Listing("Differences", columns, tuple(rows), "copilot/effects.csv", plot, notes),)


def _ratios(rows: Sequence[Row]) -> tuple[Element, ...]:
    if not rows:
        return ()
    columns = (
        Column("measure", "Measure", "text"),
        Column("shown", "Shown", "seconds"),
        Column("control", "Control", "seconds"),
        Column("effect", "Ratio", "ratio"),
        Column("low", "95% interval", "ratio", to="high"),
        Column("p", "p", "p"),
        *_N,
    )
    notes = (
        "Geometric means, shown over control; the dashed line is no effect. Faster decisions are not better ones.",
        *missing_notes(rows, "interval_reason", "No interval"),
    )
    plot = Plot(ratios(numbers(rows, "effect", "low", "high")), "Ratio, shown over control", "effect")
    return (Listing("Time to the first decision", columns, tuple(rows), "copilot/effects.csv", plot, notes),)


def _distances(rows: Sequence[Row]) -> tuple[Element, ...]:
    if not rows:
        return ()
    columns = (
        Column("measure", "Measure", "text"),
        Column("effect", "Total variation distance", "share"),
        Column("p", "p, one-sided", "p"),
        *_N,
    )
    notes = (
        "The share of votes that would have to change category to make the arms equal. "
        "A distance is never below zero, so its p is that of the upper tail, and it has no interval.",
    )
    return (Listing("Distance between the categories given", columns, tuple(rows), "copilot/effects.csv", notes=notes),)


def _anchoring(effect: CopilotEffect, dimension: str | None) -> tuple[Element, ...]:
    calibration = (
        "Control is the calibration of the confidence: how often raters who did not see a suggestion said the same. "
        "The column shown contains the pull and must not be read that way."
    )
    return (
        *_compared(
            of_dimension(effect.by_confidence, dimension),
            "Agreement with the suggestion, by its confidence",
            Column("confidence", "Confidence", "text"),
            "copilot/by_confidence.csv",
            (calibration,),
        ),
        *_compared(
            of_dimension(effect.by_rater, dimension),
            "Agreement with the suggestion, by rater",
            Column("rater", "Rater", "text"),
            "copilot/by_rater.csv",
        ),
        *_compared(
            of_dimension(effect.distribution, dimension),
            "Share of each category in the two arms",
            Column("category", "Category", "text"),
            "copilot/distribution.csv",
        ),
    )


def _compared(
    rows: Sequence[Row], caption: str, part: Column, source: str, notes: tuple[str, ...] = ()
) -> tuple[Element, ...]:
    if not rows:
        return ()
    columns = (
        part,
        Column("shown", "Shown", "share"),
        Column("control", "Control", "share"),
        Column("effect", "Difference", "difference"),
        Column("low", "95% interval", "difference", to="high"),
        *_N,
    )
    scale = linear(numbers(rows, "effect", "low", "high"), "difference", around=(0.0,), marks=(0.0,))
    plot = Plot(scale, "Difference, shown less control", "effect")
    gaps = missing_notes(rows, "interval_reason", "No interval")
    return (Listing(caption, columns, tuple(rows), source, plot, (*notes, *gaps)),)


def _uptake(effect: CopilotEffect, dimension: str | None) -> tuple[Element, ...]:
    taken = of_dimension(effect.uptake, dimension)
    thumbs = of_dimension(effect.thumbs, dimension)
    elements: list[Element] = []
    by = (Column("split", "By", "text"), Column("part", "Part", "text"))
    interval = Column("low", "95% interval", "share", to="high")
    columns: tuple[Column, ...]
    if any(row["shown"] for row in taken):
        columns = (
            *by,
            Column("share", "Accepted", "share"),
            interval,
            Column("accepted", "n accepted"),
            Column("same_label", "n same label"),
            Column("shown", "n shown"),
        )
        plot = Plot(linear(numbers(taken, "share", "low", "high"), "share", around=(0.0, 1.0)), "Accepted", "share")
        notes = (
            "Suggestions on screen that were taken over with the accept key or button; same label counts votes that "
            "are as suggested in the end. Uptake is not anchoring: who would have said the same accepts too.",
            *missing_notes(taken, "interval_reason", "No interval"),
        )
        elements.append(Listing("Uptake", columns, taken, "copilot/uptake.csv", plot, notes))
    if any(row["helpful"] or row["not_helpful"] for row in thumbs):
        columns = (
            *by,
            Column("share", "Helpful", "share"),
            interval,
            Column("helpful", "Thumbs up"),
            Column("not_helpful", "Thumbs down"),
        )
        plot = Plot(linear((), "share", around=(0.0, 1.0)), "Helpful", "share")
        notes = ("Marks raters chose to give; they describe those who give them. Wilson intervals.",)
        elements.append(Listing("Thumbs", columns, thumbs, "copilot/thumbs.csv", plot, notes))
    return tuple(elements)


def _arms(effect: CopilotEffect, dimension: str | None) -> tuple[Element, ...]:
    rows = of_dimension(effect.arms, dimension)
    columns = (
        Column("arm", "Arm", "text"),
        Column("votes", "Votes"),
        Column("on_screen", "On screen in time"),
        Column("unsure", "Unsure"),
        Column("units", "Units"),
        Column("raters", "Raters"),
    )
    notes = (
        "The arm none holds suggestions that failed, were abstentions, or came late; it is in neither side of the "
        "comparison. With more than a few percent of votes in it, the arms may no longer be alike.",
    )
    return (Listing("What the comparison rests on", columns, rows, "copilot/arms.csv", notes=notes),) if rows else ()
