"""The clauses of a unit, by punctuation: candidates for the part that carries the match."""

import re

_BREAK = re.compile(r"(?<=[.!?…;:,—–])\s+|\s*[\r\n]+\s*")
_WORD = re.compile(r"\w")
MAX_CLAUSES = 24
"""A unit with more of them is looked at only up to here."""


def clauses(text: str) -> list[tuple[int, int]]:
    """`[start, end)` in code points of each clause that holds a word, in reading order, without surrounding blanks."""
    cuts = [0, *(edge for match in _BREAK.finditer(text) for edge in match.span()), len(text)]
    pieces = (_trimmed(text, start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=True))
    return [(start, end) for start, end in pieces if _WORD.search(text, start, end)][:MAX_CLAUSES]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
