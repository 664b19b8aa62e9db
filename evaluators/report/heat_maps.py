"""Heat maps from tidy rows."""

from collections import Counter
from collections.abc import Sequence

from evaluators.report.elements import Form, Heat, HeatCell, Row, said

_LEAST_RANGE = 0.2
MOST = 20
"""Rows and columns beyond this are too many to read on paper."""


def heat_map(
    caption: str,
    rows: Sequence[Row],
    row: str,
    column: str,
    value: str,
    n: str,
    form: Form,
    source: str,
    titles: tuple[str, str],
    *,
    notes: tuple[str, ...] = (),
    from_lowest: bool = False,
    square: bool = False,
) -> Heat:
    """`row`, `column`, `value` and `n` are keys of `rows`; a `square` one has the same names both ways.

    Cells are shaded from 0, or from the lowest number, to the highest. Of more than `MOST` names those with the
    greatest `n` are shown. An `n` that is the same everywhere is said once.
    """
    down, across = _names(rows, row, n), _names(rows, column, n)
    if square:
        down = across = Counter({name: down[name] + across[name] for name in {*down, *across}})
    kept_down, kept_across = _most(down), _most(across)
    kept = [each for each in rows if each[row] in kept_down and each[column] in kept_across]
    values = [each[value] for each in kept if each[value] is not None] or [0.0]
    high = max(values)
    # a small range must not look like a large one
    low = min(*values, high - _LEAST_RANGE) if from_lowest else 0.0
    sizes = {each[n] for each in kept}
    is_same = from_lowest and len(sizes) == 1
    cells = {
        (each[row], each[column]): HeatCell(
            each[value], None if is_same else each[n], _strength(each[value], low, high)
        )
        for each in kept
    }
    if from_lowest:
        notes = (*notes, f"Shaded from {said(low, form)} (faintest) to {said(high, form)} (strongest).")
    if is_same:
        notes = (f"n = {said(sizes.pop(), 'count')} in every cell.", *notes)
    if notes:
        notes = (" ".join(notes),)
    left_out = max(len(down) - len(kept_down), len(across) - len(kept_across))
    if left_out:
        shown = max(len(kept_down), len(kept_across))
        notes = (*notes, f"The {shown} most frequent; {left_out} more are in the CSV file.")
    return Heat(caption, *titles, tuple(kept_down), tuple(kept_across), cells, form, source, notes)


def _strength(value: float | None, low: float, high: float) -> float:
    """Between 0 and 1, and never quite 0, so that a cell with the lowest number differs from an empty one."""
    if value is None or value < low:
        return 0.0
    return 0.06 + 0.94 * (value - low) / (high - low) if high > low else 0.5


def _names(rows: Sequence[Row], key: str, n: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[str(row[key])] += row[n] or 0
    return counts


def _most(names: Counter[str]) -> list[str]:
    kept = sorted(names, key=lambda name: (-names[name], name))[:MOST]
    return sorted(kept, key=_natural)


def _natural(name: str) -> tuple[bool, bool, float, str]:
    """Numbers by size before words, `unsure` last."""
    is_number = name.isdecimal()
    return name == "unsure", not is_number, float(name) if is_number else 0.0, name
