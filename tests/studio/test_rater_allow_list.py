"""What a rater may ask Label Studio for: a short list, checked against every route that Label Studio has."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from label_config.studio.access import Access, rater_access

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "get", "")
READ = ("GET", "HEAD")
FIXED = (Access.EMPTY_LIST, Access.EMPTY_OBJECT, Access.EMPTY_TASK_PAGE)

READABLE = {
    "/sw\\.js",
    "/favicon\\.ico",
    "/label-studio-frontend/<path>",
    "/dm/<path>",
    "/react-app/<path>",
    "/static/fonts/roboto/roboto.css",
    "/static/<path>",
    "/api/projects/",
    "/api/projects/<int:pk>/",
    "/api/projects/<int:pk>/next/",
    "/api/projects/<int:pk>/label-stream-history/",
    "/api/dm/views/",
    "/api/dm/columns/",
    "/api/dm/project/",
    "/projects/<int:pk>/data/",
    "/api/users/",
    "/api/users/<pk>/",
    "/api/users/<pk>/avatar/",
    "/user/login/",
    "/logout/",
    "/api/current-user/whoami",
    "/api/current-user/product-tour",
    "/api/current-user/hotkeys/",
    "/api/tasks/<int:pk>/",
    "/version/",
    "/api/version/",
    "/health/",
    "/feature-flags/",
    "/heidi-tips/",
    "/api/session-policy/",
}
ANSWERED = {
    "/api/ml/": Access.EMPTY_LIST,
    "/api/label_links/": Access.EMPTY_LIST,
    "/api/dm/actions/": Access.EMPTY_LIST,
    "/api/projects/counts/": Access.EMPTY_LIST,
    "/api/webhooks/": Access.EMPTY_LIST,
    "/api/tasks/": Access.EMPTY_TASK_PAGE,
    "/__lsa/": Access.EMPTY_OBJECT,
}
HOMES = {
    "/",
    "/projects/",
    "/projects/<int:pk>/",
    "/projects/<int:pk>/data/export",
    "/projects/<int:pk>/data/import",
    "/projects/<int:pk>/settings/",
    "/projects/<int:pk>/settings/<sub_path>",
    "/user/account/",
    "/user/account/<sub_path>",
    "/organization/",
    "/people/",
    "/models/",
}
WRITABLE = {("POST", "/user/login/"), ("POST", "/logout/"), ("POST", "/api/dm/actions/")}


def routes() -> list[str]:
    package = find_spec("label_studio")
    assert package is not None
    assert package.origin is not None
    listed = json.loads((Path(package.origin).parent / "core" / "all_urls.json").read_text())
    return sorted({route["url"] for route in listed})


def sample(route: str) -> str:
    """A path that the route matches: numbers for parameters, two folders for a rest of a path."""
    path = re.sub(r"<drf_format_suffix:\w+>", ".json", route)
    path = re.sub(r"<path(:\w+)?>", "some/file", path)
    return re.sub(r"<[^>]+>", "7", path).replace("\\", "")


def expected(method: str, route: str) -> Access:
    if route == "/__lsa/":  # the analytics beacon is answered with nothing, by whichever method it comes
        return Access.EMPTY_OBJECT
    if method in READ:
        if route in READABLE:
            return Access.ALLOW
        return Access.HOME if route in HOMES else ANSWERED.get(route, Access.DENY)
    return Access.ALLOW if (method, route) in WRITABLE else Access.DENY


def test_every_route_of_label_studio_that_is_not_known_is_denied() -> None:
    found = routes()
    assert len(found) > 300
    assert set(READABLE) | set(ANSWERED) | HOMES <= set(found)
    wrong = [
        (method, route, rater_access(method, sample(route)))
        for route in found
        for method in METHODS
        if rater_access(method, sample(route)) is not expected(method, route)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/convolabel/api/ping", Access.ALLOW),
        ("GET", "/convolabel/api/tasks/12", Access.ALLOW),
        ("PUT", "/convolabel/api/tasks/12/units/017-2-1", Access.ALLOW),
        ("PUT", "/convolabel/api/tasks/12/units/a/b c", Access.ALLOW),
        ("POST", "/convolabel/api/tasks/12/units/017-2-1/suggestion", Access.ALLOW),
        ("POST", "/convolabel/api/tasks/12/finish", Access.ALLOW),
        ("GET", "/convolabel/static/0123456789ab/main.js", Access.ALLOW),
        ("GET", "/convolabel/api/projects/3/log", Access.DENY),
        ("PUT", "/convolabel/api/projects/3/study", Access.DENY),
        ("DELETE", "/convolabel/api/tasks/12/units/017-2-1", Access.DENY),
        ("POST", "/convolabel/api/ping", Access.DENY),
        ("GET", "/api/tasks/1/annotations", Access.DENY),
        ("GET", "/api/tasks/1/drafts/", Access.DENY),
        ("PATCH", "/api/tasks/1", Access.DENY),
        ("DELETE", "/api/tasks/1", Access.DENY),
        ("POST", "/api/tasks", Access.DENY),
        ("GET", "/api/projects/1/export", Access.DENY),
        ("GET", "/api/dm/views/1", Access.DENY),
        ("POST", "/api/dm/views", Access.DENY),
        ("POST", "/api/dm/actions/next_task/form", Access.DENY),
        # spellings
        ("GET", "/API/tasks/1", Access.DENY),
        ("GET", "/api/tasks/1.json", Access.DENY),
        ("GET", "/api/users.json", Access.DENY),
        ("GET", "/api/tasks/1/../../projects/1/export", Access.DENY),
        ("GET", "/api/projects/1/next/../export", Access.DENY),
        ("GET", "/api/tasks/1\n/annotations", Access.DENY),
        ("GET", "/api/tasks/%31/annotations", Access.DENY),
        ("GET", "/api//tasks/1/annotations", Access.DENY),
        ("GET", "/user/signup", Access.DENY),
    ],
)
def test_table(method: str, path: str, answer: Access) -> None:
    assert rater_access(method, path) is answer


@given(
    st.sampled_from(METHODS),
    st.from_regex(r"/?(api|projects|convolabel|tasks)(/[a-z0-9.%-]{1,12}){0,4}/?", fullmatch=True),
)
def test_slashes_at_the_ends_make_no_difference(method: str, path: str) -> None:
    assert rater_access(method, path) is rater_access(method, f"//{path.strip('/')}//")


@given(st.sampled_from(["POST", "PUT", "PATCH", "DELETE"]), st.text(max_size=30))
def test_no_native_write_passes(method: str, path: str) -> None:
    assert rater_access(method, f"/api/tasks/{path}") is Access.DENY
    assert rater_access(method, f"/api/annotations/{path}") is Access.DENY
