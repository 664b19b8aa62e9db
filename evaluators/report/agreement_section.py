"""Agreement between raters, as the report tells it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluators.agreement import Agreement
from evaluators.report.elements import (
    Column,
    Element,
    Form,
    Listing,
    Plot,
    Row,
    Section,
    ends,
    missing_notes,
    of_dimension,
    rows_of,
    said,
)
from evaluators.report.heat_maps import heat_map
from evaluators.report.overview import HUMANS
from evaluators.report.scales import linear, numbers

if TYPE_CHECKING:
    import pandas as pd

CUSTOMARY = (0.667, 0.8)
"""Lines beside alpha: Krippendorff (2019) trusts .800 and more, and draws tentative conclusions from .667 on."""
NOT_ASKED = "not asked"
"""The arm of votes for which no suggestion was asked."""
_MOST_CONVERSATIONS = 40
_MOST_PAIRS = 10
_FEW_CONVERSATIONS = 10


def agreement_section(agreement: Agreement, confusion: "pd.DataFrame", dimensions: Sequence[str | None]) -> Section:
    says = (
        f"{_coefficient(agreement)}, with missing values. Intervals are {agreement.used['interval']}: whole "
        f"conversations are drawn with replacement ({agreement.used['draws']:,} draws, seed {agreement.used['seed']}). "
        f"The parts below the first table rest on {agreement.used['parts_rest_on']}. An unsure vote is "
        f"{'a missing one' if agreement.used['unsure'] == 'missing' else 'a category of its own'}.",
        "Dashed lines stand at .667 and .800: Krippendorff (2019) relies on data from .800 on and draws tentative "
        "conclusions from .667 on. They are customary, not tests; read the interval, and what the data are for.",
    )
    parts = tuple(_of_dimension(agreement, confusion, dimension) for dimension in dimensions)
    return Section(
        "Agreement between raters", says, parts=parts if len(parts) > 1 else parts[0].parts, name="agreement"
    )


def alpha_sentence(row: Row) -> str:
    """Alpha with its interval and sizes in one sentence."""
    on = f"{said(row['pairable_units'], 'count')} units with two or more values"
    raters = f"{said(row['raters'], 'count')} raters"
    if row["alpha"] is None:
        return f"alpha is not defined ({row['reason']}; {on}, {raters})."
    interval = f"no interval: {row['interval_reason']}"
    if row["low"] is not None:
        interval = f"95% interval {said(row['low'], 'coefficient')} to {said(row['high'], 'coefficient')}"
    observed = said(row["observed_agreement"], "share")
    return (
        f"alpha = {said(row['alpha'], 'coefficient')} ({interval}), observed agreement {observed}, on {on} by {raters}."
    )


def _coefficient(agreement: Agreement) -> str:
    level = agreement.used["level"]
    if level == "distance":
        return f"Krippendorff's alpha with the distances of {agreement.used['distances']}"
    return f"Krippendorff's alpha for {level} values"


def _of_dimension(agreement: Agreement, confusion: "pd.DataFrame", dimension: str | None) -> Section:
    topics = (
        Section("Overall", elements=_overall(agreement, dimension)),
        Section("By category", elements=_by_category(agreement, dimension)),
        Section("By part of the data", elements=_by_part(agreement, dimension)),
        Section("Between raters", elements=_between_raters(agreement, dimension)),
        Section("Confusions", elements=_confusions(confusion, dimension)),
    )
    kept = tuple(topic for topic in topics if topic.elements)
    return Section(dimension or "All votes", parts=kept)


def _alphas(
    caption: str,
    part: Column,
    rows: Sequence[Row],
    source: str,
    *,
    sizes: tuple[Column, ...] = (Column("pairable_units", "Units compared"),),
    conversations: tuple[Column, ...] = (Column("conversations", "Conver\u00adsations"),),
    notes: tuple[str, ...] = (),
) -> tuple[Element, ...]:
    if not rows:
        return ()
    scale = linear(numbers(rows, "alpha", "low", "high"), "coefficient", around=(0.0, 1.0), marks=CUSTOMARY)
    columns = (
        part,
        Column("alpha", "Alpha", "coefficient"),
        Column("low", "95% interval", "coefficient", to="high"),
        Column("observed_agreement", "Observed agreement", "share"),
        *sizes,
        Column("raters", "Raters"),
        *conversations,
        Column("unsure", "Unsure"),
    )
    plot = Plot(scale, "Alpha with its interval", "alpha")
    gaps = missing_notes([row for row in rows if row["alpha"] is not None], "interval_reason", "No interval")
    return (Listing(caption, columns, tuple(rows), source, plot, (*notes, *gaps)),)


def _overall(agreement: Agreement, dimension: str | None) -> tuple[Element, ...]:
    notes: tuple[str, ...] = (
        "Units compared are those with two or more values; the conversations are those with such a unit.",
    )
    rows = of_dimension(agreement.overall, dimension)
    if any(row["low"] is not None and row["conversations"] < _FEW_CONVERSATIONS for row in rows):
        notes = (*notes, "Over fewer than ten conversations such an interval is too narrow: read it as a lower bound.")
    return _alphas("Alpha over all units", Column("who", "Raters", "text"), rows, "agreement/overall.csv", notes=notes)


def _by_category(agreement: Agreement, dimension: str | None) -> tuple[Element, ...]:
    rows = of_dimension(agreement.by_category, dimension)
    sizes = (Column("values", "Votes for it"), Column("units", "Units with it"))
    notes = ("Nominal alpha after all other categories are made one. Rare categories have wide intervals.",)
    return _alphas(
        "Each category against all others",
        Column("category", "Category", "text"),
        rows,
        "agreement/by_category.csv",
        sizes=sizes,
        notes=notes,
    )


def _by_part(agreement: Agreement, dimension: str | None) -> tuple[Element, ...]:
    arms = of_dimension(agreement.by_arm, dimension)
    if {row["arm"] for row in arms} == {NOT_ASKED}:
        arms = ()
    conversations, left_out = ends(of_dimension(agreement.by_conversation, dimension), "alpha", _MOST_CONVERSATIONS)
    on_arms = "Pairs of raters whose suggestion for the unit was shown to both, or withheld from both."
    on_blocks = (
        "Blocks: neighbouring units of a message count once where no rater changes their answer. Characters: each "
        "character of a unit counts. Alike numbers mean that the length of units and runs does not matter."
    )
    return (
        *_alphas(
            "Alpha by the speaker's role",
            Column("role", "Role", "text"),
            of_dimension(agreement.by_role, dimension),
            "agreement/by_role.csv",
        ),
        *_alphas(
            "Alpha by arm of the co-pilot",
            Column("arm", "Arm", "text"),
            arms,
            "agreement/by_arm.csv",
            notes=(on_arms,),
        ),
        *_alphas(
            "Alpha on units, blocks and characters",
            Column("on", "Counted", "text"),
            of_dimension(agreement.blocks, dimension),
            "agreement/blocks.csv",
            notes=(on_blocks,),
        ),
        *_alphas(
            "Alpha by conversation",
            Column("conversation", "Conversation", "text"),
            conversations,
            "agreement/by_conversation.csv",
            conversations=(),
            notes=left_out,
        ),
    )


def _between_raters(agreement: Agreement, dimension: str | None) -> tuple[Element, ...]:
    pairs = of_dimension(agreement.pairs, dimension)
    against_rest = of_dimension(agreement.by_rater, dimension)
    is_weighted = agreement.used["level"] != "nominal"
    elements: list[Element] = []
    if len({row[side] for row in pairs for side in ("rater_a", "rater_b")}) > 2:
        kappa = ("weighted_kappa", "Weighted kappa") if is_weighted else ("kappa", "Cohen's kappa")
        elements.append(_matrix(pairs, *kappa, "coefficient"))
        if len(pairs) > _MOST_PAIRS:
            elements.append(_matrix(pairs, "agreement", "Raw agreement", "share"))
    if 0 < len(pairs) <= _MOST_PAIRS:
        elements.append(_pairs(pairs, is_weighted))
    if len(against_rest) > 2:
        elements.append(_against_rest(against_rest))
    return tuple(elements)


def _matrix(pairs: Sequence[Row], key: str, title: str, form: Form) -> Element:
    both = [*pairs, *({**row, "rater_a": row["rater_b"], "rater_b": row["rater_a"]} for row in pairs)]
    return heat_map(
        f"{title} of every two raters",
        both,
        "rater_a",
        "rater_b",
        key,
        "units",
        form,
        "agreement/pairs.csv",
        ("Rater", "Rater"),
        square=True,
        from_lowest=True,
        notes=("n counts the units that both gave a value.",),
    )


def _pairs(pairs: Sequence[Row], is_weighted: bool) -> Listing:
    columns = (
        Column("rater_a", "Rater", "text"),
        Column("rater_b", "and rater", "text"),
        Column("units", "Units in common"),
        Column("agreement", "Raw agreement", "share"),
        Column("kappa", "Cohen's kappa", "coefficient"),
        *((Column("weighted_kappa", "Weighted kappa", "coefficient"),) if is_weighted else ()),
        Column("pi", "Scott's pi", "coefficient"),
    )
    notes = missing_notes(pairs, "reason", "Not defined")
    return Listing("Pairs of raters", columns, tuple(pairs), "agreement/pairs.csv", notes=notes)


def _against_rest(rows: Sequence[Row]) -> Listing:
    scale = linear(numbers(rows, "kappa_with_rest"), "coefficient", around=(0.0, 1.0))
    columns = (
        Column("rater", "Rater", "text"),
        Column("rater_kind", "Kind", "text"),
        Column("kappa_with_rest", "Kappa with the rest", "coefficient"),
        Column("agreement_with_rest", "Agreement with the rest", "share"),
        Column("alpha_without", "Alpha without the rater", "coefficient"),
        Column("units", "Units in common"),
    )
    said_of = (
        "A human is compared with the other humans, an assessor with all humans. A rater without whom alpha is clearly "
        "higher codes differently."
    )
    notes = (said_of, *missing_notes(rows, "reason", "Not defined"))
    plot = Plot(scale, "Kappa with the rest", "kappa_with_rest", low="", high="")
    return Listing("Each rater against the rest", columns, tuple(rows), "agreement/by_rater.csv", plot, notes)


def _confusions(confusion: "pd.DataFrame", dimension: str | None) -> tuple[Element, ...]:
    rows = of_dimension(confusion, dimension)
    matrices = dict.fromkeys((row["row_raters"], row["column_raters"]) for row in rows)
    return tuple(_confusion(confusion, dimension, *who) for who in matrices)


def _confusion(confusion: "pd.DataFrame", dimension: str | None, down: str, across: str) -> Element:
    rows = rows_of(confusion, dimension=dimension, row_raters=down, column_raters=across)
    both = down == across == HUMANS
    caption = (
        "What every two humans said of the same unit" if both else f"What {down} and {across} said of the same unit"
    )
    note = "Pairs of all humans in both orders, so the counts are symmetric; p" if both else "P"
    return heat_map(
        caption,
        rows,
        "row_value",
        "column_value",
        "share",
        "n",
        "share",
        "overview/confusion.csv",
        (f"{'One' if both else down} said", f"{'the other' if both else across} said"),
        square=True,
        notes=(f"{note}ercentages are of the row.",),
    )
