"""How much two values differ: Krippendorff's metrics for levels of measurement, or a given distance matrix."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from convolabel.errors import InputError
from evaluators.arrays import FloatArray, IntArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Distances:
    """A symmetric matrix `matrix[i, j]` of disagreements between `labels[i]` and `labels[j]`, zero on the diagonal.

    They count as they stand: whoever wants squared distances gives squares. `name` says where they are from.
    """

    labels: tuple[str, ...]
    matrix: FloatArray
    name: str = "given"


@dataclass(frozen=True)
class Metric:
    """The disagreement of categories `0 .. size - 1`; `numbers` are their values above the nominal level."""

    level: Level | Literal["distance"]
    fixed: FloatArray | None
    size: int

    def differences(self, totals: FloatArray) -> FloatArray:
        """`[..., c, k]`: how much `c` and `k` differ, where `totals[..., c]` counts the pairable values.

        Ordinal differences depend on the totals: `(sum of n_g for g from c to k, less (n_c + n_k) / 2) ** 2`,
        the categories being in their order (Krippendorff 2019, ch. 12).
        """
        if self.fixed is not None:
            return self.fixed
        middle = np.cumsum(totals, axis=-1) - totals / 2
        squares: FloatArray = (middle[..., :, None] - middle[..., None, :]) ** 2
        return squares


def metric_for(
    values: Sequence[str], level: Level, *, order: Sequence[str] = (), distances: Distances | None = None
) -> tuple[Metric, IntArray]:
    """The metric for the categories `values`, and for each of them its place in the metric.

    Above the nominal level, values that are the same number (`1`, `1.0`) have one place. `order` lists the values
    of an ordinal scale from lowest to highest; without it they must be numbers. Raises `InputError` for a value that
    is no number, or is missing from `order` or from `distances`, and for choices that exclude each other.
    """
    if order and level != "ordinal":
        raise InputError(f"An order of values is for the ordinal level, not the {level} one; leave one of the two out.")
    if distances is not None:
        if level != "nominal":
            raise InputError(f"A distance matrix takes the place of the {level} level; leave one of the two out.")
        places = _places(values, distances.labels, "the distance matrix", "add a row and a column for it")
        return Metric("distance", distances.matrix, len(distances.labels)), places
    if level == "nominal":
        return Metric(level, 1.0 - np.eye(len(values)), len(values)), np.arange(len(values))
    if order:
        return Metric(level, None, len(order)), _places(values, order, "the order", "name every value in it")
    numbers = np.array([_number(value, level) for value in values], dtype=np.float64)
    scale, positions = np.unique(numbers, return_inverse=True)
    places = positions.astype(np.int64)
    if level == "ordinal":
        return Metric(level, None, len(scale)), places
    differences = scale[:, None] - scale[None, :]
    if level == "ratio":
        if (scale < 0).any():
            raise InputError("The ratio level needs values from zero upwards; use the interval level.")
        sums = scale[:, None] + scale[None, :]
        differences = np.divide(differences, sums, out=np.zeros_like(sums), where=sums > 0)
    return Metric(level, differences**2, len(scale)), places


def read_distances(path: Path) -> Distances:
    """Read a distance matrix: CSV whose first row and first column hold the labels in the same order.

    Raises `InputError` for a file that is no square matrix of numbers from zero upwards with a zero diagonal.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"Cannot read the distance matrix {path} ({type(error).__name__}); check the file.") from None
    labels = tuple(rows[0][1:]) if rows else ()
    if not labels or [row[0] for row in rows[1:]] != list(labels) or len(set(labels)) < len(labels):
        raise InputError(f"{path}: the first row and the first column must name the same labels in the same order.")
    try:
        matrix = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]], dtype=np.float64)
    except ValueError:
        raise InputError(f"{path}: every row must have one number for each of the {len(labels)} labels.") from None
    return distances(labels, matrix, name=path.name)


def distances(labels: Sequence[str], matrix: FloatArray, *, name: str = "given") -> Distances:
    """A distance matrix, checked. A pair of values has no order, so two distances of one pair count as their mean.

    Raises `InputError` as `read_distances` does.
    """
    if matrix.shape != (len(labels), len(labels)) or not np.isfinite(matrix).all():
        raise InputError(f"The distance matrix {name} must have one number for every pair of its labels.")
    if (matrix < 0).any() or np.diagonal(matrix).any():
        raise InputError(f"The distance matrix {name} must be zero on the diagonal and nowhere below zero.")
    if (matrix != matrix.T).any():
        return Distances(tuple(labels), (matrix + matrix.T) / 2, f"{name} (mean of both directions)")
    return Distances(tuple(labels), matrix.astype(np.float64), name)


def _places(values: Sequence[str], known: Sequence[str], where: str, advice: str) -> IntArray:
    lacking = next((value for value in values if value not in known), None)
    if lacking is not None:
        raise InputError(f"The value `{lacking}` is not in {where}; {advice}.")
    return np.array([list(known).index(value) for value in values], dtype=np.int64)


def _number(value: str, level: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(
            f"The {level} level needs numbers, and `{value}` is none; give the order or a distance matrix, "
            "or name it as missing."
        )
    return number
