"""Grapheme clusters (what a reader takes for one character, UAX 29) as code-point boundaries."""

import regex

_CLUSTER = regex.compile(r"\X")


def is_grapheme_boundary(text: str, offset: int) -> bool:
    """Whether cutting `text` at the code-point `offset` leaves every grapheme cluster whole.

    >>> family = "\\U0001F468\\u200D\\U0001F469\\u200D\\U0001F467"  # one ZWJ sequence, five code points
    >>> [is_grapheme_boundary(family + "!", k) for k in range(7)]
    [True, False, False, False, False, True, True]
    """
    if offset <= 0 or offset >= len(text):
        return True
    # Between two ASCII characters only CR LF holds together; most cuts end here.
    before, after = text[offset - 1], text[offset]
    if before < "\x80" and after < "\x80":
        return not (before == "\r" and after == "\n")
    # A cluster never spans an ASCII letter, digit or blank, so matching may start after the last one.
    start = offset - 1
    while start > 0 and not (text[start] < "\x80" and text[start] not in "\r\n"):
        start -= 1
    return any(match.end() == offset for match in _CLUSTER.finditer(text, start, offset + 64) if match.end() <= offset)


def utf16_offset(text: str, offset: int) -> int:
    """The UTF-16 code units before the code-point `offset`: what a browser counts.

    >>> utf16_offset("Gut \\U0001F44D\\U0001F3FD weiter so. Was nun?", 18)
    20
    """
    return offset + sum(1 for char in text[:offset] if char > "\uffff")
