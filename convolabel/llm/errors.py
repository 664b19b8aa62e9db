"""What can go wrong with a call to a language model, classified by what a run should do about it.

Messages name the model, the HTTP status and the provider's error code, never its free text: that may quote the
prompt or part of a key.
"""

# ruff: noqa: N818 - the names say what happened; all of them are LLMError

from convolabel.errors import ConvolabelError, InputError, RemoteError


class LLMError(RemoteError):
    """A call without a usable answer. `kind` is the word for it in reports."""

    kind = "failed"
    is_retryable = False
    """Whether the same call may succeed later."""
    stops_run = False
    """Whether every other call would fail in the same way."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the provider asked to wait."""


class RateLimited(LLMError):
    kind = "rate_limited"
    is_retryable = True


class Unavailable(LLMError):
    """The provider was not reached, did not answer in time, or answered with a server error."""

    kind = "unavailable"
    is_retryable = True


class BadKey(LLMError):
    """The key is missing, wrong or not allowed to use the model."""

    kind = "bad_key"
    stops_run = True


class QuotaExhausted(LLMError):
    """The account has nothing left to spend; waiting does not help."""

    kind = "quota_exhausted"
    stops_run = True


class UnknownModel(LLMError):
    kind = "unknown_model"
    stops_run = True


class BadRequest(LLMError):
    """The provider refused the request as it is. `parameter` is the one it named, if it named one."""

    kind = "bad_request"

    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class TooLong(BadRequest):
    """The prompt does not fit into the model's context window."""

    kind = "too_long"


class Blocked(LLMError):
    """The provider's safety filter held the answer back."""

    kind = "blocked"


class Refused(LLMError):
    """The model itself declined to answer."""

    kind = "refused"


class Unusable(LLMError):
    """A reply arrived and cannot be used; another one may be better."""

    kind = "unusable"


class Truncated(Unusable, ValueError):
    """The reply ends too early."""

    kind = "truncated"


class EmptyReply(Unusable):
    kind = "empty"


class Malformed(Unusable, ValueError):
    """The reply is not the JSON that was asked for."""

    kind = "malformed"


class UnknownProvider(InputError, ValueError):
    """The model's name does not tell who serves it."""


class Stopped(ConvolabelError):
    """The run was stopped before this call was made."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("The run was stopped before this call; start it again to go on where it stood.")
