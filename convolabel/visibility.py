"""What a rater may see of a conversation (design, section 5 "Reveal"). Pure functions of task data and decisions."""

from collections.abc import Collection

from convolabel.task_data import TaskData
from convolabel.units import Unit


def visible_message_count(data: TaskData, decided: Collection[Unit], *, no_future_messages: bool) -> int:
    """How many messages, from the first on, the rater may see.

    Up to and including the first labelable message that still has an undecided unit; all of them when every
    unit is decided. `decided` holds the units this rater has decided.
    """
    if not no_future_messages:
        return len(data.messages)
    waiting = [span.message for span in data.spans if span.unit not in decided]
    return min(waiting) + 1 if waiting else len(data.messages)


def may_decide(data: TaskData, unit: Unit, visible_messages: int) -> bool:
    """Whether `unit` exists in this revision and stands in a message the rater can see."""
    span = data.span(unit.span_id)
    return span is not None and span.rev == unit.rev and span.message < visible_messages
