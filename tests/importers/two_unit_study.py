"""A study small enough to count by hand."""

from convolabel import Conversation, Study, TaskData, task_data

RATERS = ({"email": "ana@example.com", "name": "Ana"}, {"email": "ben@example.com"})
CODEBOOK = {
    "name": "two",
    "title": "Two dimensions",
    "dimensions": [
        {
            "id": "act",
            "title": "Act",
            "categories": [{"id": "Q", "name": "Question"}, {"id": "S", "name": "Statement"}],
        },
        {"id": "tone", "title": "Tone", "categories": [{"id": "w", "name": "Warm"}, {"id": "c", "name": "Cool"}]},
    ],
}


def small_study() -> Study:
    return Study.model_validate({"study": "small", "codebook": CODEBOOK, "raters": RATERS})


def conversation(item_id: str, *, text: str = "Gut 👍🏽 weiter so. Was nun?", label: str = "Small") -> Conversation:
    """A message of the client's without units, then `text` with the units `<item_id>-1` [0, 17) and `-2` [18, 26)."""
    spans = [
        {"span_id": f"{item_id}-1", "start": 0, "end": 17},
        {"span_id": f"{item_id}-2", "start": 18, "end": 26},
    ]
    messages = [
        {"speaker": "c", "content": "Hallo.\r\n"},
        {"message_id": "m2", "speaker": "a", "content": text, "labelable": True, "spans": spans},
    ]
    return Conversation.model_validate(
        {
            "id": item_id,
            "label": label,
            "speakers": {"c": {"name": "Client"}, "a": {"name": "Ana", "role": "counsellor"}},
            "content": {"messages": messages},
        }
    )


def small_data(item_id: str, **changes: str) -> TaskData:
    return task_data(conversation(item_id, **changes), "small")
