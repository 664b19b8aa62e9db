"""What every study rater has done in every conversation, read from Label Studio page by page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from convolabel.study import Study
from convolabel.task_data import TaskData, is_task_data
from importers.connection import Connection
from importers.task_pages import WORK_COLUMNS, drafts_of, read_task_data, task_pages
from importers.work import Rater, SetAside, Work, rater_work, study_raters


@dataclass(frozen=True)
class RatedConversation:
    """A conversation and the work that counts; a rater without work is absent."""

    task_id: int
    data: TaskData
    work: dict[Rater, Work]


def raters_with_account(study: Study, connection: Connection) -> list[Rater]:
    """The study's raters that Label Studio knows, in the order of the study file."""
    with connection.answering("list the accounts"):
        users = connection.get("/api/users")
    return study_raters(study, users)


def rated_conversations(
    project_id: int, raters: Sequence[Rater], connection: Connection, aside: SetAside
) -> Iterator[RatedConversation]:
    """All conversations in the order of their import; what does not count is noted in `aside`."""
    for page in task_pages(project_id, connection, WORK_COLUMNS):
        for task in page:
            if is_task_data(task["data"]):
                yield _rated(task, raters, connection, aside)


def _rated(task: dict[str, Any], raters: Sequence[Rater], connection: Connection, aside: SetAside) -> RatedConversation:
    drafts = drafts_of(task["id"], connection) if task["draft_exists"] else []
    work = rater_work(task.get("annotations") or [], drafts, raters, aside)
    return RatedConversation(task["id"], read_task_data(task), work)
