"""Windows over long conversations: nothing is rated twice, nothing is left out, and what fits stays whole."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evaluators.cig.windows import Window, estimated_tokens, windows_within


def test_what_fits_is_one_window_with_all_that_was_said_before() -> None:
    assert windows_within([10] * 6, 2, 6, [2, 4, 5], 60) == [Window(0, 2, 6)]


def test_half_of_the_room_is_rated_and_the_rest_shows_what_came_before() -> None:
    # 8 utterances of 10 tokens, 40 tokens of room: two to rate (20), two before them (20)
    assert windows_within([10] * 8, 2, 8, [2, 3, 4, 5, 6, 7], 40) == [Window(0, 2, 4), Window(2, 4, 6), Window(4, 6, 8)]


def test_a_window_reaches_at_least_to_its_first_target() -> None:
    # 4 is the only target; 2 and 3 are fragments before it
    assert windows_within([10] * 6, 2, 6, [4], 20) == [Window(2, 2, 5)]


def test_an_utterance_larger_than_the_room_has_a_window_of_its_own() -> None:
    assert windows_within([5, 5, 100, 5], 1, 4, [2, 3], 20) == [Window(1, 1, 3), Window(3, 3, 4)]


@given(
    st.lists(st.integers(1, 60), min_size=2, max_size=25),
    st.integers(1, 200),
    st.data(),
)
def test_every_target_is_in_exactly_one_window(sizes: list[int], room: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(1, len(sizes) - 1))
    places = st.integers(start, len(sizes) - 1)
    targets = sorted(data.draw(st.sets(places, min_size=1)))
    windows = windows_within(sizes, start, len(sizes), targets, room)
    held = [place for window in windows for place in targets if window.start <= place < window.end]
    assert held == targets
    assert windows[0].start == start
    for before, after in pairwise(windows):
        assert before.end == after.start
    for window in windows:
        assert 0 <= window.background <= window.start < window.end <= len(sizes)
        own = [place for place in targets if window.start <= place < window.end]
        assert own
        total = sum(sizes[window.background : window.end])
        # more than the room only where the way to the first target alone takes more
        assert total <= room or window.background == window.start
        assert total <= room or window.end == own[0] + 1


def test_tokens_are_estimated_on_the_safe_side() -> None:
    assert estimated_tokens("a" * 300) == 101  # 75 at 4 characters a token
    assert estimated_tokens("公" * 100) == 101  # 3 bytes a character, about a token each
