"""Every rule of the conversation format: what breaks it, and how the fault is reported."""

import copy
from itertools import pairwise
from typing import Any

import pytest
from example_items import Item, make_item, write_document
from hypothesis import given
from hypothesis import strategies as st

from convolabel.conversation_files import read_conversations
from convolabel.validation import RULES, Fault, check_items


def with_message(number: int, **fields: Any) -> Item:
    item = make_item()
    item["content"]["messages"][number] |= fields
    return item


def with_span(**fields: Any) -> Item:
    item = make_item()
    item["content"]["messages"][1]["spans"][0] |= fields
    return item


def without(item: Item, *path: Any) -> Item:
    node: Any = item
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return item


FAMILY = "\U0001f468‍\U0001f469‍\U0001f467"

BROKEN: list[tuple[Item, Fault]] = [
    (make_item(colour="red"), Fault("unknown_field", "colour", "i1")),
    (with_message(1, mood="sad"), Fault("unknown_field", "content.messages.1.mood", "i1", "m2")),
    (with_span(colour="red"), Fault("unknown_field", "content.messages.1.spans.0.colour", "i1", "m2", "i1-1")),
    (without(make_item(), "id"), Fault("missing_field", "id", "#1")),
    (
        without(make_item(), "content", "messages", 0, "content"),
        Fault("missing_field", "content.messages.0.content", "i1", "m1"),
    ),
    (
        with_message(0, content=5),
        Fault("wrong_type", "content.messages.0.content: Input should be a valid string", "i1", "m1"),
    ),
    (
        with_message(0, labelable="yes"),
        Fault("wrong_type", "content.messages.0.labelable: Input should be a valid boolean", "i1", "m1"),
    ),
    (
        with_span(start=0.0),
        Fault("wrong_type", "content.messages.1.spans.0.start: Input should be a valid integer", "i1", "m2", "i1-1"),
    ),
    (
        with_span(end=True),
        Fault("wrong_type", "content.messages.1.spans.0.end: Input should be a valid integer", "i1", "m2", "i1-1"),
    ),
    (make_item(id=""), Fault("wrong_type", "id: String should have at least 1 character", "#1")),
    (make_item(label="a\x00"), Fault("broken_unicode", "item.label", "i1")),
    (make_item(metadata={"deep": [{"x": "\ud83d"}]}), Fault("broken_unicode", "item.metadata.deep[0].x", "i1")),
    (make_item(metadata={"\udc00": 1}), Fault("broken_unicode", "a key in item.metadata", "i1")),
    (with_message(0, message_id="m2"), Fault("message_id_duplicate", "'m2'", "i1", "m2")),
    (
        without(make_item(), "content", "messages", 0, "speaker"),
        Fault("no_speaker", "neither speaker nor role is given", "i1", "m1"),
    ),
    (with_message(0, speaker="b"), Fault("unknown_speaker", "'b'", "i1", "m1")),
    (with_message(1, spans=[]), Fault("item_without_span", "2 messages, 0 spans", "i1")),
    (with_span(span_id=""), Fault("span_id_length", "0 characters", "i1", "m2", "")),
    (with_span(span_id="x" * 65), Fault("span_id_length", "65 characters", "i1", "m2", "x" * 65)),
    (with_message(1, labelable=False), Fault("span_on_unlabelable", "labelable is False, spans: 1", "i1", "m2")),
    (make_item("Ja. Gut.", (4, 4)), Fault("span_empty", "[4, 4)", "i1", "m2", "i1-1")),
    (make_item("Ja. Gut.", (4, 3)), Fault("span_empty", "[4, 3)", "i1", "m2", "i1-1")),
    (make_item("Ja.", (0, 4)), Fault("span_outside_text", "[0, 4), text length 3", "i1", "m2", "i1-1")),
    (make_item("Ja.", (-1, 2)), Fault("span_outside_text", "[-1, 2), text length 3", "i1", "m2", "i1-1")),
    (make_item("Ja. Gut.", (4, 8), (0, 3)), Fault("span_unsorted", "[0, 3) after 4", "i1", "m2", "i1-2")),
    (
        make_item("Ja. Gut.", (0, 5), (4, 8)),
        Fault("span_overlap", "[4, 8) begins before span i1-1 ends at 5", "i1", "m2", "i1-2"),
    ),
    (make_item("Ja. Gut.", (3, 4)), Fault("span_blank", "[3, 4)", "i1", "m2", "i1-1")),
    (make_item("Ja.  \t Gut.", (3, 7)), Fault("span_blank", "[3, 7)", "i1", "m2", "i1-1")),
    (
        make_item("Cafe\u0301!", (0, 4)),
        Fault("span_splits_grapheme", "[0, 4) cuts a character at 4", "i1", "m2", "i1-1"),
    ),
    (make_item("a\r\nb", (2, 4)), Fault("span_splits_grapheme", "[2, 4) cuts a character at 2", "i1", "m2", "i1-1")),
    (make_item(FAMILY, (0, 2)), Fault("span_splits_grapheme", "[0, 2) cuts a character at 2", "i1", "m2", "i1-1")),
    (
        with_span(text="Ja. gut."),
        Fault("span_text_differs", "[0, 8) is 'Ja. Gut.', not 'Ja. gut.'", "i1", "m2", "i1-1"),
    ),
]


@pytest.mark.parametrize(("item", "fault"), BROKEN, ids=lambda value: value.rule if isinstance(value, Fault) else "")
def test_a_broken_rule_is_the_one_fault(item: Item, fault: Fault) -> None:
    checked = check_items([item])
    assert checked.faults == [fault]
    assert checked.conversations == []


def test_a_span_id_stands_once_in_the_study() -> None:
    twice = [make_item(item_id="i1"), make_item(item_id="i2")]
    twice[1]["content"]["messages"][1]["spans"][0]["span_id"] = "i1-1"
    expected = Fault("span_id_duplicate", "i1-1", "i2", "m2", "i1-1")
    assert check_items(twice).faults == [expected]
    assert check_items([make_item()], known_span_ids=["i1-1"]).faults[0].rule == "span_id_duplicate"


def test_an_item_id_stands_once_in_a_file() -> None:
    again = make_item("Nein.")
    again["content"]["messages"][1]["spans"][0]["span_id"] = "other"
    checked = check_items([make_item(), again])
    assert checked.faults == [Fault("item_id_duplicate", "i1", "i1")]
    assert len(checked.conversations) == 1


def test_every_rule_has_a_test() -> None:
    of_files = {"not_json", "schema_version"}  # tests/core/test_conversation_files.py
    of_several_items = {"span_id_duplicate", "item_id_duplicate"}  # above
    assert {fault.rule for _, fault in BROKEN} | of_files | of_several_items == set(RULES)


def test_all_faults_of_a_file_come_in_one_go(tmp_path: Any) -> None:
    items = []
    for number, (item, _) in enumerate(BROKEN):
        item = copy.deepcopy(item)
        if item.get("id"):
            item["id"] = f"item{number}"
        for span in item["content"]["messages"][1]["spans"]:
            span["span_id"] = span["span_id"].replace("i1", f"item{number}")
        items.append(item)
    path = write_document(tmp_path / "broken.json", *items)
    checked = read_conversations([path])
    assert [fault.rule for fault in checked.faults] == [fault.rule for _, fault in BROKEN]
    assert {fault.source for fault in checked.faults} == {str(path)}


def test_several_faults_of_one_span() -> None:
    item = make_item("Cafe\u0301 ja", (0, 4), (3, 5), (5, 6))
    item["content"]["messages"][1] |= {"labelable": False, "mood": 1}
    assert [fault.rule for fault in check_items([item]).faults] == [
        "unknown_field",
        "span_on_unlabelable",
        "span_splits_grapheme",  # i1-1 ends inside é
        "span_blank",  # i1-3
        "span_overlap",  # i1-2 begins before i1-1 ends
    ]


def test_a_wrong_structure_never_hides_the_faults_of_other_spans() -> None:
    item = make_item("Ja. Gut.", (0, 3), (4, 9))
    item["content"]["messages"][1]["spans"].insert(0, "not a span")
    item["content"]["messages"].append(7)
    rules = [fault.rule for fault in check_items([item]).faults]
    assert rules == ["wrong_type", "wrong_type", "span_outside_text"]


@pytest.mark.parametrize(
    "raw", [None, 3, "x", [], {}, {"id": 5}, {"id": "a", "content": []}, {"content": {"messages": {}}}]
)
def test_anything_may_stand_where_an_item_should(raw: object) -> None:
    checked = check_items([raw])
    assert checked.faults
    assert checked.refused_items == ["a" if isinstance(raw, dict) and raw.get("id") == "a" else "#1"]


def test_a_faulty_message_is_not_also_called_missing() -> None:
    item = make_item()
    del item["content"]["messages"][0]
    item["content"]["messages"][0]["mood"] = "sad"
    assert check_items([item]).faults == [Fault("unknown_field", "content.messages.0.mood", "i1", "m2")]
    item["content"]["messages"] = []
    assert [fault.rule for fault in check_items([item]).faults] == ["wrong_type", "item_without_span"]


def test_valid_items_are_kept_when_others_are_refused() -> None:
    checked = check_items([make_item(item_id="a"), make_item("Ja.", (0, 4), item_id="b"), make_item(item_id="c")])
    assert [conversation.id for conversation in checked.conversations] == ["a", "c"]
    assert checked.refused_items == ["b"]


def test_a_fault_reads_as_one_line_with_every_place() -> None:
    fault = Fault("span_outside_text", "[0, 4), text length 3", "i1", "m2", "i1-1", "talks.json")
    assert str(fault) == (
        "talks.json: item i1, message m2, span i1-1: span_outside_text "
        "(a span lies inside its message's text): [0, 4), text length 3"
    )
    assert fault.as_dict()["span_id"] == "i1-1"


@given(st.text(min_size=1), st.data())
def test_what_is_accepted_slices_back_to_the_same_text(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6, unique=True)))
    checked = check_items([make_item(text, *pairwise(cuts))])
    for conversation in checked.conversations:
        message = conversation.messages[1]
        assert message.content == text
        assert [(span.start, span.end) for span in message.spans] == list(pairwise(cuts))
    blank = any(not text[start:end].strip() for start, end in pairwise(cuts))
    if blank or "\x00" in text:
        assert checked.conversations == []
