"""The one Basic login of the scoring server: Label Studio's server has it, nobody else."""

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from convolabel.errors import InputError

USER_VARIABLE = "CONVOLABEL_COPILOT_USER"
PASSWORD_VARIABLE = "CONVOLABEL_COPILOT_PASSWORD"  # noqa: S105 - a name, not a password


@dataclass(frozen=True)
class Credentials:
    """User and password. Raises `InputError` when one is empty."""

    user: str
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.user or not self.password:
            raise InputError("The scoring server needs a user and a password that are not empty; set both.")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Those in `CONVOLABEL_COPILOT_USER` and `CONVOLABEL_COPILOT_PASSWORD`; `InputError` when one is not set."""
        for name in (USER_VARIABLE, PASSWORD_VARIABLE):
            if not environment.get(name):
                raise InputError(
                    f"The environment variable {name} is not set; the scoring server's login is in {USER_VARIABLE} and "
                    f"{PASSWORD_VARIABLE}."
                )
        return cls(environment[USER_VARIABLE], environment[PASSWORD_VARIABLE])

    def match(self, user: str | None, password: str | None) -> bool:
        """Whether both are right, in a time that does not tell which one is wrong or where."""
        same_user = hmac.compare_digest(self.user.encode(), (user or "").encode())
        same_password = hmac.compare_digest(self.password.encode(), (password or "").encode())
        return same_user & same_password
