"""Faults that users of comparable tools met, as classes: offsets, newlines, blanks, bounds and trimming."""

from pathlib import Path
from typing import Any

import pytest
from example_items import make_conversation, make_item, write_document
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convolabel.conversation_files import read_conversations
from convolabel.graphemes import is_grapheme_boundary, utf16_offset
from convolabel.task_data import TaskData, task_data
from convolabel.validation import Fault, check_items
from convolabel.votes_files import read_votes, write_votes
from convolabel.votes_table import Vote

EMOJI = "Gut 👍🏽 weiter so. Was nun?"


def slice_of(text: str, start: int, end: int) -> str:
    data = task_data(make_conversation(text, (start, end)), "pilot")
    stored = TaskData.model_validate_json(data.model_dump_json())
    return stored.span_text(stored.spans[0])


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        (EMOJI, (18, 26), "Was nun?"),  # 1: code points, not UTF-16
        ("Erst das.\r\nDann 😀 dies.", (18, 23), "dies."),  # 2: CR LF stays two code points
        ("A  doppelt.  Ende.", (13, 18), "Ende."),  # 3: both double blanks count
        ("Ja. Gut.", (3, 8), " Gut."),  # 5: nothing is trimmed
    ],
)
def test_a_span_is_the_same_text_from_file_to_task(
    tmp_path: Path, text: str, span: tuple[int, int], expected: str
) -> None:
    (talk,) = read_conversations([write_document(tmp_path / "talk.json", make_item(text, span))]).conversations
    assert talk.messages[1].content == text
    assert slice_of(text, *span) == expected


def test_1_browser_offsets_and_cuts_at_an_emoji() -> None:
    # 👍🏽 is two code points and four UTF-16 units: from there on a browser counts two more
    assert [utf16_offset(EMOJI, k) for k in (4, 6, 18, 26)] == [4, 8, 20, 28]
    assert [is_grapheme_boundary(EMOJI, k) for k in (4, 5, 6)] == [True, False, True]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["\r\n", "\n", "\r", "a", " ", "  ", "\t", "é", "😀", ","]), max_size=12).map("".join))
def test_2_and_3_line_ends_and_blanks_survive_file_task_and_table(tmp_path: Path, middle: str) -> None:
    text = f"x{middle}y"
    (talk,) = read_conversations([write_document(tmp_path / "talk.json", make_item(text))]).conversations
    data = task_data(talk, "pilot")
    (span,) = data.spans
    vote = Vote(
        study="pilot",
        conversation_id=data.id,
        rater_id="1",
        dimension="d",
        category="A",
        span_rev=span.rev,
        span_start=span.start,
        span_end=span.end,
        span_text=data.span_text(span),
        span_id=span.span_id,
        message_id="m2",
        span_index=0,
    )
    write_votes(tmp_path / "votes.csv", [vote])
    assert read_votes(tmp_path / "votes.csv")[0].span_text.encode() == text.encode()


@pytest.mark.parametrize("span", [(0, 4), (-1, 2), (3, 9), (2, 1), (1, 1)])
def test_4_bounds_are_checked(span: tuple[int, int]) -> None:
    (fault,) = check_items([make_item("Ja.", span)]).faults
    assert (fault.item_id, fault.message_id, fault.span_id) == ("i1", "m2", "i1-1")
    assert fault.rule in ("span_outside_text", "span_empty")


def test_4_the_fault_names_item_message_span_and_length() -> None:
    (fault,) = check_items([make_item("Ja.", (0, 4))]).faults
    assert all(part in str(fault) for part in ("item i1", "message m2", "span i1-1", "[0, 4)", "length 3"))


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "  \n "])
def test_5_a_blank_span_is_refused_and_blank_edges_are_kept(blank: str) -> None:
    text = f"Ja.{blank}Gut."
    end = 3 + len(blank)
    faults: list[Any] = check_items([make_item(text, (3, end))]).faults
    assert faults == [Fault("span_blank", f"[3, {end})", "i1", "m2", "i1-1")]
    assert slice_of(text, 3, len(text)) == f"{blank}Gut."
