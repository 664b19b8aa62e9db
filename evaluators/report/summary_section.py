"""The first words of the report: the main numbers, and what was read."""

from collections.abc import Sequence

from evaluators.agreement import Agreement
from evaluators.copilot import CopilotEffect
from evaluators.report.agreement_section import alpha_sentence
from evaluators.report.copilot_section import anchoring_sentence
from evaluators.report.elements import Column, Element, Listing, Section, of_dimension, rows_of, said
from evaluators.report.overview import Overview
from evaluators.times import Times


def summary_section(
    dimensions: Sequence[str | None],
    overview: Overview,
    agreement: Agreement,
    times: Times | None,
    copilot: CopilotEffect | None,
) -> Section:
    says: list[str] = []
    for dimension in dimensions:
        prefix = f"{dimension}: " if len(dimensions) > 1 else ""
        for sizes in of_dimension(overview.votes, dimension):
            talks = sizes["conversations"]
            within = "" if talks is None else f" in {said(talks, 'count')} conversations"
            says.append(
                f"{prefix}{said(sizes['votes'], 'count')} votes by {said(sizes['raters'], 'count')} raters on "
                f"{said(sizes['units'], 'count')} units{within}; {said(sizes['unsure'], 'count')} of them unsure."
            )
        for row in of_dimension(agreement.overall, dimension):
            says.append(f"{prefix}{row['who']}: {alpha_sentence(row)}")
        effects = of_dimension(copilot.effects, dimension) if copilot else ()
        if effects:
            says.append(f"{prefix}{anchoring_sentence(effects[0])}")
    if times is not None:
        (row,) = rows_of(times.overall)
        median, n = said(row["median_ms"], "seconds"), said(row["n"], "count")
        says.append(f"The median time to a first decision is {median} (n = {n}).")
    return Section("Summary", tuple(sentence[0].upper() + sentence[1:] for sentence in says), name="summary")


def data_section(overview: Overview) -> Section:
    columns = (
        Column("dimension", "Dimension", "text"),
        Column("votes", "Votes"),
        Column("unsure", "of them unsure"),
        Column("units", "Units"),
        Column("conversations", "Conversations"),
        Column("raters", "Raters"),
        Column("categories", "Categories"),
    )
    rows, raters = rows_of(overview.votes), rows_of(overview.raters)
    has_dimension = any(row["dimension"] is not None for row in rows)
    kept = columns if has_dimension else columns[1:]
    elements: tuple[Element, ...] = (
        Listing("Votes", kept, rows, "overview/votes.csv"),
        Listing(
            "Votes of each rater",
            (
                *((Column("dimension", "Dimension", "text"),) if has_dimension else ()),
                Column("rater", "Rater", "text"),
                Column("rater_kind", "Kind", "text"),
                Column("votes", "Votes"),
                Column("unsure", "of them unsure"),
            ),
            raters,
            "overview/raters.csv",
        ),
    )
    used = overview.used
    left_out = used["rows"] - used["votes"]
    columns_said = "; ".join(
        f"{name}: {', '.join(column) if isinstance(column, list) else column}"
        for name, column in used["columns"].items()
    )
    says = (
        f"{said(used['rows'], 'count')} rows were read, {said(used['votes'], 'count')} of them votes"
        + (f"; {said(left_out, 'count')} have no value, or repeat one" if left_out else "")
        + (f" (no value: empty, or {', '.join(used['missing'])})" if left_out and used["missing"] else "")
        + ".",
        f"Columns: {columns_said}.",
    )
    return Section("Data", says, elements, name="data")
