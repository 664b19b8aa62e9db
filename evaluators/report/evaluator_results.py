"""Results of evaluators (CIG, claims, redirection) beside the votes: one row per conversation."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convolabel.errors import InputError
from evaluators.agreement import Agreement
from evaluators.tidy_tables import Tables, records, tidy
from evaluators.times import Times

if TYPE_CHECKING:
    import pandas as pd

FILE_COLUMNS = ("file", "rows", "conversations", "joined", "run")
_KEY = "conversation_id"
_SIDE = "is_mediator"


@dataclass(frozen=True)
class EvaluatorResults(Tables):
    """`conversations`: alpha and median time of each conversation beside the numbers of evaluators. `files`: what was
    found; `joined` tells tables whose numbers are there, `run` what became of the run that wrote them."""

    conversations: "pd.DataFrame"
    files: "pd.DataFrame"

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns of `conversations` that come from evaluators."""
        return tuple(str(name) for name in self.conversations.columns if ": " in str(name))


def join_results(folders: Sequence[Path], agreement: Agreement, times: Times | None) -> EvaluatorResults:
    """Join the tables `*_summary.csv` in `folders` by `conversation_id`; others with that column are only listed.

    Of a conversation with several rows the mean is taken, of mediators and participants apart where the table tells
    them. Raises `InputError` when a folder has no table with a column `conversation_id`, or cannot be read.
    """
    import pandas as pd

    joined = _of_votes(agreement, times)
    files: list[dict[str, Any]] = []
    for folder in folders:
        found = [(path, table) for path, table in _tables(folder) if _KEY in table]
        if not found:
            raise InputError(f"{folder} has no table with a column `{_KEY}`; name the folder that an evaluator wrote.")
        for path, table in found:
            is_summary = path.stem.endswith("_summary")
            if is_summary:
                joined = joined.merge(_per_conversation(path.stem.removesuffix("_summary"), table), "outer", _KEY)
            files.append(
                {
                    "file": f"{folder.name}/{path.name}",
                    "rows": len(table),
                    "conversations": table[_KEY].nunique(),
                    "joined": "yes" if is_summary else "no",
                    "run": _run(path),
                }
            )
    used = {"folders": [folder.name for folder in folders], "joined_by": _KEY}
    named = joined.rename(columns={_KEY: "conversation"})
    return EvaluatorResults(used, named.astype({"conversation": object}), pd.DataFrame(tidy(files, FILE_COLUMNS)))


def _of_votes(agreement: Agreement, times: Times | None) -> "pd.DataFrame":
    import pandas as pd

    rows: dict[str, dict[str, Any]] = {}
    for row in records(agreement.by_conversation):
        dimension = f"_{row['dimension']}" if row["dimension"] else ""
        mine = rows.setdefault(row["conversation"], {_KEY: row["conversation"]})
        mine |= {f"alpha{dimension}": row["alpha"], f"units{dimension}": row["pairable_units"]}
    for row in records(times.by_conversation) if times else ():
        rows.setdefault(row["conversation"], {_KEY: row["conversation"]})["median_ms"] = row["median_ms"]
    return pd.DataFrame(list(rows.values()) or None, columns=None if rows else [_KEY], dtype=object)


def _tables(folder: Path) -> Iterable[tuple[Path, "pd.DataFrame"]]:
    import pandas as pd

    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; name the one that an evaluator wrote its tables into.")
    for path in sorted(folder.glob("*.csv")):
        try:
            yield path, pd.read_csv(path, dtype={_KEY: str}, keep_default_na=False, na_values=[""])
        except (OSError, ValueError) as error:
            kind = error.strerror if isinstance(error, OSError) else "it is not a CSV table in UTF-8"
            raise InputError(f"Cannot read {path}: {kind}; run the evaluator again or move the file away.") from None


def _per_conversation(name: str, table: "pd.DataFrame") -> "pd.DataFrame":
    """Numbers per conversation, in columns `name: number`, or `name: number (mediator)` and `(participants)`."""
    import pandas as pd

    measures = [column for column in table.columns if column != _KEY and table[column].dtype.kind in "if"]
    sides = {"": table}
    if _SIDE in table:
        sides = {" (participants)": table[~table[_SIDE]], " (mediator)": table[table[_SIDE]]}
    means = [
        rows.groupby(_KEY)[measures].mean().add_prefix(f"{name}: ").add_suffix(side) for side, rows in sides.items()
    ]
    return pd.concat(means, axis=1).reset_index()


def _run(path: Path) -> str | None:
    """`7 complete, 1 failed`, from the report of the run beside the table."""
    report = path.with_name(f"{path.stem.split('_')[0]}_report.json")
    if not report.exists():
        return None
    try:
        conversations = json.loads(report.read_text("utf-8"))["conversations"]
        return ", ".join(f"{int(number)} {status}" for status, number in conversations.items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise InputError(f"Cannot read {report}: it is not the report of a run; move it away.") from None
