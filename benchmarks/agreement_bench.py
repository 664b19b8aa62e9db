"""How fast agreement is on 100,000 units x 20 raters, beside the krippendorff package.

    python benchmarks/agreement_bench.py

Targets: alpha in 0.5 s, with 1,000 bootstrap draws over conversations in 10 s, ahead of the package. Prints JSON.
"""

import csv
import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import krippendorff
import numpy as np

from evaluators import agreement, load_votes, nominal_alpha
from evaluators.alpha import alpha_sums, value_counts
from evaluators.arrays import IntArray
from evaluators.cells import cells_of, conversation_count
from evaluators.intervals import Bootstrap
from evaluators.metrics import metric_for

CATEGORIES = 8


def coded(units: int, raters: int) -> IntArray:
    """Raters x units. A rater gives a unit its own category three times in four, and leaves one in ten out."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, CATEGORIES, units)
    noise = rng.integers(0, CATEGORIES, (raters, units))
    codes = np.where(rng.random((raters, units)) < 0.75, truth, noise)
    return np.where(rng.random((raters, units)) < 0.1, -1, codes)


def write_table(path: Path, codes: IntArray, per_conversation: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["conversation_id", "span_id", "span_rev", "rater_id", "category"])
        for unit, column in enumerate(codes.T.tolist()):
            conversation, span = f"c{unit // per_conversation}", f"s{unit}"
            rows.writerows(
                [conversation, span, 1, f"r{rater}", f"K{code}"] for rater, code in enumerate(column) if code >= 0
            )


def best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The shortest of some runs in seconds, and what the work gave."""
    seconds, result = [], None
    for _ in range(times):
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return min(seconds), result


@click.command()
@click.option("--units", default=100_000, show_default=True)
@click.option("--raters", default=20, show_default=True)
@click.option("--per-conversation", default=100, show_default=True)
@click.option("--draws", default=1_000, show_default=True)
def main(units: int, raters: int, per_conversation: int, draws: int) -> None:
    """Measure alpha, its interval, reading and the whole analysis."""
    codes = coded(units, raters)
    as_floats = np.where(codes < 0, np.nan, codes)
    alone, ours = best(lambda: nominal_alpha(value_counts(codes, CATEGORIES)))
    package, theirs = best(lambda: krippendorff.alpha(reliability_data=as_floats, level_of_measurement="nominal"))
    counts = value_counts(codes, CATEGORIES)
    alone_counts, _ = best(lambda: nominal_alpha(counts))
    package_counts, _ = best(lambda: krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))
    assert abs(ours.value - theirs) < 1e-9

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_table(path, codes, per_conversation)
        reading, votes = best(lambda: load_votes(path))
        size = path.stat().st_size
    cells = cells_of(votes, None)
    metric, _ = metric_for(cells.values, "nominal")

    seeds = itertools.count()

    def with_interval() -> tuple[float, float | None, float | None]:
        sums = alpha_sums(
            cells.counts(cells.given), metric, clusters=cells.conversation, size=conversation_count(cells)
        )
        # another seed each time, since resamples are kept
        bootstrap = Bootstrap(draws, seed=next(seeds))
        interval = bootstrap.interval(lambda weights: sums.weighted(weights).values(), len(sums))
        return float(sums.together().values()[0]), interval.low, interval.high

    interval, found = best(with_interval)
    assert abs(found[0] - theirs) < 1e-9
    everything, _ = best(lambda: agreement(votes, draws=draws), times=1)
    figures = {
        "units": units,
        "raters": raters,
        "votes": int((codes >= 0).sum()),
        "conversations": conversation_count(cells),
        "alpha": found,
        "alpha_s": alone,
        "krippendorff_s": package,
        "times_faster": package / alone,
        "alpha_from_counts_s": alone_counts,
        "krippendorff_from_counts_s": package_counts,
        "times_faster_from_counts": package_counts / alone_counts,
        f"alpha_with_{draws}_draws_s": interval,
        "read_csv_s": reading,
        "csv_mb": size / 1e6,
        "all_tables_s": everything,
    }
    click.echo(json.dumps({key: _rounded(value) for key, value in figures.items()}, indent=2))


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
