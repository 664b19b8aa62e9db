"""Conversations into Label Studio: idempotent, in chunks, all or nothing where a conversation is refused."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from convolabel.conversation import Conversation
from convolabel.errors import InputError, RemoteError
from convolabel.native_regions import UNITS_VERSION, unit_region
from convolabel.study import Study
from convolabel.task_data import TaskData, is_task_data, task_data
from importers.connection import Connection
from importers.import_plan import Change, Plan, Refused, Standing, plan_import, standing
from importers.projects import show_units, the_project
from importers.task_pages import IMPORT_COLUMNS, drafts_of, read_task_data, task_pages

CHUNK_TASKS = 100
CHUNK_BYTES = 8 * 1024 * 1024
"""Of the request's JSON: far below Label Studio's limit of 250 MB and the usual ones of a proxy."""

Progress = Callable[[int, int], None]
"""Called after every chunk with the conversations done so far and all that are to be created or updated."""


@dataclass(frozen=True)
class Imported:
    """Ids of the conversations, by what became of them."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    unchanged: tuple[str, ...]
    refused: tuple[Refused, ...]


def import_conversations(
    study: Study,
    conversations: Iterable[Conversation],
    connection: Connection,
    *,
    progress: Progress | None = None,
    skip_invalid: bool = False,
) -> Imported:
    """Import validated conversations into the study's project.

    They are gone through twice, to plan and to send, so something that reads them anew each time keeps memory small.
    Nothing is imported when one of them is refused, unless `skip_invalid` leaves those out. When a run breaks off, the
    next one continues: what has arrived is unchanged then.

    Raises `InputError` with every refusal, one a line, or when the study was not created; `RemoteError` when Label
    Studio fails.
    """
    if iter(conversations) is conversations:
        conversations = list(conversations)
    project = the_project(study, connection)
    plan = plan_import(
        (_data(study, conversation) for conversation in conversations),
        _standing_conversations(project.id, connection),
    )
    if plan.refused and not skip_invalid:
        raise InputError("\n".join(f"Nothing was imported: {refused.reason}" for refused in plan.refused))
    report = progress or (lambda done, total: None)
    done, total = 0, len(plan.create) + len(plan.update)
    changes = {change.item_id: change for change in plan.update}
    for data in _picked(study, conversations, changes):
        _update(changes[data.id], data, connection)
        done += 1
        report(done, total)
    for chunk in _chunks(_new_task(data) for data in _picked(study, conversations, plan.create)):
        _create(project.id, chunk, connection)
        done += len(chunk)
        report(done, total)
    if plan.create or plan.update or plan.unchanged:
        show_units(project, connection)
    return _imported(plan)


def _picked(study: Study, conversations: Iterable[Conversation], item_ids: Iterable[str]) -> Iterator[TaskData]:
    """The data of these items, each once: a second item of the same id was refused."""
    waiting = set(item_ids)
    for conversation in conversations if waiting else ():
        if conversation.id in waiting:
            waiting.remove(conversation.id)
            yield _data(study, conversation)


def _imported(plan: Plan) -> Imported:
    updated = tuple(change.item_id for change in plan.update)
    return Imported(tuple(plan.create), updated, tuple(plan.unchanged), tuple(plan.refused))


def _standing_conversations(project_id: int, connection: Connection) -> dict[str, Standing]:
    stands: dict[str, Standing] = {}
    for page in task_pages(project_id, connection, IMPORT_COLUMNS):
        for task in page:
            if not is_task_data(task["data"]):
                continue
            data = read_task_data(task)
            if data.id in stands:
                raise RemoteError(
                    f"Item {data.id} stands twice in project {project_id}, as tasks {stands[data.id].task_id} and"
                    f" {task['id']}; delete the one without work in the Data Manager."
                )
            stands[data.id] = standing(task["id"], data, is_worked_on=_is_worked_on(task))
    return stands


def _is_worked_on(task: dict[str, Any]) -> bool:
    return bool(task["total_annotations"] or task["cancelled_annotations"] or task["draft_exists"])


def _data(study: Study, conversation: Conversation) -> TaskData:
    return task_data(conversation, study.study, study.mediator_roles)


def _units(data: TaskData) -> list[dict[str, Any]]:
    return [unit_region(data, span) for span in data.spans]


def _new_task(data: TaskData) -> dict[str, Any]:
    units = {"model_version": UNITS_VERSION, "result": _units(data)}
    return {"data": data.model_dump(mode="json"), "predictions": [units]}


def _chunks(tasks: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Runs of tasks of at most `CHUNK_TASKS` and `CHUNK_BYTES`; a task that is larger alone goes alone."""
    chunk: list[dict[str, Any]] = []
    size = 0
    for task in tasks:
        bytes_more = len(json.dumps(task))
        if chunk and (len(chunk) == CHUNK_TASKS or size + bytes_more > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(task)
        size += bytes_more
    if chunk:
        yield chunk


def _create(project_id: int, chunk: list[dict[str, Any]], connection: Connection) -> None:
    # Label Studio's reason for refusing a task can quote the task
    with connection.answering("import conversations (run the import again: it continues)", quote=False):
        reply = connection.sdk.projects.import_tasks(project_id, request=chunk)  # type: ignore[arg-type]
    arrived = reply.task_count or 0
    if arrived != len(chunk):
        raise RemoteError(
            f"Label Studio at {connection.url} took {arrived} of {len(chunk)} conversations; run the import again."
        )


def _update(change: Change, data: TaskData, connection: Connection) -> None:
    with connection.answering(f"update item {change.item_id}", quote=False):
        task = connection.get(f"/api/tasks/{change.task_id}")
    new_data = data.model_dump(mode="json")
    if change.units_changed:
        if task["annotations"] or drafts_of(change.task_id, connection):
            raise InputError(f"A rater has just begun item {change.item_id}; import again to see what is refused now.")
        # units first: until the data is new as well, the next run sees the change and does both again
        _replace_units(change.task_id, data, connection)
    else:
        # only label or metadata is new; splits and merges made since the import stay
        new_data["spans"] = task["data"]["spans"]
    with connection.answering(f"update item {change.item_id}", quote=False):
        connection.sdk.tasks.update(str(change.task_id), data=new_data)


def _replace_units(task_id: int, data: TaskData, connection: Connection) -> None:
    with connection.answering(f"update the units of item {data.id}", quote=False):
        old = [
            prediction
            for prediction in connection.sdk.predictions.list(task=task_id)
            if prediction.model_version == UNITS_VERSION
        ]
        connection.sdk.predictions.create(task=task_id, result=_units(data), model_version=UNITS_VERSION)
        for prediction in old:
            connection.sdk.predictions.delete(prediction.id)
