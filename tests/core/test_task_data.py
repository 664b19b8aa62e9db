"""Task data: what is stored of a conversation, its fingerprint, and what a cut leaves."""

import copy
import json
from typing import Any

import pytest
from example_items import Item, make_conversation, make_item, of_messages
from hypothesis import given
from hypothesis import strategies as st

from convolabel.conversation import Conversation
from convolabel.task_data import TaskData, is_task_data, task_data
from convolabel.units import Unit


def data_of(item: Item) -> TaskData:
    return task_data(Conversation.model_validate(item), "pilot")


def changed(path: tuple[Any, ...], value: Any) -> Item:
    item = copy.deepcopy(make_item("Ja. Gut.", (0, 3), (4, 8)))
    node: Any = item
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return item


MESSAGE = ("content", "messages", 1)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*MESSAGE, "content"), "Ja.\u00a0Gut."),
        ((*MESSAGE, "spans", 0, "end"), 2),
        ((*MESSAGE, "spans", 0, "span_id"), "other"),
        ((*MESSAGE, "spans"), [{"span_id": "i1-1", "start": 0, "end": 3}]),
        ((*MESSAGE, "speaker"), "c"),
        (("speakers", "a", "name"), "Anna"),
        (("speakers", "a", "role"), "public assistant"),
        (("content", "messages", 0, "content"), "Hallo!"),
        (("content", "messages", 0, "message_id"), "m0"),
        (("content", "messages", 0, "labelable"), True),
    ],
)
def test_the_fingerprint_changes_with_text_spans_and_speakers(path: tuple[Any, ...], value: Any) -> None:
    assert data_of(changed(path, value)).fingerprint != data_of(make_item("Ja. Gut.", (0, 3), (4, 8))).fingerprint


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("label",), "Thread 1"),
        (("metadata",), {"topic": "sleep"}),
        (("speakers", "nobody"), {"name": "N"}),
        ((*MESSAGE, "spans", 0, "text"), "Ja."),
        ((*MESSAGE, "role"), "counsellor"),  # as the speaker's role already says
    ],
)
def test_the_fingerprint_stands_for_nothing_else(path: tuple[Any, ...], value: Any) -> None:
    assert data_of(changed(path, value)).fingerprint == data_of(make_item("Ja. Gut.", (0, 3), (4, 8))).fingerprint


def test_the_fingerprint_is_of_the_text_and_not_of_its_place() -> None:
    split = [of_messages(("ab", [(0, 1)]), ("c", [])), of_messages(("a", [(0, 1)]), ("bc", []))]
    assert len({task_data(talk, "pilot").fingerprint for talk in split}) == 2


def test_what_is_stored() -> None:
    data = task_data(make_conversation("Gut 👍🏽 weiter so. Was nun?", (18, 26), metadata={"topic": "x"}), "pilot")
    assert (data.study, data.id, data.label, data.metadata) == ("pilot", "i1", "i1", {"topic": "x"})
    assert [(message.author, message.role, message.labelable) for message in data.messages] == [
        ("Goose", "client", False),
        ("Ana", "counsellor", True),
    ]
    (span,) = data.spans
    assert (span.unit, span.message, data.span_text(span)) == (Unit("i1-1", 1), 1, "Was nun?")
    assert data.span("i1-1") == span
    assert data.span("i1-2") is None


def test_mediators_are_named_by_the_study() -> None:
    talk = make_conversation(speakers={"c": {"role": "public assistant"}, "a": {"role": "coach"}})
    assert [message.mediator for message in task_data(talk, "s").messages] == [True, False]
    assert [message.mediator for message in task_data(talk, "s", ["coach"]).messages] == [False, True]


def test_task_data_survives_label_studios_json() -> None:
    data = task_data(make_conversation("a\r\nb \u2028😀 e\u0301", (0, 1), (6, 7)), "pilot")
    stored = json.loads(json.dumps(data.model_dump(mode="json")))
    assert TaskData.model_validate(stored) == data
    assert is_task_data(stored)
    assert not is_task_data({"text": "x"})
    assert not is_task_data([])


@given(st.integers(1, 6), st.data())
def test_a_cut_leaves_nothing_of_later_messages(count: int, data: st.DataObject) -> None:
    texts = [f"text-number-{number}." for number in range(count)]
    spans = [[(0, 4), (5, len(text))] if data.draw(st.booleans()) else [] for text in texts]
    whole = task_data(of_messages(*zip(texts, spans, strict=True)), "pilot")
    kept = data.draw(st.integers(0, count))
    cut = whole.up_to(kept).model_dump_json()
    assert [text in cut for text in texts] == [True] * kept + [False] * (count - kept)
    for span in whole.spans:
        assert (f'"{span.span_id}"' in cut) == (span.message < kept)
    assert whole.fingerprint not in cut  # a hash of what is still to come
    assert TaskData.model_validate_json(cut) == whole.up_to(kept)
