"""Two middlewares: a rater gets only what the allow-list names, and the labeling page gets the interface."""

import json
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict

from label_config.studio import labelstudio, redaction
from label_config.studio.access import Access
from label_config.studio.access import rater_access as access_of
from label_config.studio.page_files import page_hash
from label_config.studio.roles import is_manager, projects_of_rater

Handler = Callable[[HttpRequest], HttpResponse]

_NEXT_OF_ALL: dict[str, Any] = {
    "selectedItems": {"all": True, "excluded": []},
    "filters": {"conjunction": "and", "items": []},
    "ordering": [],
}
_FIXED: dict[Access, Any] = {
    Access.EMPTY_LIST: [],
    Access.EMPTY_OBJECT: {},
    Access.EMPTY_TASK_PAGE: {"tasks": [], "total": 0, "total_annotations": 0, "total_predictions": 0},
}


class LastActivity(labelstudio.UpdateLastActivityMiddleware):  # type: ignore[misc]
    """Label Studio's own, without a write and a commit of the user's row beside every decision."""

    def process_view(self, request: HttpRequest, *args: Any) -> None:
        if not request.path_info.startswith("/convolabel/api/tasks/"):
            super().process_view(request, *args)


def rater_access(get_response: Handler) -> Handler:
    """Refuse, answer or redact what a rater asks for; everybody else passes."""

    def handle(request: HttpRequest) -> HttpResponse:
        user = labelstudio.effective_user(request)
        if not user.is_authenticated or is_manager(user):
            return get_response(request)
        labelstudio.set_current_user(user)
        access = access_of(request.method or "GET", request.path_info)
        if access in _FIXED:
            return JsonResponse(_FIXED[access], safe=False)
        projects = projects_of_rater(user)
        if access is Access.HOME and projects:
            return HttpResponseRedirect(f"/projects/{projects[-1]}/data?labeling=1")
        if access is not Access.ALLOW or not _is_own_project(request, projects):
            return _forbidden()
        if _is_data_manager_page(request) and request.GET.get("labeling") != "1":
            return HttpResponseRedirect(f"{request.path}?labeling=1")
        # filters and orderings by hidden columns would tell what they hold; Label Studio takes them from bodies too
        request.GET = _without(request.GET, ("query", "filters", "ordering", "selectedItems", "view", "tabID"))
        if request.path_info.strip("/") == "api/dm/actions":
            if request.GET.get("id") != "next_task":
                return _forbidden()
            _replace_body(request, _NEXT_OF_ALL)
        elif request.method in ("GET", "HEAD"):
            _replace_body(request, {})
        return _redacted(request, get_response(request), user, projects)

    return handle


def page_injection(get_response: Handler) -> Handler:
    """Add the interface to Label Studio's pages for raters. Managers keep the stock interface."""

    def handle(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        user = getattr(request, "user", None)
        if not _is_app_page(response) or user is None or not user.is_authenticated or not projects_of_rater(user):
            return response
        base = f"/convolabel/static/{page_hash()}"
        tags = (
            f'<link rel="stylesheet" href="{base}/page.css">'
            f'<script type="module" nonce="{getattr(request, "csp_nonce", "") or ""}" src="{base}/main.js"></script>'
        )
        if base.encode() not in response.content:
            response.content = response.content.replace(b"</body>", tags.encode() + b"</body>", 1)
            if response.has_header("Content-Length"):
                response["Content-Length"] = str(len(response.content))
        return response

    return handle


def _forbidden() -> HttpResponse:
    sentence = "Raters may only code their conversations."
    return JsonResponse({"error": sentence, "detail": sentence, "code": "forbidden"}, status=403)


def _replace_body(request: HttpRequest, document: dict[str, Any]) -> None:
    """Put `document` in place of what the request carries; reading the body first makes Django keep it in memory."""
    if request.body is not None:
        request._body = json.dumps(document).encode()  # type: ignore[attr-defined]
        request._stream = BytesIO(request._body)  # type: ignore[attr-defined]
        request.META["CONTENT_LENGTH"] = str(len(request._body))  # type: ignore[attr-defined]
        request.META["CONTENT_TYPE"] = "application/json"
        request.content_type = "application/json"


def _is_app_page(response: HttpResponse) -> bool:
    return (
        not response.streaming
        and response.status_code == 200
        and response.get("Content-Type", "").startswith("text/html")
        and b'id="app-settings"' in response.content
    )


def _is_data_manager_page(request: HttpRequest) -> bool:
    return re.fullmatch(r"/projects/\d+/data/?", request.path_info) is not None


def _is_own_project(request: HttpRequest, projects: list[int]) -> bool:
    in_path = re.match(r"/(?:api/)?projects/(\d+)(?:/|$)", request.path_info)
    named = [in_path.group(1)] if in_path else []
    if request.path_info.startswith("/api/dm/") and "project" not in request.GET:
        return False  # Label Studio would take all projects, or the first
    named += [said for key in ("project", "projectID") for said in request.GET.getlist(key)]
    return all(said.isdecimal() and int(said) in projects for said in named)


def _without(query: QueryDict, names: tuple[str, ...]) -> QueryDict:
    kept = query.copy()
    for name in [key for key in kept if key.split("[")[0] in names]:
        del kept[name]
    return kept


def _redacted(request: HttpRequest, response: HttpResponse, user: Any, projects: list[int]) -> HttpResponse:
    """Label Studio's own JSON about projects, people and tabs, cut to what is the rater's."""
    path = request.path_info.strip("/")
    if response.streaming or not response.get("Content-Type", "").startswith("application/json"):
        return response
    rules: list[tuple[str, Callable[[Any], object]]] = [
        (r"api/users", lambda body: redaction.only(body, {user.pk})),
        (r"api/users/\d+", lambda body: body if body.get("id") == user.pk else {}),
        (r"api/projects", lambda body: _projects(body, projects)),
        (r"api/projects/\d+|api/dm/project", redaction.redact_project),
        (r"api/dm/views", lambda body: [redaction.redact_view(view) for view in body]),
        (r"api/dm/columns", redaction.redact_columns),
    ]
    for pattern, redact in rules:
        if response.status_code == 200 and re.fullmatch(pattern, path):
            response.content = json.dumps(redact(json.loads(response.content))).encode()
            if response.has_header("Content-Length"):
                response["Content-Length"] = str(len(response.content))
    return response


def _projects(body: Any, projects: list[int]) -> object:
    cut: Any = redaction.only(body, set(projects))
    if isinstance(cut, list):
        return [redaction.redact_project(project) for project in cut]
    return {**cut, "results": [redaction.redact_project(project) for project in cut["results"]]}
