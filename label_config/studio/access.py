"""The allow-list of a rater: which requests the labeling page needs, and nothing else (design, section 5 "Roles").

Community Label Studio lets every member read others' annotations, drafts and exports and change projects, so what is
not on this list is refused. Pure functions of method and path.
"""

import re
from enum import Enum


class Access(Enum):
    ALLOW = "allow"
    EMPTY_LIST = "empty list"
    """Answered by the plugin with `[]`: the page asks, but the answer is not for raters."""
    EMPTY_OBJECT = "empty object"
    EMPTY_TASK_PAGE = "empty task page"
    """The Data Manager's list: even its length, under a filter, would tell what hidden columns hold."""
    HOME = "home"
    """A page that a rater does not use; they are sent to their conversations."""
    DENY = "deny"


_READ = [
    r"user/login",
    r"logout",
    r"health|version|api/version|feature-flags|heidi-tips|api/session-policy",
    r"favicon\.ico|sw\.js|(static|react-app|label-studio-frontend|dm)/.*",
    r"api/current-user/(whoami|hotkeys|product-tour)",
    r"projects/\d+/data",
    r"api/users(/\d+(/avatar)?)?",
    r"api/projects(/\d+)?",
    r"api/projects/\d+/(next|label-stream-history)",
    r"api/tasks/\d+",
    r"api/dm/(project|views|columns)",
    r"convolabel/static/.*",
    r"convolabel/api/(ping|tasks/\d+)",
]
_WRITE = [
    ("POST", r"user/login|logout"),
    # the label stream asks for the next conversation here; the middleware lets no other action through
    ("POST", r"api/dm/actions"),
    ("PUT", r"convolabel/api/tasks/\d+/units/.+"),
    ("POST", r"convolabel/api/tasks/\d+/(units/.+/suggestion|finish)"),
]
_EMPTY_LISTS = [r"api/ml", r"api/label_links", r"api/dm/actions", r"api/projects/counts", r"api/webhooks"]
_EMPTY_OBJECTS = [r"__lsa"]
_EMPTY_TASK_PAGES = [r"api/tasks"]
_HOMES = [
    r"",
    r"projects",
    r"projects/\d+",
    r"projects/\d+/(settings(/.*)?|data/(import|export))",
    r"user/account(/.*)?",
    r"organization",
    r"people|models",
]


def _any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_READABLE, _EMPTY_LIST, _EMPTY_OBJECT, _EMPTY_TASK_PAGE, _HOME = map(
    _any, (_READ, _EMPTY_LISTS, _EMPTY_OBJECTS, _EMPTY_TASK_PAGES, _HOMES)
)
_WRITABLE = [(method, re.compile(pattern)) for method, pattern in _WRITE]


def rater_access(method: str, path: str) -> Access:
    """What a rater gets for a request. Slashes at either end make no difference, as in Label Studio."""
    path = path.strip("/")
    if method in ("GET", "HEAD"):
        for pattern, answer in (
            (_READABLE, Access.ALLOW),
            (_EMPTY_LIST, Access.EMPTY_LIST),
            (_EMPTY_OBJECT, Access.EMPTY_OBJECT),
            (_EMPTY_TASK_PAGE, Access.EMPTY_TASK_PAGE),
            (_HOME, Access.HOME),
        ):
            if pattern.fullmatch(path):
                return answer
        return Access.DENY
    if _EMPTY_OBJECT.fullmatch(path):
        return Access.EMPTY_OBJECT
    allowed = any(method == verb and pattern.fullmatch(path) for verb, pattern in _WRITABLE)
    return Access.ALLOW if allowed else Access.DENY
