"""The unit of analysis: one span of one message, in one of its revisions (design, section 4)."""

from typing import NamedTuple


class Unit(NamedTuple):
    """`(span_id, rev)` names a unit: `rev` grows each time the unit is created anew, starting at 1."""

    span_id: str
    rev: int


UNSURE = "unsure"
"""Reserved category id: the rater decided that they are unsure. No codebook may use it."""
