"""One unit's decision merged into a rater's native results. Pure."""

from typing import Any

from convolabel.decisions import Decision
from convolabel.native_regions import choice_result, note_result, unit_region
from convolabel.task_data import TaskData, TaskSpan


def merged_results(
    results: list[dict[str, Any]], data: TaskData, span: TaskSpan, decision: Decision
) -> list[dict[str, Any]]:
    """Results with the decision on `span` replaced: every unit has its region, all other results stay as they are."""
    regions = {str(result.get("id")) for result in results if result.get("type") == "paragraphlabels"}
    missing = [unit_region(data, each) for each in data.spans if each.span_id not in regions]
    kept = [
        result for result in results if str(result.get("id")) != span.span_id or result["type"] == "paragraphlabels"
    ]
    own = [choice_result(data, span, dimension, [label]) for dimension, label in decision.labels.items()]
    if decision.note:
        own.append(note_result(data, span, decision.note))
    return [*kept, *missing, *own]
