"""The study's tasks in Label Studio, page by page, so that memory stays bounded however large the study is."""

import itertools
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from convolabel.errors import RemoteError
from convolabel.task_data import TaskData
from importers.connection import Connection

PAGE_SIZE = 100
IMPORT_COLUMNS = "id,data,total_annotations,cancelled_annotations,draft_exists"
WORK_COLUMNS = (
    "id,data,draft_exists,annotations,result,completed_by,was_cancelled,created_at,draft_created_at,updated_at"
)
"""Label Studio picks the columns of a task and of its annotations out of one list."""

Task = dict[str, Any]


def task_pages(project_id: int, connection: Connection, columns: str) -> Iterator[list[Task]]:
    """Pages of the project's tasks by task id, with these columns. Not through the SDK's models: they would build an
    object per message of every conversation."""
    for page in itertools.count(1):
        with connection.answering("list the conversations", quote=False):
            reply = connection.get(
                "/api/tasks",
                project=project_id,
                page=page,
                page_size=PAGE_SIZE,
                fields="all",  # without it draft_exists and annotations are left out
                include=columns,
                resolve_uri="false",  # a message that looks like a storage address stays as it is
            )
        if reply["tasks"]:
            yield reply["tasks"]
        if page * PAGE_SIZE >= reply["total"]:
            return


def drafts_of(task_id: int, connection: Connection) -> list[dict[str, Any]]:
    """The task's drafts of all raters; the task list shows a caller only their own."""
    with connection.answering("read drafts", quote=False):
        drafts: list[dict[str, Any]] = connection.get(f"/api/tasks/{task_id}/drafts")
    return drafts


def read_task_data(task: Task) -> TaskData:
    """The data of a task that convolabel imported. Raises `RemoteError` when somebody has changed its shape."""
    try:
        return TaskData.model_validate(task["data"])
    except ValidationError as error:
        places = ", ".join(".".join(map(str, detail["loc"])) for detail in error.errors()[:3])
        raise RemoteError(
            f"The data of task {task['id']} is not what convolabel imports ({places}); delete it and import again."
        ) from None
