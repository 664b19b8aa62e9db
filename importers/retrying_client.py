"""An HTTP client that tries again where that is safe and can help."""

from typing import Any

import httpx
from tenacity import RetryCallState, Retrying, retry_base, stop_after_attempt, wait_random_exponential

ATTEMPTS = 4
_GATEWAY_TROUBLE = frozenset({502, 503, 504})
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE"})


class RetryingClient(httpx.Client):
    """Repeats a request after a lost connection or a 502, 503 or 504, with growing, random pauses.

    A POST is repeated only when it cannot have been carried out (no connection was made, or 503): anything else could
    create the same tasks twice.
    """

    longest_pause: float = 8.0

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        attempts = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.5, max=self.longest_pause),
            retry=_worth_repeating(request.method in _REPEATABLE),
            retry_error_callback=_last_outcome,
        )
        return attempts(super().send, request, **options)


class _worth_repeating(retry_base):  # noqa: N801 - tenacity names its conditions like functions
    def __init__(self, repeatable: bool) -> None:
        self.statuses = _GATEWAY_TROUBLE if repeatable else frozenset({503})
        self.errors: tuple[type[Exception], ...] = (httpx.ConnectError, httpx.ConnectTimeout)
        if repeatable:
            self.errors = (*self.errors, httpx.NetworkError, httpx.RemoteProtocolError)

    def __call__(self, retry_state: RetryCallState) -> bool:
        outcome = retry_state.outcome
        if outcome is None:
            return False
        if outcome.failed:
            return isinstance(outcome.exception(), self.errors)
        return outcome.result().status_code in self.statuses


def _last_outcome(retry_state: RetryCallState) -> httpx.Response:
    """The last response, or the last error raised as it is."""
    assert retry_state.outcome is not None  # noqa: S101 - tenacity calls this after an attempt
    response: httpx.Response = retry_state.outcome.result()
    return response
