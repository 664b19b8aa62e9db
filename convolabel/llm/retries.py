"""Trying a call again where that can help, with jitter and as late as the provider asks."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from convolabel.llm.errors import LLMError, Stopped

Result = TypeVar("Result")
_JITTER = 0.25
"""Share by which a wait that the provider asked for may grow, so that waiting calls do not return all at once."""


@dataclass(frozen=True)
class RetryPolicy:
    """`attempts` calls at most; waits grow at random up to `longest_wait` seconds.

    A provider that asks for more than `patience` seconds is not waited for.
    """

    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    patience: float = 300.0

    def run(self, call: Callable[[], Result], stopping: threading.Event, on_wait: Callable[[LLMError], None]) -> Result:
        """The result of `call`; `on_wait` hears of every error before its wait.

        Raises the last `LLMError`, or `Stopped` when `stopping` is set during a wait.
        """

        def sleep(seconds: float) -> None:
            if stopping.wait(seconds):
                raise Stopped

        def before_sleep(state: RetryCallState) -> None:
            on_wait(_error_of(state))

        retrying = Retrying(
            retry=retry_if_exception(self._is_worth_waiting),
            stop=stop_after_attempt(self.attempts),
            wait=self._wait,
            sleep=sleep,
            before_sleep=before_sleep,
            reraise=True,
        )
        return retrying(call)

    def _is_worth_waiting(self, error: BaseException) -> bool:
        return isinstance(error, LLMError) and error.is_retryable and (error.retry_after or 0.0) <= self.patience

    def _wait(self, state: RetryCallState) -> float:
        random_wait = wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)(state)
        asked = _error_of(state).retry_after
        return random_wait if asked is None else asked + min(random_wait, _JITTER * asked)


def _error_of(state: RetryCallState) -> LLMError:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, LLMError)  # noqa: S101 - only such errors are waited for
    return error
