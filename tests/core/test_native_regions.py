"""Label Studio's results for units: UTF-16 offsets, untouched text, one id per unit (faults 1, 2, 7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convolabel.native_regions import CONVERSATION, NOTE, UNIT, choice_result, note_result, unit_region
from convolabel.task_data import TaskData, TaskMessage, TaskSpan


def conversation(text: str, start: int, end: int) -> tuple[TaskData, TaskSpan]:
    span = TaskSpan(span_id="s-1", message=1, start=start, end=end)
    messages = (
        TaskMessage(message_id=1, speaker="c", author="C", text="Hi."),
        TaskMessage(message_id=2, speaker="a", author="A", text=text, labelable=True),
    )
    data = TaskData(study="demo", id="x", label="x", metadata={}, messages=messages, spans=(span,), fingerprint="f")
    return data, span


# Each emoji outside the basic plane is two UTF-16 units and one code point.
# "Gut 👍🏽 weiter so. Was nun?": 👍 and 🏽 stand before code point 18, so 18 -> 20 and 26 -> 28.
# "Erst das.\r\nDann 😀 dies.": one 😀 stands before 18, so 18 -> 19 and 23 -> 24; CR and LF count one each.
# "A  doppelt.  Ende.": nothing outside the basic plane, both double spaces count.
@pytest.mark.parametrize(
    ("text", "start", "end", "utf16", "slice_"),
    [
        ("Gut 👍🏽 weiter so. Was nun?", 18, 26, (20, 28), "Was nun?"),
        ("Gut 👍🏽 weiter so. Was nun?", 4, 6, (4, 8), "👍🏽"),
        ("Erst das.\r\nDann 😀 dies.", 18, 23, (19, 24), "dies."),
        ("Erst das.\r\nDann 😀 dies.", 0, 17, (0, 18), "Erst das.\r\nDann 😀"),
        ("A  doppelt.  Ende.", 13, 18, (13, 18), "Ende."),
    ],
)
def test_offsets_are_a_browsers(text: str, start: int, end: int, utf16: tuple[int, int], slice_: str) -> None:
    data, span = conversation(text, start, end)
    value = unit_region(data, span)["value"]
    assert (value["startOffset"], value["endOffset"]) == utf16
    assert value["text"] == slice_
    assert (value["start"], value["end"]) == ("1", "1")


def test_unit_region_is_frozen_and_has_no_category() -> None:
    data, span = conversation("Ja. Gut.", 4, 8)
    assert unit_region(data, span) == {
        "id": "s-1",
        "from_name": UNIT,
        "to_name": CONVERSATION,
        "type": "paragraphlabels",
        "origin": "manual",
        "readonly": True,
        "meta": {"rev": 1},
        "value": {
            "start": "1",
            "end": "1",
            "startOffset": 4,
            "endOffset": 8,
            "text": "Gut.",
            "paragraphlabels": ["unit"],
        },
    }


def test_choice_and_note_share_the_units_id_and_place() -> None:
    data, span = conversation("Gut 👍🏽 weiter so. Was nun?", 18, 26)
    place = {"start": "1", "end": "1", "startOffset": 20, "endOffset": 28}
    assert choice_result(data, span, "intent", ["Q"]) == {
        "id": "s-1",
        "from_name": "intent",
        "to_name": CONVERSATION,
        "type": "choices",
        "meta": {"rev": 1},
        "value": {**place, "choices": ["Q"]},
    }
    assert note_result(data, span, "<b>3 Fragen</b>\r\n") == {
        "id": "s-1",
        "from_name": NOTE,
        "to_name": CONVERSATION,
        "type": "textarea",
        "meta": {"rev": 1},
        "value": {**place, "text": ["<b>3 Fragen</b>\r\n"]},
    }


@given(st.text(alphabet=st.sampled_from("a \r\nß👍🏽é中\U0001f468\u200d"), min_size=1, max_size=30), st.data())
def test_a_browser_cuts_the_same_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    task, span = conversation(text, start, end)
    value = unit_region(task, span)["value"]
    # a browser's string is an array of 16-bit units, so its slice is a slice of the UTF-16 bytes, two per unit
    units = text.encode("utf-16-le")
    assert units[2 * value["startOffset"] : 2 * value["endOffset"]].decode("utf-16-le") == value["text"]
