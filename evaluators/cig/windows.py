"""A conversation that is too long for one prompt is rated in windows."""

from collections.abc import Sequence
from typing import NamedTuple


class Window(NamedTuple):
    """Half-open ranges of places: `[background, start)` is shown before, `[start, end)` holds what is rated."""

    background: int
    start: int
    end: int


def estimated_tokens(text: str) -> int:
    """On the safe side for English (4 characters a token) and for scripts with a token per character (3 bytes)."""
    return len(text.encode("utf-8", "surrogatepass")) // 3 + 1


def windows_within(sizes: Sequence[int], start: int, end: int, targets: Sequence[int], room: int) -> list[Window]:
    """Windows over the places `[start, end)`, each of at most `room` tokens where that is possible.

    `sizes` are tokens per utterance, `targets` the places to rate in the range, in order. When everything up to `end`
    fits there is one window with all that was said before as its background. Otherwise a window takes utterances up
    to half of the room, at least up to its first target, and is filled up with what was said just before it.
    """
    if sum(sizes[:end]) <= room:
        return [Window(0, start, end)]
    windows: list[Window] = []
    for target in targets:
        if target < start:
            continue
        stop = max(_end(sizes, start, targets[-1] + 1, room // 2), target + 1)
        windows.append(Window(_background(sizes, start, room - sum(sizes[start:stop])), start, stop))
        start = stop
    return windows


def _end(sizes: Sequence[int], start: int, last: int, room: int) -> int:
    used, end = sizes[start], start + 1
    while end < last and used + sizes[end] <= room:
        used += sizes[end]
        end += 1
    return end


def _background(sizes: Sequence[int], start: int, room: int) -> int:
    place = start
    while place > 0 and sizes[place - 1] <= room:
        place -= 1
        room -= sizes[place]
    return place
