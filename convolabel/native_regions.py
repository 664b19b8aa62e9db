"""Label Studio's own results for units: the one place where code points become a browser's UTF-16 offsets.

Every result of a unit carries the unit's span id as its id, so a region, its choices and its note belong together,
and its revision in `meta` (design, sections 4 and 5). Pure functions of task data; no Label Studio is needed.
"""

from collections.abc import Sequence
from typing import Any

from convolabel.graphemes import utf16_offset
from convolabel.task_data import TaskData, TaskSpan

CONVERSATION = "conversation"
"""Name of the Paragraphs tag, which every result points to."""
UNIT = "unit"
"""Name of the ParagraphLabels tag and of its only label."""
NOTE = "note"
"""Name of the per-region TextArea."""
COPILOT_TITLE = "convolabel co-pilot"
"""By this title the plugin finds the scoring server among a project's ML backends."""
UNITS_VERSION = "convolabel-units"
"""Model version of a prediction that holds the frozen units and no category."""


def unit_region(data: TaskData, span: TaskSpan) -> dict[str, Any]:
    """The frozen region of a unit: no category, and read-only, so that the stock interface cannot change it."""
    return {
        "id": span.span_id,
        "from_name": UNIT,
        "to_name": CONVERSATION,
        "type": "paragraphlabels",
        "origin": "manual",
        "readonly": True,
        "meta": {"rev": span.rev},
        "value": {**_place(data, span), "text": data.span_text(span), "paragraphlabels": [UNIT]},
    }


def choice_result(data: TaskData, span: TaskSpan, dimension_id: str, category_ids: Sequence[str]) -> dict[str, Any]:
    """What was chosen for a unit in one dimension: category ids, or `convolabel.units.UNSURE`."""
    return _beside(data, span, dimension_id, "choices", {"choices": list(category_ids)})


def note_result(data: TaskData, span: TaskSpan, text: str) -> dict[str, Any]:
    """The note on a unit."""
    return _beside(data, span, NOTE, "textarea", {"text": [text]})


def _beside(data: TaskData, span: TaskSpan, from_name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": span.span_id,
        "from_name": from_name,
        "to_name": CONVERSATION,
        "type": kind,
        "meta": {"rev": span.rev},
        "value": {**_place(data, span), **value},
    }


def _place(data: TaskData, span: TaskSpan) -> dict[str, Any]:
    text = data.messages[span.message].text
    return {
        "start": str(span.message),
        "end": str(span.message),
        "startOffset": utf16_offset(text, span.start),
        "endOffset": utf16_offset(text, span.end),
    }
