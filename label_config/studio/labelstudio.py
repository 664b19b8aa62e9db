"""The one place that touches Label Studio's internals (1.23.2).

Everything else in the plugin works with what is named here, so an upgrade of Label Studio is judged in this file.
Import `tasks.models`, never `label_studio.tasks.models`: the second name would load every model twice.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Any

from core.current_request import CurrentContext
from core.middleware import UpdateLastActivityMiddleware
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from jwt_auth.auth import TokenAuthenticationPhaseout as LegacyTokenAuthentication
from organizations.models import Organization
from projects.models import Project
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.test import APIRequestFactory, force_authenticate
from tasks.models import Annotation, AnnotationDraft, Task

from convolabel.native_regions import COPILOT_TITLE

__all__ = [
    "Annotation",
    "AnnotationDraft",
    "LegacyTokenAuthentication",
    "Project",
    "Task",
    "UpdateLastActivityMiddleware",
    "add_account",
    "current_user",
    "effective_user",
    "find_user",
    "lock_task",
    "owns_an_organization",
    "predict",
    "set_current_user",
    "submit_draft",
    "writing",
]

User = get_user_model()
_turn = RLock()


def current_user() -> Any:
    """The signed-in user of the request this thread works on, or None outside of a request."""
    return CurrentContext.get_user()


def set_current_user(user: Any) -> None:
    """Label Studio notes the user before its JWT middleware has signed anybody in; what is decided by
    `current_user` must not take a rater with a personal token for nobody."""
    CurrentContext.set_user(user)


def effective_user(request: Any) -> Any:
    """Who a request acts as, by Label Studio's own order: legacy token, then JWT or session."""
    try:
        authenticated = TokenAuthentication().authenticate(request)
    except AuthenticationFailed:
        authenticated = None
    return authenticated[0] if authenticated else request.user


def owns_an_organization(user: Any) -> bool:
    return Organization.objects.filter(created_by=user).exists()


def find_user(email: str) -> Any | None:
    return User.objects.filter(email__iexact=email).first()


def add_account(email: str, name: str, password: str | None, project: Project) -> tuple[Any, bool]:
    """The account of `email` in the project's organisation, made when there is none; whether it was made."""
    user = find_user(email)
    created = user is None
    if user is None:
        user = User.objects.create_user(email=email, password=password, first_name=name[:150], username=email)
    organization = project.organization
    if not organization.users.filter(pk=user.pk).exists():
        organization.add_user(user)
    if user.active_organization_id is None:
        user.active_organization = organization
        user.save(update_fields=["active_organization"])
    return user, created


@contextmanager
def writing() -> Iterator[None]:
    """A transaction that writes. On SQLite the threads of this process take turns at it: SQLite itself lets those who
    wait sleep, longer each time, and whoever wakes at the right moment go first, so that some wait for seconds."""
    with ExitStack() as stack:
        if connection.vendor == "sqlite":
            stack.enter_context(_turn)
        stack.enter_context(transaction.atomic())
        yield


def lock_task(pk: int) -> Any:
    """The task, locked until the transaction ends (SQLite: the whole database is, by IMMEDIATE)."""
    return Task.objects.select_for_update(of=("self",)).select_related("project").get(pk=pk)


def submit_draft(draft: Any, lead_time: float) -> int:
    """Make the annotation of a draft through Label Studio's own view: counters, overlap, webhooks. Returns its id.

    Raises `RuntimeError` with Label Studio's status when it refuses.
    """
    from tasks.api import AnnotationsListAPI

    body = {"result": draft.result, "draft_id": draft.pk, "lead_time": lead_time}
    request = APIRequestFactory().post(f"/api/tasks/{draft.task_id}/annotations/", body, format="json")
    force_authenticate(request, user=draft.user)
    request.user = draft.user
    with transaction.atomic():
        response = AnnotationsListAPI.as_view()(request, pk=draft.task_id)
        if response.status_code != 201:
            raise RuntimeError(f"Label Studio refused the annotation with status {response.status_code}")
    return int(response.data["id"])


def predict(project: Any, task: dict[str, Any], context: dict[str, Any], timeout: float) -> dict[str, Any] | None:
    """One task scored by the project's ML backend; None when there is none, or when it fails or is late."""
    from ml.api_connector import PREDICT_URL
    from ml.models import MLBackend

    backend = MLBackend.objects.filter(project=project, title=COPILOT_TITLE).first()
    if backend is None:
        return None
    body = backend.api._prep_prediction_req([task], project, context=context)
    reply = backend.api._request(PREDICT_URL, body, verbose=False, timeout=(1.0, timeout))
    results = reply.response.get("results") if not reply.is_error and isinstance(reply.response, dict) else None
    return results[0] if isinstance(results, list) and results and isinstance(results[0], dict) else None
