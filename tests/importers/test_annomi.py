import csv
import os
import sys
from pathlib import Path

import pytest

from convolabel import read_conversations
from convolabel.validation import check_items

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))
from annomi import annomi_items, read_annomi, write_items  # noqa: E402

HEADER = "mi_quality,transcript_id,video_title,video_url,topic,utterance_id,interlocutor,timestamp,utterance_text"


def rows(*lines: str) -> list[dict[str, str]]:
    return list(csv.DictReader([HEADER, *lines]))


def test_an_utterance_of_several_annotators_is_one_unit_without_its_white_space() -> None:
    first, second = "high,0,T,u,top,0,therapist,00:00:13", "high,0,T,u,top,1,client,00:00:24"
    (item,) = annomi_items(rows(f"{first}, Hi there. ", f"{first}, Hi there. ", f"{second},Sure."))
    assert [message["content"] for message in item["content"]["messages"]] == [" Hi there. ", "Sure."]
    # " Hi there. " has 11 characters; without the outer blanks [1, 10)
    assert item["content"]["messages"][0]["spans"] == [{"span_id": "0-0", "start": 1, "end": 10}]
    assert item["content"]["messages"][1]["speaker"] == "client"
    assert check_items([item]).faults == []


def test_an_utterance_of_white_space_has_no_unit() -> None:
    line = "high,0,T,u,top,0,therapist,00:00:13,   "
    (item,) = annomi_items(rows(line))
    assert (item["content"]["messages"][0]["labelable"], item["content"]["messages"][0]["spans"]) == (False, [])


def test_the_whole_corpus_is_valid(tmp_path: Path) -> None:
    shared = Path(os.environ.get("CONVOLABEL_SHARED", ROOT.parent / "shared"))
    table = shared / "data" / "annomi" / "AnnoMI-full.csv"
    if not table.is_file():
        pytest.skip("AnnoMI-full.csv is not here")
    write_items(read_annomi(table), tmp_path / "annomi.jsonl")
    checked = read_conversations([tmp_path / "annomi.jsonl"])
    units = sum(len(message.spans) for item in checked.conversations for message in item.messages)
    assert (checked.faults, len(checked.conversations), units) == ([], 133, 9699)
