"""Commands on tables of votes: convolabel's own and foreign ones."""

import json
from pathlib import Path

import click

from convolabel.votes_table import RATER_COLUMN, UNIT_COLUMNS, VALUE_COLUMN


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--unit", multiple=True, help=f"Column that names the unit; repeatable. [default: {', '.join(UNIT_COLUMNS)}]"
)
@click.option("--rater", default=RATER_COLUMN, show_default=True, help="Column that names the rater.")
@click.option("--value", default=VALUE_COLUMN, show_default=True, help="Column that holds the category.")
@click.option("--dimension", help="Only this dimension of the codebook.")
@click.option(
    "--unsure",
    type=click.Choice(["missing", "category"]),
    default="missing",
    show_default=True,
    help="Whether an unsure vote is left out or is a category of its own.",
)
@click.option("--missing", multiple=True, help="A value that means no vote, for example n/a; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def agreement(
    table: Path,
    unit: tuple[str, ...],
    rater: str,
    value: str,
    dimension: str | None,
    unsure: str,
    missing: tuple[str, ...],
    as_json: bool,
) -> None:
    """Krippendorff's alpha (nominal) of a table of votes.

    TABLE is an export of convolabel or any table with one row per vote (.csv, .jsonl, .parquet).
    """
    from evaluators import agreement as measure
    from evaluators import agreement_text

    found = measure(
        table,
        unit=unit or UNIT_COLUMNS,
        rater=rater,
        value=value,
        dimension=dimension,
        unsure="category" if unsure == "category" else "missing",
        missing=missing,
    )
    if as_json:
        click.echo(json.dumps({"agreement": [each.as_dict() for each in found]}, ensure_ascii=False, indent=2))
    else:
        click.echo(agreement_text(found))
