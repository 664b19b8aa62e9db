"""Which utterances are too short to rate, and where the opening ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.cig import is_fragment
from evaluators.cig.targets import rating_targets
from evaluators.corpus import Speaker, Utterance


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "ok!",
        "one two three.",
        "yeah that makes sense",  # 4 words, no end
        "one two three four five",
        "one two three four five,",
        "one two three four:",
        "(yeah that makes sense)",
        "我同意",  # 3 characters
        "我同意。",  # still 3
        "我也这么想",  # 5 characters, no end
        "「我也这么想」",
        "ใช่",
        "네 좋은 생각 이네요",  # Korean has spaces: 4 words, no end
    ],
)
def test_fragments(text: str) -> None:
    assert is_fragment(text)


@pytest.mark.parametrize(
    "text",
    [
        "one two three four.",
        "one two three four!",
        "one two three four?",
        'one two three four."',
        "one two three four.”",
        "(one two three four.)",
        "one two three four.’) ",
        "one two three four…",
        "one two three four five six",
        "我也这么想。",  # 5 characters and an end
        "「我也这么想！」",
        "我觉得这是个好主意",  # 9 characters
        "เราควรเปิดสวนตอนกลางคืน",
        "네 좋은 생각 이네요.",
        "मैं भी सहमत हूँ।",
    ],
)
def test_no_fragments(text: str) -> None:
    assert not is_fragment(text)


@given(st.lists(st.from_regex(r"\A[a-z]{1,8}\Z"), min_size=1, max_size=8), st.sampled_from(["", ".", "!", "?", ","]))
def test_spaced_scripts_follow_the_rule_in_words(words: list[str], end: str) -> None:
    text = " ".join(words) + end
    assert is_fragment(text) == (len(words) <= 3 or (len(words) <= 5 and end not in (".", "!", "?")))


def utterances(speakers: str, text: str = "This is long enough to be rated.") -> list[Utterance]:
    people = {letter: Speaker(letter) for letter in speakers}
    return [Utterance(str(place), people[letter], "c", text=text) for place, letter in enumerate(speakers)]


@pytest.mark.parametrize(
    ("speakers", "opening"),
    [("", 0), ("a", 1), ("aaa", 1), ("ab", 2), ("abab", 2), ("aabcab", 4), ("ababc", 5), ("abcabc", 3)],
)
def test_the_opening_ends_when_everyone_has_spoken(speakers: str, opening: int) -> None:
    in_opening, is_target = rating_targets(utterances(speakers))
    assert in_opening == [place < opening for place in range(len(speakers))]
    assert is_target == [place >= opening for place in range(len(speakers))]


def test_fragments_after_the_opening_are_no_targets() -> None:
    assert rating_targets(utterances("abab", text="ok!"))[1] == [False] * 4
