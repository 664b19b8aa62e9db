"""Raters two by two, and each rater against the rest.

J. Cohen (1960), "A coefficient of agreement for nominal scales"; the same (1968) for weighted kappa; W. A. Scott (1955)
for pi. A rater against the rest follows S. Vanbelle and A. Albert (2009): the rest's answer to a unit is the mixture of
its raters' answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.alpha import alpha_of, alpha_sums
from evaluators.arrays import BoolArray, FloatArray, IntArray
from evaluators.cells import Cells
from evaluators.metrics import Metric

Row = dict[str, Any]

PAIR_COLUMNS = (
    *("dimension", "rater_a", "rater_b", "kind_a", "kind_b", "units"),
    *("agreement", "kappa", "weighted_kappa", "pi", "reason"),
)
CONFUSION_COLUMNS = ("dimension", "rater_a", "rater_b", "value_a", "value_b", "n")
RATER_COLUMNS = (
    *("dimension", "rater", "rater_kind", "units", "agreement_with_rest", "kappa_with_rest", "alpha_without", "reason"),
)
ONE_VALUE = "both gave one and the same value throughout, so chance cannot be told from agreement"


@dataclass(frozen=True)
class Pair:
    """`table[a, b]` counts the units that both raters gave a value: value `a` by the first, `b` by the second."""

    first: int
    second: int
    table: IntArray


def pairs(cells: Cells) -> Iterator[Pair]:
    """All pairs of raters with a unit in common."""
    size = len(cells.values)
    answers = np.full((len(cells.raters), len(cells.conversation)), -1, dtype=np.int32)
    answers[cells.rater[cells.given], cells.unit[cells.given]] = cells.value[cells.given]
    answered = (answers >= 0).astype(np.float32)
    common = np.triu(answered @ answered.T, k=1)
    for first, second in np.argwhere(common > 0):
        both = (answers[first] >= 0) & (answers[second] >= 0)
        joint = answers[first][both].astype(np.int64) * size + answers[second][both]
        yield Pair(int(first), int(second), np.bincount(joint, minlength=size * size).reshape(size, size))


def pair_rows(cells: Cells, metric: Metric, places: IntArray) -> tuple[list[Row], list[Row]]:
    """The coefficients of every pair, and their confusion matrices in long form (cells that occur)."""
    coefficients: list[Row] = []
    confusions: list[Row] = []
    for pair in pairs(cells):
        who = {
            "dimension": cells.dimension,
            "rater_a": cells.raters[pair.first],
            "rater_b": cells.raters[pair.second],
        }
        kinds = {"kind_a": _kind(cells, pair.first), "kind_b": _kind(cells, pair.second)}
        coefficients.append({**who, **kinds, **_coefficients(pair.table, metric, places)})
        for a, b in np.argwhere(pair.table > 0):
            values = {"value_a": cells.values[a], "value_b": cells.values[b]}
            confusions.append({**who, **values, "n": int(pair.table[a, b])})
    return coefficients, confusions


def _coefficients(table: IntArray, metric: Metric, places: IntArray) -> Row:
    n = int(table.sum())
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    differs = 1.0 - np.eye(len(shares))
    at = np.zeros((len(places), metric.size))
    at[np.arange(len(places)), places] = 1.0
    placed = at.T @ shares @ at
    distances = metric.differences((placed.sum(axis=0) + placed.sum(axis=1)) * n)
    kappa = _corrected(shares, rows, columns, differs)
    return {
        "units": n,
        "agreement": float(np.trace(shares)),
        "kappa": kappa,
        "weighted_kappa": _corrected(placed, placed.sum(axis=1), placed.sum(axis=0), distances),
        "pi": _corrected(shares, (rows + columns) / 2, (rows + columns) / 2, differs),
        "reason": ONE_VALUE if kappa is None else None,
    }


def _corrected(shares: FloatArray, rows: FloatArray, columns: FloatArray, differences: FloatArray) -> float | None:
    """One less the observed over the expected disagreement; `None` when none is expected."""
    expected = float(rows @ differences @ columns)
    return 1 - float((shares * differences).sum()) / expected if expected > 0 else None


def rater_rows(cells: Cells, metric: Metric, places: IntArray) -> list[Row]:
    """Each rater against the rest: a human against the other humans, an assessor against all humans."""
    codes = cells.placed(places)
    by_humans = cells.counts(cells.of_human, codes, metric.size)
    return [_against_rest(cells, rater, by_humans, codes, metric) for rater in range(len(cells.raters))]


def _against_rest(cells: Cells, rater: int, by_humans: IntArray, codes: IntArray, metric: Metric) -> Row:
    own: BoolArray = (cells.rater == rater) & cells.given
    unit, said = cells.unit[own], codes[own]
    rest = by_humans
    if cells.is_human[rater]:
        rest = by_humans.copy()
        np.subtract.at(rest, (unit, said), 1)
    without = alpha_of(alpha_sums(rest, metric))
    shared = rest[unit].sum(axis=1) > 0
    row = {
        "dimension": cells.dimension,
        "rater": cells.raters[rater],
        "rater_kind": _kind(cells, rater),
        "units": int(shared.sum()),
        "alpha_without": without.value,
    }
    if not shared.any():
        return {**row, "reason": "nobody else gave these units a value"}
    mixture = rest[unit[shared]] / rest[unit[shared]].sum(axis=1, keepdims=True)
    answers = np.eye(metric.size)[said[shared]]
    differences = metric.differences(answers.sum(axis=0) + mixture.sum(axis=0))
    joint = answers.T @ mixture / len(mixture)
    kappa = _corrected(joint, joint.sum(axis=1), joint.sum(axis=0), differences)
    reason = ONE_VALUE if kappa is None else without.reason and f"alpha without this rater: {without.reason}"
    return {**row, "agreement_with_rest": float(np.trace(joint)), "kappa_with_rest": kappa, "reason": reason}


def _kind(cells: Cells, rater: int) -> str:
    return "human" if cells.is_human[rater] else "llm"
