"""The one order in which every evaluator reads a conversation (evaluator spec, "Shared")."""

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from evaluators.corpus.protocols import ConversationLike


class ReadingOrder(NamedTuple):
    """Utterances in the order they are read; `by_timestamp` is false where file order had to do."""

    utterances: list[Any]
    by_timestamp: bool


def in_reading_order(conversation: "ConversationLike") -> ReadingOrder:
    """By timestamp, stable, ties in file order; in file order when timestamps are missing or of mixed kinds.

    Numbers, numbers as text, and ISO 8601 times (all with a time zone, or all without) are timestamps.
    """
    utterances = list(conversation.iter_utterances())
    times = _comparable([utterance.timestamp for utterance in utterances])
    if times is None:
        return ReadingOrder(utterances, by_timestamp=False)
    order = sorted(range(len(utterances)), key=times.__getitem__)
    return ReadingOrder([utterances[index] for index in order], by_timestamp=True)


def _comparable(stamps: list[Any]) -> list[Any] | None:
    if all(isinstance(stamp, int | float) and not isinstance(stamp, bool) for stamp in stamps):
        return None if any(math.isnan(stamp) for stamp in stamps) else stamps
    if not all(isinstance(stamp, str) for stamp in stamps):
        return None
    try:
        numbers = [float(stamp) for stamp in stamps]
    except ValueError:
        return _moments(stamps)
    return None if any(math.isnan(number) for number in numbers) else numbers


def _moments(stamps: list[str]) -> list[datetime] | None:
    try:
        moments = [datetime.fromisoformat(stamp) for stamp in stamps]
    except ValueError:
        return None
    has_zone = {moment.tzinfo is not None for moment in moments}
    return moments if len(has_zone) == 1 else None
