"""Nothing a rater entered is lost: a killed server, many raters at once."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.label_studio_server import LabelStudioServer
from tests.studio.studio_projects import Project, Projects, Rater, conversation

pytestmark = pytest.mark.studio

RATERS, SECONDS = 5, 4
"""Small, for every run; the figures for 20 raters come from the benchmarks."""


@pytest.fixture(scope="module")
def own_projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Projects]:
    """On a server that may be killed."""
    with (
        LabelStudioServer(tmp_path_factory.mktemp("faults") / "data", plugin=True) as server,
        Projects(server) as projects,
    ):
        yield projects


def stored(projects: Projects, project: Project) -> dict[tuple[int, str], str]:
    """Rater and unit -> label in the native drafts; the log says the same."""
    log = {(row["rater"], row["span_id"]): row for row in projects.log(project)}
    found = {}
    for draft in projects.drafts(project.tasks[0]):
        for result in draft["result"]:
            if result["type"] == "choices":
                key = (draft["user_id"], result["id"])
                assert log[key]["labels"] == {"intent": result["value"]["choices"][0]}
                found[key] = result["value"]["choices"][0]
    assert set(found) == {key for key, row in log.items() if row["labels"]}
    return found


def test_a_kill_loses_no_acknowledged_write_and_resending_converges(own_projects: Projects) -> None:
    server = own_projects.server
    project = own_projects.make([conversation("killed", turns=1, units=60)], raters=3)
    (task,) = project.tasks
    raters = [project.sign_in(number) for number in range(3)]
    ids = [rater.open(task)["rater"] for rater in raters]
    acknowledged: dict[tuple[int, str], str] = {}
    unanswered: list[tuple[Rater, int, str, dict[str, Any]]] = []

    def stream(number: int) -> None:
        rater = raters[number]
        for unit in range(60):
            span_id, label = f"killed-0-{unit}", "QR"[unit % 2]
            body = rater.body(label)
            try:
                answer = rater.put(task, span_id, body)
            except httpx.TransportError:
                unanswered.append((rater, ids[number], span_id, body))
                continue
            assert answer.status_code == httpx.codes.OK
            acknowledged[ids[number], span_id] = label

    with ThreadPoolExecutor(3) as pool:
        streams = [pool.submit(stream, number) for number in range(3)]
        while len(acknowledged) < 40:
            time.sleep(0.005)
        server.kill()
        for each in streams:
            each.result()
    assert unanswered
    assert len(acknowledged) + len(unanswered) == 180
    server.restart()

    kept = stored(own_projects, project)
    assert acknowledged.items() <= kept.items()
    # what was on its way may have been taken whole, or not at all
    sent = {(rater_id, span_id): body["labels"]["intent"] for _, rater_id, span_id, body in unanswered}
    assert kept.items() <= (acknowledged | sent).items()
    for rater, _, span_id, body in unanswered:
        assert rater.put(task, span_id, body).status_code == httpx.codes.OK
    assert stored(own_projects, project) == acknowledged | sent
    for rater in raters:
        assert rater.open(task)["progress"] == {"decided": 60, "total": 60, "status": "done"}
        rater.close()


def test_many_raters_at_once_lose_nothing(own_projects: Projects) -> None:
    project = own_projects.make([conversation("crowd", turns=1, units=92)], raters=RATERS)
    (task,) = project.tasks
    raters = [project.sign_in(number) for number in range(RATERS)]

    def code(rater: Rater) -> set[str]:
        """One decision per second, as a person does."""
        done = set()
        for unit in range(SECONDS):
            started = time.monotonic()
            rater.decide(task, f"crowd-0-{unit}", "R")
            done.add(f"crowd-0-{unit}")
            time.sleep(max(0.0, started + 1 - time.monotonic()))
        return done

    with ThreadPoolExecutor(RATERS) as pool:
        done = list(pool.map(code, raters))
    kept = stored(own_projects, project)
    assert len(kept) == RATERS * SECONDS == sum(map(len, done))
    # each rater's units are their own
    assert {rater_id for rater_id, _ in kept} == {rater.open(task)["rater"] for rater in raters}
    for rater in raters:
        rater.close()


def test_two_windows_of_one_rater_writing_at_once_lose_nothing(own_projects: Projects) -> None:
    """Every unit is written by one of the two, so none may be refused, and none overwrites the other's."""
    project = own_projects.make([conversation("both", turns=1, units=40)], raters=1)
    (task,) = project.tasks
    windows = [project.sign_in(0, f"page-{number}") for number in range(2)]

    def code(number: int) -> None:
        for unit in range(number, 40, 2):
            windows[number].decide(task, f"both-0-{unit}", "QR"[number])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(code, range(2)))
    kept = stored(own_projects, project)
    assert {span_id: label for (_, span_id), label in kept.items()} == {
        f"both-0-{unit}": "QR"[unit % 2] for unit in range(40)
    }
    assert len(own_projects.drafts(task)) == 1
    for window in windows:
        window.close()
