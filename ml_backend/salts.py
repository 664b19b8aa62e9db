"""The studies' secret salts, on which the control arms rest: made once, then never changed."""

import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

from convolabel.errors import InputError

_SALT = re.compile(r"[0-9a-f]{64}")
_MIN_LENGTH = 16


def salt_variable(study: str) -> str:
    """The environment variable that overrides a study's salt, e.g. `CONVOLABEL_SALT_EXAM_TALKS` for `exam-talks`."""
    return f"CONVOLABEL_SALT_{study.upper().replace('-', '_')}"


def study_salt(study: str, state_dir: Path, environment: Mapping[str, str] = os.environ) -> str:
    """The salt of `study`: from the environment, else from `state_dir`, where it is made when it is not there yet.

    Another salt means other control arms. So an existing file is never replaced, not even a damaged one: that raises
    `InputError`, as does a variable of fewer than 16 characters.
    """
    variable = salt_variable(study)
    given = environment.get(variable)
    if given is not None:
        if len(given) < _MIN_LENGTH:
            raise InputError(f"{variable} has fewer than {_MIN_LENGTH} characters; set a longer secret or unset it.")
        return given
    path = state_dir / f"{study}.salt"
    if not path.exists():
        try:
            _create(path)
        except OSError as error:
            raise InputError(f"Cannot keep a salt in {state_dir}: {error.strerror}; make it writable.") from None
    return _read(path, variable)


def _read(path: Path, variable: str) -> str:
    try:
        salt = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        salt = ""
    if not _SALT.fullmatch(salt):
        raise InputError(
            f"{path} holds no readable salt, and a new one would change the study's control arms; "
            f"restore the file from a backup or set {variable}."
        )
    return salt


def _create(path: Path) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".salt-")  # mkstemp gives mode 600
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(name, path)  # whole or not at all; of two servers that start at once, the first one's salt stays
    except FileExistsError:
        pass
    finally:
        os.unlink(name)
