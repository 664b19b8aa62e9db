"""One run of an evaluator over conversations: side by side, stoppable, every failure kept to its conversation."""

import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from convolabel.errors import InputError
from convolabel.llm.adapters import as_client
from convolabel.llm.client import LLMClient
from convolabel.llm.errors import LLMError, Stopped
from convolabel.llm.usage import Usage
from evaluators.interrupts import stopped_by_interrupt
from evaluators.reading_order import in_reading_order
from evaluators.run_report import RunReport, Status

if TYPE_CHECKING:
    from convolabel.llm.cache import AnswerCache
    from convolabel.llm.client import JSONSource

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Called with the number of conversations done and of all."""
_LISTEN_SECONDS = 0.2
"""A Ctrl-C that arrives just before the main thread begins to wait is noticed after so long at the latest."""
_FILE_ORDER = "conversations in file order, for their timestamps are missing or mixed"


class Run:
    """A context manager: entering it starts the run, leaving it closes the report.

    `client` asks the model with this run's store, usage and stop signal; `n_workers` bounds conversations in flight,
    the client's limiter calls in flight. Ctrl-C, a refused key and every other error that ends the run let the calls
    in flight finish and be kept, start no new one, and are raised when the context is left: by then the caller has
    written what is done. A second Ctrl-C does not wait for the calls in flight.
    """

    def __init__(
        self,
        report: RunReport,
        source: "JSONSource | None" = None,
        *,
        cache: "AnswerCache | None" = None,
        usage: Usage | None = None,
        n_workers: int = 1,
        progress: Progress | None = None,
    ) -> None:
        if n_workers < 1:
            raise InputError(f"n_workers is the number of conversations in flight, at least 1; found {n_workers}.")
        self.report = report
        self.stopping = threading.Event()
        self._usage = usage or Usage()
        self._n_workers = n_workers
        self._progress = progress or (lambda done, total: None)
        self._calls: ThreadPoolExecutor | None = None
        self._ended_by: BaseException | None = None
        self._is_abandoned = False
        self._client = None
        if source is not None:
            self._client = as_client(source).for_run(cache=cache, usage=self._usage, stopping=self.stopping)

    @property
    def client(self) -> LLMClient:
        """Raises `InputError` when the run has none."""
        if self._client is None:
            raise InputError("This run was started without a language model.")
        return self._client

    def conversations(
        self, conversations: Sequence[Any], work: Callable[[Any], Result], *, stage: str = "run"
    ) -> dict[str, Result]:
        """`work(conversation)` for each, `n_workers` at a time; results by conversation id, in the order given.

        A conversation whose work raises is entered into the report as failed in `stage` and has no result; one that
        was not done when the run was stopped is entered as not reached.
        """
        for conversation in conversations:
            self.report.set_status(conversation.id, Status.NOT_REACHED)
        results: dict[str, Result] = {}
        waiting = iter(conversations)
        running: dict[Future[Result], str] = {}
        done = 0
        pool = ThreadPoolExecutor(self._n_workers, thread_name_prefix="conversation")
        try:
            with stopped_by_interrupt(self._end):
                while True:
                    self._start(waiting, running, pool, work)
                    if not running:
                        break
                    for future in wait(running, _LISTEN_SECONDS, return_when=FIRST_COMPLETED).done:
                        self._collect(running.pop(future), future, results, stage)
                        done += 1
                        self._progress(done, len(conversations))
        except KeyboardInterrupt:
            self._is_abandoned = True
        finally:
            pool.shutdown(wait=not self._is_abandoned)
        return {each.id: results[each.id] for each in conversations if each.id in results}

    def map_calls(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """`function` for each item, as by `start_calls`; the results in order.

        When one raises, the first error (in the order of the items) is raised after all have ended, so that no answer
        on its way is lost.
        """
        futures = self.start_calls(function, items)
        wait(futures)
        return [future.result() for future in futures]

    def start_calls(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Future[Result]]:
        """`function` for each item, not waited for, in one pool for all conversations, about as wide as the limiter.

        For calls that do not depend on each other. `function` must not wait for other calls of the pool.
        """
        if self._calls is None:
            raise RuntimeError("calls are started inside the run's context")
        return [self._calls.submit(function, item) for item in items]

    def in_order(self, conversation: Any) -> list[Any]:
        """Its utterances in reading order; file order for want of timestamps is noted in the report."""
        order = in_reading_order(conversation)
        if not order.by_timestamp:
            self.report.count(_FILE_ORDER)
        return order.utterances

    def __enter__(self) -> Self:
        width = self._n_workers
        if self._client is not None:
            # an eighth is left to what conversations ask by themselves, one thing after the other: it decides when
            # they end, and would else wait behind a crowd of calls that nobody waits for yet
            width = self._client.limiter.max_in_flight - self._client.limiter.max_in_flight // 8
        self._calls = ThreadPoolExecutor(width, thread_name_prefix="call")
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.stopping.set()
        assert self._calls is not None  # noqa: S101 - made on entering
        self._calls.shutdown(wait=not self._is_abandoned)
        for note in self._client.notes if self._client is not None else ():
            self.report.note(note)
        self.report.was_stopped = self._ended_by is not None
        self.report.close(self._usage.as_dict() if self._client is not None else None)
        unordered = self.report.counts[_FILE_ORDER]
        if unordered:
            warnings.warn(f"{unordered} conversations are read in file order: no usable timestamps.", stacklevel=2)
        if error is None and self._ended_by is not None:
            raise self._ended_by

    def _start(
        self, waiting: Any, running: dict[Future[Result], str], pool: ThreadPoolExecutor, work: Callable[[Any], Result]
    ) -> None:
        while len(running) < self._n_workers and not self.stopping.is_set():
            conversation = next(waiting, None)
            if conversation is None:
                return
            running[pool.submit(work, conversation)] = conversation.id

    def _collect(self, conversation_id: str, future: Future[Result], results: dict[str, Result], stage: str) -> None:
        error = future.exception()
        if error is None:
            results[conversation_id] = future.result()
        elif isinstance(error, Stopped):
            return
        elif isinstance(error, Exception):
            self.report.set_status(conversation_id, Status.FAILED)
            self.report.fail(conversation_id, stage, error)
            if isinstance(error, LLMError) and error.stops_run:
                self._end(error)
        else:
            self._end(error)

    def _end(self, error: BaseException) -> None:
        self._ended_by = self._ended_by or error
        self.stopping.set()
