"""Alpha of parts of the votes on one dimension: rows with interval and sizes, and the reason where it is undefined."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evaluators.alpha import NO_PAIR, NO_VARIATION, AlphaSums, alpha_of, alpha_sums, category_sums
from evaluators.arrays import BoolArray, IntArray
from evaluators.blocks import block_starts
from evaluators.cells import Cells, conversation_count
from evaluators.intervals import ONE_CONVERSATION, Bootstrap, Interval
from evaluators.metrics import Metric
from evaluators.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

Who = Literal["humans", "all"]
MEASURES = (
    *("alpha", "low", "high", "observed_agreement", "units", "pairable_units", "conversations", "raters", "values"),
    *("unsure", "reason", "interval_reason"),
)
"""`units` have a value, `pairable_units` two or more; `conversations` are those with a pairable unit; `unsure` counts
the votes left out as unsure; `reason` says why alpha is missing, `interval_reason` why `low` and `high` are."""

Row = dict[str, Any]


@dataclass(frozen=True)
class AlphaRows:
    """The rows of one dimension, by what each table splits the votes into."""

    votes: Votes
    cells: Cells
    metric: Metric
    places: IntArray
    who: Who
    bootstrap: Bootstrap

    @cached_property
    def counted(self) -> BoolArray:
        """The votes that every part but `overall` rests on."""
        human = self.cells.of_human
        return human if self.who == "humans" and human.any() else np.ones_like(human)

    def overall(self) -> Iterator[Row]:
        cells = self.cells
        if not cells.is_human.any():
            yield self._row("who", "all raters", self.counted)
            return
        yield self._row("who", "humans", cells.of_human)
        for rater in np.flatnonzero(~cells.is_human):
            who = f"humans and {cells.raters[rater]}"
            yield self._row("who", who, cells.of_human | (cells.rater == rater))

    def by_role(self) -> Iterator[Row]:
        yield from self._by_column("role", self.votes.units.get("role"))

    def by_arm(self) -> Iterator[Row]:
        frame = self.cells.frame
        if "arm" in frame:
            for arm in frame["arm"].cat.categories:
                yield self._row("arm", str(arm), self.counted & (frame["arm"] == arm).to_numpy())
            without = frame["arm"].isna().to_numpy() & self.counted
            if without.any():
                yield self._row("arm", "not asked", without)

    def _by_column(self, name: str, column: "pd.Series | None") -> Iterator[Row]:
        if column is None:
            return
        for part in column.cat.categories:
            of_unit = (column == part).to_numpy()
            yield self._row(name, str(part), self.counted & of_unit[self.cells.unit])

    def by_category(self) -> Iterator[Row]:
        """One category against the others; the interval of every category comes from the same resamples."""
        cells = self.cells
        counts = cells.counts(self.counted)
        sums = category_sums(counts, clusters=cells.conversation, size=conversation_count(cells)).pairable()
        whole = sums.together()
        alphas = whole.category_values()[0]
        n = float(whole.totals.sum())
        lacking = self.bootstrap.why_not(len(sums))
        draws = None
        if not lacking:
            draws = self.bootstrap.sample(lambda weights: sums.weighted(weights).category_values(), len(sums))
        basic = self._sizes(self.counted, counts)
        for place, category in enumerate(cells.values):
            alpha = None if np.isnan(alphas[place]) else float(alphas[place])
            observed = 1 - float(whole.observed[0, place]) / n if n else None
            reason = None if alpha is not None else self._reason(self.counted, NO_VARIATION if n else NO_PAIR)
            interval = Interval(None, None, lacking or reason)
            if draws is not None and alpha is not None:
                interval = self.bootstrap.of_sample(draws[:, place])
            row = {**basic, "conversations": len(sums) if cells.conversations else None}
            row |= {"units": int((counts[:, place] > 0).sum()), "values": int(counts[:, place].sum())}
            yield self._measured("category", category, alpha, observed, interval, reason, row)

    def by_conversation(self) -> Iterator[Row]:
        cells = self.cells
        codes = cells.placed(self.places)
        conversation = cells.conversation[cells.unit]
        order = np.argsort(conversation, kind="stable")
        bounds = np.searchsorted(conversation[order], np.arange(len(cells.conversations) + 1))
        for place, name in enumerate(cells.conversations):
            rows = order[bounds[place] : bounds[place + 1]]
            mine = rows[self.counted[rows]]
            if not len(mine):
                continue
            unit = np.unique(cells.unit[mine], return_inverse=True)[1]
            given = cells.given[mine]
            joint = unit[given] * self.metric.size + codes[mine][given]
            size = int(unit.max()) + 1
            counts = np.bincount(joint, minlength=size * self.metric.size).reshape(size, -1)
            alpha = alpha_of(alpha_sums(counts, self.metric))
            sizes = self._sizes_of(counts, len(np.unique(cells.rater[mine][given])), int((~given).sum()))
            row = {**sizes, "conversations": int(sizes["pairable_units"] > 0)}
            interval = Interval(None, None, ONE_CONVERSATION)
            yield self._measured(
                "conversation", name, alpha.value, alpha.observed_agreement, interval, alpha.reason, row
            )

    def blocks(self) -> Iterator[Row]:
        """Alpha where every unit counts once, every block, or every character."""
        if not self.votes.has("message", "position"):
            return
        yield self._row("on", "units", self.counted)
        starts = np.zeros(len(self.votes.units), dtype=np.int64)
        starts[block_starts(self.votes, self.cells, self.counted)] = 1
        yield self._row("on", "blocks", self.counted, starts)
        if "length" in self.votes.units:
            lengths = np.nan_to_num(self.votes.units["length"].to_numpy()).astype(np.int64)
            yield self._row("on", "characters", self.counted, lengths)

    def _row(self, name: str, part: str, votes: BoolArray, weights: IntArray | None = None) -> Row:
        cells = self.cells
        counts = cells.counts(votes, cells.placed(self.places), self.metric.size)
        if weights is not None:
            counts = np.where(weights[:, None] > 0, counts, 0)
        size = conversation_count(cells)
        sums = alpha_sums(counts, self.metric, clusters=cells.conversation, size=size, weights=weights).pairable()
        alpha = alpha_of(sums)
        reason = self._reason(votes, alpha.reason)
        row = {**self._sizes(votes, counts), "conversations": len(sums) if cells.conversations else None}
        interval = Interval(None, None, reason) if alpha.value is None else self._interval(sums)
        return self._measured(name, part, alpha.value, alpha.observed_agreement, interval, reason, row)

    def _interval(self, sums: AlphaSums) -> Interval:
        return self.bootstrap.interval(lambda weights: sums.weighted(weights).values(), len(sums))

    def _measured(
        self,
        name: str,
        part: str,
        alpha: float | None,
        observed: float | None,
        interval: Interval,
        reason: str | None,
        sizes: Row,
    ) -> Row:
        return {
            "dimension": self.cells.dimension,
            name: part,
            "alpha": alpha,
            "low": interval.low,
            "high": interval.high,
            "observed_agreement": observed,
            **sizes,
            "reason": reason,
            "interval_reason": interval.reason,
        }

    def _sizes(self, votes: BoolArray, counts: IntArray) -> Row:
        given = votes & self.cells.given
        return self._sizes_of(counts, self._raters(given), int((votes & ~self.cells.given).sum()))

    def _sizes_of(self, counts: IntArray, raters: int, unsure: int) -> Row:
        of_unit = counts.sum(axis=1)
        return {
            "units": int((of_unit > 0).sum()),
            "pairable_units": int((of_unit > 1).sum()),
            "raters": raters,
            "values": int(of_unit.sum()),
            "unsure": unsure,
        }

    def _raters(self, votes: BoolArray) -> int:
        return int((np.bincount(self.cells.rater[votes], minlength=1) > 0).sum())

    def _reason(self, votes: BoolArray, undefined: str | None) -> str | None:
        raters = self._raters(votes & self.cells.given)
        if raters < 2:
            said = "one rater gave values" if raters else "nobody gave a value"
            return f"alpha compares raters, and {said}"
        return undefined
