"""Suggestions come from the scoring server through the plugin; control units, failures and abstentions look alike."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from convolabel.native_regions import COPILOT_TITLE
from tests.studio.local_servers import Recording, recording_server
from tests.studio.studio_projects import Project, Projects, Rater, conversation, signed_in

pytestmark = pytest.mark.studio

WAIT_SECONDS = 5.0
EVIDENCE = {"text": "x", "message": 1, "start": 0, "end": 1, "verbatim": True}


def suggestion(label: str = "Q", **more: Any) -> dict[str, Any]:
    return {
        **{"dimension": "intent", "label": label, "rationale": f"because {label}", "confidence": "high"},
        **{"evidence": EVIDENCE},
        **more,
    }


def reply(arm: str, *suggestions: Any, withheld: tuple[Any, ...] = ()) -> dict[str, Any]:
    copilot = {
        **{"arm": arm, "suggestions": list(suggestions), "withheld": list(withheld)},
        **{"model": "stub", "prompt_version": "v1"},
    }
    return {"results": [{"result": [], "copilot": copilot}]}


@pytest.fixture
def scoring() -> Iterator[Recording]:
    with recording_server() as recording:
        yield recording


@pytest.fixture
def project(projects: Projects, scoring: Recording) -> Project:
    """A study with a co-pilot. The scoring server answers `setup` with nothing in particular."""
    copilot = {"url": scoring.url, "wait_seconds": WAIT_SECONDS}
    project = projects.make([conversation("pilot")], raters=2, copilot=copilot)
    body = {"url": scoring.url, "project": project.id, "title": COPILOT_TITLE, "is_interactive": False}
    added = projects.admin.post("/api/ml/", json=body)
    assert added.status_code == httpx.codes.CREATED, added.text[:300]
    return project


def answer_with(scoring: Recording, document: Any) -> None:
    """Answer `/predict` so, and forget what was asked before."""
    scoring.answer = lambda path, body: document if path.endswith("/predict") else {"model_version": "stub"}
    scoring.received.clear()


def ask(rater: Rater, task: int, span_id: str = "pilot-0-0") -> httpx.Response:
    return rater.post(f"/convolabel/api/tasks/{task}/units/{span_id}/suggestion", json={"rev": 1})


def test_a_shown_suggestion_is_served_logged_and_served_again(
    projects: Projects, project: Project, scoring: Recording
) -> None:
    (task,) = project.tasks
    answer_with(
        scoring, reply("shown", suggestion("Q", arm="shown", secret=1), suggestion("X"), suggestion("unsure"), 7)
    )
    with signed_in(project, 0) as (rater,):
        answer = ask(rater, task)
        # outside the codebook, and keys that nobody named, never reach the page
        assert answer.json() == {"suggestions": [suggestion("Q")]}
        asked = [body for body in scoring.received if body and "params" in body]
        answer_with(scoring, reply("shown", suggestion("R")))
        assert ask(rater, task).json() == answer.json()
        rater.decide(task, "pilot-0-0", "Q", copilot={"shown": True, "accepted": True})
    (request,) = asked
    context = request["params"]["context"]["copilot"]
    assert (context["span_id"], context["rev"], context["conversation"]) == ("pilot-0-0", 1, "pilot")
    # the model gets what the rater may see, no more
    sent = json.dumps(request["tasks"])
    assert "pilot-text-1-" in sent
    assert not [index for index in ("2", "3", "4", "5", "metadata") if f"pilot-text-{index}-" in sent]
    assert "annotations" not in request["tasks"][0]
    (row,) = projects.log(project)
    assert (row["arm"], row["model"], row["prompt_version"]) == ("shown", "stub", "v1")
    assert row["suggestions"] == [suggestion("Q")]
    assert (row["withheld"], row["shown"], row["accepted"]) == ([], True, True)


def test_control_abstention_and_failures_are_one_to_a_rater(
    projects: Projects, project: Project, scoring: Recording
) -> None:
    (task,) = project.tasks
    replies = {
        "control": reply("control", withheld=(suggestion("Q"),)),
        # a scoring server that errs on the side of showing is overruled
        "control, leaking": reply("control", suggestion("Q"), withheld=(suggestion("Q"),)),
        "abstention": reply("none"),
        "unknown label": reply("shown", suggestion("X")),
        "unknown arm": reply("treatment", suggestion("Q")),
        "no results": {"results": []},
        "garbage": {"results": [{"copilot": "x"}]},
        "nothing": {},
    }
    seen = set()
    with signed_in(project, 0, 1) as raters:
        for number, document in enumerate(replies.values()):
            answer_with(scoring, document)
            rater = raters[number // 6]
            span_id = f"pilot-{number % 6 // 2}-{number % 2}"
            for _ in range(2):
                answer = ask(rater, task, span_id)
                headers = {name for name in answer.headers if name != "date"}
                seen.add((answer.status_code, answer.text, tuple(sorted(headers)), len(answer.content)))
            # asked for every time, or the time of the second answer would tell control units
            assert len([body for body in scoring.received if body and "params" in body]) == 2
            rater.decide(task, span_id, "R", copilot={"shown": True, "accepted": True})
    ((status, text, *_),) = seen
    assert (status, json.loads(text)) == (httpx.codes.OK, {"suggestions": []})
    rows = projects.log(project)
    assert [row["arm"] for row in rows] == ["control"] * 2 + ["none"] * 6
    assert [row["withheld"] for row in rows[:2]] == [[suggestion("Q")], [suggestion("Q")]]
    assert {(row["shown"], row["accepted"]) for row in rows} == {(False, None)}
    assert {str(row["suggestions"]) for row in rows} == {"[]"}


def test_a_control_unit_stays_one(projects: Projects, project: Project, scoring: Recording) -> None:
    (task,) = project.tasks
    answer_with(scoring, reply("control", withheld=(suggestion("Q"),)))
    with signed_in(project, 0) as (rater,):
        ask(rater, task)
        answer_with(scoring, reply("shown", suggestion("R")))
        assert ask(rater, task).json() == {"suggestions": []}
    assert projects.log(project)[0]["arm"] == "control"


def test_a_scoring_server_that_does_not_answer_keeps_nobody_waiting(
    projects: Projects, project: Project, scoring: Recording
) -> None:
    (task,) = project.tasks
    hasty = {**project.study["copilot"], "wait_seconds": 0.2}
    assert projects.store(project, {**project.study, "copilot": hasty}).status_code == httpx.codes.OK
    answer_with(scoring, reply("shown", suggestion("Q")))
    scoring.open.clear()
    with signed_in(project, 0) as (rater,):
        assert ask(rater, task).json() == {"suggestions": []}
        assert not scoring.open.is_set()
        assert projects.log(project)[0]["arm"] == "none"
        scoring.open.set()
        assert ask(rater, task).json() == {"suggestions": [suggestion("Q")]}
    assert projects.log(project)[0]["arm"] == "shown"


def test_a_decision_made_while_a_suggestion_is_on_its_way_keeps_its_row(
    projects: Projects, project: Project, scoring: Recording
) -> None:
    (task,) = project.tasks
    answer_with(scoring, reply("shown", suggestion("Q")))
    scoring.open.clear()
    with signed_in(project, 0, 0) as (rater, other), ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, other, task)
        while not scoring.received:
            time.sleep(0.01)
        rater.decide(task, "pilot-0-0", "R", note="first", ms=900)
        scoring.open.set()
        assert asking.result().json() == {"suggestions": [suggestion("Q")]}
    (row,) = projects.log(project)
    assert (row["labels"], row["first_ms"], row["shown"], row["arm"]) == ({"intent": "R"}, 900, False, "shown")


def test_units_out_of_sight_have_no_suggestion(project: Project, scoring: Recording) -> None:
    (task,) = project.tasks
    answer_with(scoring, reply("shown", suggestion("Q")))
    with signed_in(project, 0) as (rater,):
        early, unknown = ask(rater, task, "pilot-2-0"), ask(rater, task, "no-such-unit")
    assert (early.status_code, early.json()) == (unknown.status_code, unknown.json())
    assert early.json()["code"] == "stale_unit"
    assert not [body for body in scoring.received if body and "params" in body]
