"""AnnoMI's table (uccollab/AnnoMI, AnnoMI-full.csv) as conversation files: one utterance is one unit.

python benchmarks/annomi.py AnnoMI-full.csv -o annomi.jsonl
"""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click


def annomi_items(rows: Iterable[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """Items of the conversation format, one per transcript, in the table's order.

    The table has one row per utterance and annotator; an utterance counts once. Its unit is the utterance
    without surrounding white space; an utterance of white space only has none.
    """
    transcripts: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows:
        transcripts.setdefault(row["transcript_id"], {}).setdefault(row["utterance_id"], row)
    for transcript_id, utterances in transcripts.items():
        yield _item(transcript_id, list(utterances.values()))


def _item(transcript_id: str, utterances: list[dict[str, str]]) -> dict[str, Any]:
    first = utterances[0]
    speakers = sorted({utterance["interlocutor"] for utterance in utterances})
    return {
        "id": f"annomi-{transcript_id}",
        "label": first["video_title"],
        "metadata": {"topic": first["topic"], "mi_quality": first["mi_quality"], "video_url": first["video_url"]},
        "speakers": {speaker: {"name": speaker.capitalize(), "role": speaker} for speaker in speakers},
        "content": {"messages": [_message(transcript_id, utterance) for utterance in utterances]},
    }


def _message(transcript_id: str, utterance: dict[str, str]) -> dict[str, Any]:
    text = utterance["utterance_text"]
    unit = text.strip()
    start = text.find(unit)
    span = {"span_id": f"{transcript_id}-{utterance['utterance_id']}", "start": start, "end": start + len(unit)}
    return {
        "message_id": f"u{utterance['utterance_id']}",
        "speaker": utterance["interlocutor"],
        "content": text,
        "timestamp": utterance["timestamp"] or None,
        "labelable": bool(unit),
        "spans": [span] if unit else [],
    }


def read_annomi(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as table:
        return list(annomi_items(csv.DictReader(table)))


def write_items(items: Iterable[dict[str, Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        for item in items:
            lines.write(json.dumps(item, ensure_ascii=False) + "\n")


@click.command()
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path))
def main(table: Path, output: Path) -> None:
    """Convert AnnoMI-full.csv to JSON Lines in the conversation format."""
    items = read_annomi(table)
    write_items(items, output)
    utterances = sum(len(item["content"]["messages"]) for item in items)
    click.echo(f"{output}: {len(items)} conversations, {utterances} utterances")


if __name__ == "__main__":
    main()
