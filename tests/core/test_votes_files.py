"""The votes table as CSV, JSON Lines and Parquet: byte-true, symmetric, whole or not at all."""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from convolabel.errors import InputError, MissingExtraError
from convolabel.votes_files import read_votes, write_votes
from convolabel.votes_table import COLUMNS, Vote

EVERY_FORMAT = pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".ndjson", ".parquet", ".CSV"])

REQUIRED: dict[str, Any] = {
    "study": "demo",
    "conversation_id": "thread-017",
    "rater_id": 7,
    "dimension": "intent",
    "category": "Q",
    "span_rev": 1,
    "span_start": 18,
    "span_end": 23,
    "span_text": "dies.",
    "span_id": "017-2-1",
    "message_id": 2,
    "span_index": 0,
}


def vote(**cells: Any) -> Vote:
    return Vote.model_validate(REQUIRED | cells)


hostile = st.one_of(
    st.text(alphabet=st.sampled_from("\",;\r\n\t'=+-@ \u2028\u0085\ufeffa👍🏽\\")),
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    st.sampled_from(
        ["", " ", " leading", "trailing ", '"', "\r", "\r\n", "\n\r", "null", "None", "true", "0012", "NaN"]
    ),
)
names = hostile.filter(bool)
maybe = st.none() | names
flags = st.none() | st.booleans()
numbers = st.integers(0, 2**63 - 1)
times = st.none() | st.datetimes().map(lambda time: time.isoformat() + "Z").filter(lambda said: said[0] != "0")


@st.composite
def any_vote(draw: st.DrawFn) -> Vote:
    category = draw(st.none() | names.filter(lambda name: name != "unsure"))
    cells: dict[str, Any] = {"category": category, "unsure": category is None}
    cells |= {name: draw(names) for name in ("conversation_id", "rater_id", "dimension", "span_id", "message_id")}
    cells |= {
        name: draw(hostile) for name in ("study", "conversation_label", "rater_name", "note", "span_text", "speaker")
    }
    cells |= {name: draw(maybe) for name in ("second_choice", "copilot_arm", "copilot_label", "copilot_model")}
    cells |= {
        name: draw(maybe)
        for name in ("copilot_label_2", "copilot_prompt_version", "speaker_role", "copilot_confidence")
    }
    cells |= {name: draw(flags) for name in ("copilot_shown", "copilot_accepted", "copilot_helpful")}
    cells |= {name: draw(st.none() | numbers) for name in ("time_ms", "later_time_ms", "message_index")}
    cells |= {name: draw(numbers) for name in ("span_rev", "span_start", "span_end", "span_index")}
    cells |= {name: draw(times) for name in ("created_at", "updated_at")}
    return vote(rater_kind=draw(st.sampled_from(["human", "llm"])), **cells)


def test_columns_are_pinned() -> None:
    assert (
        *("study", "conversation_id", "conversation_label", "rater_kind", "rater_id", "rater_name"),
        *("dimension", "category", "unsure", "note", "second_choice"),
        *("copilot_shown", "copilot_arm", "copilot_label", "copilot_label_2", "copilot_accepted", "copilot_helpful"),
        *("copilot_model", "copilot_prompt_version", "time_ms", "later_time_ms", "created_at", "updated_at"),
        *("span_rev", "span_start", "span_end", "span_text", "speaker", "speaker_role"),
        *("message_index", "copilot_confidence"),
        *("span_id", "message_id", "span_index"),
    ) == COLUMNS


@EVERY_FORMAT
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(votes=st.lists(any_vote(), max_size=4))
def test_export_read_write_gives_the_same_bytes(tmp_path: Path, suffix: str, votes: list[Vote]) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    assert write_votes(first, votes) == len(votes)
    read = read_votes(first)
    assert read == votes
    write_votes(second, read)
    assert second.read_bytes() == first.read_bytes()


def test_csv_bytes(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    cells = {"note": 'a "b"\r\nc\rd', "span_text": " dies,", "copilot_shown": True, "time_ms": 1830}
    write_votes(path, [vote(**cells), vote(category=None, unsure=True, created_at="2025-03-01T10:00:00Z")])
    header, rows = path.read_bytes().split(b"\r\n", 1)
    assert header.decode().split(",") == list(COLUMNS)
    assert rows == (
        b'demo,thread-017,,human,7,,intent,Q,false,"a ""b""\r\nc\rd",,true,,,,,,,,1830,,,,'
        b'1,18,23," dies,",,,,,017-2-1,2,0\r\n'
        b"demo,thread-017,,human,7,,intent,,true,,,,,,,,,,,,,2025-03-01T10:00:00Z,,1,18,23,dies.,,,,,017-2-1,2,0\r\n"
    )


def test_json_lines_have_every_column_in_order_and_null_for_what_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    write_votes(path, [vote(note="ein\u2028Wort 😀")])
    (line,) = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    row = json.loads(line)
    assert tuple(row) == COLUMNS
    assert row["note"] == "ein\u2028Wort 😀"
    assert "😀" in line
    assert (row["speaker"], row["speaker_role"], row["copilot_shown"], row["unsure"]) == ("", None, None, False)
    assert (row["rater_id"], row["message_id"], row["span_start"]) == ("7", "2", 18)


def test_parquet_is_typed(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "votes.parquet"
    write_votes(path, [vote()])
    types = {field.name: str(field.type) for field in parquet.read_schema(path)}
    assert tuple(types) == COLUMNS
    assert {name for name, kind in types.items() if kind == "int64"} == {
        *("time_ms", "later_time_ms", "span_rev", "span_start", "span_end", "message_index", "span_index")
    }
    assert {name for name, kind in types.items() if kind == "bool"} == {
        *("unsure", "copilot_shown", "copilot_accepted", "copilot_helpful")
    }


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_excel_safe_guards_formula_cells_and_stays_when_read(tmp_path: Path, start: str) -> None:
    plain, guarded = tmp_path / "plain.csv", tmp_path / "guarded.csv"
    votes = [vote(note=f"{start}1+1", span_text="1=1", speaker=f"{start}x")]
    write_votes(plain, votes)
    write_votes(guarded, votes, excel_safe=True)
    assert read_votes(plain) == votes
    (read,) = read_votes(guarded)
    assert (read.note, read.span_text, read.speaker) == (f"'{start}1+1", "1=1", f"'{start}x")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_excel_safe_is_for_csv(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="in CSV only"):
        write_votes(tmp_path / f"votes{suffix}", [vote()], excel_safe=True)


def test_a_cell_longer_than_the_csv_modules_limit(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    csv.field_size_limit(131072)
    votes = [vote(note="x" * 200_000)]
    write_votes(path, votes)
    assert read_votes(path) == votes


def test_a_byte_order_mark_added_by_a_spreadsheet_is_no_part_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    write_votes(path, [vote()])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_votes(path) == [vote()]


def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    write_votes(path, [vote()])
    before = path.read_bytes()

    def breaks_off() -> Iterator[Vote]:
        yield vote(note="new")
        raise RuntimeError("connection lost")

    with pytest.raises(RuntimeError, match="connection lost"):
        write_votes(path, breaks_off())
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["votes.csv"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot write .*nowhere.*No such file"):
        write_votes(tmp_path / "nowhere" / "votes.csv", [vote()])
    with pytest.raises(InputError, match=r"Cannot read .*nowhere.*No such file"):
        read_votes(tmp_path / "nowhere" / "votes.csv")


@pytest.mark.parametrize("name", ["votes.xlsx", "votes", "votes.csv.gz"])
def test_an_unknown_suffix_is_answered_with_the_known_ones(tmp_path: Path, name: str) -> None:
    for call in (lambda: write_votes(tmp_path / name, [vote()]), lambda: read_votes(tmp_path / name)):
        with pytest.raises(InputError, match=r"\.csv, \.jsonl, \.ndjson, \.parquet"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "votes.parquet"
    with pytest.raises(MissingExtraError, match=r"convolabel\[parquet\]"):
        write_votes(path, [vote()])
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match=r"convolabel\[parquet\]"):
        read_votes(path)


def broken_csv(tmp_path: Path, old: str, new: str) -> Path:
    path = tmp_path / "votes.csv"
    write_votes(path, [vote(), vote(note="secret words")])
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
    return path


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",time_ms,", ",time,", r"lacks `time_ms` and has unknown `time`"),
        ("time_ms", "note", r"the column `note` stands twice"),
        ("secret words", '"secret words', r"line 3: not valid CSV"),
        ("secret words", "secret,words", r"line 3: 35 cells where the header has 34"),
        ("false,secret", "perhaps,secret", r"row 2, column `unsure`"),
        ("Q,false,secret", ",false,secret", r"row 2: a row names a category, or has no category and says unsure"),
    ],
)
def test_a_file_that_is_no_votes_table(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_votes(broken_csv(tmp_path, old, new))
    assert "secret" not in str(caught.value)


def test_a_quote_inside_a_bare_cell_is_a_character(tmp_path: Path) -> None:
    assert read_votes(broken_csv(tmp_path, "secret words", 'secret "words'))[1].note == 'secret "words'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("v.csv", b"", "is empty"),
        ("v.csv", b"study\r\n\xff\r\n", "not UTF-8"),
        ("v.jsonl", b'{"study": 1}\n{"study"\n', "line 2: not valid JSON"),
        ("v.jsonl", b"[1]\n", "line 1: a row is one JSON object, found list"),
        ("v.jsonl", b"[" * 100_000, "line 1: not valid JSON"),
        ("v.parquet", b"no parquet", "is not a Parquet file"),
    ],
)
def test_a_file_that_cannot_be_parsed(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_votes(tmp_path / name)


@pytest.mark.parametrize(
    "cells",
    [
        {"category": "unsure"},
        {"category": "unsure", "unsure": True},
        {"category": None},
        {"category": "Q", "unsure": True},
        {"rater_id": ""},
        {"span_start": -1},
        {"time_ms": 2**63},
        {"created_at": "2025-03-01 10:00"},
        {"created_at": "2025-03-01T10:00:00+01:00"},
        {"note": "\ud800"},
        {"note": None},
        {"rater_kind": "robot"},
        {"confidence": "high"},
    ],
)
def test_rows_that_are_refused(cells: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        vote(**cells)


def test_an_empty_optional_text_is_none() -> None:
    assert vote(copilot_label="", speaker_role="").copilot_label is None
