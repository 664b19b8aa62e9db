"""Create, import, export and progress against a real, stock Label Studio."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from convolabel import Conversation, Study, read_conversations, task_data
from convolabel.credentials import Credentials
from convolabel.errors import InputError, RemoteError
from convolabel.native_regions import COPILOT_TITLE, UNITS_VERSION, choice_result, note_result, unit_region
from importers import Connection, Created, connect, create_study, export_votes, import_conversations, progress_of
from tests.importers.scripted_server import serving
from tests.importers.two_unit_study import CODEBOOK, conversation
from tests.label_studio_server import LabelStudioServer

pytestmark = pytest.mark.studio
SAMPLE = Path(__file__).resolve().parents[2] / "convolabel" / "sample" / "conversations.json"
CREDENTIALS = Credentials("scorer", "scorer-password")


@pytest.fixture(scope="session")
def people(label_studio: LabelStudioServer) -> dict[str, dict[str, Any]]:
    names = ("ana", "ben", "guest")
    return {name: label_studio.add_user(f"{name}@example.com", f"{name}-password-1") for name in names}


@pytest.fixture
def connection(label_studio: LabelStudioServer) -> Iterator[Connection]:
    with connect(label_studio.url, label_studio.token) as opened:
        yield opened


@pytest.fixture
def study() -> Study:
    """A study of its own for every test: they share the server."""
    raters = [{"email": "ana@example.com", "name": "Ana"}, {"email": "ben@example.com"}]
    return Study.model_validate({"study": f"s-{uuid.uuid4().hex[:12]}", "codebook": CODEBOOK, "raters": raters})


@pytest.fixture
def created(study: Study, connection: Connection) -> Created:
    return create_study(study, connection)


def tasks(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = connection.get("/api/tasks", project=project_id, fields="all", page_size=500)["tasks"]
    return found


def as_rater(
    label_studio: LabelStudioServer, who: dict[str, Any], path: str, results: list[dict[str, Any]]
) -> dict[str, Any]:
    """Post a draft or an annotation as a rater's browser does."""
    response = httpx.post(
        f"{label_studio.url}{path}",
        headers={"Authorization": f"Token {who['token']}"},
        json={"result": results, "lead_time": 1},
        timeout=60,
    )
    response.raise_for_status()
    posted: dict[str, Any] = response.json()
    return posted


def coded(subject: Conversation, *labels: tuple[str, str], note: str = "") -> list[dict[str, Any]]:
    """All regions, and the labels (act, tone) of the first units."""
    data = task_data(subject, "any")
    results = [unit_region(data, span) for span in data.spans]
    for span, (act, tone) in zip(data.spans, labels, strict=False):
        results += [choice_result(data, span, "act", [act]), choice_result(data, span, "tone", [tone])]
    return [*results, note_result(data, data.spans[0], note)] if note else results


def test_creating_twice_makes_one_project_as_the_study_wants_it(study: Study, connection: Connection) -> None:
    first, second = create_study(study, connection), create_study(study, connection)
    assert (first.is_new, second.is_new, second.changed) == (True, False, ())
    assert first.project_id == second.project_id
    assert first.passwords == {}
    assert "without the convolabel plugin" in (first.missing or "")
    project = connection.sdk.projects.get(first.project_id)
    assert (project.maximum_annotations, project.sampling) == (2, "Sequential sampling")
    assert (project.show_skip_button, project.enable_empty_annotation) == (False, False)
    assert (project.show_collab_predictions, project.model_version) == (True, UNITS_VERSION)
    assert len(connection.sdk.views.list(project=first.project_id)) == 1


def test_a_project_is_found_by_its_marker_not_by_its_title(study: Study, connection: Connection) -> None:
    connection.sdk.projects.create(title=study.study, description=f"about convolabel study: {study.study}")
    created = create_study(study, connection)
    connection.sdk.projects.update(
        created.project_id, title="Renamed", description=f"mine\nconvolabel study: {study.study}\n"
    )
    again = create_study(study, connection)
    assert (again.project_id, again.changed) == (created.project_id, ("title",))


def test_two_projects_that_claim_a_study_are_told(study: Study, connection: Connection, created: Created) -> None:
    connection.sdk.projects.create(title="copy", description=f"convolabel study: {study.study}")
    with pytest.raises(RemoteError, match="both say"):
        create_study(study, connection)


def test_a_personal_token_works_for_all_of_it(label_studio: LabelStudioServer, study: Study) -> None:
    with connect(label_studio.url, label_studio.personal_token()) as connection:
        create_study(study, connection)
        assert import_conversations(study, [conversation("p")], connection).created == ("p",)
        assert list(export_votes(study, connection)) == []


def test_wrong_tokens_are_refused(label_studio: LabelStudioServer) -> None:
    for token in ("f" * 40, "a.b.c"):
        with pytest.raises(RemoteError, match="refused the token"):
            connect(label_studio.url, token)


def test_the_sample_arrives_byte_exact_with_its_frozen_units(
    study: Study, connection: Connection, created: Created
) -> None:
    sample = read_conversations([SAMPLE]).conversations
    done: list[tuple[int, int]] = []
    first = import_conversations(study, sample, connection, progress=lambda *figures: done.append(figures))
    second = import_conversations(study, sample, connection)
    assert first.created == second.unchanged == tuple(item.id for item in sample)
    assert (first.unchanged, second.created, done) == ((), (), [(len(sample), len(sample))])
    found = tasks(connection, created.project_id)
    for task, item in zip(found, sample, strict=True):
        data = task_data(item, study.study)
        assert task["data"] == data.model_dump(mode="json")
        assert [prediction["result"] for prediction in task["predictions"]] == [
            [unit_region(data, span) for span in data.spans]
        ]
        assert task["overlap"] == 2


def test_before_create_nothing_can_be_imported(study: Study, connection: Connection) -> None:
    with pytest.raises(InputError, match="convolabel create"):
        import_conversations(study, [conversation("x")], connection)


def test_a_changed_text_replaces_data_and_units_while_nobody_has_begun(
    study: Study, connection: Connection, created: Created
) -> None:
    import_conversations(study, [conversation("x")], connection)
    changed = conversation("x", text="Nun 👍🏽 weiter so. Wie nun?", label="New")
    assert import_conversations(study, [changed], connection).updated == ("x",)
    assert import_conversations(study, [changed], connection).unchanged == ("x",)
    (task,) = tasks(connection, created.project_id)
    data = task_data(changed, study.study)
    assert task["data"] == data.model_dump(mode="json")
    assert [prediction["result"] for prediction in task["predictions"]] == [
        [unit_region(data, span) for span in data.spans]
    ]


@pytest.mark.parametrize("kind", ["drafts", "annotations"])
def test_a_changed_text_is_refused_once_anybody_has_worked_on_it(
    kind: str,
    study: Study,
    connection: Connection,
    created: Created,
    label_studio: LabelStudioServer,
    people: dict[str, dict[str, Any]],
) -> None:
    import_conversations(study, [conversation("x")], connection)
    (task,) = tasks(connection, created.project_id)
    path = f"/api/tasks/{task['id']}/{kind}?project={created.project_id}"
    as_rater(label_studio, people["guest"], path, coded(conversation("x"), ("Q", "w")))
    changed = [conversation("x", text="Nun 👍🏽 weiter so. Wie nun?"), conversation("y")]
    with pytest.raises(InputError, match="raters have worked on it"):
        import_conversations(study, changed, connection)
    assert [task["data"]["id"] for task in tasks(connection, created.project_id)] == ["x"]
    skipping = import_conversations(study, changed, connection, skip_invalid=True)
    assert (skipping.created, [refused.item_id for refused in skipping.refused]) == (("y",), ["x"])
    relabelled = import_conversations(study, [conversation("x", label="Label only")], connection)
    assert relabelled.updated == ("x",)
    assert tasks(connection, created.project_id)[0]["data"]["label"] == "Label only"


def test_an_interrupted_import_continues(
    study: Study, connection: Connection, created: Created, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importers.conversations.CHUNK_TASKS", 2)
    items = [conversation(f"x{number}") for number in range(5)]

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_conversations(study, items, connection, progress=interrupt)
    again = import_conversations(study, iter(items), connection)
    assert (again.unchanged, again.created) == (("x0", "x1"), ("x2", "x3", "x4"))
    assert [task["data"]["id"] for task in tasks(connection, created.project_id)] == [item.id for item in items]


def test_an_item_that_stands_twice_stops_the_import(study: Study, connection: Connection, created: Created) -> None:
    import_conversations(study, [conversation("x")], connection)
    (task,) = tasks(connection, created.project_id)
    connection.sdk.tasks.create(project=created.project_id, data=task["data"])
    with pytest.raises(RemoteError, match="stands twice"):
        import_conversations(study, [conversation("x")], connection)


def test_votes_of_drafts_and_annotations_come_out_in_order(
    study: Study,
    connection: Connection,
    created: Created,
    label_studio: LabelStudioServer,
    people: dict[str, dict[str, Any]],
) -> None:
    subjects = [conversation("x"), conversation("y")]
    import_conversations(study, subjects, connection)
    first, second = (f"/api/tasks/{task['id']}" for task in tasks(connection, created.project_id))
    project = f"?project={created.project_id}"
    ben, ana, guest = people["ben"], people["ana"], people["guest"]
    as_rater(label_studio, ben, f"{first}/annotations{project}", coded(subjects[0], ("S", "c"), ("S", "unsure")))
    as_rater(label_studio, guest, f"{first}/annotations{project}", coded(subjects[0], ("S", "c"), ("S", "c")))
    as_rater(label_studio, guest, f"{second}/drafts{project}", coded(subjects[1], ("S", "c")))
    as_rater(label_studio, ana, f"{second}/drafts{project}", coded(subjects[1], ("Q", "w"), note="na ja"))
    submitted = as_rater(label_studio, ana, f"{first}/annotations{project}", coded(subjects[0], ("Q", "w"), ("Q", "w")))
    edit = f"{first}/annotations/{submitted['id']}/drafts{project}"
    as_rater(label_studio, ana, edit, coded(subjects[0], ("S", "w"), ("Q", "w")))

    export = export_votes(study, connection)
    rows = list(export)
    assert [(row.conversation_id, row.rater_name, row.span_id, row.dimension, row.category) for row in rows] == [
        ("x", "Ana", "x-1", "act", "S"),  # the draft that edits her annotation
        ("x", "Ana", "x-1", "tone", "w"),
        ("x", "Ana", "x-2", "act", "Q"),
        ("x", "Ana", "x-2", "tone", "w"),
        ("x", "ben@example.com", "x-1", "act", "S"),
        ("x", "ben@example.com", "x-1", "tone", "c"),
        ("x", "ben@example.com", "x-2", "act", "S"),
        ("x", "ben@example.com", "x-2", "tone", None),
        ("y", "Ana", "y-1", "act", "Q"),
        ("y", "Ana", "y-1", "tone", "w"),
    ]
    assert {row.rater_id for row in rows} == {str(ana["id"]), str(ben["id"])}
    assert (rows[7].unsure, rows[8].note, rows[8].span_text) == (True, "na ja", "Gut 👍🏽 weiter so.")
    assert export.report.aside.superseded == 1
    assert sum(export.report.aside.others.values()) == 2
    assert len(export.report.sentences()) == 2

    table = [
        (row.conversation_id, row.rater, row.decided, str(row.status), row.is_submitted)
        for row in progress_of(study, connection)
    ]
    assert table == [
        ("x", "ana@example.com", 2, "done", False),
        ("x", "ben@example.com", 2, "done", True),
        ("y", "ana@example.com", 1, "in_progress", False),
        ("y", "ben@example.com", 0, "pending", False),
    ]


def test_categories_that_have_been_worked_with_cannot_be_taken_away(
    study: Study,
    connection: Connection,
    created: Created,
    label_studio: LabelStudioServer,
    people: dict[str, dict[str, Any]],
) -> None:
    document = json.loads(study.codebook.model_dump_json())
    document["dimensions"][0]["categories"][0] = {"id": "N", "name": "New"}
    changed = Study.model_validate({**study.model_dump(), "codebook": document})
    import_conversations(study, [conversation("x")], connection)
    (task,) = tasks(connection, created.project_id)
    draft = f"/api/tasks/{task['id']}/drafts?project={created.project_id}"
    as_rater(label_studio, people["ana"], draft, coded(conversation("x"), ("Q", "w")))
    with pytest.raises(InputError, match="no act/Q any more"):
        create_study(changed, connection)
    connection.sdk.tasks.delete(str(task["id"]))
    assert create_study(changed, connection).changed == ("label_config",)


def with_copilot(study: Study, url: str) -> Study:
    return Study.model_validate({**study.model_dump(), "copilot": {"url": url}})


def test_the_copilot_is_connected_once(study: Study, connection: Connection) -> None:
    answers: dict[str, Any] = {"/health": [(200, {"status": "UP"})], "/setup": [(200, {"model_version": "m"})]}
    with serving(answers) as scorer:
        wanted = with_copilot(study, scorer.url)
        create_study(wanted, connection, copilot_credentials=CREDENTIALS)
        created = create_study(wanted, connection, copilot_credentials=CREDENTIALS)
        (backend,) = connection.sdk.ml.list(project=created.project_id)
        assert (backend.title, backend.url, backend.is_interactive) == (COPILOT_TITLE, scorer.url, False)
        basic = httpx.BasicAuth(CREDENTIALS.user, CREDENTIALS.password)._auth_header
        assert {sent for _, path, sent in scorer.seen if path == "/setup"} == {basic}
        create_study(study, connection)
        assert connection.sdk.ml.list(project=created.project_id) == []


def test_a_copilot_that_is_not_up_leaves_everything_else_done(study: Study, connection: Connection) -> None:
    with serving({}) as scorer:
        url = scorer.url
    with pytest.raises(RemoteError, match=f"could not reach the scoring server at {url}"):
        create_study(with_copilot(study, url), connection, copilot_credentials=CREDENTIALS)
    with pytest.raises(InputError, match="CONVOLABEL_COPILOT_USER"):
        create_study(with_copilot(study, url), connection)
    again = create_study(study, connection)
    assert (again.is_new, again.changed) == (False, ())
    assert connection.sdk.ml.list(project=again.project_id) == []


@pytest.mark.parametrize(
    "environment",
    [
        {"LABEL_STUDIO_SSRF_PROTECTION_ENABLED": "true", "LABEL_STUDIO_ML_BLOCK_LOCAL_IP": "true"},
        {"LABEL_STUDIO_SSRF_PROTECTION_ENABLED": "true"},
    ],
)
def test_a_label_studio_that_blocks_loopback_is_told_what_to_set(
    environment: dict[str, str], study: Study, tmp_path: Path
) -> None:
    with (
        serving({"/health": [(200, {})], "/setup": [(200, {"model_version": "m"})]}) as scorer,
        LabelStudioServer(tmp_path / "data", environment=environment) as server,
        connect(server.url, server.token) as connection,
    ):
        with pytest.raises(RemoteError, match="LABEL_STUDIO_SSRF_PROTECTION_ENABLED=false"):
            create_study(with_copilot(study, scorer.url), connection, copilot_credentials=CREDENTIALS)
        assert connection.sdk.ml.list(project=create_study(study, connection).project_id) == []


def test_one_conversation_of_3000_messages(study: Study, connection: Connection, created: Created) -> None:
    messages = [
        {
            "speaker": "a",
            "content": f"Message {number}.",
            "labelable": True,
            "spans": [{"span_id": f"long-{number}", "start": 0, "end": 8}],
        }
        for number in range(3000)
    ]
    long = Conversation.model_validate({"id": "long", "content": {"messages": messages}})
    assert import_conversations(study, [long], connection).created == ("long",)
    assert import_conversations(study, [long], connection).unchanged == ("long",)
