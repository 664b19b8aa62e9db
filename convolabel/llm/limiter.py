"""One bound for all calls of a process, whoever makes them."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from convolabel.errors import InputError
from convolabel.llm.errors import Stopped

_MINUTE = 60.0


class Limiter:
    """At most `max_in_flight` calls at once and, when given, `per_minute` calls started in any minute.

    Share one object between all clients of an account. Raises `InputError` for bounds below 1.
    """

    def __init__(self, max_in_flight: int = 8, per_minute: int | None = None) -> None:
        if max_in_flight < 1 or (per_minute is not None and per_minute < 1):
            raise InputError("The bounds of a limiter are at least 1: calls in flight, and calls per minute if given.")
        self.max_in_flight = max_in_flight
        self.per_minute = per_minute
        self._changed = threading.Condition()
        self._in_flight = 0
        self._started: deque[float] = deque()
        self._paused_until = 0.0

    @contextmanager
    def slot(self, stopping: threading.Event) -> Iterator[None]:
        """Wait for leave to make one call. Raises `Stopped` once `stopping` is set."""
        with self._changed:
            while (wait := self._wait_needed(stopping)) is None or wait > 0:
                # half a second is how soon a waiting call learns that its run was stopped
                self._changed.wait(0.5 if wait is None else min(wait, 0.5))
            self._in_flight += 1
            self._started.append(time.monotonic())
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """No call starts for so long: the provider asked all of us to wait."""
        with self._changed:
            self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def _wait_needed(self, stopping: threading.Event) -> float | None:
        """Seconds until a call may start; `None` while it is not known."""
        if stopping.is_set():
            raise Stopped
        if self._in_flight >= self.max_in_flight:
            return None
        now = time.monotonic()
        while self._started and self._started[0] <= now - _MINUTE:
            self._started.popleft()
        wait = self._paused_until - now
        if self.per_minute is not None and len(self._started) >= self.per_minute:
            wait = max(wait, self._started[-self.per_minute] + _MINUTE - now)
        return wait
