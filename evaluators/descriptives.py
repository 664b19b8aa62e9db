"""What was coded: categories with intervals, what follows what, role scores, notes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convolabel.units import UNSURE
from evaluators.intervals import wilson
from evaluators.tidy_tables import Tables, tidy
from evaluators.votes import Votes
from evaluators.vrm import DIMENSIONS, MODES, UNCODABLE, are_modes, role_scores

if TYPE_CHECKING:
    import pandas as pd

FREQUENCY_COLUMNS = ("dimension", "split", "part", "category", "n", "total", "share", "low", "high")
TRANSITION_COLUMNS = ("dimension", "between", "from_part", "to_part", "from_category", "to_category", "n", "share")
ROLE_SCORE_COLUMNS = ("dimension", "split", "part", "n", "uncodable", "attentive", "acquiescent", "presumptuous")
NOTE_COLUMNS = ("conversation", "unit", "rater", "said", "note", "text")

Row = dict[str, Any]


@dataclass(frozen=True)
class Descriptives(Tables):
    """What was coded, in tables.

    `frequencies`: votes per category, overall, by rater and by role; `unsure` is listed like a category; Wilson
    intervals, which take votes as independent. `transitions`: how often a rater gave one category to a unit and another
    to the next one of the conversation, `between` neighbouring `units`, and `speakers` where the speaker changes (then
    `from_part` and `to_part` are their roles, or names); `share` is of all transitions from that part and category to
    that part. `role_scores`: see `evaluators.vrm`, only for dimensions `intent` and `form` with the categories of VRM.
    `notes`: the raters' notes with what they said of the unit.
    """

    frequencies: "pd.DataFrame"
    transitions: "pd.DataFrame"
    role_scores: "pd.DataFrame"
    notes: "pd.DataFrame"


def descriptives(votes: Votes, *, confidence: float = 0.95) -> Descriptives:
    """Descriptive tables of the votes, all raters together unless a column says otherwise."""
    frames = {dimension: _with_role(votes, dimension) for dimension in votes.dimensions}
    lacking = {} if votes.has("position") else {"transitions": "the table has no column for the conversation"}
    used = {
        **votes.used,
        "unsure": "listed among the frequencies, left out of transitions and scores",
        "interval": f"{confidence:.0%} Wilson",
        "not_computed": lacking or None,
    }
    return Descriptives(
        used,
        _table(frames, lambda frame: _frequencies(frame, confidence), FREQUENCY_COLUMNS),
        _table(frames, lambda frame: _transitions(votes, frame), TRANSITION_COLUMNS),
        _table(
            {dimension: frame for dimension, frame in frames.items() if dimension in DIMENSIONS},
            _role_scores,
            ROLE_SCORE_COLUMNS,
        ),
        tidy(_notes(votes), NOTE_COLUMNS),
    )


def _table(frames: dict[str | None, "pd.DataFrame"], rows: Any, columns: tuple[str, ...]) -> "pd.DataFrame":
    by_dimension = ((dimension, row) for dimension, frame in frames.items() for row in rows(frame))
    return tidy(({"dimension": dimension, **row} for dimension, row in by_dimension), columns)


def _with_role(votes: Votes, dimension: str | None) -> "pd.DataFrame":
    frame = votes.of(dimension).copy()
    for column in ("role", "speaker"):
        if column in votes.units:
            frame[column] = votes.units[column].astype(object).to_numpy()[frame["unit"].to_numpy()]
    return frame


def _splits(frame: "pd.DataFrame") -> Iterator[tuple[str, str, "pd.DataFrame"]]:
    yield "overall", "all", frame
    for split in ("rater", "role"):
        if split in frame:
            for part, group in frame.groupby(split, observed=True, sort=True):
                yield split, str(part), group


def _frequencies(frame: "pd.DataFrame", confidence: float) -> Iterator[Row]:
    for split, part, group in _splits(frame):
        counts = group["value"].astype(object).value_counts()
        total = int(counts.sum())
        for category in sorted(counts.index, key=lambda value: (value == UNSURE, value)):
            n = int(counts[category])
            low, high = wilson(n, total, confidence)
            yield {"split": split, "part": part, "category": category, "n": n, "total": total} | {
                "share": n / total,
                "low": low,
                "high": high,
            }


def _transitions(votes: Votes, frame: "pd.DataFrame") -> Iterator[Row]:
    """Only neighbours that the same rater gave a category both; a unit between them that has none breaks the chain."""
    if not votes.has("position"):
        return
    unit = frame["unit"].to_numpy()
    placed = frame.assign(
        conversation=votes.units["conversation"].cat.codes.to_numpy()[unit],
        position=votes.units["position"].to_numpy()[unit],
        rater=frame["rater"].cat.codes,
        value=frame["value"].astype(object),
    )
    placed = placed[placed["value"] != UNSURE].sort_values(["rater", "conversation", "position"])
    after = placed.shift(-1)
    neighbours = (placed["rater"] == after["rater"]) & (placed["conversation"] == after["conversation"])
    neighbours &= placed["position"] + 1 == after["position"]
    first, second = placed[neighbours], after[neighbours]
    yield from _counted("units", first.assign(part="all"), second.assign(part="all"))
    speaker = next((column for column in ("speaker", "role") if column in placed), None)
    if speaker:
        part = "role" if "role" in placed and placed["role"].notna().any() else speaker
        changes = (first[speaker] != second[speaker]) & first[part].notna() & second[part].notna()
        yield from _counted(
            "speakers",
            first[changes].assign(part=first[part][changes]),
            second[changes].assign(part=second[part][changes]),
        )


def _counted(between: str, first: "pd.DataFrame", second: "pd.DataFrame") -> Iterator[Row]:
    import pandas as pd

    pairs = pd.DataFrame(
        {
            "from_part": first["part"].to_numpy(),
            "to_part": second["part"].to_numpy(),
            "from_category": first["value"].to_numpy(),
            "to_category": second["value"].to_numpy(),
        },
        dtype=object,
    )
    counts = pairs.groupby(list(pairs.columns), sort=True).size()
    totals = pairs.groupby(["from_part", "to_part", "from_category"], sort=True).size()
    for *key, n in counts.reset_index(name="n").itertuples(index=False, name=None):
        names = dict(zip(pairs.columns, key, strict=True))
        yield {"between": between, **names, "n": int(n), "share": float(n / totals[tuple(key[:3])])}


def _role_scores(frame: "pd.DataFrame") -> Iterator[Row]:
    if not are_modes(frozenset(map(str, frame["value"].unique())) - {UNSURE}):
        return
    for split, part, group in _splits(frame):
        counts = {str(mode): int(n) for mode, n in group["value"].astype(object).value_counts().items()}
        n = sum(count for mode, count in counts.items() if mode in MODES)
        yield {"split": split, "part": part, "n": n, "uncodable": counts.get(UNCODABLE, 0), **role_scores(counts)}


def _notes(votes: Votes) -> Iterator[Row]:
    if "note" not in votes.frame:
        return
    noted = votes.frame[votes.frame["note"].notna()]
    for _, group in noted.groupby(["unit", "rater"], observed=True, sort=False):
        first = group.iloc[0]
        about = votes.units.iloc[int(first["unit"])]
        dimensions = group["dimension"] if "dimension" in group else [None] * len(group)
        answers = zip(dimensions, group["value"], strict=True)
        said = [f"{dimension}: {value}" if dimension else str(value) for dimension, value in answers]
        yield {
            "conversation": about.get("conversation"),
            "unit": about["name"],
            "rater": first["rater"],
            "said": "; ".join(said),
            "note": first["note"],
            "text": about.get("text"),
        }
