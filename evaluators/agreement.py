"""Agreement between raters over the units of a votes table (docs/agreement.md)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from evaluators.alpha_rows import MEASURES, AlphaRows, Row, Who
from evaluators.cells import Cells, Unsure, cells_of
from evaluators.intervals import DEFAULT_DRAWS, DEFAULT_SEED, Bootstrap
from evaluators.metrics import Distances, Level, metric_for
from evaluators.pairs import CONFUSION_COLUMNS, PAIR_COLUMNS, RATER_COLUMNS, pair_rows, rater_rows
from evaluators.tidy_tables import Tables, tidy
from evaluators.votes import Votes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Agreement(Tables):
    """Agreement in tables: `dimension`, a column that names the part, and `MEASURES`.

    `overall` by `who` (humans; humans and each assessor); `by_category` (one against the others), `by_role`,
    `by_conversation`, `by_arm`; `blocks` by `on` (units, blocks, characters). `pairs` and `confusion` hold every pair
    of raters, `by_rater` each rater against the rest; their columns are in `evaluators.pairs`.
    """

    overall: "pd.DataFrame"
    by_category: "pd.DataFrame"
    by_role: "pd.DataFrame"
    by_arm: "pd.DataFrame"
    by_rater: "pd.DataFrame"
    pairs: "pd.DataFrame"
    blocks: "pd.DataFrame"
    by_conversation: "pd.DataFrame"
    confusion: "pd.DataFrame"


def agreement(
    votes: Votes,
    *,
    level: Level = "nominal",
    order: Sequence[str] = (),
    distances: Distances | None = None,
    unsure: Unsure = "missing",
    who: Who = "humans",
    draws: int = DEFAULT_DRAWS,
    seed: int = DEFAULT_SEED,
    confidence: float = 0.95,
) -> Agreement:
    """Krippendorff's alpha with percentile intervals from a bootstrap over conversations, and all that goes with it.

    `level` is the level of measurement, `order` the values of an ordinal scale that are no numbers, from lowest to
    highest; `distances` a matrix instead of a level. `who` says whose votes the parts below `overall` rest on.
    Raises `InputError` for values that the level, the order or the matrix does not know.
    """
    parts = []
    for dimension in votes.dimensions:
        cells = cells_of(votes, dimension, unsure)
        metric, places = metric_for(cells.values, level, order=order, distances=distances)
        parts.append(AlphaRows(votes, cells, metric, places, who, _bootstrap(cells, draws, seed, confidence)))
    used = {
        **votes.used,
        "coefficient": "Krippendorff's alpha",
        "level": "distance" if distances else level,
        "distances": distances.name if distances else None,
        "order": list(order) or None,
        "unsure": unsure,
        "parts_rest_on": who if any(part.cells.is_human.any() for part in parts) else "all (no rater is human)",
        "interval": f"{confidence:.0%} percentile, bootstrap over conversations",
        "draws": draws,
        "seed": seed,
        "not_computed": _not_computed(votes),
    }

    def table(rows: Callable[[AlphaRows], Iterable[Row]], part: str) -> "pd.DataFrame":
        return tidy((row for each in parts for row in rows(each)), ("dimension", part, *MEASURES))

    pairs = [pair_rows(part.cells, part.metric, part.places) for part in parts]
    raters = [rater_rows(part.cells, part.metric, part.places) for part in parts]
    return Agreement(
        used,
        table(AlphaRows.overall, "who"),
        table(AlphaRows.by_category, "category"),
        table(AlphaRows.by_role, "role"),
        table(AlphaRows.by_arm, "arm"),
        tidy(chain.from_iterable(raters), RATER_COLUMNS),
        tidy(chain.from_iterable(coefficients for coefficients, _ in pairs), PAIR_COLUMNS),
        table(AlphaRows.blocks, "on"),
        table(AlphaRows.by_conversation, "conversation"),
        tidy(chain.from_iterable(confusions for _, confusions in pairs), CONFUSION_COLUMNS),
    )


def _bootstrap(cells: Cells, draws: int, seed: int, confidence: float) -> Bootstrap:
    lacking = "" if cells.conversations else "the table has no column for the conversation"
    return Bootstrap(draws, seed, confidence, lacking)


def _not_computed(votes: Votes) -> dict[str, str] | None:
    lacking = {
        "by_role": ("role", "the speaker's role"),
        "by_arm": ("arm", "the co-pilot's arm"),
        "by_conversation": ("conversation", "the conversation"),
        "blocks": ("message", "the message"),
    }
    found = {
        table: f"the table has no column for {what}" for table, (key, what) in lacking.items() if not votes.has(key)
    }
    return found or None
