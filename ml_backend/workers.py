"""A small pool that computes each thing once, asked-for work first, and never queues without bound."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


class OverloadedError(Exception):
    """As much work is waiting as the pool takes."""


class Workers(Generic[Key, Answer]):
    """Two threads for what is asked for, one for what may be asked for next; at most `limit` pieces wait or run."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._asked = ThreadPoolExecutor(2, "suggestion")
        self._ahead = ThreadPoolExecutor(1, "suggestion-ahead")
        self._lock = threading.Lock()
        self._under_way: dict[Key, Future[Answer]] = {}
        self._waiting_ahead: set[Key] = set()

    def compute(self, key: Key, work: Callable[[], Answer]) -> Future[Answer]:
        """The future of `key`, the one under way when there is one. Raises `OverloadedError`."""
        with self._lock:
            future = self._under_way.get(key)
            # work ahead of time that has not begun leaves its queue and moves up; nobody waits for it
            if key in self._waiting_ahead and future is not None and future.cancel():
                self._forget(key)
                future = None
            if future is not None:
                return future
            if len(self._under_way) >= self._limit:
                raise OverloadedError
            return self._submit(self._asked, key, work)

    def compute_ahead(self, key: Key, work: Callable[[], Answer]) -> None:
        """Compute `key` when there is time; dropped while half of the pool's places are taken."""
        with self._lock:
            if key not in self._under_way and len(self._under_way) < self._limit // 2:
                self._submit(self._ahead, key, work)
                self._waiting_ahead.add(key)

    def close(self) -> None:
        """Forget what waits; what runs is finished."""
        for pool in (self._asked, self._ahead):
            pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, pool: ThreadPoolExecutor, key: Key, work: Callable[[], Answer]) -> Future[Answer]:
        future = pool.submit(self._run, key, work)
        self._under_way[key] = future
        return future

    def _run(self, key: Key, work: Callable[[], Answer]) -> Answer:
        try:
            return work()
        finally:
            with self._lock:
                self._forget(key)

    def _forget(self, key: Key) -> None:
        self._under_way.pop(key, None)
        self._waiting_ahead.discard(key)
