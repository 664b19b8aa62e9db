"""What was coded, as the report tells it: categories, what follows what, role scores."""

from collections.abc import Sequence

from evaluators.descriptives import Descriptives
from evaluators.report.elements import Column, Element, Listing, Plot, Row, Section, of_dimension, said
from evaluators.report.heat_maps import heat_map
from evaluators.report.scales import linear, numbers

_MOST_SPEAKER_CHANGES = 4


def categories_section(descriptives: Descriptives, dimensions: Sequence[str | None]) -> Section:
    says = (
        "Every vote counts once, so a unit with ten raters counts ten times. Intervals are Wilson's (1927); they take "
        "votes as independent, which votes on one unit are not, and describe precision rather than test anything.",
    )
    parts = [
        Section(
            dimension or "All votes",
            elements=(
                *_frequencies(descriptives, dimension),
                *_transitions(descriptives, dimension),
                *_role_scores(descriptives, dimension),
            ),
        )
        for dimension in dimensions
    ]
    if len(parts) == 1:
        return Section("Categories", says, parts[0].elements, name="categories")
    return Section("Categories", says, parts=tuple(parts), name="categories")


def _frequencies(descriptives: Descriptives, dimension: str | None) -> tuple[Element, ...]:
    rows = of_dimension(descriptives.frequencies, dimension)
    overall = [row for row in rows if row["split"] == "overall"]
    if not overall:
        return ()
    scale = linear(numbers(overall, "share", "high"), "share", around=(0.0,))
    columns = (
        Column("category", "Category", "text"),
        Column("share", "Share", "share"),
        Column("low", "95% interval", "share", to="high"),
        Column("n", "Votes"),
    )
    notes = (f"Of {said(overall[0]['total'], 'count')} votes.",)
    source = "descriptives/frequencies.csv"
    by_share = tuple(sorted(overall, key=lambda row: (row["category"] == "unsure", -row["share"], row["category"])))
    listing = Listing("How often", columns, by_share, source, Plot(scale, "Share with its interval", "share"), notes)
    return (listing, *(heat for split in ("role", "rater") for heat in _split(rows, split)))


def _split(rows: Sequence[Row], split: str) -> tuple[Element, ...]:
    mine = [row for row in rows if row["split"] == split]
    totals = {row["part"]: row["total"] for row in mine}
    if len(totals) < 2:
        return ()
    sizes = "; ".join(f"{part}: {said(total, 'count')}" for part, total in totals.items())
    if len(set(totals.values())) == 1:
        sizes = f"{said(mine[0]['total'], 'count')} in each column"
    what = "role of the speaker" if split == "role" else "rater"
    return (
        heat_map(
            f"Categories by {what}",
            mine,
            "category",
            "part",
            "share",
            "n",
            "share",
            "descriptives/frequencies.csv",
            ("Category", what.capitalize()),
            notes=(f"Percentages are of a column. Votes in all: {sizes}.",),
        ),
    )


def _transitions(descriptives: Descriptives, dimension: str | None) -> tuple[Element, ...]:
    rows = of_dimension(descriptives.transitions, dimension)
    units = [row for row in rows if row["between"] == "units"]
    changes = [row for row in rows if row["between"] == "speakers"]
    heats: list[Element] = []
    if units:
        heats.append(_transition("What follows what, from unit to unit", units))
    sizes: dict[tuple[str, str], int] = {}
    for row in changes:
        pair = (row["from_part"], row["to_part"])
        sizes[pair] = sizes.get(pair, 0) + row["n"]
    for pair in sorted(sizes, key=lambda pair: -sizes[pair])[:_MOST_SPEAKER_CHANGES]:
        mine = [row for row in changes if (row["from_part"], row["to_part"]) == pair]
        heats.append(_transition(f"What follows what when {pair[1]} speaks after {pair[0]}", mine))
    return tuple(heats)


def _transition(caption: str, rows: Sequence[Row]) -> Element:
    total = said(sum(row["n"] for row in rows), "count")
    return heat_map(
        caption,
        rows,
        "from_category",
        "to_category",
        "share",
        "n",
        "share",
        "descriptives/transitions.csv",
        ("From", "to"),
        notes=(
            f"Percentages are of the row; {total} transitions between neighbouring units that one rater gave a "
            "category both, all raters together.",
        ),
    )


def _role_scores(descriptives: Descriptives, dimension: str | None) -> tuple[Element, ...]:
    rows = of_dimension(descriptives.role_scores, dimension)
    if not rows:
        return ()
    columns = (
        Column("split", "Split", "text"),
        Column("part", "Part", "text"),
        Column("attentive", "Attentive", "share"),
        Column("acquiescent", "Acquiescent", "share"),
        Column("presumptuous", "Presumptuous", "share"),
        Column("n", "Coded votes"),
        Column("uncodable", "Uncodable"),
    )
    note = (
        "Shares of the eight modes (Stiles 1992): attentive R K I Q, acquiescent R K C E, presumptuous R I C A; the "
        "rest is informative, directive, unassuming. Exact functions of the votes, uncodable and unsure ones left out."
    )
    source = "descriptives/role_scores.csv"
    return (Listing("Role scores of Verbal Response Modes", columns, rows, source, notes=(note,)),)
