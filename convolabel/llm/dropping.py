"""Parameters that a model refuses are left out from then on, once, with a note."""

import threading
from collections.abc import Mapping
from typing import Any

from convolabel.llm.errors import BadRequest

_NEEDED = frozenset({"model", "messages", "contents"})


class SentParameters:
    """What is still sent of the configured parameters of one model. Safe to share between threads."""

    def __init__(self, model: str, configured: Mapping[str, Any]) -> None:
        self._model = model
        self._sent = dict(configured)
        self._lock = threading.Lock()
        self.notes: list[str] = []

    def __call__(self) -> dict[str, Any]:
        with self._lock:
            return dict(self._sent)

    def drop_refused(self, error: BadRequest, sent: Mapping[str, Any]) -> bool:
        """Leave out the parameter that `error` is about; whether a call without it is worth making."""
        name = self._named_by(error, sent)
        if name is None:
            return False
        with self._lock:
            if name in self._sent:
                del self._sent[name]
                self.notes.append(f"{self._model} refuses the parameter {name}; it was left out.")
        return True

    @staticmethod
    def _named_by(error: BadRequest, sent: Mapping[str, Any]) -> str | None:
        said = error.parameter or ""
        names = sorted((name for name in sent if name not in _NEEDED), key=len, reverse=True)
        return next((name for name in names if name in said), None)
