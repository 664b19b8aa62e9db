"""Scores out of a model's reply."""

from collections.abc import Sequence
from typing import Any

from convolabel.llm.asking import Reading
from convolabel.llm.replies import list_in

_SCORES = (1, 2, 3, 4)


def read_ratings(reply: Any, places: Sequence[int]) -> Reading[int, int]:
    """The score of each of `places` that the reply rates with a whole number from 1 to 4 ("3" and 3.0 are such).

    Anything else is dropped and named among the faults: other places, other scores, and places with two scores.
    Raises `Malformed` when the reply is no list of ratings.
    """
    rows = [reply] if isinstance(reply, dict) and "utterance_index" in reply else list_in(reply)
    found: dict[int, set[int]] = {}
    faults: list[str] = []
    for row in rows:
        place, score = _numbers(row)
        if place is None:
            faults.append("rating without an utterance_index")
        elif place not in places:
            faults.append("rating of a line that was not to be rated")
        elif score not in _SCORES:
            faults.append("informativeness is not a whole number from 1 to 4")
        else:
            found.setdefault(place, set()).add(score)
    faults += ["two different ratings of one line" for scores in found.values() if len(scores) > 1]
    parts = {place: scores.pop() for place, scores in found.items() if len(scores) == 1}
    faults += ["line without a usable rating" for place in places if place not in parts]
    return Reading(parts, faults)


def _numbers(row: Any) -> tuple[int | None, int | None]:
    if not isinstance(row, dict):
        return None, None
    return _whole(row.get("utterance_index")), _whole(row.get("informativeness"))


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None
