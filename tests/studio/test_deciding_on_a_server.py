"""Decisions of raters end as native results; the reveal, the conflicts and the refusals of the API."""

import json
from typing import Any

import httpx
import pytest

from tests.studio.studio_projects import Projects, conversation, signed_in

pytestmark = pytest.mark.studio


def by_unit(results: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        found.setdefault(result["id"], []).append(result)
    return found


def test_a_decision_ends_as_native_results_of_one_id(projects: Projects) -> None:
    project = projects.make([conversation("native")])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        answer = rater.decide(task, "native-0-1", "R", note="why 😀\nso", ms=1830)
        assert answer["unit"] == {
            "span_id": "native-0-1",
            "rev": 1,
            "labels": {"intent": "R"},
            "note": "why 😀\nso",
            "version": 1,
        }
        assert answer["progress"] == {"decided": 1, "total": 6, "status": "in_progress"}
        assert rater.unit(task, "native-0-1")["note"] == "why 😀\nso"
    (draft,) = projects.drafts(task)
    units = by_unit(draft["result"])
    # every unit has its region, also those that nobody has decided
    assert {name: [result["type"] for result in results] for name, results in units.items()} == {
        **{f"native-{turn}-{unit}": ["paragraphlabels"] for turn in range(3) for unit in range(2)},
        "native-0-1": ["paragraphlabels", "choices", "textarea"],
    }
    region, choice, note = units["native-0-1"]
    # `native-text-1- 😀. ` is 18 code points; the browser counts the emoji twice: [19, 19 + 18) in UTF-16
    assert (region["value"]["startOffset"], region["value"]["endOffset"]) == (19, 37)
    assert choice["value"]["choices"] == ["R"]
    assert note["value"]["text"] == ["why 😀\nso"]
    assert draft["lead_time"] == pytest.approx(1.83)


def test_label_studios_own_export_shows_the_decisions(projects: Projects) -> None:
    project = projects.make([conversation("export", turns=1)])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        rater.decide(task, "export-0-0", "Q")
        rater.decide(task, "export-0-1", "unsure", note="n")
        assert rater.finish(task).status_code == httpx.codes.OK
    (exported,) = projects.export(project)
    (annotation,) = exported["annotations"]
    types = {name: [result["type"] for result in results] for name, results in by_unit(annotation["result"]).items()}
    assert types == {
        "export-0-0": ["paragraphlabels", "choices"],
        "export-0-1": ["paragraphlabels", "choices", "textarea"],
    }
    chosen = {result["id"]: result["value"].get("choices") for result in annotation["result"]}
    assert chosen["export-0-0"] == ["Q"]


def test_repeating_a_decision_changes_nothing(projects: Projects) -> None:
    project = projects.make([conversation("repeat")])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        body = rater.body("Q", note="once")
        first = rater.put(task, "repeat-0-0", body)
        (before,) = projects.drafts(task)
        again = rater.put(task, "repeat-0-0", body)
        assert (again.status_code, again.json()["unit"]) == (httpx.codes.OK, first.json()["unit"])
    (after,) = projects.drafts(task)
    assert after == before
    (row,) = projects.log(project)
    assert (row["first_ms"], row["later_ms"]) == (1000, None)


def test_the_log_row_of_a_unit(projects: Projects) -> None:
    project = projects.make([conversation("log")])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        rater.decide(task, "log-0-0", None, note="hm", ms=200)
        rater.decide(task, "log-0-0", "Q", note="hm", ms=300, base=1)
        rater.decide(task, "log-0-0", "R", note="", ms=70, base=2, copilot={"shown": True, "accepted": True})
        rater.decide(task, "log-0-1", "Q", ms="1830 ms")
    row, other = projects.log(project)
    assert (row["first_ms"], row["later_ms"]) == (500, 70)  # 200 + 300 before the first decision
    assert (row["first_labels"], row["labels"]) == ({"intent": "Q"}, {"intent": "R"})
    # nothing was ever served, so nothing was shown or accepted, whatever the page says
    assert (row["arm"], row["shown"], row["accepted"]) == ("", False, None)
    assert row["created_at"] < row["updated_at"]
    assert other["first_ms"] is None  # garbage is null, and the decision is kept
    assert other["labels"] == {"intent": "Q"}


def test_two_windows_conflict_and_converge(projects: Projects) -> None:
    project = projects.make([conversation("windows")])
    (task,) = project.tasks
    with signed_in(project, 0, 0) as (one, two):
        one.decide(task, "windows-0-0", "Q")
        refused = two.put(task, "windows-0-0", two.body("R", note="mine"))
        assert refused.status_code == httpx.codes.CONFLICT
        assert refused.json()["code"] == "conflict"
        current = refused.json()["unit"]
        assert current == {
            "span_id": "windows-0-0",
            "rev": 1,
            "labels": {"intent": "Q"},
            "note": "",
            "version": 1,
        }
        two.decide(task, "windows-0-0", "R", note="mine", base=current["version"])
        assert one.put(task, "windows-0-0", one.body("Q", base=1)).json()["unit"]["labels"] == {"intent": "R"}
        # other units are nobody's conflict
        one.decide(task, "windows-0-1", "Q")
    assert len(projects.drafts(task)) == 1


def test_a_page_overtakes_its_own_unanswered_write(projects: Projects) -> None:
    project = projects.make([conversation("overtake")])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        rater.decide(task, "overtake-0-0")
        held_up, newer = rater.body("Q"), rater.body("R")
        assert rater.put(task, "overtake-0-1", newer).json()["unit"]["labels"] == {"intent": "R"}
        late = rater.put(task, "overtake-0-1", held_up)
        assert (late.status_code, late.json()["unit"]["labels"]) == (httpx.codes.OK, {"intent": "R"})


def test_what_a_lost_answer_brought_into_view_comes_again(projects: Projects) -> None:
    project = projects.make([conversation("lost")])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        rater.decide(task, "lost-0-0")
        body = rater.body("Q")
        first = rater.put(task, "lost-0-1", body).json()
        assert [message["index"] for message in first["messages"]] == [2, 3]
        # the same request again, and a newer one of a page that never heard the first answer
        repeated = rater.put(task, "lost-0-1", body).json()
        newer = rater.put(task, "lost-0-1", rater.body("R", base=0)).json()
        for answer in (repeated, newer):
            assert answer["messages"] == first["messages"]
            assert [unit["span_id"] for unit in answer["units"]] == ["lost-1-0", "lost-1-1"]
        heard = rater.put(task, "lost-0-1", rater.body("Q", base=newer["unit"]["version"])).json()
        assert (heard["messages"], heard["units"]) == ([], [])


def test_reveal_turn_by_turn(projects: Projects) -> None:
    project = projects.make([conversation("turns")])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        opened = rater.open(task)
        assert [message["index"] for message in opened["messages"]] == [0, 1]
        assert opened["more_messages"] is True
        assert [unit["span_id"] for unit in opened["units"]] == ["turns-0-0", "turns-0-1"]
        # what is not visible cannot be decided, and the refusal tells nothing
        early = rater.put(task, "turns-1-0", rater.body())
        unknown = rater.put(task, "no-such-unit", rater.body())
        assert (early.status_code, early.json()) == (unknown.status_code, unknown.json())
        assert early.json()["code"] == "stale_unit"
        first = rater.decide(task, "turns-0-0")
        assert (first["messages"], first["units"], first["more_messages"]) == ([], [], True)
        second = rater.decide(task, "turns-0-1", "unsure")
        assert [message["index"] for message in second["messages"]] == [2, 3]
        assert "turns-text-4-" not in json.dumps(second)
        # what was seen stays seen when a decision is taken back
        assert rater.decide(task, "turns-0-1", None, base=1)["progress"]["decided"] == 1
        assert len(rater.open(task)["messages"]) == 4
        rater.decide_all(task)
        assert rater.open(task)["more_messages"] is False


def test_everything_is_visible_when_the_study_says_so(projects: Projects) -> None:
    project = projects.make([conversation("open")], visibility={"no_future_messages": False})
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        opened = rater.open(task)
        assert (len(opened["messages"]), len(opened["units"]), opened["more_messages"]) == (6, 6, False)
        assert rater.decide(task, "open-2-1")["messages"] == []


def test_a_decision_on_another_revision_is_stale(projects: Projects) -> None:
    project = projects.make([conversation("stale")])
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        refused = rater.put(task, "stale-0-0", rater.body(rev=2))
        assert (refused.status_code, refused.json()["code"]) == (httpx.codes.CONFLICT, "stale_unit")
        assert rater.open(task)["progress"]["status"] == "pending"
    assert projects.drafts(task) == []
    assert projects.log(project) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": {"intent": "X"}},
        {"labels": {"unit": "unit"}},
        {"labels": {"intent": ["Q"]}},
        {"labels": None},
        {"rev": "1"},
        {"rev": 0},
        {"base": -1},
        {"seq": 0},
        {"seq": 2**53},
        {"client": ""},
        {"client": "x" * 65},
        {"client": "a\u0000b"},
        {"note": "x" * 4001},
        {"note": "a\u0000b"},
        {"note": None},
        {"extra": 1},
        {"copilot": {"shown": "yes"}},
    ],
)
def test_a_malformed_decision_is_refused_whole(projects: Projects, wrong: dict[str, Any]) -> None:
    project = projects.make([conversation("malformed", turns=1)], raters=1)
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        refused = rater.put(task, "malformed-0-0", rater.body() | wrong)
        assert (refused.status_code, refused.json()["code"]) == (httpx.codes.BAD_REQUEST, "invalid")
        assert rater.open(task)["progress"]["status"] == "pending"
    assert projects.log(project) == []


@pytest.mark.parametrize("content", [b"{", b"[]", b"", b'{"rev": NaN}', b'{"note": "\\ud800"}', b"\xff"])
def test_what_is_not_a_decision_is_refused_in_the_apis_own_form(projects: Projects, content: bytes) -> None:
    project = projects.make([conversation("garbage", turns=1)], raters=1)
    (task,) = project.tasks
    with signed_in(project, 0) as (rater,):
        path = f"/convolabel/api/tasks/{task}/units/garbage-0-0"
        refused = rater.request("PUT", path, content=content, headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.json()["code"]) == (httpx.codes.BAD_REQUEST, "invalid")
        assert set(refused.json()) == {"error", "code"}


def test_unknown_conversations_are_not_found_in_the_apis_own_form(projects: Projects) -> None:
    mine = projects.make([conversation("mine")])
    other = projects.make([conversation("other")])
    with signed_in(mine, 0) as (rater,):
        for task in (10**6, 10**30, other.tasks[0]):
            answers = [
                rater.get(f"/convolabel/api/tasks/{task}"),
                rater.put(task, "other-0-0", rater.body()),
                rater.finish(task),
                rater.post(f"/convolabel/api/tasks/{task}/units/other-0-0/suggestion", json={"rev": 1}),
            ]
            assert {answer.status_code for answer in answers} == {404}
            assert {answer.json()["code"] for answer in answers} == {"not_found"}


def test_span_ids_with_special_characters(projects: Projects) -> None:
    data = conversation("special", turns=1)
    names = ["a/b suggestion?#%", "ä+b/suggestion"]
    spans = tuple(span.model_copy(update={"span_id": name}) for span, name in zip(data.spans, names, strict=True))
    project = projects.make([data.model_copy(update={"spans": spans})])
    (task,) = project.tasks
    quoted = ["a%2Fb%20suggestion%3F%23%25", "%C3%A4%2Bb%2Fsuggestion"]
    with signed_in(project, 0) as (rater,):
        for name, path in zip(names, quoted, strict=True):
            assert rater.decide(task, path)["unit"]["span_id"] == name
        assert rater.open(task)["progress"]["status"] == "done"
