"""The co-pilot's effect on raters, from the control units whose suggestion was withheld (docs/copilot-effect.md)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluators.arrays import BoolArray, FloatArray
from evaluators.cells import Unsure
from evaluators.copilot_effects import NO_ARM, Effects
from evaluators.copilot_votes import (
    By,
    ControlUnit,
    CopilotVotes,
    check_copilot_columns,
    copilot_votes,
    draws_by_unit,
)
from evaluators.intervals import DEFAULT_DRAWS, DEFAULT_SEED, Bootstrap, Interval, wilson
from evaluators.tidy_tables import Tables, tidy
from evaluators.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_REDRAWS = 1_000
CONFIDENCES = ("high", "medium", "low")

EFFECT_COLUMNS = (
    *("dimension", "measure", "scale", "null", "shown", "control", "effect", "low", "high", "p"),
    *("n_shown", "n_control", "conversations", "reason", "interval_reason"),
)
ARM_COLUMNS = ("dimension", "arm", "votes", "units", "raters", "on_screen", "unsure")
UPTAKE_COLUMNS = (
    *("dimension", "split", "part", "shown", "accepted", "share", "low", "high", "same_label", "interval_reason"),
)
PART_COLUMNS = (
    *("shown", "control", "effect", "low", "high", "n_shown", "n_control", "conversations", "reason"),
    "interval_reason",
)
THUMB_COLUMNS = ("dimension", "split", "part", "helpful", "not_helpful", "share", "low", "high")


@dataclass(frozen=True)
class CopilotEffect(Tables):
    """The co-pilot's effect in tables, per dimension.

    `effects`: what showing the suggestion changes, one row per `measure`, on its `scale` (`null` is no effect).
    `by_rater` and `by_confidence`: agreement with the suggestion, shown against control; the control column of
    `by_confidence` is the calibration, since those raters did not see it. `distribution`: share of each category.
    `uptake`: shown suggestions accepted, and how many votes have the suggested label in the end.
    `thumbs`: raters' marks on suggestions. `arms`: what the comparison rests on.
    """

    effects: "pd.DataFrame"
    by_rater: "pd.DataFrame"
    by_confidence: "pd.DataFrame"
    distribution: "pd.DataFrame"
    uptake: "pd.DataFrame"
    thumbs: "pd.DataFrame"
    arms: "pd.DataFrame"


def copilot_effect(
    votes: Votes,
    *,
    unsure: Unsure = "missing",
    by: By = "arm",
    control_unit: ControlUnit | None = None,
    draws: int = DEFAULT_DRAWS,
    redraws: int = DEFAULT_REDRAWS,
    seed: int = DEFAULT_SEED,
    confidence: float = 0.95,
) -> CopilotEffect:
    """Compare units whose suggestion was shown with those where it was withheld.

    `by="arm"` compares as drawn (intention to treat), `by="shown"` only what was on screen in time. `control_unit` says
    for what the arms were drawn, as in the study file; by default the table tells. `draws` are resamples of
    conversations, `redraws` redrawings of the arms for the p-values. Raises `InputError` when the table does not say
    what the co-pilot did.
    """
    check_copilot_columns(votes)
    unit = control_unit or draws_by_unit(votes)
    parts = []
    for dimension in votes.dimensions:
        compared = copilot_votes(votes, dimension, unsure, by, unit)
        lacking = "" if compared.cells.conversations else "the table has no column for the conversation"
        bootstrap = Bootstrap(draws, seed, confidence, lacking)
        parts.append(_Part(votes, dimension, compared, bootstrap, redraws, seed))
    used = {
        **votes.used,
        "raters": "humans",
        "compared": "arms as drawn" if by == "arm" else "suggestions on screen against control",
        "control_unit": f"{unit} ({'given' if control_unit else 'by the table'})",
        "unsure": unsure,
        "interval": f"{confidence:.0%} percentile, bootstrap over conversations",
        "draws": draws,
        "test": f"randomisation within {'rater and conversation' if unit == 'rater_span' else 'conversation'}",
        "redraws": redraws,
        "seed": seed,
        "not_computed": _not_computed(votes),
    }
    return CopilotEffect(
        used,
        _table(parts, _Part.effects, EFFECT_COLUMNS),
        _table(parts, _Part.by_rater, ("dimension", "rater", *PART_COLUMNS)),
        _table(parts, _Part.by_confidence, ("dimension", "confidence", *PART_COLUMNS)),
        _table(parts, _Part.distribution, ("dimension", "category", *PART_COLUMNS)),
        _table(parts, _Part.uptake, UPTAKE_COLUMNS),
        _table(parts, _Part.thumbs, THUMB_COLUMNS),
        _table(parts, _Part.sizes, ARM_COLUMNS),
    )


def _not_computed(votes: Votes) -> dict[str, str] | None:
    lacking = {
        "by_confidence": ("confidence", "copilot_confidence"),
        "uptake": ("accepted", "copilot_accepted"),
        "thumbs": ("helpful", "copilot_helpful"),
    }
    found = {}
    for table, (key, column) in lacking.items():
        if not votes.has(key):
            found[table] = f"the table has no column `{column}`"
        elif votes.frame[key].isna().all():
            found[table] = f"the column `{column}` is empty"
    return found or None


Row = dict[str, Any]


def _table(parts: "Sequence[_Part]", rows: Any, columns: Sequence[str]) -> "pd.DataFrame":
    return tidy(({"dimension": part.dimension, **row} for part in parts for row in rows(part)), columns)


@dataclass(frozen=True)
class _Part:
    """The rows of one dimension."""

    votes: Votes
    dimension: str | None
    compared: CopilotVotes
    bootstrap: Bootstrap
    redraws: int
    seed: int

    def effects(self) -> Iterator[Row]:
        yield from Effects(self.compared, self.bootstrap, self.redraws, self.seed).rows()

    def by_rater(self) -> Iterator[Row]:
        cells = self.compared.cells
        masks = {rater: cells.rater == place for place, rater in enumerate(cells.raters)}
        yield from self._agreement_by("rater", masks)

    def by_confidence(self) -> Iterator[Row]:
        frame = self.compared.frame
        if "confidence" in frame:
            parts = _in_order(frame["confidence"].dropna().unique())
            masks = {part: (frame["confidence"] == part).to_numpy() for part in parts}
            yield from self._agreement_by("confidence", masks)

    def distribution(self) -> Iterator[Row]:
        yield from self._compared("category", list(self.compared.cells.values), self.compared.values())

    def _agreement_by(self, name: str, masks: Mapping[str, BoolArray]) -> Iterator[Row]:
        agrees = self.compared.agrees()
        columns = [np.where(mask, agrees, np.nan) for mask in masks.values()]
        if columns:
            yield from self._compared(name, list(masks), np.stack(columns, axis=1))

    def _compared(self, name: str, parts: list[str], outcomes: FloatArray) -> Iterator[Row]:
        """One row per column of `outcomes`: means in both arms, and their difference with its interval."""
        arms = self.compared.arms
        shown, control = (means[0] for means in arms.means(outcomes))
        n_shown, n_control = arms.sizes(outcomes)
        conversations = arms.conversations(outcomes)
        sample = None
        if self.bootstrap.why_not(2) is None:
            sample = np.subtract(*arms.resampled_means(outcomes, self.bootstrap))
        for place, part in enumerate(parts):
            effect = shown[place] - control[place]
            reason = self.bootstrap.why_not(int(conversations[place]))
            interval = Interval(None, None, NO_ARM if np.isnan(effect) else reason)
            if sample is not None and not interval.reason:
                interval = self.bootstrap.of_sample(sample[:, place])
            yield {
                name: part,
                "shown": shown[place],
                "control": control[place],
                "effect": effect,
                "low": interval.low,
                "high": interval.high,
                "n_shown": int(n_shown[place]),
                "n_control": int(n_control[place]),
                "conversations": int(conversations[place]),
                "reason": NO_ARM if np.isnan(effect) else None,
                "interval_reason": interval.reason,
            }

    def uptake(self) -> Iterator[Row]:
        """Of the suggestions on screen, by the category suggested, by confidence, by rater."""
        frame = self._of_humans()
        if "accepted" not in frame or "shown" not in frame:
            return
        shown = frame[(frame["shown"] == 1) & frame["suggestion"].notna()]
        conversation = self.compared.cells.conversation[shown["unit"].to_numpy()]
        same = (shown["suggestion"].astype(object) == shown["value"].astype(object)).to_numpy()
        accepted = (shown["accepted"] == 1).to_numpy()
        for split, part, mask in _splits(shown):
            size = self.compared.arms.clusters
            n = np.bincount(conversation[mask], minlength=size).astype(np.float64)
            taken = np.bincount(conversation[mask & accepted], minlength=size).astype(np.float64)
            interval = self._share_interval(np.stack([taken, n], axis=1))
            yield {
                "split": split,
                "part": part,
                "shown": int(n.sum()),
                "accepted": int(taken.sum()),
                "share": taken.sum() / n.sum() if n.any() else None,
                "low": interval.low,
                "high": interval.high,
                "same_label": int((mask & same).sum()),
                "interval_reason": interval.reason,
            }

    def _share_interval(self, sums: FloatArray) -> Interval:
        """Of the share of the first in the second of two sums per conversation."""
        contributing = sums[sums[:, 1] > 0]
        return self.bootstrap.interval(lambda weights: _share(weights @ contributing), len(contributing))

    def thumbs(self) -> Iterator[Row]:
        frame = self._of_humans()
        if "helpful" not in frame:
            return
        marked = frame[frame["helpful"].notna() & frame["suggestion"].notna()]
        for split, part, mask in _splits(marked):
            helpful, n = int((marked["helpful"].to_numpy()[mask] == 1).sum()), int(mask.sum())
            low, high = wilson(helpful, n, self.bootstrap.level)
            share = helpful / n if n else None
            yield {"split": split, "part": part, "helpful": helpful, "not_helpful": n - helpful} | {
                "share": share,
                "low": low,
                "high": high,
            }

    def sizes(self) -> Iterator[Row]:
        """All arms of the human raters, those outside the comparison too."""
        frame = self._of_humans()
        for arm, group in frame.groupby(frame["arm"].astype(object).fillna("not asked"), sort=True):
            yield {
                "arm": str(arm),
                "votes": len(group),
                "units": int(group["unit"].nunique()),
                "raters": int(group["rater"].nunique()),
                "on_screen": int((group["shown"] == 1).sum()) if "shown" in group else None,
                "unsure": int((group["value"] == "unsure").sum()),
            }

    def _of_humans(self) -> "pd.DataFrame":
        frame = self.votes.of(self.dimension)
        return frame[frame["rater_kind"] != "llm"]


def _splits(frame: "pd.DataFrame") -> Iterator[tuple[str, str, BoolArray]]:
    yield "overall", "all", np.ones(len(frame), dtype=np.bool_)
    for split, column in (("category", "suggestion"), ("confidence", "confidence"), ("rater", "rater")):
        if column in frame:
            for part in _in_order(frame[column].dropna().unique()):
                yield split, part, (frame[column] == part).to_numpy()


def _in_order(parts: Iterable[object]) -> list[str]:
    """Alphabetical, but `high`, `medium`, `low`."""
    return sorted(map(str, parts), key=lambda part: (CONFIDENCES.index(part) if part in CONFIDENCES else -1, part))


def _share(sums: FloatArray) -> FloatArray:
    share: FloatArray = np.divide(sums[:, 0], sums[:, 1], out=np.full(len(sums), np.nan), where=sums[:, 1] > 0)
    return share
