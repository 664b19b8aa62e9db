"""Conversation files as people have them: JSON or JSON Lines, with marks, odd separators and faults."""

import json
from pathlib import Path

import pytest
from example_items import make_item, write_document

from convolabel.conversation_files import read_conversations
from convolabel.errors import InputError
from convolabel.validation import Fault


def rules(*paths: Path) -> list[str]:
    return [fault.rule for fault in read_conversations(paths).faults]


def test_json_lines_split_at_line_feeds_only(tmp_path: Path) -> None:
    text = "Ja.\u2028Gut.\u0085\x0b\x0c\x1c Ende."
    path = tmp_path / "talks.jsonl"
    lines = [json.dumps(make_item(text, item_id=name), ensure_ascii=False) for name in "ab"]
    # U+2028 and U+0085 stand raw in the line; the control characters are escaped by JSON
    path.write_bytes(("\r\n".join(lines) + "\n\n").encode())
    checked = read_conversations([path])
    assert checked.faults == []
    assert [conversation.messages[1].content for conversation in checked.conversations] == [text, text]


def test_every_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "talks.ndjson"
    path.write_text("\n".join(["{", json.dumps(make_item()), "nope"]), encoding="utf-8")
    checked = read_conversations([path])
    assert [(fault.rule, fault.value.split(":")[0]) for fault in checked.faults] == [
        ("not_json", "line 1"),
        ("not_json", "line 3"),
    ]
    assert [conversation.id for conversation in checked.conversations] == ["i1"]


@pytest.mark.parametrize("name", ["talks.json", "talks.jsonl"])
def test_a_byte_order_mark_is_no_content(tmp_path: Path, name: str) -> None:
    item = make_item()
    document = item if name.endswith("l") else {"schema_version": "1.0", "items": [item]}
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + json.dumps(document).encode())
    assert [conversation.id for conversation in read_conversations([tmp_path / name]).conversations] == ["i1"]


def test_content_is_byte_exact(tmp_path: Path) -> None:
    text = " \ufeffErst das.\r\nDann\r e\u0301 \u00e9 😀\u00a0dies.\n "
    path = write_document(tmp_path / "talks.json", make_item(text, (2, 11)))
    (conversation,) = read_conversations([path]).conversations
    assert conversation.messages[1].content.encode() == text.encode()


def test_what_is_not_utf8_or_not_there_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes('{"a": "é"}'.encode("latin-1"))
    # {"a": " are seven bytes, so the first bad byte is number 7
    with pytest.raises(InputError, match=r"latin\.json: it is not UTF-8 \(byte 7\)"):
        read_conversations([path])
    with pytest.raises(InputError, match=r"nowhere\.json: No such file or directory"):
        read_conversations([tmp_path / "nowhere.json"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ('{"schema_version": "1.0", "items": [}', "Expecting value"),
        ('{"schema_version": "1.0", "items": [], "items": []}', "the key 'items' stands twice"),
        ('{"schema_version": "1.0", "items": [{"id": "a", "id": "b"}]}', "the key 'id' stands twice"),
        ('{"schema_version": "1.0", "items": [NaN]}', "NaN is not JSON"),
        ('{"schema_version": "1.0", "items": [{"metadata": {"x": 1e999}}]}', "1e999 is too large"),
        ("[" * 100_000, "nested too deeply"),
        ('{"schema_version": "1.0", "items": [' + '{"a":[' * 900, "nested too deeply"),
    ],
)
def test_what_is_not_json(tmp_path: Path, text: str, said: str) -> None:
    for path in (tmp_path / "talks.json", tmp_path / "talks.jsonl"):
        path.write_text(text or "{", encoding="utf-8")
        (fault,) = read_conversations([path]).faults
        assert fault.rule == "not_json"
        if text:
            assert said in fault.value


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([], [("schema_version", "found 'list'")]),
        ({"items": []}, [("schema_version", "found None")]),
        ({"schema_version": "2.0", "items": []}, [("schema_version", "found '2.0'")]),
        ({"schema_version": "1.0"}, [("missing_field", "items: a list of items")]),
        ({"schema_version": "1.0", "items": {}}, [("wrong_type", "items: a list of items")]),
        ({"schema_version": "1.0", "items": [], "extra": 1}, [("unknown_field", "extra")]),
    ],
)
def test_the_document_around_the_items(tmp_path: Path, document: object, expected: list[tuple[str, str]]) -> None:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert [(fault.rule, fault.value) for fault in read_conversations([path]).faults] == expected


def test_deep_metadata_is_valid_or_refused_but_never_breaks(tmp_path: Path) -> None:
    for depth in (10, 400, 900):
        path = tmp_path / f"deep{depth}.jsonl"
        line = json.dumps(make_item()).removesuffix("}") + ', "metadata": {"x": ' + "[" * depth + "]" * depth + "}}"
        path.write_text(line, encoding="utf-8")
        checked = read_conversations([path])
        assert len(checked.conversations) + len(checked.faults) == 1
        assert depth > 10 or checked.faults == []


def test_a_lone_surrogate_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps(make_item("Ja \ud83d.", item_id="a")) + "\n" + json.dumps(make_item("Ja 😀.")), "utf-8")
    checked = read_conversations([path])
    assert [(fault.rule, fault.item_id) for fault in checked.faults] == [("broken_unicode", "a")]
    assert [conversation.id for conversation in checked.conversations] == ["i1"]


def test_ids_are_unique_over_all_files(tmp_path: Path) -> None:
    first = write_document(tmp_path / "first.json", make_item(item_id="a"))
    again = make_item(item_id="a")
    again["content"]["messages"][1]["spans"][0]["span_id"] = "fresh"
    taken = make_item(item_id="b")
    taken["content"]["messages"][1]["spans"][0]["span_id"] = "a-1"
    second = write_document(tmp_path / "second.json", again, taken, make_item(item_id="c"))
    checked = read_conversations([first, second])
    assert checked.faults == [
        Fault("item_id_duplicate", f"also in {first}", "a", source=str(second)),
        Fault("span_id_duplicate", "a-1", "b", "m2", "a-1", source=str(second)),
    ]
    assert [conversation.id for conversation in checked.conversations] == ["a", "c"]


def test_a_refused_item_still_holds_its_ids(tmp_path: Path) -> None:
    # otherwise mending the first file would bring up a fault that was there all along
    broken = make_item("Ja. Gut.", (0, 3), (4, 9), item_id="a")
    first = write_document(tmp_path / "first.json", broken)
    again = make_item(item_id="b")
    again["content"]["messages"][1]["spans"][0]["span_id"] = "a-1"
    second = write_document(tmp_path / "second.json", make_item(item_id="a"), again)
    found = read_conversations([first, second]).faults
    assert {(fault.rule, fault.item_id) for fault in found} == {
        ("span_outside_text", "a"),
        ("item_id_duplicate", "a"),
        ("span_id_duplicate", "a"),
        ("span_id_duplicate", "b"),
    }


def test_span_ids_of_the_study_so_far_are_taken(tmp_path: Path) -> None:
    path = write_document(tmp_path / "talks.json", make_item())
    found = read_conversations([path], known_span_ids=["i1-1"])
    assert [fault.rule for fault in found.faults] == ["span_id_duplicate"]
