"""What showing a suggestion changes: shown against control, with intervals and randomisation tests."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evaluators.alpha import AlphaSums, alpha_sums
from evaluators.arms import p_value, upper_p_value
from evaluators.arrays import BoolArray, FloatArray
from evaluators.copilot_redraws import Redraws, redraw
from evaluators.copilot_votes import CopilotVotes
from evaluators.intervals import Bootstrap, Interval
from evaluators.metrics import metric_for

Row = dict[str, Any]
Statistic = Callable[[AlphaSums], FloatArray]

AGREEMENT = "agreement with the suggestion"
EITHER = "agreement with either suggestion"
UNSURE_SHARE = "unsure"
TIME = "time to first decision (ms)"
ALPHA = "alpha between raters"
RAW = "agreement between raters"
DISTRIBUTION = "category distribution"

NO_ARM = "one of the arms has no such vote"


@dataclass(frozen=True)
class Effects:
    """The rows of one dimension. A difference is shown less control, a ratio shown over control."""

    votes: CopilotVotes
    bootstrap: Bootstrap
    redraws: int
    seed: int

    def rows(self) -> Iterator[Row]:
        yield from self._means()
        yield from self._between_raters()
        yield self._distribution()

    @cached_property
    def _outcomes(self) -> dict[str, FloatArray]:
        votes = self.votes
        outcomes = {AGREEMENT: votes.agrees()}
        if "suggestion_2" in votes.frame and votes.frame["suggestion_2"].notna().any():
            outcomes[EITHER] = np.maximum(outcomes[AGREEMENT], np.nan_to_num(votes.agrees("suggestion_2")))
        outcomes[UNSURE_SHARE] = votes.is_unsure()
        log_time = votes.log_time()
        if log_time is not None:
            outcomes[TIME] = log_time
        return outcomes

    @cached_property
    def _redraws(self) -> Redraws | None:
        """Of the outcomes, then of the share of each category."""
        if not self.redraws or not len(self.votes.frame):
            return None
        table = np.column_stack([*self._outcomes.values(), self.votes.values()])
        return redraw(self.votes, table, self.redraws, self.seed)

    def _means(self) -> Iterator[Row]:
        votes, outcomes, redraws = self.votes, self._outcomes, self._redraws
        table = np.stack(list(outcomes.values()), axis=1)
        shown, control = votes.arms.means(table)
        n_shown, n_control = votes.arms.sizes(table)
        conversations = votes.arms.conversations(table)
        sample = np.subtract(*votes.arms.resampled_means(table, self.bootstrap)) if self._resamples else None
        for place, measure in enumerate(outcomes):
            effect = float(shown[0, place] - control[0, place])
            row = {
                "measure": measure,
                "shown": shown[0, place],
                "control": control[0, place],
                "n_shown": int(n_shown[place]),
                "n_control": int(n_control[place]),
                "conversations": int(conversations[place]),
            }
            if np.isnan(effect):
                yield {**self._row(row, np.nan, Interval(None, None, NO_ARM), None), "reason": NO_ARM}
                continue
            interval = self._interval(None if sample is None else sample[:, place], row["conversations"])
            p = None if redraws is None else p_value(effect, redraws.means[:, place])
            yield self._row(row, effect, interval, p)

    def _between_raters(self) -> Iterator[Row]:
        """Agreement of pairs of raters who both had the unit in the shown arm, against both in the control arm."""
        shown, control = (self._sums(arm) for arm in (self.votes.arms.shown, ~self.votes.arms.shown))
        wholes = shown.together(), control.together()
        n_shown, n_control = (int(whole.totals.sum()) for whole in wholes)
        contributing = int(((shown.totals.sum(axis=1) > 0) & (control.totals.sum(axis=1) > 0)).sum())
        redraws = self._redraws
        for measure, statistic in ((ALPHA, AlphaSums.values), (RAW, AlphaSums.agreement)):
            values = [float(statistic(whole)[0]) for whole in wholes]
            effect = values[0] - values[1]
            row: Row = {
                "measure": measure,
                "shown": values[0],
                "control": values[1],
                "n_shown": n_shown,
                "n_control": n_control,
                "conversations": contributing,
            }
            if np.isnan(effect):
                reason = "in one of the arms no two raters gave the same unit values, or they never vary"
                yield {**self._row(row, np.nan, Interval(None, None, reason), None), "reason": reason}
                continue
            sample = self._resampled(statistic, shown, control) if self._resamples else None
            p = None if redraws is None else p_value(effect, statistic(redraws.shown) - statistic(redraws.control))
            yield self._row(row, effect, self._interval(sample, contributing), p)

    def _distribution(self) -> Row:
        """Total variation distance: the share of votes that would have to change category to make the arms equal."""
        votes = self.votes
        values = votes.values()
        shown, control = votes.arms.means(values)
        there = votes.cells.given
        row = {
            "measure": DISTRIBUTION,
            "n_shown": int((there & votes.arms.shown).sum()),
            "n_control": int((there & ~votes.arms.shown).sum()),
            "conversations": len(np.unique(votes.arms.cluster[there])),
            "scale": "total variation distance",
            "null": 0.0,
        }
        distance = float(np.abs(shown - control).sum() / 2)
        if np.isnan(distance):
            return {**row, "reason": NO_ARM, "interval_reason": NO_ARM}
        redraws = self._redraws
        again = None if redraws is None else np.abs(redraws.means[:, len(self._outcomes) :]).sum(axis=1) / 2
        p = None if again is None else upper_p_value(distance, again)
        reason = "a distance is never below zero, so its resamples lie too high; see the p-value"
        return {**row, "effect": distance, "p": p, "interval_reason": reason}

    def _row(self, row: Row, effect: float, interval: Interval, p: float | None) -> Row:
        """Times are compared as the ratio of geometric means."""
        is_time = row["measure"] == TIME
        back = np.exp if is_time else float
        numbers = {"effect": effect, "low": interval.low, "high": interval.high}
        numbers |= {key: row[key] for key in ("shown", "control")}
        return {
            **row,
            **{key: None if value is None else float(back(value)) for key, value in numbers.items()},
            "scale": "ratio" if is_time else "difference",
            "null": 1.0 if is_time else 0.0,
            "p": p,
            "interval_reason": interval.reason,
        }

    @property
    def _resamples(self) -> bool:
        return self.bootstrap.why_not(2) is None

    def _interval(self, sample: FloatArray | None, conversations: int) -> Interval:
        reason = self.bootstrap.why_not(conversations)
        if sample is None or reason:
            return Interval(None, None, reason)
        return self.bootstrap.of_sample(sample)

    def _resampled(self, statistic: Statistic, shown: AlphaSums, control: AlphaSums) -> FloatArray:
        either = (shown.totals.sum(axis=1) > 0) | (control.totals.sum(axis=1) > 0)
        shown, control = shown.where(either), control.where(either)
        return self.bootstrap.sample(
            lambda weights: statistic(shown.weighted(weights)) - statistic(control.weighted(weights)), len(shown)
        )

    def _sums(self, arm: BoolArray) -> AlphaSums:
        cells = self.votes.cells
        metric, _ = metric_for(cells.values, "nominal")
        return alpha_sums(cells.counts(arm), metric, clusters=cells.conversation, size=self.votes.arms.clusters)
