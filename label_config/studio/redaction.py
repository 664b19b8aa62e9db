"""What of Label Studio's own answers a rater gets: pure functions of JSON values.

Only named keys pass, so a field that a later Label Studio adds stays hidden until somebody has looked at it.
"""

from collections.abc import Collection, Mapping
from typing import Any

from convolabel.native_regions import UNITS_VERSION
from convolabel.task_data import TaskData

Json = dict[str, Any]

_TASK_KEYS = {"id", "project", "created_at", "inner_id", "unique_lock_id", "overlap", "queue", "allow_skip", "mode"}
_TASK_NEUTRAL: Json = {
    "meta": {},
    "is_labeled": False,
    "total_annotations": 0,
    "cancelled_annotations": 0,
    "total_predictions": 0,
    "comment_count": 0,
    "unresolved_comment_count": 0,
    "comment_authors": [],
    "comments": [],
    "annotators": [],
    "updated_by": [],
    "file_upload": None,
    "storage_filename": None,
}
_RECORD_KEYS = {
    "id",
    "unique_id",
    "task",
    "project",
    "annotation",
    "user",
    "completed_by",
    "created_username",
    "created_ago",
    "created_at",
    "updated_at",
    "draft_created_at",
    "lead_time",
    "was_cancelled",
    "was_postponed",
    "ground_truth",
    "model_version",
    "import_id",
}
"""Of an annotation, a draft or a prediction."""
_PROJECT_KEYS = {
    "id",
    "title",
    "label_config",
    "parsed_label_config",
    "color",
    "organization",
    "created_at",
    "is_published",
    "is_draft",
    "maximum_annotations",
    "model_version",
    "sampling",
    "skip_queue",
    "show_instruction",
    "show_skip_button",
    "show_annotation_history",
    "show_collab_predictions",
    "enable_empty_annotation",
    "evaluate_predictions_automatically",
    "reveal_preannotations_interactively",
}
_PROJECT_NEUTRAL: Json = {
    "created_by": {},
    "pinned_at": None,
    "can_delete_tasks": False,
    "can_manage_annotations": False,
    "can_manage_tasks": False,
    "source_syncing": False,
    "target_syncing": False,
    "description": "",
    "expert_instruction": "",
    "task_number": 0,
    "num_tasks_with_annotations": 0,
    "task_count": 0,
    "annotation_count": 0,
    "total_annotations_number": 0,
    "total_predictions_number": 0,
    "useful_annotation_number": 0,
    "ground_truth_number": 0,
    "skipped_annotations_number": 0,
    "finished_task_number": 0,
    "queue_total": 0,
    "queue_done": 0,
    "queue_left": 0,
    "config_has_control_tags": True,
    "members": [],
    "members_count": 0,
    "state": None,
    "summary": {},
    "workspace": None,
}


def redact_task(task: Json, visible: TaskData, user_id: int, email: str) -> Json:
    """A task as its rater may have it: `visible` data, own annotations and drafts, nothing about anybody else.

    Label Studio names the owner of an annotation by id and the owner of a draft by e-mail. Of the predictions only
    the frozen units pass, whatever else a manager has imported: nothing may be pre-selected.
    """
    known = {span.span_id for span in visible.spans}
    return {
        **{key: value for key, value in task.items() if key in _TASK_KEYS},
        **{key: value for key, value in _TASK_NEUTRAL.items() if key in task},
        "data": visible.model_dump(mode="json"),
        "annotations": [_cut(each, known) for each in _own(task.get("annotations"), "completed_by", user_id)],
        "drafts": [_cut(each, known) for each in _own(task.get("drafts"), "user", email)],
        "predictions": [
            _cut(each, known, types={"paragraphlabels"})
            for each in task.get("predictions") or []
            if isinstance(each, dict) and each.get("model_version") == UNITS_VERSION
        ],
    }


def hide_task(task: Json) -> Json:
    """A row of a task list: that it is there, and nothing of it."""
    return {"id": task.get("id"), "data": {}, "annotations": [], "predictions": [], "drafts": [], **_TASK_NEUTRAL}


def redact_project(project: Json) -> Json:
    """A project without counts, which tell how far others are, and without its settings' texts."""
    return {key: value for key, value in project.items() if key in _PROJECT_KEYS} | {
        key: value for key, value in _PROJECT_NEUTRAL.items() if key in project
    }


def redact_view(view: Json) -> Json:
    """A Data Manager tab without its filters, which a manager may have set by rater."""
    data = {key: value for key, value in (view.get("data") or {}).items() if key not in ("filters", "ordering")}
    return {**view, "data": data, "filter_group": None, "selected_items": {"all": False, "included": []}}


def redact_columns(body: Json) -> Json:
    """The Data Manager's columns without the ids of the organisation's members, which some list as choices."""
    columns = [{**column, "schema": {"items": []}} if "schema" in column else column for column in body["columns"]]
    return {"columns": columns}


def only(items: object, allowed: Collection[int]) -> object:
    """A list, or a page of one, cut to the entries whose id is allowed."""
    if isinstance(items, list):
        return [item for item in items if isinstance(item, dict) and item.get("id") in allowed]
    if isinstance(items, dict) and isinstance(items.get("results"), list):
        results = only(items["results"], allowed)
        return {**items, "results": results, "count": len(results)}  # type: ignore[arg-type]
    return items


def _own(records: object, owner: str, user: int | str) -> list[Json]:
    found = []
    for record in records if isinstance(records, list) else []:
        said = record.get(owner) if isinstance(record, dict) else None
        if (said.get("id") if isinstance(said, Mapping) else said) == user:
            found.append(record)
    return found


def _cut(record: Json, known: Collection[str], types: Collection[str] | None = None) -> Json:
    results = [
        result
        for result in record.get("result") or []
        if result.get("id") in known and (types is None or result.get("type") in types)
    ]
    return {**{key: value for key, value in record.items() if key in _RECORD_KEYS}, "result": results}
