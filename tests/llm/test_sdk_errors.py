"""How long a provider asks to wait, in every form they use, and errors that are none of a call."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from convolabel.llm.errors import BadRequest, RateLimited, Unavailable
from convolabel.llm.sdk_errors import as_llm_error


class StatusError(Exception):
    def __init__(self, status: int, headers: dict[str, str] | None = None, body: object = None) -> None:
        super().__init__("said")
        self.status_code = status
        self.response = SimpleNamespace(headers=headers or {})
        self.body = body


def translated(error: Exception) -> object:
    return as_llm_error(error, model="m", key_name="KEY")


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "2"}, None, 2.0),
        ({"retry-after": "0.5"}, None, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, None, 1.5),
        ({"retry-after": format_datetime(datetime(2001, 1, 1, tzinfo=UTC), usegmt=True)}, None, 0.0),
        ({"retry-after": "soon"}, None, None),
        ({}, None, None),
        ({}, {"error": {"details": [{"@type": "Help"}, {"retryDelay": "34.07s"}]}}, 34.07),
        ({}, {"error": {"details": "none"}}, None),
    ],
)
def test_the_wait_that_was_asked_for(headers: dict[str, str], body: object, seconds: float | None) -> None:
    for status, kind in ((429, RateLimited), (503, Unavailable)):
        error = translated(StatusError(status, headers, body))
        assert isinstance(error, kind)
        assert error.retry_after == seconds


def test_a_date_to_come_is_waited_for() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    error = translated(StatusError(429, {"retry-after": at}))
    assert isinstance(error, RateLimited)
    assert error.retry_after is not None
    assert 3000 < error.retry_after <= 3600


def test_connections_that_broke_may_succeed_later() -> None:
    assert isinstance(translated(ConnectionResetError()), Unavailable)
    assert isinstance(translated(TimeoutError()), Unavailable)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), TypeError("x"), SystemError()])
def test_errors_of_a_program_are_not_errors_of_a_call(error: Exception) -> None:
    assert translated(error) is None


def test_codes_are_repeated_and_free_text_is_not() -> None:
    body = {"error": {"code": "invalid_value", "message": "Ann said: no", "param": "seed"}}
    error = translated(StatusError(400, body=body))
    assert isinstance(error, BadRequest)
    assert error.parameter == "seed"
    assert "HTTP 400, invalid_value" in str(error)
    assert "Ann" not in str(error)
    odd = translated(StatusError(400, body={"error": {"code": "Ann said: no"}}))
    assert "Ann" not in str(odd)
