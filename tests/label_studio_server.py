"""A real Label Studio for tests: its own data directory, started in seconds from a migrated template."""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Self

import httpx

from label_config.launch import Administrator, StudioServer, studio_command, studio_environment

ADMINISTRATOR = Administrator("admin@example.com", "admin-password-1", "0123456789abcdef0123456789abcdef01234567")
COLD_START_SECONDS = 240
WARM_START_SECONDS = 120
_DJANGO = """
import json, os, sys
import label_studio
sys.path.insert(0, os.path.dirname(label_studio.__file__))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings.label_studio")
import django
django.setup()
def result(value):
    print("\\n@@result " + json.dumps(value))
"""


class LabelStudioServer:
    """Label Studio on a free loopback port, with the plugin or stock.

    The first start of a run migrates an empty database (about 45 s) and keeps it as a template; later servers copy
    it. `environment` adds to, or replaces, what `convolabel studio` sets.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        plugin: bool = False,
        port: int | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.settings = StudioServer(data_dir, port=port or free_port(), administrator=ADMINISTRATOR, plugin=plugin)
        self.log_path = data_dir.parent / f"{data_dir.name}.log"
        self._environment = environment or {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.settings.url

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def token(self) -> str:
        return ADMINISTRATOR.token

    def start(self) -> Self:
        if not self.settings.data_dir.exists():
            shutil.copytree(_template(self.settings.plugin), self.settings.data_dir)
        self._launch(WARM_START_SECONDS)
        return self

    def stop(self) -> None:
        """Ends the server as a service manager would, and makes sure of it."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kill(self) -> None:
        """A crash: no warning, nothing is finished."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def restart(self) -> None:
        self.stop()
        self._launch(WARM_START_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def orm(self, code: str, **values: Any) -> Any:
        """Run `code` against the server's database in a process of its own, as `manage.py shell` does.

        `values` are names the code can use; what it gives to `result(...)` is returned (JSON).
        """
        script = _DJANGO + "".join(f"{name} = json.loads({json.dumps(value)!r})\n" for name, value in values.items())
        ran = subprocess.run(
            [sys.executable, "-c", script + code], env=self._full_environment(), capture_output=True, text=True
        )
        if ran.returncode:
            raise AssertionError(ran.stderr[-3000:])
        found = [line for line in ran.stdout.splitlines() if line.startswith("@@result ")]
        return json.loads(found[-1].removeprefix("@@result ")) if found else None

    def add_user(self, email: str, password: str, name: str = "") -> dict[str, Any]:
        """A member of the organisation who can sign in: `{"id", "token"}`, the token being a legacy one."""
        code = """
from organizations.models import Organization
from rest_framework.authtoken.models import Token
from users.models import User
user = User.objects.create_user(email=email, password=password, username=email, first_name=name)
organization = Organization.objects.first()
organization.add_user(user)
user.active_organization = organization
user.save()
result({"id": user.pk, "token": Token.objects.get_or_create(user=user)[0].key})
"""
        account: dict[str, Any] = self.orm(code, email=email, password=password, name=name)
        return account

    def personal_token(self, email: str = ADMINISTRATOR.email) -> str:
        code = """
from jwt_auth.models import LSAPIToken
from users.models import User
result(LSAPIToken.for_user(User.objects.get(email=email)).get_full_jwt())
"""
        return str(self.orm(code, email=email))

    def _full_environment(self) -> dict[str, str]:
        here = str(Path(__file__).resolve().parent.parent)
        inherited = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
        return {**studio_environment(self.settings, inherited), **self._environment}

    def _launch(self, seconds: int) -> None:
        # the log goes to a file: a full pipe would stop the server
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                studio_command(self.settings),
                env=self._full_environment(),
                cwd=tempfile.gettempdir(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait(seconds)
        except BaseException:
            self.kill()
            raise

    def _wait(self, seconds: int) -> None:
        assert self._process is not None
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if self._process.poll() is not None:
                raise AssertionError(f"Label Studio ended while starting:\n{self._log_tail()}")
            try:
                if httpx.get(f"{self.url}/health", timeout=2).status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.3)
        raise AssertionError(f"Label Studio did not start in {seconds} s:\n{self._log_tail()}")

    def _log_tail(self) -> str:
        return self.log_path.read_text(errors="replace")[-3000:]


def free_port() -> int:
    """A free port on loopback, out of CONVOLABEL_TEST_PORTS (`first-last`) when that is set."""
    said = os.environ.get("CONVOLABEL_TEST_PORTS")
    first, last = map(int, said.split("-")) if said else (0, 0)
    for port in range(first, last + 1):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise AssertionError(f"No port of {said} is free.")


def _template(plugin: bool) -> Path:
    """A data directory with a migrated database and the administrator, made once per version of the packages."""
    home = Path(tempfile.gettempdir()) / f"convolabel-test-studio-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    template = home / _template_key(plugin)
    with _locked(home / "lock"):
        if not template.exists():
            making = home / "making"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            server = LabelStudioServer(making / "data", plugin=plugin)
            try:
                server.settings.data_dir.mkdir()
                server._launch(COLD_START_SECONDS)
            finally:
                server.stop()
            (making / "data").rename(template)
    return template


def _template_key(plugin: bool) -> str:
    migrations = Path(__file__).parent.parent / "label_config" / "studio" / "migrations"
    parts = [version("label-studio"), version("django"), ADMINISTRATOR.email, ADMINISTRATOR.password]
    if plugin:
        parts += [path.read_text() for path in sorted(migrations.glob("*.py"))]
    return f"{'plugin' if plugin else 'stock'}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    """Two test runs make a template one after the other."""
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
