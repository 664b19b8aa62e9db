"""The same, against a Label Studio with the plugin: accounts, and the log joined to the votes."""

from collections.abc import Iterator

import httpx
import pytest

from convolabel import Study
from importers import Connection, connect, create_study, export_votes, import_conversations, progress_of
from tests.importers.two_unit_study import conversation, small_study
from tests.label_studio_server import LabelStudioServer

pytestmark = pytest.mark.studio


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudioServer]:
    pytest.importorskip("label_studio")
    with LabelStudioServer(tmp_path_factory.mktemp("plugin") / "data", plugin=True) as running:
        yield running


@pytest.fixture
def connection(server: LabelStudioServer) -> Iterator[Connection]:
    with connect(server.url, server.token) as opened:
        yield opened


def token_of(server: LabelStudioServer, email: str) -> str:
    code = """
from rest_framework.authtoken.models import Token
from users.models import User
result(Token.objects.get_or_create(user=User.objects.get(email=email))[0].key)
"""
    return str(server.orm(code, email=email))


def can_sign_in(server: LabelStudioServer, email: str, password: str) -> bool:
    with httpx.Client(base_url=server.url) as browser:
        browser.get("/user/login/")
        form = {"email": email, "password": password, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        answer = browser.post("/user/login/", data=form, headers={"Referer": f"{server.url}/user/login/"})
        return answer.status_code == httpx.codes.FOUND


def test_raters_get_accounts_once_and_their_votes_come_out_with_the_log(
    server: LabelStudioServer, connection: Connection
) -> None:
    assert connection.plugin
    study: Study = small_study()
    first = create_study(study, connection, passwords={"ana@example.com": "anas-own-password"})
    assert first.missing is None
    assert set(first.passwords) == {"ana@example.com", "ben@example.com"}
    assert first.passwords["ana@example.com"] == "anas-own-password"
    assert first.passwords["ben@example.com"] not in repr(first)
    assert all(can_sign_in(server, email, password) for email, password in first.passwords.items())
    assert create_study(study, connection).passwords == {}

    import_conversations(study, [conversation("x")], connection)
    page = connection.get("/api/tasks", project=first.project_id, fields="all")
    path = f"{server.url}/convolabel/api/tasks/{page['tasks'][0]['id']}/units/x-1"
    decision = {
        "rev": 1,
        "labels": {"act": "Q", "tone": "unsure"},
        "note": "na ja",
        "base": 0,
        "client": "a-page",
        "seq": 1,
        "ms": 1830,
        "copilot": {"shown": False, "accepted": False},
    }
    authorization = {"Authorization": f"Token {token_of(server, 'ana@example.com')}"}
    httpx.put(path, json=decision, headers=authorization, timeout=60).raise_for_status()

    act, tone = list(export_votes(study, connection))
    assert (act.rater_name, act.span_id, act.category, act.note, act.time_ms) == ("Ana", "x-1", "Q", "na ja", 1830)
    assert (tone.category, tone.unsure, tone.time_ms) == (None, True, 1830)
    # nobody asked the co-pilot: the study has none
    assert (act.copilot_label, act.copilot_accepted) == (None, None)
    progress = [(row.rater, row.decided, str(row.status)) for row in progress_of(study, connection)]
    assert progress == [("ana@example.com", 1, "in_progress"), ("ben@example.com", 0, "pending")]
