"""Names, roles, topics, pre-survey texts, and the order of reading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import (
    Conversation,
    Speaker,
    Utterance,
    default_is_mediator,
    default_topic,
    display_names,
    pre_survey_text,
)
from evaluators.reading_order import in_reading_order
from tests.reference_corpora import reference


def conversation(names: list[str], *, mediator: bool = True) -> Conversation:
    """Participants p0, p1, ... with these names speak after the mediator."""
    speakers = [Speaker(f"p{number}") for number in range(len(names))]
    alias = {speaker.id: name for speaker, name in zip(speakers, names, strict=True)}
    if mediator:
        speakers.insert(0, Speaker("bot", ai_meta={"role": "public assistant"}))
    utterances = [Utterance(f"u{n}", speaker, "c", "x", n) for n, speaker in enumerate(speakers)]
    return Conversation("c", utterances, ai_meta={"alias": alias})


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["Ann", "Bo"], ["Ann", "Bo"]),
        (["Ann", "Ann"], ["Ann", "Ann (2)"]),
        (["Ann", "Ann", "Ann"], ["Ann", "Ann (2)", "Ann (3)"]),
        (["Ann", "Ann", "Ann (2)"], ["Ann", "Ann (3)", "Ann (2)"]),
        (["Mediator", "mediator"], ["Mediator (participant)", "mediator"]),
        (["Mediator", "Mediator (participant)"], ["Mediator (participant)", "Mediator (participant) (2)"]),
        (["", ""], ["p0", "p1"]),
    ],
)
def test_display_names(names: list[str], shown: list[str]) -> None:
    assert list(display_names(conversation(names)).values()) == shown


@given(st.lists(st.sampled_from(["Ann", "Ann (2)", "Ann (3)", "Mediator", "Mediator (participant)", "Bo"]), max_size=8))
def test_display_names_are_distinct_and_never_the_mediators(names: list[str]) -> None:
    shown = display_names(conversation(names))
    assert len(set(shown.values())) == len(names) == len(shown)
    assert "Mediator" not in shown.values()


def test_display_names_are_in_order_of_first_utterance_and_without_mediators() -> None:
    """c09 by hand: by timestamp bot, a, b, ... though the file has bot, bot, a, b."""
    talk = reference("c09_shuffled").corpus.get_conversation("shuf")
    assert display_names(talk) == {"a": "Ana", "b": "Ben"}
    assert list(display_names(talk, is_mediator=lambda speaker: speaker.id == "a")) == ["bot", "b"]
    assert display_names(talk, name_func=lambda _talk, speaker: speaker.id * 2) == {"a": "aa", "b": "bb"}


def test_an_object_without_ai_fields_is_no_mediator() -> None:
    class Bare:
        id = "x"
        meta: dict[str, object] = {}  # noqa: RUF012

    assert not default_is_mediator(Bare())


def test_topics_and_pre_survey_texts() -> None:
    talk = conversation(["Ann"])
    assert default_topic(talk) == ""
    talk.meta["statement"] = "S"
    assert default_topic(talk) == " — debate statement: S"
    talk.meta.update(topic="T", statement="")
    assert default_topic(talk) == "T"
    assert pre_survey_text(talk, Speaker("p0")) is None
    talk.meta["pre_survey"] = {"p0": "I like parks."}
    assert pre_survey_text(talk, Speaker("p0")) == "I like parks."
    assert pre_survey_text(talk, Speaker("p1")) is None


def timed(stamps: list[object]) -> Conversation:
    speaker = Speaker("a")
    return Conversation("c", [Utterance(str(n), speaker, "c", "x", stamp) for n, stamp in enumerate(stamps)])


@pytest.mark.parametrize(
    ("stamps", "order"),
    [
        ([3, 1, 2], "120"),
        ([2, 1.5, 1], "210"),
        ([1, 1, 0, 1], "2013"),  # ties keep file order
        (["10", "9", "8.5"], "210"),  # numbers as text are numbers
        (["2026-01-02T10:00", "2026-01-01T23:00:00"], "10"),
        (["2026-01-01T10:00:00Z", "2026-01-01T10:30:00+02:00"], "10"),  # 10:30+02:00 is 8:30 UTC
        ([], ""),
    ],
)
def test_order_by_timestamp(stamps: list[object], order: str) -> None:
    found = in_reading_order(timed(stamps))
    assert "".join(each.id for each in found.utterances) == order
    assert found.by_timestamp


@pytest.mark.parametrize(
    "stamps",
    [
        [3, None, 1],
        [None, None],
        [2, "1"],
        ["soon", "later"],
        ["2026-01-02T10:00", "2026-01-01T10:00Z"],  # with and without a time zone
        [2, float("nan"), 1],
        [True, False],
        ["nan", "1"],
        [[2], [1]],
    ],
)
def test_file_order_when_timestamps_are_missing_or_mixed(stamps: list[object]) -> None:
    found = in_reading_order(timed(stamps))
    assert [each.id for each in found.utterances] == [str(n) for n in range(len(stamps))]
    assert not found.by_timestamp


@given(st.lists(st.integers(0, 5)))
def test_the_order_is_stable(stamps: list[int]) -> None:
    found = [int(each.id) for each in in_reading_order(timed(list(stamps))).utterances]
    assert found == sorted(range(len(stamps)), key=lambda place: (stamps[place], place))


def test_every_reference_corpus_is_read_in_its_expected_order() -> None:
    for name in ("c01_basic3", "c08_empties", "c09_shuffled", "c16_long"):
        given_ = reference(name)
        for ident, expected in given_.expected["conversations"].items():
            order = in_reading_order(given_.corpus.get_conversation(ident)).utterances
            assert [each.id for each in order] == expected["order"]
