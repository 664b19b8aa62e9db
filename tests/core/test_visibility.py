"""What a rater may see: messages up to the first that still has an undecided unit, and never more."""

from itertools import pairwise

import pytest
from example_items import of_messages
from hypothesis import given
from hypothesis import strategies as st

from convolabel.task_data import TaskData, task_data
from convolabel.units import Unit
from convolabel.visibility import may_decide, visible_message_count


def talk(*span_counts: int) -> TaskData:
    """Message n has `span_counts[n]` units of one letter each; without any it is not labelable."""
    return task_data(
        of_messages(*(("abcdef", [(place, place + 1) for place in range(count)]) for count in span_counts)), "pilot"
    )


talks = st.lists(st.integers(0, 4), min_size=1, max_size=8).filter(any).map(lambda counts: talk(*counts))


def seen(data: TaskData, decided: set[Unit]) -> int:
    return visible_message_count(data, decided, no_future_messages=True)


def test_messages_appear_turn_by_turn() -> None:
    data = talk(0, 2, 0, 1, 0)
    first, second, third = (span.unit for span in data.spans)
    assert seen(data, set()) == 2  # m0 without units, m1 with its first undecided one
    assert seen(data, {first}) == 2
    assert seen(data, {second}) == 2
    assert seen(data, {first, second}) == 4
    assert seen(data, {third}) == 2  # a later decision opens nothing
    assert seen(data, {first, second, third}) == 5


def test_a_decision_on_another_revision_opens_nothing() -> None:
    data = talk(1, 0)
    (unit,) = (span.unit for span in data.spans)
    assert seen(data, {unit._replace(rev=unit.rev + 1)}) == 1
    assert seen(data, {unit}) == 2


@given(talks, st.data())
def test_deciding_never_hides_and_never_shows_too_much(data: TaskData, draws: st.DataObject) -> None:
    units = draws.draw(st.permutations([span.unit for span in data.spans]))
    counts = [seen(data, set(units[:number])) for number in range(len(units) + 1)]
    assert all(before <= after for before, after in pairwise(counts))
    assert counts[-1] == len(data.messages)
    for number, count in enumerate(counts[:-1]):
        undecided = set(units[number:])
        waiting = [
            index for index in range(count) if any(s.message == index and s.unit in undecided for s in data.spans)
        ]
        assert waiting == [count - 1]  # the last visible message is the only visible one that waits


@given(talks, st.data())
def test_every_undecided_unit_in_view_may_be_decided_and_no_other(data: TaskData, draws: st.DataObject) -> None:
    decided = {span.unit for span in data.spans if draws.draw(st.booleans())}
    count = seen(data, decided)
    for span in data.spans:
        assert may_decide(data, span.unit, count) == (span.message < count)
        assert not may_decide(data, Unit(span.span_id, span.rev + 1), count)
    assert not may_decide(data, Unit("unknown", 1), count)


@pytest.mark.parametrize("decided", [set(), {Unit("2-1", 1)}])
def test_without_the_rule_everything_is_in_view(decided: set[Unit]) -> None:
    assert visible_message_count(talk(0, 1, 1), decided, no_future_messages=False) == 3
