"""`convolabel demo` as a person runs it: from nothing, stopped by Ctrl-C, started again."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.label_studio_server import free_port

pytestmark = pytest.mark.studio


class Demo:
    def __init__(self, folder: Path, port: int, copilot_port: int) -> None:
        self.output = folder / "output.txt"
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "convolabel", "demo", "--no-browser", "--data", str(folder / "demo")]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, "--port", str(port), "--copilot-port", str(copilot_port)],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    @property
    def said(self) -> str:
        return self.output.read_text()

    def await_ready(self) -> "Demo":
        limit = time.monotonic() + 180
        while "Ctrl-C stops everything" not in self.said:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < limit, self.said
            time.sleep(0.3)
        return self

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(40)


def test_demo_starts_stops_and_goes_on_where_it_was(tmp_path: Path) -> None:
    ports = free_port(), free_port()
    first = Demo(tmp_path, *ports).await_ready()
    try:
        logins = json.loads((tmp_path / "demo" / "logins.json").read_text())
        assert set(logins["raters"]) == {"rater1@example.com", "rater2@example.com"}
        for email, password in logins["raters"].items():
            assert re.search(rf"{re.escape(email)}\s+{re.escape(password)}\s+\(rater\)", first.said)
        assert (tmp_path / "demo" / "logins.json").stat().st_mode & 0o077 == 0
        headers = {"Authorization": f"Token {logins['token']}"}
        projects = httpx.get(f"{first.url}/api/projects/", headers=headers).json()["results"]
        assert [(each["title"], each["task_number"]) for each in projects] == [("convolabel sample study", 8)]

        environment = {**os.environ, "LABEL_STUDIO_API_KEY": logins["token"]}
        study = str(tmp_path / "demo" / "study.yaml")
        shown = subprocess.run(
            [sys.executable, "-m", "convolabel", "progress", study, "--json"], env=environment, capture_output=True
        )
        assert len(json.loads(shown.stdout)["progress"]) == 16  # 8 conversations, 2 raters

        second = subprocess.run(
            [sys.executable, "-m", "convolabel", "demo", "--data", str(tmp_path / "demo"), "--port", str(ports[0])],
            capture_output=True,
            text=True,
        )
        assert second.returncode == 2
        assert f"Port {ports[0]}" in second.stderr
    finally:
        code = first.stop()
    assert code == 130
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{first.url}/health")

    again = Demo(tmp_path, *ports).await_ready()
    try:
        assert json.loads((tmp_path / "demo" / "logins.json").read_text()) == logins
        projects = httpx.get(f"{again.url}/api/projects/", headers=headers).json()["results"]
        assert [each["task_number"] for each in projects] == [8]
    finally:
        again.process.terminate()
        assert again.process.wait(40) == 130
    logs = "".join(path.read_text(errors="replace") for path in (tmp_path / "demo" / "logs").iterdir())
    secrets = [logins["password"], logins["token"], logins["copilot_password"], *logins["raters"].values()]
    assert [secret for secret in secrets if secret in logs] == []


def test_a_part_that_dies_is_named(tmp_path: Path) -> None:
    """A damaged study file stops the scoring server; the demo says which part and where its log is."""
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "copilot").write_text("a file where the scoring server wants its folder")
    demo = Demo(tmp_path, free_port(), free_port())
    assert demo.process.wait(120) == 3
    assert "The scoring server stopped by itself" in demo.said
    assert "scoring-server.log" in demo.said
    assert "Traceback" not in demo.said
