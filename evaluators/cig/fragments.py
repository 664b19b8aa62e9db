"""Utterances too short to rate."""

import unicodedata

import regex

_ENDS = ".!?…。！？؟।"
_CLOSING = frozenset({"Pe", "Pf", "Pi"})  # brackets and quotes; “ closes in German, « in Danish
_UNSPACED = regex.compile(
    r"(?=[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])\X|[\p{L}\p{N}]"
    r"(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])[\p{L}\p{N}\p{M}'’-])*"
)
_HAS_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


def is_fragment(text: str) -> bool:
    """Whether `text` has at most 3 words, or at most 5 and no end of a sentence.

    Closing quotes and brackets after the end are ignored. In scripts without spaces between words (Chinese, Japanese,
    Thai, Lao, Khmer, Burmese) each character counts as a word.
    """
    words = sum(map(_word_count, str(text).split()))
    return words <= 3 or (words <= 5 and not _ends_a_sentence(str(text)))


def _word_count(token: str) -> int:
    """Of a text without spaces; signs alone count as one word."""
    return len(_UNSPACED.findall(token)) if _HAS_UNSPACED.search(token) else 1


def _ends_a_sentence(text: str) -> bool:
    end = len(text)
    while end and (
        text[end - 1].isspace() or text[end - 1] in "\"'" or unicodedata.category(text[end - 1]) in _CLOSING
    ):
        end -= 1
    return text[:end].endswith(tuple(_ENDS))
