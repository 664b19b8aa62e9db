"""Everything that can be said about a table of votes, as one page and as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from convolabel.errors import InputError
from evaluators.agreement import Agreement, agreement
from evaluators.alpha_rows import Who
from evaluators.cells import Unsure
from evaluators.copilot import DEFAULT_REDRAWS, CopilotEffect, copilot_effect
from evaluators.copilot_votes import By, ControlUnit
from evaluators.descriptives import Descriptives, descriptives
from evaluators.intervals import DEFAULT_DRAWS, DEFAULT_SEED
from evaluators.metrics import Distances, Level
from evaluators.report.agreement_section import agreement_section
from evaluators.report.categories_section import categories_section
from evaluators.report.copilot_section import copilot_section
from evaluators.report.elements import Section, rows_of
from evaluators.report.evaluator_results import EvaluatorResults, join_results
from evaluators.report.method_section import REFERENCES, method_section, not_computed_of
from evaluators.report.overview import Overview, overview
from evaluators.report.page import page
from evaluators.report.results_section import notes_section, results_section
from evaluators.report.summary_section import data_section, summary_section
from evaluators.report.times_section import times_section
from evaluators.tidy_tables import Tables
from evaluators.times import FAST_MS, Times, times
from evaluators.votes import Votes

NO_COPILOT = "the table has no votes whose suggestion was shown or withheld"
_MOST_POINTS = 50
NO_TIMES = "the table has no times of first decisions"


@dataclass(frozen=True)
class Report:
    """The analyses of one table; `times`, `copilot` and `results` are `None` where there is nothing to analyse."""

    title: str
    dimensions: tuple[str | None, ...]
    overview: Overview
    agreement: Agreement
    descriptives: Descriptives
    times: Times | None
    copilot: CopilotEffect | None
    results: EvaluatorResults | None

    def parts(self) -> dict[str, Tables]:
        """The analyses there are, by name, in the order of the page."""
        named = {
            "overview": self.overview,
            "agreement": self.agreement,
            "descriptives": self.descriptives,
            "times": self.times,
            "copilot": self.copilot,
            "results": self.results,
        }
        return {name: part for name, part in named.items() if part is not None}

    def not_computed(self) -> dict[str, str]:
        """What the page lacks -> why."""
        lacking = {"time on task": NO_TIMES} if self.times is None else {}
        lacking |= {"effect of the co-pilot": NO_COPILOT} if self.copilot is None else {}
        for name, part in self.parts().items():
            lacking |= not_computed_of(name, part)
        return lacking

    def sections(self) -> tuple[Section, ...]:
        """The page as data."""
        return (
            summary_section(self.dimensions, self.overview, self.agreement, self.times, self.copilot),
            data_section(self.overview),
            agreement_section(self.agreement, self.overview.confusion, self.dimensions),
            categories_section(self.descriptives, self.dimensions),
            times_section(self.times, rows_of(self.overview.time_spread))
            if self.times
            else Section("Time on task", (f"Nothing can be said about time: {NO_TIMES}.",), name="times"),
            copilot_section(self.copilot, self.dimensions)
            if self.copilot
            else Section("Effect of the co-pilot", (f"Nothing can be said of it: {NO_COPILOT}.",), name="copilot"),
            *((results_section(self.results),) if self.results else ()),
            notes_section(self.descriptives),
            method_section(self.parts(), self.not_computed()),
        )

    def html(self) -> str:
        """One page that needs nothing else: no network, no script; the same table gives the same bytes."""
        return page(self.title, self.sections(), REFERENCES)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: each analysis as `Tables.as_dict` gives it, and what was not computed."""
        parts = {name: part.as_dict() for name, part in self.parts().items()}
        return {"title": self.title, **parts, "not_computed": self.not_computed()}

    def write(self, path: Path) -> None:
        """Write the page. Raises `InputError` when that cannot be done."""
        try:
            path.write_text(self.html(), encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"Cannot write {path}: {error.strerror}; choose another place.") from None

    def write_tables(self, folder: Path) -> list[Path]:
        """Write every table of every analysis as CSV, in a folder of its own below `folder`."""
        return [path for name, part in self.parts().items() for path in part.write(folder / name)]


def report(
    votes: Votes,
    *,
    title: str | None = None,
    names: bool = False,
    results: Sequence[Path] = (),
    level: Level = "nominal",
    order: Sequence[str] = (),
    distances: Distances | None = None,
    unsure: Unsure = "missing",
    who: Who = "humans",
    by: By = "arm",
    control_unit: ControlUnit | None = None,
    fast_ms: int = FAST_MS,
    step: int | None = None,
    draws: int = DEFAULT_DRAWS,
    redraws: int = DEFAULT_REDRAWS,
    seed: int = DEFAULT_SEED,
) -> Report:
    """All analyses with the options of `agreement`, `times` and `copilot_effect`.

    `names` shows raters by name where the table has one, instead of by the ids that keep them apart. `results` are
    folders that evaluators wrote. `step` is 20, or as many more decisions as a curve of 50 points needs.
    Raises `InputError` as the analyses do.
    """
    votes = named(votes) if names else votes
    agreed = agreement(
        votes, level=level, order=order, distances=distances, unsure=unsure, who=who, draws=draws, seed=seed
    )
    has_times = "time_ms" in votes.frame and bool(votes.frame["time_ms"].notna().any())
    spent = times(votes, fast_ms=fast_ms, step=step or _step(votes)) if has_times else None
    effect = None
    if _has_arms(votes):
        effect = copilot_effect(
            votes, unsure=unsure, by=by, control_unit=control_unit, draws=draws, redraws=redraws, seed=seed
        )
    return Report(
        title or f"Coding of {votes.used['table'] or 'the table'}",
        votes.dimensions,
        overview(votes, agreed),
        agreed,
        descriptives(votes),
        spent,
        effect,
        join_results(results, agreed, spent) if results else None,
    )


def _step(votes: Votes) -> int:
    most = int(votes.frame.drop_duplicates(["unit", "rater"])["rater"].value_counts().max())
    return max(20, -(-most // _MOST_POINTS))


def named(votes: Votes) -> Votes:
    """The same votes with raters called by their names; a name that two raters share is followed by the id."""
    names: Mapping[str, str] = votes.rater_names
    shared = {name for name in names.values() if list(names.values()).count(name) > 1}
    shown = {rater: f"{name} ({rater})" if name in shared else name for rater, name in names.items()}
    raters = votes.frame["rater"].cat.rename_categories(lambda rater: shown.get(rater, rater))
    return replace(votes, frame=votes.frame.assign(rater=raters))


def _has_arms(votes: Votes) -> bool:
    frame = votes.frame
    return votes.has("arm", "suggestion") and bool(
        (frame["arm"].isin(["shown", "control"]) & frame["suggestion"].notna()).any()
    )
