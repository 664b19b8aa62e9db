"""The errors convolabel raises. A message is one sentence: what, where, what to do (design, section 11)."""


class ConvolabelError(Exception):
    """Base of every error that the command line prints without a traceback."""

    exit_code = 1


class InputError(ConvolabelError):
    """Something the caller gave is wrong: a file, a key, an argument."""

    exit_code = 2


class RemoteError(ConvolabelError):
    """Another service (Label Studio, the scoring server, a provider) failed or refused."""

    exit_code = 3


class MissingExtraError(InputError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs packages that are not installed: run `pip install 'convolabel[{extra}]'` and try again."
        )
