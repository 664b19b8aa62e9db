"""Items of the conversation format to test the core with."""

import json
from pathlib import Path
from typing import Any

from convolabel.conversation import Conversation
from convolabel.validation import check_items

Item = dict[str, Any]


def make_item(text: str = "Ja. Gut.", *spans: tuple[int, int], item_id: str = "i1", **fields: Any) -> Item:
    """An item of two messages; the second, m2, carries `text` and `spans` (by default one over all of it)."""
    placed = [
        {"span_id": f"{item_id}-{number}", "start": start, "end": end}
        for number, (start, end) in enumerate(spans or [(0, len(text))], start=1)
    ]
    messages = [
        {"message_id": "m1", "speaker": "c", "content": "Hallo."},
        {"message_id": "m2", "speaker": "a", "content": text, "labelable": True, "spans": placed},
    ]
    speakers = {"c": {"name": "Goose", "role": "client"}, "a": {"name": "Ana", "role": "counsellor"}}
    return {"id": item_id, "speakers": speakers, "content": {"messages": messages}} | fields


def make_conversation(text: str = "Ja. Gut.", *spans: tuple[int, int], **fields: Any) -> Conversation:
    checked = check_items([make_item(text, *spans, **fields)])
    assert checked.faults == []
    return checked.conversations[0]


def of_messages(*messages: tuple[str, list[tuple[int, int]]]) -> Conversation:
    """A conversation of `(text, spans)`; a message with spans is labelable."""
    raw = [
        {
            "role": "client",
            "content": text,
            "labelable": bool(spans),
            "spans": [
                {"span_id": f"{number}-{place}", "start": start, "end": end}
                for place, (start, end) in enumerate(spans, start=1)
            ],
        }
        for number, (text, spans) in enumerate(messages, start=1)
    ]
    return Conversation.model_validate({"id": "talk", "content": {"messages": raw}})


def write_document(path: Path, *items: object) -> Path:
    """`items` as one JSON document at `path`."""
    path.write_text(json.dumps({"schema_version": "1.0", "items": items}), encoding="utf-8")
    return path
