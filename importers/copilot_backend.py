"""The co-pilot's scoring server as an ML backend of the study's project."""

from typing import Any

from convolabel.credentials import Credentials
from convolabel.errors import InputError, RemoteError
from convolabel.native_regions import COPILOT_TITLE
from convolabel.study import Copilot
from importers.connection import Connection, UnreachableError

_AUTH_METHOD = "BASIC_AUTH"


def connect_copilot(copilot: Copilot, project_id: int, credentials: Credentials | None, connection: Connection) -> None:
    """Add the scoring server to the project, or bring its address and credentials up to date.

    Label Studio calls the server's `/health` and `/setup` meanwhile. Raises `RemoteError` when it cannot, and
    `InputError` without credentials.
    """
    if credentials is None:
        raise InputError(
            "The co-pilot needs the scoring server's credentials; set CONVOLABEL_COPILOT_USER and"
            " CONVOLABEL_COPILOT_PASSWORD."
        )
    settings: dict[str, Any] = {
        "project": project_id,
        "url": copilot.url,
        "title": COPILOT_TITLE,
        "is_interactive": False,
        "auth_method": _AUTH_METHOD,
        "basic_auth_user": credentials.user,
        "basic_auth_pass": credentials.password,
    }
    existing, *surplus = _backends(project_id, connection) or [None]
    for backend in surplus:
        _remove(backend, connection)
    try:
        with connection.answering("connect the co-pilot"):
            if existing is None:
                connection.sdk.ml.create(**settings)
            else:
                connection.sdk.ml.update(existing.id, **settings)
    except UnreachableError:
        raise
    except RemoteError as error:
        if existing is None:
            # a refused server leaves its row behind, and every page load would call it
            for backend in _backends(project_id, connection):
                _remove(backend, connection)
        raise RemoteError(_advice(str(error), copilot.url)) from None


def disconnect_copilot(project_id: int, connection: Connection) -> None:
    """Take the scoring server out of a project whose study has no co-pilot (any more)."""
    for backend in _backends(project_id, connection):
        _remove(backend, connection)


def _backends(project_id: int, connection: Connection) -> list[Any]:
    with connection.answering("list the project's ML backends"):
        return [backend for backend in connection.sdk.ml.list(project=project_id) if backend.title == COPILOT_TITLE]


def _remove(backend: Any, connection: Connection) -> None:
    with connection.answering("remove an ML backend"):
        connection.sdk.ml.delete(backend.id)


def _advice(reason: str, url: str) -> str:
    if "reserved network address" in reason or "(403)" in reason:
        return (
            f"The study is created, but Label Studio does not call private addresses such as {url}; start it with"
            " LABEL_STUDIO_SSRF_PROTECTION_ENABLED=false and LABEL_STUDIO_ML_BLOCK_LOCAL_IP=false (`convolabel studio`"
            " does) and create again."
        )
    return (
        f"The study is created, but Label Studio could not reach the scoring server at {url} with these credentials;"
        " start it (`convolabel serve`) and create again."
    )
