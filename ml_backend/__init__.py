"""The scoring server: Label Studio's ML protocol and the co-pilot (design, section 7).

Importing this package loads neither Flask nor a model; the names below are looked up when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convolabel.errors import MissingExtraError

if TYPE_CHECKING:
    from ml_backend.app import create_app
    from ml_backend.server import serve

__all__ = ["create_app", "serve"]

_HOMES = {"create_app": "ml_backend.app", "serve": "ml_backend.server"}
_PACKAGES = {"flask": "server", "waitress": "server", "sqlalchemy": "server", "numpy": "models"}
"""Top-level packages the server cannot do without, and the extra that brings each."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        extra = _PACKAGES.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise MissingExtraError("The scoring server", extra) from None
