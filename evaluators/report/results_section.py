"""Results of evaluators, and the raters' notes, as the report tells them."""

from evaluators.descriptives import Descriptives
from evaluators.report.elements import Column, Element, Form, Listing, Section, rows_of
from evaluators.report.evaluator_results import EvaluatorResults

_MOST_NOTES = 200
_MOST_CONVERSATIONS = 200
_TITLES = {"median_ms": "median time"}


def results_section(results: EvaluatorResults) -> Section:
    says = (
        "Tables of evaluators, joined to the votes by conversation. Where a table has several rows for a conversation, "
        "their mean is given. These numbers come from evaluators, not from human raters.",
    )
    files = Listing(
        "Tables found",
        (
            Column("file", "Table", "text"),
            Column("rows", "Rows"),
            Column("conversations", "Conversations"),
            Column("joined", "Joined below", "text"),
            Column("run", "Conversations of the run", "text"),
        ),
        rows_of(results.files),
        "results/files.csv",
    )
    return Section("Results of evaluators", says, (files, *_joined(results)), name="results")


def _joined(results: EvaluatorResults) -> tuple[Element, ...]:
    if not results.measures:
        return ()
    rows = rows_of(results.conversations)
    columns = [Column("conversation", "Conversation", "text")]
    for name in map(str, results.conversations.columns[1:]):
        columns.append(Column(name, _TITLES.get(name, name.replace("_", " ")), _form(name)))
    left_out = len(rows) - _MOST_CONVERSATIONS
    notes = (f"The first {_MOST_CONVERSATIONS} of {len(rows)}; all are in the CSV file.",) if left_out > 0 else ()
    kept = rows[:_MOST_CONVERSATIONS]
    source = "results/conversations.csv"
    return (Listing("Per conversation", tuple(columns), kept, source, notes=notes),)


def _form(name: str) -> Form:
    if name == "median_ms":
        return "seconds"
    return "coefficient" if name.startswith("alpha") else "number"


def notes_section(descriptives: Descriptives) -> Section:
    rows = rows_of(descriptives.notes)
    if not rows:
        return Section("Notes", ("No rater left a note.",), name="notes")
    columns = (
        Column("conversation", "Conversation", "text"),
        Column("unit", "Unit", "text"),
        Column("rater", "Rater", "text"),
        Column("said", "Said", "text"),
        Column("note", "Note", "text"),
        Column("text", "Text of the unit", "text"),
    )
    left_out = len(rows) - _MOST_NOTES
    notes = (f"The first {_MOST_NOTES} of {len(rows)}; all are in the CSV file.",) if left_out > 0 else ()
    listing = Listing("Notes of raters", columns, rows[:_MOST_NOTES], "descriptives/notes.csv", notes=notes)
    return Section("Notes", (), (listing,), name="notes")
