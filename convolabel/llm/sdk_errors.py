"""Errors of the providers' SDKs as ours, told by what they carry, so that no SDK is imported for it."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from convolabel.llm.errors import (
    BadKey,
    BadRequest,
    LLMError,
    QuotaExhausted,
    RateLimited,
    TooLong,
    Unavailable,
    UnknownModel,
)

_CONNECTION_ERRORS = ("APIConnectionError", "APITimeoutError", "TransportError", "TimeoutException", "ConnectionError")
_TOO_LONG = re.compile(
    r"context.length|context.window|maximum context|exceeds the maximum number of tokens|too long", re.I
)
_BAD_KEY = re.compile(r"API_KEY_INVALID|API key not valid|invalid_api_key", re.I)
_RETRY_DELAY = re.compile(r"\d+(?:\.\d+)?")


def as_llm_error(error: Exception, *, model: str, key_name: str) -> LLMError | None:
    """What `error` means for a run; `None` when it is not an error of a call.

    `key_name` is where the key came from, named when the key is refused.
    """
    status = _status(error)
    if status is None:
        if _is_connection_error(error):
            return Unavailable(f"The provider of {model} could not be reached or did not answer in time.")
        return None
    body = _body(error)
    said = f"HTTP {status}{_code(body)}"
    text = f"{body} {error}"
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(text)):
        return BadKey(f"The provider of {model} refused the key in {key_name} ({said}); check the key and its rights.")
    if status == 429 and "insufficient_quota" in text:
        return QuotaExhausted(f"The account of the key in {key_name} has no quota left for {model} ({said}).")
    if status == 429:
        return RateLimited(
            f"The provider of {model} limits the rate of calls ({said}).", retry_after=_wait(error, body)
        )
    if status == 404:
        return UnknownModel(f"The provider does not know the model {model} ({said}); check its name and the address.")
    if status in (408, 409) or status >= 500:
        return Unavailable(f"The provider of {model} failed ({said}).", retry_after=_wait(error, body))
    if status == 413 or _TOO_LONG.search(text):
        return TooLong(f"The prompt is too long for {model} ({said}).")
    return BadRequest(f"The provider of {model} refused the request ({said}).", parameter=_parameter(body))


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def _is_connection_error(error: Exception) -> bool:
    names = {each.__name__ for each in type(error).__mro__}
    return isinstance(error, ConnectionError | TimeoutError) or not names.isdisjoint(_CONNECTION_ERRORS)


def _body(error: Exception) -> dict[str, Any]:
    """The error object of the provider's reply."""
    for name in ("body", "details"):
        value = getattr(error, name, None)
        if isinstance(value, dict):
            inner = value.get("error", value)
            return inner if isinstance(inner, dict) else value
    return {}


def _code(body: dict[str, Any]) -> str:
    code = body.get("code") if isinstance(body.get("code"), str) else body.get("status") or body.get("type")
    return f", {code}" if isinstance(code, str) and re.fullmatch(r"\w{1,60}", code) else ""


def _parameter(body: dict[str, Any]) -> str | None:
    """The refused parameter: OpenAI names it in `param`; other servers only in their message."""
    parameter = body.get("param")
    if isinstance(parameter, str):
        return parameter.partition(".")[0]
    message = str(body.get("message", ""))
    return message or None


def _wait(error: Exception, body: dict[str, Any]) -> float | None:
    """Seconds to wait: the `Retry-After` header (seconds or a date) or Google's `retryDelay`."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    if (milliseconds := headers.get("retry-after-ms", "")).replace(".", "", 1).isdigit():
        return float(milliseconds) / 1000
    if header := headers.get("retry-after"):
        return _seconds(header)
    details = body.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (found := _RETRY_DELAY.match(delay)):
            return float(found[0])
    return None


def _seconds(header: str) -> float | None:
    if header.replace(".", "", 1).isdigit():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
