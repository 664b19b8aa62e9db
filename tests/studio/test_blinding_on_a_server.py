"""A rater sees nothing of the conversation's future and nothing of anybody else, by whatever address and sign-in."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from convolabel.native_regions import choice_result, unit_region
from tests.label_studio_server import LabelStudioServer
from tests.studio.studio_projects import PASSWORD, Project, Projects, Rater, conversation, signed_in
from tests.studio.test_rater_allow_list import routes, sample

pytestmark = pytest.mark.studio

SECRET_NOTE = "secret-note-of-the-other"
FILTER = {
    "conjunction": "and",
    "items": [{"filter": "filter:tasks:data.messages", "operator": "contains", "type": "String", "value": "x"}],
}


@dataclass
class Scene:
    """Two raters in one study, both at work, and a study of other people."""

    mine: Project
    foreign: Project
    view: int
    other_annotation: int
    secrets: list[str]

    @property
    def task(self) -> int:
        return self.mine.tasks[0]

    def leaks(self, text: str) -> list[str]:
        return [secret for secret in self.secrets if secret in text]


@pytest.fixture(scope="module")
def scene(projects: Projects) -> Scene:
    data = [conversation("blind"), conversation("done", turns=1), conversation("untouched")]
    mine = projects.make(data, raters=2, overlap=2)
    foreign = projects.make([conversation("foreign")], raters=1)
    first, second, _ = mine.tasks
    with signed_in(mine, 0, 1) as (rater, other), signed_in(foreign, 0) as (stranger,):
        rater.decide(first, "blind-0-0", "R", note="my own note")
        other.decide_all(first)
        other.decide(first, "blind-2-1", "R", note=SECRET_NOTE, base=1)
        other.decide_all(second)
        other.decide(second, "done-0-1", "R", note=SECRET_NOTE, base=1)
        other_annotation = other.finish(second).json()["annotation"]
        stranger.decide(foreign.tasks[0], "foreign-0-0", note=SECRET_NOTE)
        other.get("/api/users")
    view = projects.admin.post("/api/dm/views/", json={"project": mine.id, "data": {"title": "Tab", "filters": FILTER}})
    # a manager imported what a model said
    said = [unit_region(data[0], data[0].spans[0]), choice_result(data[0], data[0].spans[0], "intent", ["Q"])]
    projects.admin.post("/api/predictions/", json={"task": first, "model_version": "secret-model", "result": said})
    secrets = [f"blind-text-{index}-" for index in range(2, 6)]
    secrets += [f"done-text-{index}-" for index in ("metadata", 2)] + ["blind-text-metadata-"]
    secrets += [f"untouched-text-{index}-" for index in range(2, 6)]
    secrets += [SECRET_NOTE, "secret-model", "foreign-text-", "foreign-", "Thread foreign", "fingerprint-of"]
    secrets += [
        mine.raters[1],
        "Name of " + mine.study["study"] + " 1",
        *foreign.raters,
        "Project " + foreign.study["study"],
    ]
    return Scene(mine, foreign, view.json()["id"], other_annotation, secrets)


def bearer(server: LabelStudioServer, email: str) -> dict[str, str]:
    refresh = server.personal_token(email)
    access = httpx.post(f"{server.url}/api/token/refresh/", json={"refresh": refresh}).json()["access"]
    return {"Authorization": f"Bearer {access}"}


def legacy_token(server: LabelStudioServer, email: str) -> str:
    code = """
from rest_framework.authtoken.models import Token
from users.models import User
result(Token.objects.get_or_create(user=User.objects.get(email=email))[0].key)
"""
    return str(server.orm(code, email=email))


@pytest.fixture(scope="module", params=["session", "legacy token", "personal token", "x-api-key"])
def caller(request: pytest.FixtureRequest, scene: Scene, server: LabelStudioServer) -> Iterator[httpx.Client]:
    """The first rater, in every way in which Label Studio lets somebody in."""
    email = scene.mine.raters[0]
    if request.param == "session":
        client: httpx.Client = Rater(server.url, email)
    elif request.param == "personal token":
        client = httpx.Client(base_url=server.url, headers=bearer(server, email))
    elif request.param == "legacy token":
        client = httpx.Client(base_url=server.url, headers={"Authorization": f"Token {legacy_token(server, email)}"})
    else:
        client = httpx.Client(base_url=server.url, headers={"X-Api-Key": legacy_token(server, email)})
    client.timeout = httpx.Timeout(60)
    with closing(client):
        yield client


def addresses(scene: Scene) -> list[str]:
    """Every route of Label Studio and of the plugin with the numbers of things that exist, and their variations."""
    task, project = scene.task, scene.mine.id
    paths = {sample(route) for route in routes()}
    plain = [sample(route) for route in routes() if not route.startswith(("/admin", "/django-rq", "/api/storages"))]
    for number in {*scene.mine.tasks[:2], *scene.foreign.tasks, project, scene.foreign.id}:
        paths |= {re.sub(r"\b7\b", str(number), path) for path in plain}
    queries = [
        *(f"?project={project}", f"?view={scene.view}", f"?project={project}&view={scene.view}&fields=all"),
        *("?include=annotations,drafts,data", "?expand=annotations.completed_by", "?resolve_uri=false", "?format=json"),
    ]
    mine = [
        *("/api/projects", f"/api/projects/{project}", f"/api/projects/{project}/next", "/api/users", "/api/tasks"),
        *(f"/api/tasks/{number}" for number in (*scene.mine.tasks, *scene.foreign.tasks)),
        *("/api/dm/project", "/api/dm/views", "/api/dm/columns", f"/projects/{project}/data"),
    ]
    paths |= {path + query for path in mine for query in queries}
    paths |= {
        f"/api/projects/{project}/next?query=" + json.dumps({"filters": FILTER}),
        f"/api/tasks/{task}?project={scene.foreign.id}",
        f"/api/tasks/{task}?review=true",
        f"/api/tasks/{task}?annotations_stub=true",
        f"/api/tasks?project={project}&project={scene.foreign.id}",
        f"/api/dm/views?project={project}&project={scene.foreign.id}",
        f"/api/dm/views?project={scene.foreign.id}&project={project}",
        f"/api/projects?ids={scene.foreign.id}",
        f"/convolabel/api/tasks/{task}",
        f"/convolabel/api/tasks/{scene.foreign.tasks[0]}",
        f"/convolabel/api/projects/{project}/log",
        f"/convolabel/api/projects/{project}/study",
        # spellings of what is refused
        f"//api/tasks/{task}/annotations",
        f"/api//tasks/{task}/annotations/",
        f"/api/./tasks/{task}/annotations",
        f"/api/projects/{project}/../../tasks/{task}/annotations",
        f"/api/tasks/{task}%2Fannotations",
        f"/api/tasks/{task}/%61nnotations",
        f"/API/tasks/{task}/annotations",
        f"/api/tasks/{task}/annotations;x",
        f"/api/tasks/{task}/annotations//",
        f"/api/projects/{project}/export%0a",
        f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true",
        f"/static/../api/tasks/{task}/annotations",
        f"/static/%2e%2e/api/projects/{project}/export",
        f"/convolabel/static/../api/projects/{project}/log",
        f"/api/annotations/{scene.other_annotation}",
    }
    return sorted(paths - {"/logout/", "/trigger500/", "/admin/logout/", "/api-auth/logout/"})


def test_no_answer_holds_what_a_rater_may_not_see(caller: httpx.Client, scene: Scene) -> None:
    found = addresses(scene)
    answered: dict[int, int] = {}
    leaking = {}
    for path in found:
        answer = caller.get(path)
        answered[answer.status_code] = answered.get(answer.status_code, 0) + 1
        said = answer.text + str(answer.headers)
        # JSON writes other alphabets as escapes; the secrets are plain ASCII
        if leaks := scene.leaks(said):
            leaking[path] = leaks
    assert leaking == {}
    assert answered[httpx.codes.OK] > 50
    assert answered[httpx.codes.FORBIDDEN] > 200
    own = caller.get(f"/api/tasks/{scene.task}").json()
    assert "blind-text-1-" in json.dumps(own)
    assert "my own note" in json.dumps(own["drafts"])
    assert own["annotations"] == []
    assert {result["type"] for each in own["predictions"] for result in each["result"]} == {"paragraphlabels"}


def test_filters_do_not_act_as_an_oracle(caller: httpx.Client, scene: Scene) -> None:
    """Label Studio takes filters from bodies of GET requests, too: the answer must not depend on them."""

    def answers(word: str) -> list[tuple[int, str]]:
        wanted = {"conjunction": "and", "items": [{**FILTER["items"][0], "value": word}]}  # type: ignore[dict-item]
        project = scene.mine.id
        requests = [
            ("GET", f"/api/tasks?project={project}&page=2&page_size=1", {"filters": wanted}),
            ("GET", f"/api/tasks?project={project}&query={json.dumps({'filters': wanted})}", None),
            ("GET", f"/api/projects/{project}/next", {"filters": wanted}),
            ("GET", f"/api/projects/{project}/next?query={json.dumps({'filters': wanted})}", None),
            ("POST", f"/api/dm/actions?id=next_task&project={project}", {"filters": wanted}),
            ("POST", f"/api/dm/actions?id=next_task&project={project}", {"view": scene.view}),
        ]
        found = []
        for method, path, body in requests:
            answer = caller.request(method, path, json=body)
            task = answer.json()
            found.append((answer.status_code, str(task.get("id", task))))
        return found

    answers("")  # the stream's first answers depend on what came before
    assert answers("blind-text-5-") == answers("no such words")


WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/api/tasks/{task}/annotations/", {"result": []}),
    ("POST", "/api/tasks/{task}/annotations", {"result": [], "was_cancelled": True}),
    ("POST", "/api/tasks/{task}/drafts", {"result": []}),
    ("POST", "/api/tasks/{task}/drafts/", {"result": []}),
    ("PATCH", "/api/tasks/{task}/", {"data": {}}),
    ("DELETE", "/api/tasks/{task}/", None),
    ("POST", "/api/tasks", {"project": "{project}", "data": {}}),
    ("PATCH", "/api/annotations/{annotation}/", {"result": []}),
    ("DELETE", "/api/annotations/{annotation}/", None),
    ("POST", "/api/annotations/{annotation}/convert-to-draft", {}),
    ("PATCH", "/api/projects/{project}/", {"title": "x"}),
    ("DELETE", "/api/projects/{project}/", None),
    ("POST", "/api/projects/", {"title": "x"}),
    ("POST", "/api/projects/{project}/import", [{"text": "x"}]),
    ("POST", "/api/projects/{project}/exports/", {}),
    ("POST", "/api/dm/actions?id=delete_tasks&project={project}", {"selectedItems": {"all": True, "excluded": []}}),
    ("POST", "/api/dm/actions/?id=delete_tasks_annotations&project={project}", {}),
    ("POST", "//api/dm/actions?id=delete_tasks&project={project}", {"selectedItems": {"all": True, "excluded": []}}),
    ("POST", "/api/dm/actions?id=next_task&id=delete_tasks&project={project}", {}),
    ("POST", "/api/dm/actions?id=next_task&project={foreign}", {}),
    ("POST", "/api/dm/actions?id=next_task&project={project}&project={foreign}", {}),
    ("POST", "/api/dm/actions?id=next_task", {}),
    ("POST", "/api/dm/views", {"project": "{project}"}),
    ("POST", "/api/users", {"email": "new@example.com"}),
    ("PATCH", "/api/users/1/", {"email": "new@example.com"}),
    ("POST", "/api/token/", {}),
    ("POST", "/api/current-user/reset-token/", {}),
    ("PATCH", "/api/session-policy/", {"max_session_age": 1}),
    ("PATCH", "/api/organizations/1", {"title": "x"}),
    ("POST", "/api/invite/reset-token", {}),
    ("POST", "/api/webhooks/", {"url": "http://127.0.0.1:1/"}),
    ("POST", "/api/ml/", {"url": "http://127.0.0.1:1/", "project": "{project}"}),
    ("PUT", "/convolabel/api/projects/{project}/study", {"study": {}}),
    ("POST", "/user/signup/", {"email": "new@example.com", "password": "password-1"}),
    ("OPTIONS", "/api/projects/{project}/", None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_native_writes_are_refused(caller: httpx.Client, scene: Scene, method: str, path: str, body: Any) -> None:
    numbers = {"task": scene.task, "project": scene.mine.id, "foreign": scene.foreign.id}
    filled = path.format(**numbers, annotation=scene.other_annotation)
    answer = caller.request(method, filled, json=body)
    assert (answer.status_code, answer.json()["code"]) == (httpx.codes.FORBIDDEN, "forbidden")


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method", "_method"])
def test_a_method_in_a_header_changes_nothing(caller: httpx.Client, scene: Scene, header: str) -> None:
    before = caller.get(f"/api/tasks/{scene.task}").json()
    caller.get(f"/api/tasks/{scene.task}", headers={header: "DELETE"})
    assert caller.get(f"/api/tasks/{scene.task}").json() == before


def test_the_manager_still_sees_all(projects: Projects, scene: Scene) -> None:
    shown = json.dumps(projects.task(scene.mine.tasks[1]))
    assert SECRET_NOTE in shown
    listed = projects.admin.get("/api/tasks", params={"project": scene.mine.id, "fields": "all"}).text
    assert "blind-text-5-" in listed
    assert len(projects.admin.get("/api/users").json()) > 3
    assert "blind-text-5-" in json.dumps(projects.export(scene.mine))


def test_a_member_who_is_not_listed_sees_nothing(server: LabelStudioServer, scene: Scene) -> None:
    member = server.add_user("member@example.com", PASSWORD)
    session, token = Rater(server.url, "member@example.com"), httpx.Client(base_url=server.url)
    with closing(session), closing(token):
        token.headers["Authorization"] = f"Token {member['token']}"
        for client in (session, token):
            assert client.get(f"/api/projects/{scene.mine.id}/").status_code == httpx.codes.FORBIDDEN
            assert client.get("/api/projects/").json()["results"] == []
            assert client.get(f"/convolabel/api/tasks/{scene.task}").status_code == httpx.codes.NOT_FOUND
            assert client.get(f"/projects/{scene.mine.id}/data").status_code == httpx.codes.FORBIDDEN
            shown = client.get(f"/api/tasks/{scene.task}").json()
            assert (shown["data"], shown["annotations"], shown["drafts"], shown["predictions"]) == ({}, [], [], [])
            assert [user["email"] for user in client.get("/api/users").json()] == ["member@example.com"]


def test_anonymous_callers_get_nothing(server: LabelStudioServer, scene: Scene) -> None:
    with httpx.Client(base_url=server.url) as anybody:
        for path in (f"/api/tasks/{scene.task}", f"/convolabel/api/tasks/{scene.task}", "/convolabel/api/ping"):
            assert anybody.get(path).status_code == httpx.codes.UNAUTHORIZED
        answer = anybody.get("/convolabel/api/ping")
        assert answer.json()["code"] == "unauthorized"
        read = [path for path in addresses(scene) if path.startswith(("/api/", "/convolabel/", "/projects/"))]
        assert [path for path in read if scene.leaks(anybody.get(path).text)] == []


def test_nobody_signs_up(server: LabelStudioServer, projects: Projects) -> None:
    with httpx.Client(base_url=server.url) as anybody:
        anybody.get("/user/signup/")
        body = {
            "email": "new@example.com",
            "password": "new-password-1",
            "csrfmiddlewaretoken": anybody.cookies["csrftoken"],
        }
        answer = anybody.post("/user/signup/", data=body, headers={"Referer": server.url})
        assert answer.status_code == httpx.codes.FORBIDDEN
    assert "new@example.com" not in [user["email"] for user in projects.admin.get("/api/users").json()]


def test_a_session_write_needs_the_csrf_token(scene: Scene) -> None:
    with signed_in(scene.mine, 0) as (rater,):
        before = rater.unit(scene.task, "blind-0-1")
        del rater.headers["X-CSRFToken"]
        answer = rater.put(scene.task, "blind-0-1", rater.body())
        assert (answer.status_code, answer.json()["code"]) == (httpx.codes.FORBIDDEN, "forbidden")
        assert rater.finish(scene.task).status_code == httpx.codes.FORBIDDEN
        rater.headers["X-CSRFToken"] = "wrong" * 8
        assert rater.put(scene.task, "blind-0-1", rater.body()).status_code == httpx.codes.FORBIDDEN
        assert rater.unit(scene.task, "blind-0-1") == before


def test_scripts_sign_in_by_token_without_one(caller: httpx.Client, scene: Scene) -> None:
    body = {"rev": 1, "labels": {}, "note": "", "base": 0, "client": "script", "seq": 1, "ms": None}
    path = f"/convolabel/api/tasks/{scene.task}/units/blind-0-1"
    assert caller.request("PUT", path, json=body).status_code in (httpx.codes.OK, httpx.codes.CONFLICT)
    assert caller.get("/convolabel/api/ping").json()["role"] == "rater"
