"""What passes of Label Studio's own answers: named keys, own records, visible messages."""

import json
from typing import Any

import pytest

from convolabel.task_data import TaskData, TaskMessage, TaskSpan
from label_config.studio import redaction

ME, MY_EMAIL = 7, "me@example.com"
OTHER = "other@example.com"


def whole() -> TaskData:
    return TaskData(
        study="s",
        id="c",
        label="C",
        metadata={"survey": "SECRET metadata"},
        fingerprint="SECRET fingerprint",
        messages=tuple(
            TaskMessage(message_id=index, speaker="a", author="A", text=text, labelable=True)
            for index, text in enumerate(["now", "SECRET later"])
        ),
        spans=(
            TaskSpan(span_id="u0", message=0, start=0, end=3),
            TaskSpan(span_id="u1", message=1, start=0, end=6),
        ),
    )


def result(span_id: str, kind: str = "choices", said: str = "mine") -> dict[str, Any]:
    return {"id": span_id, "type": kind, "value": {"choices": [said], "text": said}}


def task() -> dict[str, Any]:
    """A task as Label Studio 1.23.2 shows it to anybody, with keys of a future one."""
    return {
        "id": 1,
        "project": 3,
        "inner_id": 1,
        "overlap": 2,
        "created_at": "2026-01-01",
        "data": whole().model_dump(mode="json"),
        "meta": {"x": "SECRET meta"},
        "total_annotations": 5,
        "annotators": [ME, 8],
        "updated_by": [{"user_id": 8}],
        "avg_lead_time": "SECRET time",
        "agreement": "SECRET agreement",
        "annotations_results": "SECRET results",
        "some_future_field": "SECRET future",
        "annotations": [
            {"id": 1, "completed_by": ME, "result": [result("u0"), result("u1", said="SECRET")], "reviews": "SECRET"},
            {"id": 2, "completed_by": {"id": ME, "email": MY_EMAIL}, "result": [result("u0")]},
            {"id": 3, "completed_by": 8, "result": [result("u0", said="SECRET")]},
            {"id": 4, "completed_by": {"id": 8, "email": OTHER}, "result": [result("u0", said="SECRET")]},
            {"id": 5, "completed_by": None, "result": [result("u0", said="SECRET")]},
        ],
        "drafts": [
            {"id": 1, "user": MY_EMAIL, "result": [result("u0"), result("u1", said="SECRET")]},
            {"id": 2, "user": OTHER, "created_username": f"Other {OTHER}", "result": [result("u0", said="SECRET")]},
            "SECRET",
        ],
        "predictions": [
            {
                "id": 1,
                "model_version": "convolabel-units",
                "score": "SECRET",
                "result": [
                    result("u0", "paragraphlabels"),
                    result("u0", said="SECRET preselection"),
                    result("u1", "paragraphlabels", "SECRET"),
                ],
            },
            {"id": 2, "model_version": "gpt", "result": [result("u0", "paragraphlabels", "SECRET")]},
        ],
    }


def test_a_task_shows_own_work_on_visible_messages_and_nothing_else() -> None:
    cut = redaction.redact_task(task(), whole().up_to(1), ME, MY_EMAIL)
    assert "SECRET" not in json.dumps(cut)
    assert OTHER not in json.dumps(cut)
    assert [each["id"] for each in cut["annotations"]] == [1, 2]
    assert [each["id"] for each in cut["drafts"]] == [1]
    assert cut["drafts"][0]["result"] == [result("u0")]
    assert cut["predictions"][0]["result"] == [result("u0", "paragraphlabels")]
    assert len(cut["predictions"]) == 1
    assert [message["text"] for message in cut["data"]["messages"]] == ["now"]
    assert (cut["total_annotations"], cut["annotators"], cut["updated_by"]) == (0, [], [])
    assert set(cut) == {
        *("id", "project", "inner_id", "overlap", "created_at"),
        *("data", "meta", "total_annotations", "annotators", "updated_by", "annotations", "drafts", "predictions"),
    }


def test_a_row_of_a_list_shows_only_that_it_is_there() -> None:
    cut = redaction.hide_task(task())
    assert "SECRET" not in json.dumps(cut)
    assert (cut["id"], cut["data"], cut["annotations"], cut["drafts"], cut["predictions"]) == (1, {}, [], [], [])


def test_a_project_passes_named_keys_and_neutral_counts() -> None:
    project = {
        "id": 3,
        "title": "Demo",
        "label_config": "<View/>",
        "created_by": {"email": OTHER},
        "members": [{"email": OTHER}],
        "task_data_password": "SECRET",
        "control_weights": "SECRET",
        "future_field": "SECRET",
        "total_annotations_number": 41,
        "expert_instruction": "SECRET",
    }
    assert redaction.redact_project(project) == {
        "id": 3,
        "title": "Demo",
        "label_config": "<View/>",
        "created_by": {},
        "members": [],
        "total_annotations_number": 0,
        "expert_instruction": "",
    }


def test_a_tab_loses_what_a_manager_set_by_rater() -> None:
    view = {
        "id": 1,
        "filter_group": 9,
        "selected_items": {"all": True},
        "data": {"title": "Tab", "filters": {"items": ["SECRET"]}, "ordering": ["SECRET"]},
    }
    assert redaction.redact_view(view) == {
        "id": 1,
        "data": {"title": "Tab"},
        "filter_group": None,
        "selected_items": {"all": False, "included": []},
    }
    assert redaction.redact_view({"id": 1, "data": None})["data"] == {}


def test_columns_lose_the_members() -> None:
    columns = [{"id": "annotators", "schema": {"items": [1, 2, 3]}}, {"id": "id"}]
    assert redaction.redact_columns({"columns": columns}) == {
        "columns": [{"id": "annotators", "schema": {"items": []}}, {"id": "id"}]
    }


@pytest.mark.parametrize(
    ("items", "kept"),
    [
        ([{"id": 1}, {"id": 2}, "x", {}], [{"id": 1}]),
        ({"count": 2, "results": [{"id": 1}, {"id": 2}]}, {"count": 1, "results": [{"id": 1}]}),
        ({"detail": "not found"}, {"detail": "not found"}),
    ],
)
def test_only(items: object, kept: object) -> None:
    assert redaction.only(items, {1}) == kept
