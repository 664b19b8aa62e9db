"""The conversation model: who speaks, what a message is called, what never changes."""

import pytest
from example_items import make_item
from pydantic import ValidationError

from convolabel.conversation import Conversation, Message, Voice, message_id


def test_speaker_role_and_name() -> None:
    item = make_item()
    item["speakers"] = {"c": {"role": "client"}, "a": {"name": "Ana"}, "x": {}}
    item["content"]["messages"] += [
        {"speaker": "a", "role": "counsellor", "content": "?"},
        {"speaker": "x", "content": "!"},
        {"role": "public assistant", "content": "Hi."},
    ]
    talk = Conversation.model_validate(item)
    assert [talk.voice(message) for message in talk.messages] == [
        Voice("c", "c", "client"),
        Voice("a", "Ana", None),
        Voice("a", "Ana", "counsellor"),
        Voice("x", "x", None),
        Voice("public assistant", "public assistant", "public assistant"),
    ]


def test_a_message_is_called_by_its_id_or_its_one_based_position() -> None:
    assert message_id(Message(content=""), 0) == 1
    assert message_id(Message(content="", message_id=0), 5) == 0
    assert message_id(Message(content="", message_id="1"), 5) == "1"


def test_title_falls_back_to_the_id() -> None:
    assert Conversation.model_validate(make_item()).title == "i1"
    assert Conversation.model_validate(make_item(label="")).title == "i1"
    assert Conversation.model_validate(make_item(label="Thread 1")).title == "Thread 1"


def test_reading_order_is_file_order() -> None:
    item = make_item()
    item["content"]["messages"][0]["timestamp"] = "2025-02-02"
    item["content"]["messages"][1]["timestamp"] = "2025-01-01"
    assert [message.message_id for message in Conversation.model_validate(item).messages] == ["m1", "m2"]


def test_a_conversation_does_not_change() -> None:
    talk = Conversation.model_validate(make_item())
    with pytest.raises(ValidationError, match="frozen"):
        talk.messages[0].content = "other"
