import base64
import json
import subprocess
import sys

import pytest

import importers
from convolabel.errors import InputError, RemoteError
from importers.connection import UnreachableError, connect
from importers.retrying_client import ATTEMPTS, RetryingClient
from tests.importers.scripted_server import RESET, VERSION, Answer, serving

LEGACY = "feedfeedfeedfeedfeedfeedfeedfeedfeedfeed"
WHOAMI = "/api/current-user/whoami"
REFRESH = "/api/token/refresh/"
PROJECTS = "/api/projects/"


def personal_token() -> str:
    part = base64.urlsafe_b64encode(json.dumps({"token_type": "refresh", "exp": 4102444800}).encode()).decode()
    return f"{part}.{part}.signature"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryingClient, "longest_pause", 0.0)


def said(url: str, token: str) -> str:
    with pytest.raises(RemoteError) as caught:
        connect(url, token)
    assert token not in str(caught.value)
    return str(caught.value)


def test_a_legacy_token_goes_along_as_it_is() -> None:
    with serving({}) as script, connect(script.url, f" {LEGACY}\n") as connection:
        assert (connection.release, connection.plugin) == ("1.23.2", None)
        assert script.seen[0] == ("GET", "/api/version", "")
        assert script.seen[1] == ("GET", WHOAMI, f"Token {LEGACY}")


def test_the_plugin_is_found_by_its_ping() -> None:
    with (
        serving({"/convolabel/api/ping": [(200, {"convolabel": "0.1.0"})]}) as script,
        connect(script.url, LEGACY) as connection,
    ):
        assert connection.plugin == "0.1.0"


def test_a_personal_token_buys_a_new_access_token_when_the_old_one_expires() -> None:
    token = personal_token()
    version: list[Answer] = [(200, {"n": 1}), (401, {"detail": "expired"}), (200, {"n": 2})]
    with serving({"/api/x": version}) as script, connect(script.url, token) as connection:
        assert [connection.get("/api/x")["n"] for _ in range(2)] == [1, 2]
        assert script.bodies[REFRESH] == [{"refresh": token}] * 2
        used = [authorization for _, path, authorization in script.seen if path == "/api/x"]
        assert used == ["Bearer access-1", "Bearer access-1", "Bearer access-2"]


def test_the_sdk_uses_the_same_tokens() -> None:
    projects: list[Answer] = [(401, {}), (200, {"count": 0, "results": []})]
    with serving({PROJECTS: projects}) as script, connect(script.url, personal_token()) as connection:
        assert list(connection.sdk.projects.list()) == []
        assert script.paths().count(REFRESH) == 2


def test_one_refresh_per_request_then_a_clear_refusal() -> None:
    with serving({"/api/x": [(401, {"detail": "no"})]}) as script, connect(script.url, personal_token()) as connection:
        before = script.paths().count(REFRESH)
        with pytest.raises(RemoteError, match=rf"{script.url} refused the token \(401\)"), connection.answering("look"):
            connection.get("/api/x")
        assert script.paths().count(REFRESH) - before == 1


@pytest.mark.parametrize("token", [LEGACY, personal_token()])
def test_a_wrong_token_is_told_without_being_shown(token: str) -> None:
    refusing: dict[str, list[Answer]] = {WHOAMI: [(401, {"detail": token})], REFRESH: [(401, {"detail": token})]}
    with serving(refusing) as script:
        message = said(script.url, token)
    assert "refused the token" in message
    assert script.url in message


def test_503_twice_then_the_answer() -> None:
    with serving({WHOAMI: [(503, ""), (503, ""), (200, {})]}) as script, connect(script.url, LEGACY):
        assert script.paths().count(WHOAMI) == 3


def test_503_for_good_ends_after_some_attempts() -> None:
    with serving({WHOAMI: [(503, "")]}) as script:
        assert "not available (503)" in said(script.url, LEGACY)
        assert script.paths().count(WHOAMI) == ATTEMPTS


@pytest.mark.parametrize("status", [400, 404, 409, 429, 500, 501])
def test_other_failures_are_not_repeated(status: int) -> None:
    with serving({WHOAMI: [(status, {"detail": "no"})]}) as script:
        said(script.url, LEGACY)
        assert script.paths().count(WHOAMI) == 1


def test_a_reset_while_reading_is_repeated() -> None:
    with serving({WHOAMI: [RESET, (200, {})]}) as script, connect(script.url, LEGACY):
        assert script.paths().count(WHOAMI) == 2


@pytest.mark.parametrize("failure", [RESET, (502, ""), (504, "")])
def test_a_post_that_may_have_been_carried_out_is_never_repeated(failure: Answer) -> None:
    path = "/api/projects/3/import"
    with serving({path: [failure]}) as script, connect(script.url, LEGACY) as connection:
        with pytest.raises(UnreachableError), connection.answering("import"):
            connection.sdk.projects.import_tasks(3, request=[])
        assert script.paths().count(path) == 1


@pytest.mark.parametrize("answer", [(200, {}), (200, "<html></html>"), (200, []), (404, "<html></html>")])
def test_something_else_than_label_studio_is_named(answer: Answer) -> None:
    with serving({"/api/version": [answer]}) as script:
        assert said(script.url, LEGACY) == f"{script.url} is not a Label Studio server; check the address."
        assert script.paths() == ["/api/version"]


def test_a_redirect_names_the_other_address() -> None:
    with serving({"/api/version": [(301, "")]}) as script:
        assert "redirects to https://elsewhere.example/" in said(script.url, LEGACY)


def test_nobody_listening() -> None:
    with serving({}) as script:
        url = script.url
    assert f"the connection to {url} failed" in said(url, LEGACY)


@pytest.mark.parametrize("token", ["", "  ", "a\nb", "schlüssel"])
def test_no_usable_token_is_an_input_error(token: str) -> None:
    with pytest.raises(InputError, match="LABEL_STUDIO_API_KEY"):
        connect("http://127.0.0.1:1", token)


def test_an_address_with_a_password_is_never_used_nor_shown() -> None:
    with pytest.raises(InputError) as caught:
        connect("http://ana:geheim@127.0.0.1:1", LEGACY)
    assert "geheim" not in str(caught.value)


def test_an_address_that_is_none_is_an_input_error() -> None:
    with pytest.raises(InputError, match="is not an address"):
        connect("localhost", LEGACY)


def test_a_reason_is_quoted_only_where_it_cannot_hold_conversation_text() -> None:
    body = {"detail": "Validation error", "validation_errors": {"title": ["too long."]}}
    with serving({"/api/x": [(400, body)]}) as script, connect(script.url, LEGACY) as connection:
        with pytest.raises(RemoteError, match=r"refused it \(400\): title: too long\.$"), connection.answering("save"):
            connection.get("/api/x")
        with pytest.raises(RemoteError, match=r"refused it \(400\)\.$"), connection.answering("save", quote=False):
            connection.get("/api/x")


def test_a_path_before_label_studio_is_kept() -> None:
    prefixed: dict[str, list[Answer]] = {
        "/ls/api/version": [(200, VERSION)],
        f"/ls{WHOAMI}": [(200, {})],
        f"/ls{REFRESH}": [(200, {"access": "a"})],
        f"/ls{PROJECTS}": [(200, {"count": 0, "results": []})],
    }
    with serving(prefixed) as script, connect(f"{script.url}/ls/", personal_token()) as connection:
        assert list(connection.sdk.projects.list()) == []


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in importers.__all__ if getattr(importers, name).__name__ != name] == []
    with pytest.raises(AttributeError):
        _ = importers.nothing_of_the_kind


def test_importing_the_room_loads_no_sdk() -> None:
    code = "import importers, sys; print([n for n in ('label_studio_sdk', 'httpx', 'tenacity') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_without_the_sdk_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['label_studio_sdk'] = None\n"
        "from convolabel import MissingExtraError\n"
        "try:\n    from importers import connect\nexcept MissingExtraError as error:\n    print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'convolabel[importers]'" in ran.stdout, ran.stderr
