"""Child processes of `convolabel demo`: started with a log of their own, waited for, stopped in order."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from convolabel.errors import InputError, RemoteError

STOP_SECONDS = 10.0


@dataclass
class Part:
    """One running part of the demo."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def check(self) -> None:
        """Raises `RemoteError` when the part has ended."""
        code = self.process.poll()
        if code is not None:
            raise RemoteError(f"{self.name} stopped by itself (exit code {code}); its log is {self.log}.")

    def stop(self) -> None:
        """Ask the part to end, and end it when it does not."""
        if self.process.poll() is not None:
            return
        _signal(self.process, signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _signal(self.process, signal.SIGKILL)
            self.process.wait()


def start(name: str, command: Sequence[str], environment: Mapping[str, str], log: Path) -> Part:
    """Start a part in a process group of its own, so that Ctrl-C reaches only the one who stops it in order."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 - commands are built here
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Part(name, process, log)


def wait_until_up(part: Part, url: str, seconds: float, authorization: str | None = None) -> None:
    """Wait until `url` answers 200. Raises `RemoteError` when the part ends or the time is over."""
    deadline = time.monotonic() + seconds
    request = urllib.request.Request(url)  # noqa: S310 - a loopback address
    if authorization:
        request.add_header("Authorization", authorization)
    while time.monotonic() < deadline:
        part.check()
        try:
            with urllib.request.urlopen(request, timeout=2) as reply:  # noqa: S310
                if reply.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RemoteError(f"{part.name} did not answer at {url} within {seconds:.0f} seconds; its log is {part.log}.")


def require_free_port(host: str, port: int, what: str, option: str) -> None:
    """Raises `InputError` when something listens on the port already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            raise InputError(
                f"Port {port} on {host}, wanted for {what}, is in use (is the demo running already?); "
                f"stop what uses it or give another with {option}."
            ) from None


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return
