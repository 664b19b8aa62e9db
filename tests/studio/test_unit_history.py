"""The rules of a log row: which writes are taken, and what they change (docs/plugin-api.md; design, section 8)."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from label_config.studio.unit_history import DAY_MS, History, Judgement, Write, after, judge

Q, R = {"intent": "Q"}, {"intent": "R"}
SUGGESTED = ({"dimension": "intent", "label": "Q"},)


def write(seq: int = 1, labels: dict[str, str] = Q, base: int = 0, client: str = "a", **more: object) -> Write:
    return Write(rev=1, labels=labels, note="", base=base, client=client, seq=seq, **more)  # type: ignore[arg-type]


def deliver(history: History, each: Write) -> History:
    taken = judge(history, each) is Judgement.TAKE
    return after(history, each, decided=bool(each.labels)) if taken else history


def work(*writes: Write, suggestions: tuple[dict[str, str], ...] = ()) -> History:
    history = History(suggestions=suggestions)
    for each in writes:
        history = deliver(history, each)
    return history


@pytest.mark.parametrize(
    ("history", "new", "expected"),
    [
        (History(), write(seq=1), Judgement.TAKE),
        (History(version=1, client="a", seq=5), write(seq=5, base=0), Judgement.REPEATED),
        (History(version=1, client="a", seq=5), write(seq=4, base=0), Judgement.REPEATED),
        # the page's own write whose answer it has not heard: it may overtake it
        (History(version=1, client="a", seq=5), write(seq=6, base=0), Judgement.TAKE),
        (History(version=1, client="a", seq=5), write(seq=1, base=1, client="b"), Judgement.TAKE),
        (History(version=2, client="a", seq=5), write(seq=9, base=1, client="b"), Judgement.CONFLICT),
        (History(version=1, client="a", seq=5), write(seq=1, base=2, client="b"), Judgement.CONFLICT),
        # a first write that was held up on the way until another window had written
        (History(version=1, client="b", seq=1), write(seq=1, base=0, client="a"), Judgement.CONFLICT),
    ],
)
def test_judge(history: History, new: Write, expected: Judgement) -> None:
    assert judge(history, new) is expected


labels = st.sampled_from([{}, Q, R, {"intent": "unsure"}])
times = st.one_of(st.none(), st.integers(-5, 2 * DAY_MS))


@given(states=st.lists(labels, min_size=1, max_size=8), data=st.data())
def test_any_order_duplication_and_loss_ends_in_the_newest_delivered_write(
    states: list[dict[str, str]], data: st.DataObject
) -> None:
    writes = [write(seq, state) for seq, state in enumerate(states, start=1)]
    delivered = data.draw(st.lists(st.sampled_from(writes), min_size=1, max_size=20))
    history = work(*delivered)
    newest = max(delivered, key=lambda each: each.seq)
    assert (history.labels, history.seq) == (newest.labels, newest.seq)
    # resending everything, as a page does that has heard no answer, changes nothing
    assert work(*delivered, *delivered) == history


@dataclass
class Page:
    """One load of the page: it knows of the unit what it was last told."""

    client: str
    version: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    seq: int = 0


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["a", "b"]), labels, st.sampled_from(["heard", "lost", "late"])), max_size=15
    )
)
def test_two_windows_never_overwrite_what_they_have_not_seen(steps: list[tuple[str, dict[str, str], str]]) -> None:
    pages = {name: Page(name) for name in "ab"}
    history = History()
    late: list[Write] = []
    for name, state, fate in steps:
        page = pages[name]
        page.seq += 1
        sent = write(page.seq, state, page.version, name)
        if fate == "late":
            late.append(sent)
            continue
        before = history
        history = deliver(history, sent)
        if history is not before and before.client not in ("", name):
            assert (page.version, page.labels) == (before.version, before.labels)
        if fate == "heard":
            page.version, page.labels = history.version, dict(history.labels)
    for sent in late:
        before = history
        history = deliver(history, sent)
        assert history is before or before.client in ("", sent.client) or sent.base == before.version


def test_time_before_the_first_decision_adds_up_and_stays() -> None:
    noted = write(1, {}, ms=1000)
    decided = write(2, Q, ms=500)
    changed = write(3, R, ms=250)
    again = write(4, Q, ms=50)
    history = work(noted, decided, changed, again)
    assert history.first_ms == 1500  # 1000 + 500
    assert history.later_ms == 300  # 250 + 50
    assert history.first_labels == Q
    assert history.labels == Q


@pytest.mark.parametrize("garbage", [None, -1, DAY_MS + 1])
def test_garbage_time_is_null(garbage: int | None) -> None:
    assert work(write(1, Q, ms=garbage)).first_ms is None
    assert work(write(1, {}, ms=garbage), write(2, Q, ms=500)).first_ms is None
    assert work(write(1, {}, ms=500), write(2, Q, ms=garbage)).first_ms is None


def test_garbage_later_time_leaves_the_rest() -> None:
    history = work(write(1, Q, ms=100), write(2, R, ms=-3), write(3, Q, ms=40))
    assert (history.first_ms, history.later_ms) == (100, 40)
    assert work(write(1, Q, ms=100)).later_ms is None


@given(first=times, more=st.lists(st.tuples(labels, times), max_size=6))
def test_first_write_wins(first: int | None, more: list[tuple[dict[str, str], int | None]]) -> None:
    start = work(write(1, Q, ms=first), suggestions=SUGGESTED)
    later = start
    for seq, (state, ms) in enumerate(more, start=2):
        later = deliver(later, write(seq, state, ms=ms))
    for name in ("first_ms", "first_labels", "shown"):
        assert getattr(later, name) == getattr(start, name)
    assert later.version == start.version + len(more)


def test_shown_needs_a_suggestion_that_was_served() -> None:
    assert work(write(1, Q, shown=True), suggestions=SUGGESTED).shown is True
    assert work(write(1, Q, shown=False), suggestions=SUGGESTED).shown is False
    assert work(write(1, Q, shown=True)).shown is False  # a control unit, whatever the page says
    assert work(write(1, {}, shown=True), suggestions=SUGGESTED).shown is None  # not decided yet


def test_accepted_is_null_unless_shown() -> None:
    assert work(write(1, Q, shown=False, accepted=True), suggestions=SUGGESTED).accepted is None
    assert work(write(1, Q, shown=True, accepted=True)).accepted is None


def test_acceptance_lasts_as_long_as_the_labels() -> None:
    start = work(write(1, Q, shown=True, accepted=True), suggestions=SUGGESTED)
    assert start.accepted is True
    assert deliver(start, write(2, Q)).accepted is True  # a note was added
    left = deliver(start, write(2, R))
    assert left.accepted is False
    assert deliver(left, write(3, Q)).accepted is False  # chosen again by hand
    assert deliver(left, write(3, Q, accepted=True)).accepted is True


def test_only_a_suggested_label_can_be_accepted() -> None:
    assert work(write(1, R, shown=True, accepted=True), suggestions=SUGGESTED).accepted is False
    other = replace(History(suggestions=({"dimension": "form", "label": "Q"},)))
    assert deliver(other, write(1, Q, shown=True, accepted=True)).accepted is False
