"""A study becomes a Label Studio project: settings, labeling config, people, co-pilot. Doing it again is harmless."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convolabel.credentials import Credentials
from convolabel.errors import InputError
from convolabel.native_regions import UNITS_VERSION
from convolabel.study import Study
from importers.connection import PLUGIN_API, Connection
from importers.copilot_backend import connect_copilot, disconnect_copilot
from importers.projects import (
    Project,
    find_project,
    project_settings,
    removed_choices,
    settings_to_change,
    study_marker,
)

PASSWORD_BYTES = 12
_HIDDEN_DATA = ("messages", "spans", "fingerprint", "convolabel", "study", "metadata")
"""Task data that would fill the Data Manager's table with whole conversations."""
_HIDDEN_COLUMNS = (
    *("inner_id", "cancelled_annotations", "total_predictions", "annotations_results", "annotations_ids"),
    *("predictions_score", "predictions_model_versions", "predictions_results", "file_upload", "storage_filename"),
    *("created_at", "updated_at", "updated_by", "avg_lead_time", "draft_exists"),
)


@dataclass(frozen=True)
class Created:
    """What `create_study` did. `passwords` holds those of new accounts only, and is never shown again."""

    project_id: int
    url: str
    is_new: bool
    changed: tuple[str, ...]
    passwords: dict[str, str] = field(repr=False)
    missing: str | None
    """What the server cannot do for lack of the plugin, as one sentence."""


def create_study(
    study: Study,
    connection: Connection,
    *,
    passwords: Mapping[str, str] | None = None,
    copilot_credentials: Credentials | None = None,
) -> Created:
    """Create the study's project, or bring it up to date.

    `passwords` (e-mail to password) are for raters that have no account yet; the others get random ones.
    Raises `InputError` when work exists and the codebook lost categories, and `RemoteError` when Label Studio refuses
    or the co-pilot cannot be connected (everything else is there then).
    """
    existing = find_project(study, connection)
    changed: tuple[str, ...] = ()
    if existing is None:
        project = _create(study, connection)
    else:
        project, changed = existing, _update(study, existing, connection)
    _add_view(project.id, connection)
    issued = _add_people(study, project.id, passwords or {}, connection)
    if study.copilot is not None:
        connect_copilot(study.copilot, project.id, copilot_credentials, connection)
    else:
        disconnect_copilot(project.id, connection)
    return Created(
        project_id=project.id,
        url=f"{connection.url}/projects/{project.id}",
        is_new=existing is None,
        changed=changed,
        passwords=issued,
        missing=None if connection.plugin else _missing_plugin(connection.url),
    )


def _create(study: Study, connection: Connection) -> Project:
    with connection.answering("create the project"):
        return connection.sdk.projects.create(
            **project_settings(study), description=study_marker(study.study), model_version=UNITS_VERSION
        )


def _update(study: Study, project: Project, connection: Connection) -> tuple[str, ...]:
    changes = settings_to_change(project_settings(study), project)
    if "label_config" in changes:
        lost = removed_choices(project.label_config or "", study.codebook)
        if lost and _has_work(project, connection):
            raise InputError(
                f"The codebook has no {', '.join(lost)} any more, but raters have worked on study `{study.study}`; put"
                " the categories back, or start a study with another name."
            )
    if changes:
        with connection.answering("update the project"):
            connection.sdk.projects.update(project.id, **changes)
    return tuple(changes)


def _has_work(project: Project, connection: Connection) -> bool:
    with connection.answering("look for drafts"):
        drafted = {"filter": "filter:tasks:draft_exists", "operator": "equal", "type": "Boolean", "value": True}
        annotated = {"filter": "filter:tasks:total_annotations", "operator": "greater", "type": "Number", "value": 0}
        query = {"filters": {"conjunction": "or", "items": [drafted, annotated]}}
        page = connection.get("/api/tasks", project=project.id, page_size=1, include="id", query=json.dumps(query))
    return bool(page["total"])


def _add_view(project_id: int, connection: Connection) -> None:
    """A first tab for the Data Manager: raters must find one, for they may not make one."""
    hidden = [f"tasks:{column}" for column in _HIDDEN_COLUMNS] + [f"tasks:data.{column}" for column in _HIDDEN_DATA]
    data: dict[str, Any] = {
        "title": "Conversations",
        "type": "list",
        "target": "tasks",
        "filters": {"conjunction": "and", "items": []},
        "hiddenColumns": {"explore": hidden, "labeling": hidden},
    }
    with connection.answering("create the Data Manager's first tab"):
        if not connection.sdk.views.list(project=project_id):
            connection.sdk.views.create(project=project_id, data=data)


def _add_people(study: Study, project_id: int, passwords: Mapping[str, str], connection: Connection) -> dict[str, str]:
    if not connection.plugin:
        return {}
    offered = {
        rater.email: passwords.get(rater.email) or secrets.token_urlsafe(PASSWORD_BYTES) for rater in study.raters
    }
    body = {"study": study.model_dump(mode="json"), "passwords": offered}
    with connection.answering("store the study and its raters"):
        reply = connection.put(f"{PLUGIN_API}/projects/{project_id}/study", body)
    return {rater["email"]: offered[rater["email"]] for rater in reply["raters"] if rater["created"]}


def _missing_plugin(url: str) -> str:
    return (
        f"Label Studio at {url} runs without the convolabel plugin: raters code in its stock interface, their accounts"
        " must be made by hand, and nobody is blinded to later messages or to other raters; start it with"
        " `convolabel studio` for that."
    )
