"""The manager's side of the API (docs/plugin-api.md)."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from rest_framework.response import Response

from convolabel import __version__
from convolabel.study import Study
from label_config.studio.api.base import ManagerView, PluginView
from label_config.studio.models import UnitLog
from label_config.studio.refusals import RefusedError
from label_config.studio.roles import is_manager
from label_config.studio.studies import store_study

MOST_ROWS = 5000


class StudyBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    study: Study
    passwords: dict[str, str] = {}


class PingView(PluginView):
    def get(self, request: Any) -> Response:
        role = "manager" if is_manager(request.user) else "rater"
        body = {"convolabel": __version__, "user": request.user.pk, "email": request.user.email, "role": role}
        return Response(body)


class StudyView(ManagerView):
    def put(self, request: Any, project: int) -> Response:
        body = StudyBody.model_validate(request.data)
        return Response(store_study(project, body.study, body.passwords))


class LogView(ManagerView):
    def get(self, request: Any, project: int) -> Response:
        after = _number(request, "after", 0)
        limit = max(1, min(_number(request, "limit", 1000), MOST_ROWS))
        rows = UnitLog.objects.filter(task__project_id=project, pk__gt=after).order_by("pk")[: limit + 1]
        found = [_log_state(row) for row in rows[:limit]]
        return Response({"rows": found, "next": found[-1]["id"] if len(rows) > limit else None})


def _number(request: Any, name: str, default: int) -> int:
    said = request.query_params.get(name, str(default))
    if not said.isdecimal():
        raise RefusedError(400, "invalid", f"`{name}` is a whole number, not {said!r}.")
    return int(said)


def _log_state(row: UnitLog) -> dict[str, Any]:
    return {
        "id": row.pk,
        "task": row.task_id,
        "rater": row.user_id,
        "span_id": row.span_id,
        "rev": row.rev,
        "arm": row.arm,
        "shown": row.shown,
        "suggestions": row.suggestions,
        "withheld": row.withheld,
        "model": row.model,
        "prompt_version": row.prompt_version,
        "first_labels": row.first_labels,
        "labels": row.labels,
        "accepted": row.accepted,
        "first_ms": row.first_ms,
        "later_ms": row.later_ms,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
