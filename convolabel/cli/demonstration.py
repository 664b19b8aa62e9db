"""`convolabel demo`: Label Studio with the plugin, the scoring server and the sample study on one machine."""

import json
import os
import secrets
import shutil
import signal
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from string import Template
from types import FrameType

import click

from convolabel.cli.processes import Part, require_free_port, start, wait_until_up
from convolabel.conversation_files import read_conversations
from convolabel.credentials import Credentials
from convolabel.errors import InputError
from convolabel.study import Study, read_study

HOST = "127.0.0.1"
FREE_BYTES = 500_000_000
START_SECONDS = 180.0


@dataclass(frozen=True)
class Demonstration:
    data: Path
    port: int
    copilot_port: int

    @property
    def study_file(self) -> Path:
        return self.data / "study.yaml"

    @property
    def environment_file(self) -> Path:
        """For a shell that wants to run further commands against the demo."""
        return self.data / "env"

    @property
    def logins_file(self) -> Path:
        return self.data / "logins.json"


@dataclass
class Logins:
    """Made once per data folder and kept in a file only its owner can read."""

    administrator: str
    password: str = field(repr=False)
    token: str = field(repr=False)
    copilot_password: str = field(repr=False)
    raters: dict[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def new(cls) -> "Logins":
        return cls("manager@example.com", secrets.token_urlsafe(9), secrets.token_hex(20), secrets.token_urlsafe(18))


def run(demonstration: Demonstration, *, open_browser: bool) -> None:
    """Start everything, wait for Ctrl-C, stop everything. Raises `InputError` and `RemoteError` with one sentence."""
    _require_room(demonstration)
    demonstration.data.mkdir(parents=True, exist_ok=True)
    logins = _logins(demonstration)
    _write_study_file(demonstration)
    study = read_study(demonstration.study_file)
    begun = time.monotonic()
    with _stopping_on_signals(), _running() as parts:
        _start_parts(demonstration, logins, parts)
        _create_study(demonstration, study, logins)
        click.echo(_summary(demonstration, study, logins, time.monotonic() - begun))
        if open_browser:
            webbrowser.open(f"http://{HOST}:{demonstration.port}/")
        while True:
            for part in parts:
                part.check()
            time.sleep(0.5)


def _require_room(demonstration: Demonstration) -> None:
    require_free_port(HOST, demonstration.port, "Label Studio", "--port")
    require_free_port(HOST, demonstration.copilot_port, "the scoring server", "--copilot-port")
    place = demonstration.data.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < FREE_BYTES:
        raise InputError(
            f"{place} has {free // 1_000_000} MB free and the demo needs {FREE_BYTES // 1_000_000} MB; "
            "free some space or give another folder with --data."
        )


def _logins(demonstration: Demonstration) -> Logins:
    path = demonstration.logins_file
    if path.exists():
        try:
            return Logins(**json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise InputError(f"{path} is damaged; delete the folder {demonstration.data} to start anew.") from None
    logins = Logins.new()
    _save_logins(demonstration, logins)
    return logins


def _save_logins(demonstration: Demonstration, logins: Logins) -> None:
    _write_private(demonstration.logins_file, json.dumps(asdict(logins), indent=1))
    _write_private(demonstration.environment_file, f"export LABEL_STUDIO_API_KEY={logins.token}\n")


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _write_study_file(demonstration: Demonstration) -> None:
    """The study file of the demo, made once: afterwards it is the user's to change, but for the addresses."""
    if demonstration.study_file.exists():
        return
    template = (resources.files("convolabel") / "sample" / "study.yaml").read_text(encoding="utf-8")
    text = Template(template).substitute(
        studio_url=f"http://{HOST}:{demonstration.port}", copilot_url=f"http://{HOST}:{demonstration.copilot_port}"
    )
    demonstration.study_file.write_text(text, encoding="utf-8")


@contextmanager
def _stopping_on_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal stop the demo as Ctrl-C does; so does SIGINT where a shell had it ignored."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


@contextmanager
def _running() -> Iterator[list[Part]]:
    """Parts started inside are stopped at the end, the last one first."""
    parts: list[Part] = []
    try:
        yield parts
    finally:
        if parts:
            click.echo("Stopping ...", err=True)
        # a second Ctrl-C must not leave a part running
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        for part in reversed(parts):
            part.stop()
        signal.signal(signal.SIGINT, before)


def _start_parts(demonstration: Demonstration, logins: Logins, parts: list[Part]) -> None:
    from label_config.launch import Administrator, StudioServer, studio_command, studio_environment

    logs = demonstration.data / "logs"
    first = not (demonstration.data / "label-studio" / "label_studio.sqlite3").exists()
    click.echo(
        "Starting Label Studio and the scoring server" + (" (the first start takes longer) ..." if first else " ...")
    )
    login = {"CONVOLABEL_COPILOT_USER": "label-studio", "CONVOLABEL_COPILOT_PASSWORD": logins.copilot_password}
    server = StudioServer(
        demonstration.data / "label-studio",
        HOST,
        demonstration.port,
        Administrator(logins.administrator, logins.password, logins.token),
    )
    server.data_dir.mkdir(parents=True, exist_ok=True)
    parts.append(start("Label Studio", studio_command(server), studio_environment(server), logs / "label-studio.log"))
    serve = [sys.executable, "-m", "convolabel", "serve", str(demonstration.study_file), "--host", HOST]
    serve += ["--port", str(demonstration.copilot_port), "--data", str(demonstration.data / "copilot")]
    parts.append(start("The scoring server", serve, {**os.environ, **login}, logs / "scoring-server.log"))
    copilot_url = f"http://{HOST}:{demonstration.copilot_port}/health"
    wait_until_up(parts[1], copilot_url, START_SECONDS, _basic(login))
    wait_until_up(parts[0], f"{server.url}/health", START_SECONDS)


def _basic(login: dict[str, str]) -> str:
    from base64 import b64encode

    return "Basic " + b64encode(":".join(login.values()).encode()).decode()


def _create_study(demonstration: Demonstration, study: Study, logins: Logins) -> None:
    from importers import connect, create_study, import_conversations

    credentials = Credentials("label-studio", logins.copilot_password)
    with connect(f"http://{HOST}:{demonstration.port}", logins.token) as connection:
        created = create_study(study, connection, copilot_credentials=credentials)
        if created.passwords:
            logins.raters |= created.passwords
            _save_logins(demonstration, logins)
        with resources.as_file(resources.files("convolabel") / "sample" / "conversations.json") as path:
            sample = read_conversations([path])
        import_conversations(study, sample.conversations, connection)


def _summary(demonstration: Demonstration, study: Study, logins: Logins, seconds: float) -> str:
    url = f"http://{HOST}:{demonstration.port}"
    people = [(rater.email, logins.raters.get(rater.email, "(unchanged)"), "rater") for rater in study.raters]
    people.append((logins.administrator, logins.password, "manager"))
    width = max(len(email) for email, _, _ in people)
    lines = [f"  {email.ljust(width)}  {password}  ({role})" for email, password, role in people]
    return "\n".join(
        [
            "",
            f"Ready after {seconds:.0f} s: {url}",
            *lines,
            "Sign in as a rater and code. In another terminal, what was coded comes out with",
            f"  . {demonstration.environment_file} && {_command()} export {demonstration.study_file} -o votes.csv",
            "Ctrl-C stops everything; the next start continues here.",
        ]
    )


def _command() -> str:
    """How a shell started here calls convolabel, which `make demo` does not put on the PATH."""
    return "convolabel" if shutil.which("convolabel") else os.path.relpath(Path(sys.executable).with_name("convolabel"))
