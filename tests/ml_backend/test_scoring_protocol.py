"""Label Studio's ML protocol: routes, credentials, and what is refused."""

import json
import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from small_study import Clients, WordEmbedder, copilot_body, plain_body, study, talk

from convolabel.credentials import Credentials
from convolabel.errors import InputError
from convolabel.native_regions import UNITS_VERSION
from ml_backend.app import create_app

ROUTES = [
    ("GET", "/"),
    ("GET", "/health"),
    ("POST", "/setup"),
    ("POST", "/predict"),
    ("POST", "/webhook"),
    ("GET", "/versions"),
    ("POST", "/versions"),
    ("GET", "/nothing"),
]
SETUP = {
    "project": "12.1700000000",
    "schema": "<View/>",
    "hostname": "http://localhost:8080",
    "access_token": "legacy-token",
    "extra_params": None,
}


@pytest.mark.parametrize(("method", "route"), ROUTES)
@pytest.mark.parametrize(
    "header",
    [
        None,
        "Basic c3R1ZGlvOndyb25n",  # studio:wrong
        "Basic b3RoZXI6Y29ycmVjdCBob3JzZQ==",  # other:correct horse
        "Basic !!!",
        "Basic w7w6w7w=",  # ü:ü
        "Bearer correct horse",
    ],
)
def test_every_route_wants_the_credentials(client_for: Clients, method: str, route: str, header: str | None) -> None:
    headers = {"Authorization": header} if header else {}
    reply = client_for(authorised=False).open(route, method=method, json={"tasks": []}, headers=headers)
    assert reply.status_code == 401
    assert reply.headers["WWW-Authenticate"].startswith("Basic")
    assert "correct" not in reply.text


def test_credentials_hide_the_password_and_are_not_empty() -> None:
    assert "horse" not in repr(Credentials("studio", "correct horse"))
    for user, password in (("", "x"), ("x", "")):
        with pytest.raises(InputError):
            Credentials(user, password)


def test_health_setup_versions_load_no_model(client_for: Clients, embedder: WordEmbedder) -> None:
    client = client_for()
    assert client.get("/").json == client.get("/health").json == {"status": "UP", "model_class": "convolabel"}
    assert client.post("/setup", json=SETUP).json == {"model_version": UNITS_VERSION}
    assert client.get("/versions").json == client.post("/versions").json == {"versions": [UNITS_VERSION]}
    assert embedder.calls == []


@pytest.mark.parametrize(
    ("action", "status"),
    [("ANNOTATION_CREATED", "ok"), ("ANNOTATIONS_DELETED", "ok"), ("START_TRAINING", "ok"), ("SOMETHING", "ignored")],
)
def test_webhook(client_for: Clients, action: str, status: str) -> None:
    reply = client_for().post("/webhook", json={"action": action, "project": {"id": 1}, "task": {"id": 3}})
    assert (reply.status_code, reply.json) == (200, {"status": status})
    assert client_for().post("/webhook", json={}).status_code == 400


def test_plain_predict_gives_the_frozen_units_in_order(client_for: Clients, embedder: WordEmbedder) -> None:
    reply = client_for().post("/predict", json=plain_body(talk("How? 😀", "Sit."), talk("I am sad.", identity="b")))
    assert reply.status_code == 200
    results = reply.json["results"]
    assert [[region["id"] for region in result["result"]] for result in results] == [["u0", "u1"], ["u0"]]
    regions = [region for result in results for region in result["result"]]
    assert {region["type"] for region in regions} == {"paragraphlabels"}
    assert all(region["value"]["paragraphlabels"] == ["unit"] and region["readonly"] for region in regions)
    assert regions[0]["value"]["endOffset"] == 7  # "How? " is five, the emoji is two in UTF-16
    assert {result["model_version"] for result in results} == {reply.json["model_version"]} == {UNITS_VERSION}
    assert embedder.calls == []


def test_no_tasks_no_results(client_for: Clients) -> None:
    assert client_for().post("/predict", json=plain_body()).json == {"results": [], "model_version": UNITS_VERSION}


def _with(path: list[Any], value: Any) -> bytes:
    body = plain_body(talk("My secret."))
    node: Any = body
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return json.dumps(body).encode()


SPAN = {"span_id": "u0", "rev": 1, "message": 0, "start": 0, "end": 3}
MALFORMED = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"tasks": "x"}',
    b'{"tasks": [1]}',
    b'{"tasks": [{}]}',
    b'{"tasks": [{"data": {"text": "My secret."}}]}',
    b"\xff\xfe",
    b'{"a": "\\ud800"}',
    b'{"a":' + b"[" * 100_000,
    b'{"a":' + b"9" * 5000 + b"}",
    _with(["tasks", 0, "data", "messages"], "My secret."),
    _with(["tasks", 0, "data", "My secret."], 1),
    _with(["tasks", 0, "data", "spans", 0], {**SPAN, "message": 1}),
    _with(["tasks", 0, "data", "spans", 0], {**SPAN, "message": -1}),
    _with(["tasks", 0, "data", "spans", 0], {**SPAN, "end": 11}),
    _with(["tasks", 0, "data", "spans", 0], {**SPAN, "start": -2}),
    _with(["tasks", 0, "data", "spans", 0], {**SPAN, "end": 0}),
    _with(["params"], {"context": {"copilot": "My secret."}}),
    _with(["params"], {"context": {"copilot": {"study": "demo"}}}),
]


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_requests_get_one_sentence(
    client_for: Clients, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    reply = client_for().post("/predict", data=body, content_type="application/json")
    assert reply.status_code == 400
    assert list(reply.json) == ["error"]
    assert reply.json["error"].endswith(".")
    assert "secret" not in reply.text
    assert "Traceback" not in reply.text
    assert caplog.text == ""


def test_large_requests_are_refused(client_for: Clients) -> None:
    client = client_for(max_request_bytes=1000)
    assert client.post("/predict", json=plain_body(talk("a" * 2000))).status_code == 413
    assert client.post("/predict", json=plain_body()).status_code == 200


@pytest.mark.parametrize(("method", "route", "status"), [("GET", "/nothing", 404), ("GET", "/predict", 405)])
def test_unknown_routes_get_a_sentence(client_for: Clients, method: str, route: str, status: int) -> None:
    reply = client_for().open(route, method=method)
    assert (reply.status_code, list(reply.json)) == (status, ["error"])


def test_a_broken_store_leaves_no_text_in_reply_or_log(
    client_for: Clients, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = client_for()
    with closing(sqlite3.connect(tmp_path / "suggestions.sqlite")) as connection:
        connection.execute("DROP TABLE suggestions")
    with caplog.at_level(logging.DEBUG):
        reply = client.post("/predict", json=copilot_body(talk("My secret.")))
    assert reply.status_code == 500
    assert "secret" not in reply.text + caplog.text
    assert "Traceback" not in reply.text + caplog.text
    assert "OperationalError" in caplog.text


def test_a_damaged_store_is_named_at_the_start(client_for: Clients, tmp_path: Path) -> None:
    (tmp_path / "suggestions.sqlite").write_bytes(b"not a database" * 1000)
    with pytest.raises(InputError, match=r"suggestions\.sqlite is not a readable suggestion store"):
        client_for()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Cannot make the folder"):
        create_app([study()], Credentials("a", "b"), tmp_path / "file" / "state")


def test_studies_of_one_name_are_refused(client_for: Clients) -> None:
    with pytest.raises(InputError, match="Two studies are named `demo`"):
        client_for(study(), study())


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, ml_backend; print({'flask', 'torch', 'numpy', 'sqlalchemy', 'waitress'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
