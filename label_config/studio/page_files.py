"""The interface's files: served under a path that changes with their content, so browsers may keep them for good."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from django.http import Http404, HttpResponse

import label_config

PAGE = Path(label_config.__file__).parent / "page"
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@cache
def page_hash() -> str:
    """Of all files of the interface, as they were when the server started."""
    digest = hashlib.sha256()
    for path in sorted(PAGE.rglob("*")):
        if path.suffix in TYPES:
            digest.update(path.relative_to(PAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def page_file(request: Any, version: str, path: str) -> HttpResponse:
    """One file of the interface. An old version is answered 404, so that a page never mixes two."""
    wanted = (PAGE / path).resolve()
    if version != page_hash() or wanted.suffix not in TYPES or PAGE.resolve() not in wanted.parents:
        raise Http404
    if not wanted.is_file():
        raise Http404
    response = HttpResponse(wanted.read_bytes(), content_type=TYPES[wanted.suffix])
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    return response
