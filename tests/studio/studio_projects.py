"""Projects, conversations and raters on a test server, by the same HTTP calls as people and programs use."""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self

import httpx

from convolabel import Codebook, Study
from convolabel.native_regions import UNITS_VERSION, unit_region
from convolabel.task_data import TaskData, TaskMessage, TaskSpan
from label_config.labeling_config import labeling_config
from tests.label_studio_server import LabelStudioServer

PASSWORD = "rater-password-1"

CODEBOOK = Codebook.model_validate(
    {
        "name": "test",
        "title": "Test",
        "dimensions": [
            {
                "id": "intent",
                "title": "Intent",
                "categories": [{"id": "Q", "name": "Question"}, {"id": "R", "name": "Reflection"}],
            }
        ],
    }
)


def conversation(name: str, turns: int = 3, units: int = 2) -> TaskData:
    """Every turn is a client's message and one of the counsellor's with `units` units.

    The text of message i holds the word `{name}-text-{i}-`, so that it can be looked for.
    """
    messages: list[TaskMessage] = []
    spans: list[TaskSpan] = []
    for turn in range(turns):
        word = f"{name}-text-{2 * turn}-"
        messages.append(TaskMessage(message_id=2 * turn, speaker="c", author="Goose", role="client", text=word))
        index = 2 * turn + 1
        part = f"{name}-text-{index}- 😀. "
        for unit in range(units):
            start = unit * len(part)
            # up to the full stop, without the blank after it
            spans.append(
                TaskSpan(span_id=f"{name}-{turn}-{unit}", message=index, start=start, end=start + len(part) - 1)
            )
        messages.append(
            TaskMessage(
                message_id=index, speaker="a", author="Ana", role="counsellor", text=part * units, labelable=True
            )
        )
    return TaskData(
        study="test",
        id=name,
        label=f"Thread {name}",
        metadata={"survey": f"{name}-text-metadata-"},
        messages=tuple(messages),
        spans=tuple(spans),
        fingerprint=f"fingerprint-of-{name}",
    )


class Rater(httpx.Client):
    """Somebody signed in by the login form, as in a browser."""

    def __init__(self, url: str, email: str, password: str = PASSWORD, client: str = "page-1") -> None:
        super().__init__(base_url=url, timeout=30)
        form = self.get("/user/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token
        body = {"email": email, "password": password, "csrfmiddlewaretoken": token.group(1)}
        signed_in = self.post("/user/login/", data=body, headers={"Referer": url})
        assert signed_in.status_code == httpx.codes.FOUND, signed_in.status_code
        self.headers["X-CSRFToken"] = self.cookies["csrftoken"]
        self.email = email
        self.client = client
        self._numbers = count(1)

    def fresh_page(self, name: str) -> None:
        """What a reload does: a new name for the writes, numbered from one."""
        self.client, self._numbers = name, count(1)

    def open(self, task: int) -> dict[str, Any]:
        answer = self.get(f"/convolabel/api/tasks/{task}")
        assert answer.status_code == httpx.codes.OK, answer.text[:300]
        opened: dict[str, Any] = answer.json()
        return opened

    def unit(self, task: int, span_id: str) -> dict[str, Any]:
        found: dict[str, Any] = next(unit for unit in self.open(task)["units"] if unit["span_id"] == span_id)
        return found

    def body(self, label: str | None = "Q", **more: Any) -> dict[str, Any]:
        labels = {} if label is None else {"intent": label}
        return {
            **{"rev": 1, "labels": labels, "note": "", "base": 0, "client": self.client},
            **{"seq": next(self._numbers), "ms": 1000},
            **more,
        }

    def put(self, task: int, span_id: str, body: dict[str, Any]) -> httpx.Response:  # type: ignore[override]
        return self.request("PUT", f"/convolabel/api/tasks/{task}/units/{span_id}", json=body)

    def decide(self, task: int, span_id: str, label: str | None = "Q", **more: Any) -> dict[str, Any]:
        answer = self.put(task, span_id, self.body(label, **more))
        assert answer.status_code == httpx.codes.OK, answer.text[:300]
        decided: dict[str, Any] = answer.json()
        return decided

    def decide_all(self, task: int, label: str = "Q") -> None:
        while waiting := [unit for unit in self.open(task)["units"] if not unit["labels"]]:
            for unit in waiting:
                self.decide(task, unit["span_id"], label, base=unit["version"])

    def finish(self, task: int) -> httpx.Response:
        return self.post(f"/convolabel/api/tasks/{task}/finish", json={})


@dataclass
class Project:
    id: int
    study: dict[str, Any]
    raters: list[str]
    url: str
    tasks: list[int] = field(default_factory=list)
    conversations: list[TaskData] = field(default_factory=list)

    def sign_in(self, number: int = 0, client: str = "page-1") -> Rater:
        return Rater(self.url, self.raters[number], client=client)


class Projects:
    """The administrator's side."""

    def __init__(self, server: LabelStudioServer) -> None:
        self.server = server
        self.admin = httpx.Client(
            base_url=server.url, headers={"Authorization": f"Token {server.token}"}, timeout=60, follow_redirects=True
        )
        self._names = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.admin.close()

    def make(
        self, conversations: Sequence[TaskData] = (), raters: int = 2, overlap: int | None = None, **study: Any
    ) -> Project:
        """A project with its study, raters of its own and `conversations`."""
        name = f"s{next(self._names)}"
        emails = [f"{name}-rater{number}@example.com" for number in range(raters)]
        document = Study.model_validate(
            {
                "study": name,
                "codebook": CODEBOOK,
                "raters": [{"email": email, "name": f"Name of {name} {number}"} for number, email in enumerate(emails)],
                **study,
            }
        ).model_dump(mode="json")
        made = self.admin.post(
            "/api/projects/",
            json={
                "title": f"Project {name}",
                "label_config": labeling_config(CODEBOOK),
                "maximum_annotations": overlap or max(1, raters),
                "show_collab_predictions": True,
                "model_version": UNITS_VERSION,
                "show_skip_button": False,
                "enable_empty_annotation": False,
            },
        )
        assert made.status_code == httpx.codes.CREATED, made.text[:300]
        project = Project(made.json()["id"], document, emails, self.server.url)
        stored = self.store(project)
        assert stored.status_code == httpx.codes.OK, stored.text[:300]
        if conversations:
            self.add(project, conversations)
        return project

    def store(self, project: Project, study: dict[str, Any] | None = None, **passwords: str) -> httpx.Response:
        body = {
            "study": study or project.study,
            "passwords": dict.fromkeys(project.raters, PASSWORD) | passwords,
        }
        return self.admin.put(f"/convolabel/api/projects/{project.id}/study", json=body)

    def add(self, project: Project, conversations: Sequence[TaskData]) -> None:
        tasks = [
            {
                "data": data.model_dump(mode="json"),
                "predictions": [
                    {"model_version": UNITS_VERSION, "result": [unit_region(data, span) for span in data.spans]}
                ],
            }
            for data in conversations
        ]
        added = self.admin.post(f"/api/projects/{project.id}/import", json=tasks)
        assert added.status_code == httpx.codes.CREATED, added.text[:300]
        listed = self.admin.get("/api/tasks", params={"project": project.id, "page_size": 1000}).json()["tasks"]
        project.tasks = sorted(task["id"] for task in listed)
        project.conversations += conversations

    def task(self, task: int) -> dict[str, Any]:
        found: dict[str, Any] = self.admin.get(f"/api/tasks/{task}").json()
        return found

    def drafts(self, task: int) -> list[dict[str, Any]]:
        """Straight from the database: Label Studio shows a draft to its owner only."""
        path = self.server.settings.data_dir / "label_studio.sqlite3"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            rows = database.execute("SELECT * FROM tasks_annotationdraft WHERE task_id = ? ORDER BY id", [task])
            return [{**dict(row), "result": json.loads(row["result"])} for row in rows]

    def log(self, project: Project) -> list[dict[str, Any]]:
        answer = self.admin.get(f"/convolabel/api/projects/{project.id}/log", params={"limit": 5000})
        rows: list[dict[str, Any]] = answer.json()["rows"]
        return rows

    def export(self, project: Project) -> list[dict[str, Any]]:
        exported: list[dict[str, Any]] = self.admin.get(
            f"/api/projects/{project.id}/export", params={"exportType": "JSON", "download_all_tasks": "true"}
        ).json()
        return exported


@contextmanager
def signed_in(project: Project, *numbers: int) -> Iterator[list[Rater]]:
    """Raters of a project in windows of their own."""
    raters = [project.sign_in(number, f"page-{place}") for place, number in enumerate(numbers)]
    try:
        yield raters
    finally:
        for rater in raters:
            rater.close()
