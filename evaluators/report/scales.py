"""Scales whose ticks are round numbers."""

import math
from collections.abc import Iterable

from evaluators.report.elements import Form, Row, Scale

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def numbers(rows: Iterable[Row], *keys: str) -> list[float]:
    return [float(row[key]) for row in rows for key in keys if row.get(key) is not None]


def linear(
    values: Iterable[float], form: Form, *, around: Iterable[float] = (), marks: tuple[float, ...] = ()
) -> Scale:
    """Holds all `values`, and those of `around`, between two ticks.

    >>> scale = linear([0.31, 0.88], "coefficient", around=(0, 1))
    >>> (scale.low, scale.high, scale.ticks)
    (0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    """
    held = [*values, *around]
    low, high = (min(held), max(held)) if held else (0.0, 1.0)
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    step = _step((high - low) / 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(place * step, 12) for place in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks, form, marks)


def logarithmic(values: Iterable[float], form: Form, *, marks: tuple[float, ...] = ()) -> Scale:
    """Holds all positive `values` between two of 1, 2, 5, 10, ...

    >>> logarithmic([300, 4_100], "seconds").ticks
    (200.0, 500.0, 1000.0, 2000.0, 5000.0)
    """
    held = [value for value in values if value > 0] or [1.0]
    grid = [base * 10.0**power for power in range(-6, 13) for base in (1, 2, 5)]
    low = max(tick for tick in grid if tick <= min(held) * (1 + 1e-9))
    high = min(tick for tick in grid if tick >= max(held) * (1 - 1e-9))
    if low == high:
        low, high = low / 2, high * 2
    inside = tuple(tick for tick in grid if low <= tick <= high)
    thinned = inside if len(inside) <= 7 else tuple(tick for tick in inside if _is_power(tick)) or inside
    return Scale(low, high, thinned, form, marks, is_log=True)


def ratios(values: Iterable[float], *, marks: tuple[float, ...] = (1.0,)) -> Scale:
    """Logarithmic around 1, no wider than needed.

    >>> ratios([0.83, 0.9]).ticks
    (0.8, 1.0, 1.25)
    """
    widest = max((abs(math.log(value)) for value in values if value > 0), default=0.0)
    end = next((end for end in (1.25, 2.0, 4.0, 10.0, 100.0) if math.log(end) >= widest), math.exp(widest))
    middle = {2.0: (0.75, 1.5), 4.0: (0.5, 2.0)}.get(end, ())
    ticks = tuple(sorted((1 / end, 1.0, end, *middle)))
    return Scale(1 / end, end, ticks, "ratio", marks, is_log=True)


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(base * power for base in _STEPS if base * power >= least * (1 - 1e-9))


def _is_power(tick: float) -> bool:
    return abs(math.log10(tick) - round(math.log10(tick))) < 1e-9
