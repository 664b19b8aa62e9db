"""Storing a study: accounts, roles, and refusals that leave nothing behind."""

from typing import Any

import httpx
import pytest

from tests.studio.studio_projects import PASSWORD, Project, Projects, conversation, signed_in

pytestmark = pytest.mark.studio


def people(projects: Projects) -> set[str]:
    return {user["email"] for user in projects.admin.get("/api/users").json()}


def with_raters(project: Project, *emails: str, **study: Any) -> dict[str, Any]:
    return {**project.study, "raters": [{"email": email} for email in emails], **study}


def test_storing_again_changes_nothing(projects: Projects) -> None:
    project = projects.make(raters=2)
    first, again = projects.store(project).json(), projects.store(project).json()
    assert first == again
    assert [rater["created"] for rater in again["raters"]] == [False, False]
    assert [rater["email"] for rater in again["raters"]] == project.raters


def test_a_password_is_used_for_a_new_account_only(projects: Projects) -> None:
    project = projects.make(raters=1)
    assert projects.store(project, **{project.raters[0]: "another-password"}).status_code == httpx.codes.OK
    with signed_in(project, 0) as (rater,):
        assert rater.get("/convolabel/api/ping").json()["role"] == "rater"


def test_accounts_are_found_whatever_the_case(projects: Projects) -> None:
    project = projects.make(raters=1)
    answer = projects.store(project, with_raters(project, project.raters[0].upper()))
    assert answer.json()["raters"][0]["created"] is False


@pytest.mark.parametrize(
    "wrong",
    [
        {"raters": [{"email": "fresh-one@example.com"}, {"email": "fresh-two@example.com"}]},
        {"raters": [{"email": "fresh-one@example.com"}], "managers": ["nobody@example.com"]},
        {"raters": [{"email": "fresh-one@example.com"}, {"email": "admin@example.com"}]},
        {"raters": [{"email": "fresh-one@example.com"}, {"email": "fresh-one@example.com"}]},
        {"raters": [{"email": "not an address"}]},
        {"visibility": {"no_future_messages": "maybe"}},
        {"unknown": 1},
        {"codebook": {"name": "x", "title": "X", "dimensions": []}},
    ],
)
def test_a_refused_study_leaves_nothing_behind(projects: Projects, wrong: dict[str, Any]) -> None:
    project = projects.make([conversation("kept", turns=1)], raters=1)
    before = people(projects)
    # one of the new raters has a password, so that the first part of the work could have been done
    answer = projects.store(project, {**project.study, **wrong}, **{"fresh-one@example.com": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (httpx.codes.BAD_REQUEST, "invalid")
    assert people(projects) == before
    with signed_in(project, 0) as (rater,):
        assert rater.open(project.tasks[0])["codebook"]["title"] == "Test"
        assert rater.open(project.tasks[0])["progress"]["status"] == "pending"


def test_passwords_never_come_back(projects: Projects) -> None:
    project = projects.make(raters=1)
    body = {"study": project.study, "passwords": {project.raters[0]: ["a secret"]}}
    answer = projects.admin.put(f"/convolabel/api/projects/{project.id}/study", json=body)
    assert answer.status_code == httpx.codes.BAD_REQUEST
    assert "a secret" not in answer.text
    assert PASSWORD not in projects.store(project).text


def test_unknown_projects_are_not_found(projects: Projects) -> None:
    project = projects.make(raters=1)
    answer = projects.admin.put("/convolabel/api/projects/999999/study", json={"study": project.study})
    assert (answer.status_code, answer.json()["code"]) == (httpx.codes.NOT_FOUND, "not_found")


def test_a_rater_who_leaves_the_study_loses_it_and_gets_it_back_with_all_work(projects: Projects) -> None:
    project = projects.make([conversation("leave")], raters=2)
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        rater.decide(task, "leave-0-0", "R", note="kept")
        assert projects.store(project, with_raters(project, project.raters[1])).status_code == httpx.codes.OK
        assert rater.get(f"/convolabel/api/tasks/{task}").status_code == httpx.codes.NOT_FOUND
        assert rater.put(task, "leave-0-1", rater.body()).status_code == httpx.codes.NOT_FOUND
        assert rater.get(f"/api/projects/{project.id}").status_code == httpx.codes.FORBIDDEN
        projects.store(project)
        assert rater.unit(task, "leave-0-0")["note"] == "kept"


def test_a_manager_passes_and_a_rater_of_another_study_cannot_become_one(projects: Projects) -> None:
    rated = projects.make([conversation("managed")], raters=1)
    managed = projects.make([conversation("theirs")], raters=1)
    server = projects.server
    server.add_user("manager@example.com", PASSWORD)
    assert projects.store(managed, {**managed.study, "managers": ["manager@example.com"]}).status_code == httpx.codes.OK
    managers = Project(managed.id, managed.study, ["manager@example.com"], server.url)
    with signed_in(managers, 0) as (manager,):
        assert manager.get("/convolabel/api/ping").json()["role"] == "manager"
        assert "theirs-text-5-" in manager.get(f"/api/tasks/{managed.tasks[0]}").text
        assert manager.get(f"/convolabel/api/projects/{managed.id}/log").json() == {"rows": [], "next": None}
    refused = projects.store(managed, {**managed.study, "managers": [rated.raters[0]]})
    assert (refused.status_code, refused.json()["code"]) == (httpx.codes.BAD_REQUEST, "invalid")
    with signed_in(rated, 0) as (rater,):
        assert rater.get("/convolabel/api/ping").json()["role"] == "rater"


def test_the_log_comes_in_pages(projects: Projects) -> None:
    project = projects.make([conversation("pages", turns=1, units=5)], raters=1)
    with signed_in(project, 0) as (rater,):
        rater.decide_all(project.tasks[0])
    path = f"/convolabel/api/projects/{project.id}/log"
    rows, after = [], 0
    while after is not None:
        page = projects.admin.get(path, params={"after": after, "limit": 2}).json()
        assert len(page["rows"]) <= 2
        rows += page["rows"]
        after = page["next"]
    assert [row["span_id"] for row in rows] == [f"pages-0-{unit}" for unit in range(5)]
    for wrong in ({"after": "x"}, {"limit": "-1"}, {"after": "1.5"}):
        assert projects.admin.get(path, params=wrong).status_code == httpx.codes.BAD_REQUEST
