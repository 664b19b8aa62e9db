"""The plugin's routes before Label Studio's own."""

from typing import Any

from core.urls import urlpatterns as label_studio_urls
from django.http import JsonResponse
from django.urls import path

from label_config.studio.api.managing import LogView, PingView, StudyView
from label_config.studio.api.rating import FinishView, SuggestionView, TaskView, UnitView
from label_config.studio.page_files import page_file


def _api(route: str, view: Any) -> list[Any]:
    """Both spellings: Label Studio asks again with a slash at the end whenever the answer to one without is 404."""
    return [path(f"convolabel/api/{route}", view), path(f"convolabel/api/{route}/", view)]


urlpatterns = [
    # Label Studio would ask a server on the internet for these
    path("heidi-tips/", lambda request: JsonResponse({})),
    path("convolabel/static/<str:version>/<path:path>", page_file),
    *_api("ping", PingView.as_view()),
    *_api("projects/<int:project>/study", StudyView.as_view()),
    *_api("projects/<int:project>/log", LogView.as_view()),
    *_api("tasks/<int:task>", TaskView.as_view()),
    *_api("tasks/<int:task>/finish", FinishView.as_view()),
    # a span id may hold slashes; the longer route comes first
    *_api("tasks/<int:task>/units/<path:span_id>/suggestion", SuggestionView.as_view()),
    path("convolabel/api/tasks/<int:task>/units/<path:span_id>", UnitView.as_view()),
    *label_studio_urls,
]
