"""Reading Label Studio's results: the labels of a draft or annotation as decisions on units (design, section 5).

A unit's region, choices and text area share the span's id; `meta.rev` says which revision of the unit they belong to.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from convolabel.codebook import Codebook
from convolabel.decisions import Decision
from convolabel.native_regions import NOTE
from convolabel.task_data import TaskData
from convolabel.units import Unit

Result = Mapping[str, Any]


def read_decisions(results: Iterable[Result], data: TaskData, codebook: Codebook) -> dict[Unit, Decision]:
    """Decisions on the units of `data`. Results on other units, other revisions or unknown categories never count."""
    current = {span.span_id: span.unit for span in data.spans}
    labels: dict[Unit, dict[str, str]] = {}
    notes: dict[Unit, str] = {}
    for result in results:
        unit = current.get(str(result.get("id")))
        if unit is None or result_rev(result) != unit.rev:
            continue
        value = result.get("value", {})
        dimension = codebook.dimension(str(result.get("from_name")))
        if dimension is not None:
            chosen = [choice for choice in value.get("choices", []) if choice in dimension.choices]
            if chosen:
                labels.setdefault(unit, {})[dimension.id] = chosen[0]
        elif result.get("from_name") == NOTE:
            notes[unit] = "\n".join(value.get("text", []))
    return {
        unit: Decision(labels.get(unit, {}), notes.get(unit, ""))
        for unit in current.values()
        if unit in labels or notes.get(unit)
    }


def result_rev(result: Result) -> int:
    """The revision a result belongs to; 1 when it says nothing (made in the stock interface)."""
    meta = result.get("meta") or {}
    rev = meta.get("rev", 1)
    return rev if isinstance(rev, int) else 1
