"""How long the import of AnnoMI takes, and how much memory the client needs.

    LABEL_STUDIO_URL=http://127.0.0.1:8080 LABEL_STUDIO_API_KEY=... python -m benchmarks.import_annomi AnnoMI-full.csv

A project is made for the measurement and deleted afterwards. Target: 133 conversations, 9,699 units in 15 s.
"""

import json
import resource
import secrets
import sys
import tempfile
import time
from pathlib import Path

import click

from benchmarks.annomi import read_annomi, write_items
from convolabel import Study, read_conversations, shipped_codebook
from importers import connect, create_study, export_votes, import_conversations


@click.command()
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--url", envvar="LABEL_STUDIO_URL", default="http://127.0.0.1:8080", show_default=True)
@click.option("--token", envvar="LABEL_STUDIO_API_KEY", required=True)
@click.option("--copies", default=1, show_default=True, help="Import the corpus so many times over, under new ids.")
@click.option("--keep", is_flag=True, help="Leave the project in place.")
def main(table: Path, url: str, token: str, copies: int, keep: bool) -> None:
    """Import AnnoMI into a Label Studio and print the figures as JSON."""
    study = Study(study=f"annomi-{secrets.token_hex(4)}", codebook=shipped_codebook("vrm-intent"))
    with tempfile.TemporaryDirectory() as folder, connect(url, token) as connection:
        path = Path(folder) / "annomi.jsonl"
        items = read_annomi(table)
        write_items((_copy(item, number) for number in range(copies) for item in items), path)
        del items
        began = time.perf_counter()
        checked = read_conversations([path])
        read = time.perf_counter()
        created = create_study(study, connection)
        imported = import_conversations(study, checked.conversations, connection)
        done = time.perf_counter()
        again = import_conversations(study, checked.conversations, connection)
        checked_again = time.perf_counter()
        rows = sum(1 for _ in export_votes(study, connection))
        figures = {
            "conversations": len(imported.created),
            "units": sum(len(message.spans) for item in checked.conversations for message in item.messages),
            "read_and_check_seconds": round(read - began, 2),
            "create_and_import_seconds": round(done - read, 2),
            "import_again_seconds": round(checked_again - done, 2),
            "unchanged_then": len(again.unchanged),
            "empty_export_seconds": round(time.perf_counter() - checked_again, 2),
            "rows": rows,
            "client_peak_megabytes": _peak_megabytes(),
        }
        if not keep:
            connection.sdk.projects.delete(created.project_id)
    click.echo(json.dumps(figures, indent=1))


def _copy(item: dict[str, object], number: int) -> dict[str, object]:
    if number == 0:
        return item
    text = json.dumps(item).replace('"span_id": "', f'"span_id": "c{number}-')
    return {**json.loads(text), "id": f"{item['id']}-c{number}"}


def _peak_megabytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 2**20 if sys.platform == "darwin" else peak / 2**10)


if __name__ == "__main__":
    main()
