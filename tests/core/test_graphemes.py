"""Grapheme boundaries and UTF-16 offsets against brute force."""

import doctest

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from convolabel import graphemes
from convolabel.graphemes import is_grapheme_boundary, utf16_offset

# what clusters are made of: CR, LF, marks, ZWJ, variation selector, skin tone, flags, Hangul jamo, Indic conjuncts,
# prepended marks, spacing marks, Thai, a keycap, tags - and plain letters and blanks between them
PIECES = [
    *"\r\n\t ab1",
    *("\u0301", "\u0308", "\u200d", "\ufe0f", "\u20e3", "\U0001f3fd", "\U0001f44d", "\U0001f468", "\u2764"),
    *("\U0001f1e9", "\U0001f1ea", "\U0001f1eb", "\u1100", "\u1161", "\u11a8", "\uac00", "\uac01"),
    *("\u0915", "\u094d", "\u0937", "\u093f", "\u0903", "\u0600", "\U000110bd", "\u0e01", "\u0e33"),
    *("\U0001f3f4", "\U000e0067", "\U000e007f", "\u00e9", "ß", "中", "\u2028", "\u0085", "\u200b", "\u00ad"),
]
texts = st.text(st.sampled_from(PIECES), max_size=40) | st.text(max_size=30)


def boundaries(text: str) -> set[int]:
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@settings(max_examples=1500, deadline=None)
@given(texts)
@example("a\u0600b\u0301c")
@example("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1ea")
@example("a\u0301\r\n\u0301")
@example("1\ufe0f\u20e3")
def test_a_boundary_is_what_a_scan_of_the_whole_text_finds(text: str) -> None:
    assert [k for k in range(len(text) + 1) if is_grapheme_boundary(text, k)] == sorted(boundaries(text))


@pytest.mark.parametrize("length", [62, 63, 64, 65, 66, 130])
def test_clusters_longer_than_any_window(length: int) -> None:
    text = "a" + "\u0301" * length + "b" + "\U0001f1e9" * length + "c"
    assert {k for k in range(len(text) + 1) if is_grapheme_boundary(text, k)} == boundaries(text)


@given(st.text(st.sampled_from("a\u00e9中😀👍🏽\r\n\uffff\U00010000")), st.data())
def test_utf16_offset_counts_what_a_browser_counts(text: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(text)))
    assert utf16_offset(text, k) == len(text[:k].encode("utf-16-le")) // 2


def test_documented_examples() -> None:
    assert doctest.testmod(graphemes).failed == 0
    assert doctest.testmod(graphemes).attempted == 3
