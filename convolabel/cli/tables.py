"""Commands on tables of votes: convolabel's own and foreign ones."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from convolabel.errors import MissingExtraError
from convolabel.votes_table import RATER_COLUMN, UNIT_COLUMNS, VALUE_COLUMN

Command = Callable[..., None]

_TABLE_OPTIONS = (
    click.argument("table", type=click.Path(path_type=Path)),
    click.option(
        "--unit", multiple=True, help=f"Column that names the unit; repeatable. [default: {', '.join(UNIT_COLUMNS)}]"
    ),
    click.option("--rater", default=RATER_COLUMN, show_default=True, help="Column that names the rater."),
    click.option("--value", default=VALUE_COLUMN, show_default=True, help="Column that holds the category."),
    click.option("--conversation", help="Column that names the conversation. [default: conversation_id]"),
    click.option("--role", help="Column of the speaker's role. [default: speaker_role]"),
    click.option("--message", help="Column that names the message. [default: message_id]"),
    click.option("--time", help="Column of the milliseconds before the first decision. [default: time_ms]"),
    click.option("--dimension", help="Only this dimension of the codebook."),
    click.option("--missing", multiple=True, help="A value that means no vote, for example n/a; repeatable."),
)
_OUTPUT_OPTIONS = (
    click.option(
        "--csv", "folder", type=click.Path(path_type=Path), help="Also write every table as CSV into a folder."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
)
_UNSURE = click.option(
    "--unsure",
    type=click.Choice(["missing", "category"]),
    default="missing",
    show_default=True,
    help="Whether an unsure vote is left out or is a category of its own.",
)
_METRIC = (
    click.option(
        "--level",
        type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
        default="nominal",
        show_default=True,
        help="Level of measurement; above nominal, values are numbers.",
    ),
    click.option("--order", multiple=True, help="A value of an ordinal scale, from the lowest up; repeatable."),
    click.option("--distance", type=click.Path(path_type=Path), help="CSV with a distance for every two values."),
)
_WHO = click.option(
    "--who", type=click.Choice(["humans", "all"]), default="humans", show_default=True, help="Raters of the parts."
)
_FAST = click.option(
    "--fast",
    "fast_ms",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="Milliseconds below which a decision is counted as fast.",
)
_ARMS = (
    click.option(
        "--by",
        type=click.Choice(["arm", "shown"]),
        default="arm",
        show_default=True,
        help="Compare arms as drawn, or only suggestions on screen in time.",
    ),
    click.option(
        "--control-unit",
        type=click.Choice(["rater_span", "span"]),
        help="For what the arms were drawn. [default: told by the table]",
    ),
)
# The defaults of the numbers are those of the Python functions.
_DRAWS = click.option("--draws", type=click.IntRange(min=0), help="Bootstrap draws over conversations. [default: 1000]")
_REDRAWS = click.option(
    "--redraws", type=click.IntRange(min=0), help="Redrawings of the arms for p-values. [default: 1000]"
)
_SEED = click.option("--seed", type=click.IntRange(min=0), help="Seed of everything drawn; the output names it.")


def _options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@click.command()
@_options(*_TABLE_OPTIONS, *_METRIC, _UNSURE, _WHO, _DRAWS, _SEED, *_OUTPUT_OPTIONS)
def agreement(
    table: Path,
    distance: Path | None,
    draws: int | None,
    seed: int | None,
    folder: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Krippendorff's alpha with intervals: overall, per category, role, rater, pair, arm, block.

    TABLE is an export of convolabel or any table with one row per vote (.csv, .jsonl, .parquet).
    """
    evaluators = _evaluators()
    votes = _load(table, options)
    distances = evaluators.read_distances(distance) if distance else None
    _show(
        evaluators.agreement(votes, distances=distances, **options, **_given(draws=draws, seed=seed)), folder, as_json
    )


@click.command()
@_options(*_TABLE_OPTIONS, _FAST)
@click.option(
    "--step",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Decisions per point of the learning curve.",
)
@_options(*_OUTPUT_OPTIONS)
def times(table: Path, folder: Path | None, as_json: bool, **options: Any) -> None:
    """Time on task: first decisions per rater, category, place and conversation; learning; fast ones.

    TABLE is an export of convolabel or any table with one row per vote (.csv, .jsonl, .parquet).
    """
    evaluators = _evaluators()
    votes = _load(table, options)
    _show(evaluators.times(votes, **options), folder, as_json)


@click.command()
@_options(*_TABLE_OPTIONS, _UNSURE, *_ARMS, _DRAWS, _REDRAWS, _SEED, *_OUTPUT_OPTIONS)
def copilot(
    table: Path,
    draws: int | None,
    redraws: int | None,
    seed: int | None,
    folder: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """The co-pilot's effect: units with the suggestion shown against units where it was withheld.

    TABLE is an export of convolabel (.csv, .jsonl, .parquet).
    """
    evaluators = _evaluators()
    votes = _load(table, options)
    numbers = _given(draws=draws, redraws=redraws, seed=seed)
    _show(evaluators.copilot_effect(votes, **options, **numbers), folder, as_json)


@click.command()
@_options(*_TABLE_OPTIONS)
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="The page, for example report.html."
)
@click.option("--title", help="Title of the page. [default: the name of the table]")
@click.option("--names", is_flag=True, help="Show raters by name instead of by id.")
@click.option(
    "--results", multiple=True, type=click.Path(path_type=Path), help="Folder that an evaluator wrote; repeatable."
)
@_options(*_METRIC, _UNSURE, _WHO, *_ARMS, _FAST)
@click.option(
    "--step",
    type=click.IntRange(min=1),
    help="Decisions per point of the learning curve. [default: 20, more for raters with more than 1,000 decisions]",
)
@_options(_DRAWS, _REDRAWS, _SEED, *_OUTPUT_OPTIONS)
def report(
    table: Path,
    output: Path,
    distance: Path | None,
    draws: int | None,
    redraws: int | None,
    seed: int | None,
    folder: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Everything about a table of votes with plots, in one page that opens from disk.

    TABLE is an export of convolabel or any table with one row per vote (.csv, .jsonl, .parquet). --csv writes all
    numbers of the page as tables, --json prints them.
    """
    evaluators = _evaluators()
    try:
        from evaluators.report import report as make
    except ModuleNotFoundError as error:
        if error.name != "jinja2":
            raise
        raise MissingExtraError("The report", "evaluators") from None
    votes = _load(table, options)
    distances = evaluators.read_distances(distance) if distance else None
    made = make(votes, distances=distances, **options, **_given(draws=draws, redraws=redraws, seed=seed))
    made.write(output)
    if folder:
        made.write_tables(folder)
    click.echo(_json(made) if as_json else f"{output} holds the report; open it in a browser.")


def _evaluators() -> ModuleType:
    try:
        import numpy  # noqa: F401
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("The analysis of votes", "evaluators") from None
    import evaluators

    return evaluators


def _load(table: Path, options: dict[str, Any]) -> Any:
    """The votes; takes the options about the table out of `options`."""
    names = ("unit", "rater", "value", "conversation", "role", "message", "time", "dimension", "missing")
    of_table = {name: options.pop(name) for name in names}
    return _evaluators().load_votes(table, **{**of_table, "unit": of_table["unit"] or UNIT_COLUMNS})


def _given(**numbers: int | None) -> dict[str, Any]:
    return {name: number for name, number in numbers.items() if number is not None}


def _show(result: Any, folder: Path | None, as_json: bool) -> None:
    if folder:
        result.write(folder)
    click.echo(_json(result) if as_json else result.text())


def _json(result: Any) -> str:
    return json.dumps(result.as_dict(), ensure_ascii=False, indent=2, allow_nan=False)
