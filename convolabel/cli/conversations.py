"""Commands of a study: check files, create, import, watch, export."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convolabel.credentials import Credentials
from convolabel.errors import InputError

if TYPE_CHECKING:
    from convolabel.study import Study
    from convolabel.validation import Checked
    from importers import Connection

TOKEN_VARIABLE = "LABEL_STUDIO_API_KEY"  # noqa: S105 - a name, not a token
_FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
_STUDY = click.argument("study_file", metavar="STUDY.yaml", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.command()
@_FILES
@_JSON
def validate(files: tuple[Path, ...], as_json: bool) -> int:
    """List every fault of conversation files; exit code 0 without any, else 2.

    Files given together are checked as one study: span ids are unique over all of them.
    """
    from convolabel.conversation_files import read_conversations

    checked = read_conversations(files)
    units = sum(len(message.spans) for each in checked.conversations for message in each.messages)
    if as_json:
        document = {
            "conversations": len(checked.conversations),
            "units": units,
            "faults": [fault.as_dict() for fault in checked.faults],
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for fault in checked.faults:
            click.echo(str(fault))
        refused = len(checked.refused_items)
        click.echo(
            f"{len(checked.conversations)} conversations with {units} units are valid, "
            f"{len(checked.faults)} faults in {refused} others."
        )
    return 2 if checked.faults else 0


@click.command()
@_STUDY
@_JSON
def create(study_file: Path, as_json: bool) -> None:
    """Make or update the study's project: labeling config, raters, co-pilot.

    Needs the token of a Label Studio administrator in LABEL_STUDIO_API_KEY and, for a study with a co-pilot, the
    scoring server's login in CONVOLABEL_COPILOT_USER and CONVOLABEL_COPILOT_PASSWORD. Running it again is harmless.
    """
    from convolabel.study import read_study
    from importers import create_study

    study = read_study(study_file)
    credentials = Credentials.from_environment() if study.copilot is not None else None
    with _connected(study) as connection:
        created = create_study(study, connection, copilot_credentials=credentials)
    if as_json:
        document = {
            "project": created.project_id,
            "url": created.url,
            "new": created.is_new,
            "changed": list(created.changed),
            "passwords": created.passwords,
            "missing": created.missing,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    done = (
        "Created" if created.is_new else f"Updated ({', '.join(created.changed)})" if created.changed else "Unchanged:"
    )
    click.echo(f"{done} project {created.project_id} at {created.url}")
    for email, password in created.passwords.items():
        click.echo(f"  new account {email}, password {password} (shown this once)")
    if created.missing:
        click.echo(created.missing, err=True)


@click.command("import")
@_STUDY
@_FILES
@click.option("--skip-invalid", is_flag=True, help="Import the valid conversations and say which were left out.")
@_JSON
def import_(study_file: Path, files: tuple[Path, ...], skip_invalid: bool, as_json: bool) -> int:
    """Put conversations into the study's project. Running it again creates nothing twice.

    Nothing is imported when anything is refused. Needs the token of an administrator in LABEL_STUDIO_API_KEY.
    """
    from convolabel.conversation_files import read_conversations
    from convolabel.study import read_study
    from importers import import_conversations

    study = read_study(study_file)
    checked = read_conversations(files)
    if checked.faults:
        for fault in checked.faults:
            click.echo(str(fault), err=True)
        if not skip_invalid:
            click.echo(f"Nothing was imported: {_faulty(checked)}. Correct them, or use --skip-invalid.", err=True)
            return 2
    with _connected(study) as connection, _progress("Importing") as advance:
        imported = import_conversations(
            study, checked.conversations, connection, skip_invalid=skip_invalid, progress=advance
        )
    counts = {
        "created": len(imported.created),
        "updated": len(imported.updated),
        "unchanged": len(imported.unchanged),
        "refused": len(imported.refused) + len(checked.refused_items),
    }
    if as_json:
        faults = [fault.as_dict() for fault in checked.faults]
        reasons = [asdict(refused) for refused in imported.refused]
        click.echo(json.dumps({**counts, "faults": faults, "not_imported": reasons}, ensure_ascii=False, indent=2))
    else:
        for refused in imported.refused:
            click.echo(f"Left out: {refused.reason}", err=True)
        click.echo(", ".join(f"{number} {name}" for name, number in counts.items()))
    return 2 if counts["refused"] else 0


@click.command()
@_STUDY
@_JSON
def progress(study_file: Path, as_json: bool) -> None:
    """How far each rater is with each conversation."""
    from convolabel.study import read_study
    from importers import progress_of

    study = read_study(study_file)
    with _connected(study) as connection:
        rows = progress_of(study, connection)
    if as_json:
        click.echo(json.dumps({"progress": [asdict(row) for row in rows]}, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    from convolabel.decisions import Status

    table = Table("conversation", "rater", "decided", "status")
    for row in rows:
        status = "finished" if row.is_submitted and row.status is Status.DONE else row.status.replace("_", " ")
        table.add_row(row.conversation_id, row.rater, f"{row.decided} of {row.total}", status)
    Console().print(table)


@click.command()
@_STUDY
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="votes.csv, .jsonl or .parquet",
)
@click.option("--excel-safe", is_flag=True, help="Guard cells that a spreadsheet would take for a formula (CSV).")
def export(study_file: Path, output: Path, excel_safe: bool) -> None:
    """Write the votes table: one row per rater, decided unit and dimension (docs/votes-table.md)."""
    from convolabel.study import read_study
    from convolabel.votes_files import write_votes
    from importers import export_votes

    study = read_study(study_file)
    with _connected(study) as connection:
        votes = export_votes(study, connection)
        written = write_votes(output, votes, excel_safe=excel_safe)
    click.echo(f"{written} votes in {output}")
    for sentence in votes.report.sentences():
        click.echo(sentence, err=True)


@contextmanager
def _connected(study: "Study") -> "Iterator[Connection]":
    from importers import connect

    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise InputError(
            f"The environment variable {TOKEN_VARIABLE} is not set; copy a token from Label Studio, Account & Settings."
        )
    with connect(study.label_studio.url, token) as connection:
        yield connection


@contextmanager
def _progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, plain lines otherwise; both on stderr, so that stdout stays the result's."""
    if not sys.stderr.isatty():
        yield lambda done, total: click.echo(f"{doing}: {done} of {total}", err=True)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _faulty(checked: "Checked") -> str:
    return f"{len(checked.faults)} faults in {len(checked.refused_items)} conversations"
