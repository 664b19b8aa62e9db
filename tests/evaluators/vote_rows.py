"""Votes for tests."""

from typing import Any

from convolabel.votes_table import Vote

Table = list[list[str]]
"""Raters x units; an empty text is missing."""


def rows(table: Table) -> list[dict[str, object]]:
    return [
        {"span_id": f"s{unit}", "span_rev": 1, "rater_id": f"r{rater}", "category": value}
        for rater, values in enumerate(table)
        for unit, value in enumerate(values)
    ]


def vote(span_id: str, rater: str, category: str | None, **cells: Any) -> Vote:
    return Vote(
        **{
            "study": "s",
            "conversation_id": "c",
            "rater_id": rater,
            "dimension": "intent",
            "category": category,
            "unsure": category is None,
            "span_rev": 1,
            "span_start": 0,
            "span_end": 3,
            "span_text": "Ja.",
            "span_id": span_id,
            "message_id": "m1",
            "span_index": 0,
            **cells,
        }
    )
