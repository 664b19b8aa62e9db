"""A finished conversation is one native annotation, made through Label Studio's own path."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.studio.local_servers import recording_server
from tests.studio.studio_projects import Projects, conversation, signed_in

pytestmark = pytest.mark.studio


def test_finish_makes_the_annotation_once(projects: Projects) -> None:
    project = projects.make([conversation("finish", turns=1), conversation("second", turns=1)])
    task, second = project.tasks
    with recording_server() as hook, signed_in(project, 0, 1) as (rater, other):
        made = projects.admin.post(
            "/api/webhooks/",
            json={"url": hook.url, "project": project.id, "send_payload": True, "send_for_all_actions": True},
        )
        assert made.status_code == httpx.codes.CREATED
        early = rater.finish(task)
        assert (early.status_code, early.json()["code"]) == (httpx.codes.CONFLICT, "unfinished")
        assert early.json()["progress"] == {"decided": 0, "total": 2, "status": "pending"}
        rater.decide(task, "finish-0-0", "Q", ms=1500)
        rater.decide(task, "finish-0-1", "R", ms=500)
        assert hook.received == []  # drafts fire no webhooks
        first = rater.finish(task)
        again = rater.finish(task)
        assert (first.status_code, first.json()) == (httpx.codes.OK, again.json())
        shown = projects.task(task)
        (annotation,) = shown["annotations"]
        assert annotation["id"] == first.json()["annotation"]
        assert annotation["lead_time"] == pytest.approx(2.0)  # 1.5 s + 0.5 s
        assert projects.drafts(task) == []
        assert shown["total_annotations"] == 1
        assert [event["action"] for event in hook.received] == ["ANNOTATION_CREATED"]
        # the conversation left this rater's queue, and nobody else's
        assert rater.get(f"/api/projects/{project.id}/next").json()["id"] == second
        assert other.get(f"/api/projects/{project.id}/next").json()["id"] == task
        # after it, decisions go into the annotation
        assert rater.open(task)["submitted"] is True
        rater.decide(task, "finish-0-1", "unsure", note="later", base=1)
        (annotation,) = projects.task(task)["annotations"]
        chosen = {each["id"]: each["value"]["choices"] for each in annotation["result"] if each["type"] == "choices"}
        assert chosen == {"finish-0-0": ["Q"], "finish-0-1": ["unsure"]}
        assert projects.drafts(task) == []
        assert projects.task(task)["total_annotations"] == 1
        assert rater.finish(task).json() == first.json()
        other.decide_all(task)
        assert other.finish(task).status_code == httpx.codes.OK
        shown = projects.task(task)
        assert (shown["total_annotations"], shown["is_labeled"]) == (2, True)


def test_the_stream_brings_every_conversation_once_and_ends(projects: Projects) -> None:
    project = projects.make([conversation(f"stream{number}", turns=1, units=1) for number in range(3)])
    with signed_in(project, 0) as (rater,):
        done = []
        next_task = f"/api/dm/actions?id=next_task&project={project.id}"
        while (answer := rater.post(next_task, json={})).status_code == httpx.codes.OK:
            task = answer.json()["id"]
            rater.decide_all(task)
            assert rater.finish(task).status_code == httpx.codes.OK
            done.append(task)
        assert done == project.tasks
        assert answer.status_code == httpx.codes.NOT_FOUND


@pytest.mark.parametrize("round_number", range(3))
def test_finishing_twice_at_once_makes_one_annotation(projects: Projects, round_number: int) -> None:
    project = projects.make([conversation("twice", turns=1)], raters=1)
    (task,) = project.tasks
    with signed_in(project, 0, 0, 0, 0) as windows, ThreadPoolExecutor(4) as pool:
        windows[0].decide_all(task)
        answers = list(pool.map(lambda window: window.finish(task), windows))
    assert {answer.status_code for answer in answers} == {httpx.codes.OK}
    assert len({answer.json()["annotation"] for answer in answers}) == 1
    shown = projects.task(task)
    assert len(shown["annotations"]) == shown["total_annotations"] == 1
    assert projects.drafts(task) == []


def test_finishing_while_deciding_loses_nothing(projects: Projects) -> None:
    """The last change arrives before the annotation is made or after; in it, it is."""
    project = projects.make([conversation("race", turns=1, units=8)], raters=1)
    (task,) = project.tasks
    with signed_in(project, 0, 0) as (rater, finisher), ThreadPoolExecutor(2) as pool:
        rater.decide_all(task)
        finishing = pool.submit(finisher.finish, task)
        for unit in range(8):
            rater.decide(task, f"race-0-{unit}", "R", base=1)
        assert finishing.result().status_code == httpx.codes.OK
        opened = rater.open(task)
    assert [unit["labels"] for unit in opened["units"]] == [{"intent": "R"}] * 8
    (annotation,) = projects.task(task)["annotations"]
    chosen = [each["value"]["choices"] for each in annotation["result"] if each["type"] == "choices"]
    assert chosen == [["R"]] * 8
