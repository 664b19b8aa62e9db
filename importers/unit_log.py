"""The plugin's log of units: what the co-pilot did and how long a decision took (design, section 8)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from convolabel.codebook import Dimension
from convolabel.units import Unit
from importers.connection import PLUGIN_API, Connection

PAGE_ROWS = 2000


class LogKey(NamedTuple):
    task_id: int
    rater_id: int
    unit: Unit


class Suggested(NamedTuple):
    dimension: str | None
    label: str
    confidence: str | None


class LogRow(NamedTuple):
    """`suggested` are the co-pilot's answers, best first: those shown, or those withheld from a control unit."""

    arm: str | None
    shown: bool | None
    suggested: tuple[Suggested, ...]
    accepted: bool | None
    model: str | None
    prompt_version: str | None
    first_ms: int | None
    later_ms: int | None
    created_at: str
    updated_at: str


def read_log(project_id: int, connection: Connection) -> dict[LogKey, LogRow]:
    """All log rows of a project; none from a Label Studio without the plugin."""
    rows: dict[LogKey, LogRow] = {}
    after: int | None = 0 if connection.plugin else None
    while after is not None:
        with connection.answering("read the log"):
            page = connection.get(f"{PLUGIN_API}/projects/{project_id}/log", after=after, limit=PAGE_ROWS)
        rows |= {_key(row): _log_row(row) for row in page["rows"]}
        after = page["next"]
    return rows


def copilot_columns(row: LogRow, dimension: Dimension) -> dict[str, Any]:
    """The `copilot_*` columns of one dimension: those of the suggestions that name it and have a category of it."""
    about = [
        each for each in row.suggested if each.dimension in (None, dimension.id) and dimension.category(each.label)
    ]
    first = about[0] if about else Suggested(dimension.id, "", None)
    return {
        "copilot_shown": row.shown,
        "copilot_arm": row.arm,
        "copilot_label": first.label,
        "copilot_label_2": about[1].label if len(about) > 1 else None,
        "copilot_confidence": first.confidence,
        "copilot_accepted": row.accepted if row.shown and about else None,
        "copilot_model": row.model,
        "copilot_prompt_version": row.prompt_version,
    }


def _key(row: Mapping[str, Any]) -> LogKey:
    return LogKey(row["task"], row["rater"], Unit(row["span_id"], row["rev"]))


def _log_row(row: Mapping[str, Any]) -> LogRow:
    suggestions = row["suggestions"] or row["withheld"] or []
    return LogRow(
        arm=row["arm"],
        shown=row["shown"],
        suggested=tuple(
            Suggested(each.get("dimension"), each["label"], each.get("confidence")) for each in suggestions
        ),
        accepted=row["accepted"],
        model=row["model"],
        prompt_version=row["prompt_version"],
        first_ms=row["first_ms"],
        later_ms=row["later_ms"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
