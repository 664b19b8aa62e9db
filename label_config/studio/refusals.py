"""What the plugin's API refuses: a status, a code for programs, one sentence for people (docs/plugin-api.md)."""

from typing import Any


class RefusedError(Exception):
    """Becomes `{"error": ..., "code": ...}` with `status`; `extra` is merged into the body."""

    def __init__(self, status: int, code: str, sentence: str, **extra: Any) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.extra = extra


def not_found() -> RefusedError:
    return RefusedError(404, "not_found", "There is no such conversation, or it is not yours to code.")


def stale_unit() -> RefusedError:
    return RefusedError(
        409, "stale_unit", "This unit is not there any more, or not visible yet; the page loads it anew."
    )
