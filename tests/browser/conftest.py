"""One Label Studio with the plugin, one scoring server and one Chromium for the tests of this folder."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import yaml

from convolabel import Study, task_data
from convolabel.credentials import Credentials
from importers import Connection, connect, create_study, import_conversations
from tests.browser.rated_study import RATERS, conversations, study
from tests.label_studio_server import LabelStudioServer, free_port

COPILOT = Credentials("label-studio", "copilot-password-1")


@dataclass
class RatedStudy:
    """A study that two raters can code: servers, people, and a connection for the manager."""

    study: Study
    server: LabelStudioServer
    connection: Connection
    passwords: dict[str, str]
    project: int


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudioServer]:
    with LabelStudioServer(tmp_path_factory.mktemp("browser") / "data", plugin=True) as server:
        yield server


@pytest.fixture(scope="module")
def rated(studio: LabelStudioServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RatedStudy]:
    port = free_port()
    made = study("browser-study", studio.url, f"http://127.0.0.1:{port}")
    passwords = {email: f"{email.split('@')[0]}-password-1" for email in RATERS}
    with scoring_server(made, port, tmp_path_factory.mktemp("scoring")), connect(studio.url, studio.token) as manager:
        created = create_study(made, manager, passwords=passwords, copilot_credentials=COPILOT)
        import_conversations(made, conversations(), manager)
        yield RatedStudy(made, studio, manager, passwords, created.project_id)


class scoring_server:  # noqa: N801 - used as a function is
    """`convolabel serve` in a process of its own, with a salt that makes its control units the same in every run."""

    def __init__(self, made: Study, port: int, folder: Path) -> None:
        path = folder / "study.yaml"
        path.write_text(yaml.safe_dump(made.model_dump(mode="json", exclude_unset=True)), encoding="utf-8")
        self._url = f"http://127.0.0.1:{port}"
        self._study = made
        environment = {
            **os.environ,
            "CONVOLABEL_COPILOT_USER": COPILOT.user,
            "CONVOLABEL_COPILOT_PASSWORD": COPILOT.password,
            "CONVOLABEL_SALT_BROWSER_STUDY": "the same control units in every run",
        }
        command = [sys.executable, "-m", "convolabel", "serve", str(path), "--port", str(port), "--data", str(folder)]
        self._log = (folder / "scoring.log").open("wb")
        self._process = subprocess.Popen(
            command, env=environment, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def __enter__(self) -> None:
        """Waits until the model is loaded too, so that no suggestion is late on a busy machine."""
        data = task_data(conversations()[0], self._study.study)
        unit = {"study": data.study, "conversation": data.id, "span_id": "f-1", "rev": 1, "rater": "nobody"}
        body = {
            "tasks": [{"id": 1, "data": data.model_dump(mode="json")}],
            "project": "1.0",
            "params": {"context": {"copilot": unit}},
        }
        limit = time.monotonic() + 120
        while time.monotonic() < limit:
            try:
                reply = httpx.post(f"{self._url}/predict", json=body, auth=(COPILOT.user, COPILOT.password), timeout=30)
                if reply.json()["results"][0]["copilot"]["arm"] != "none":
                    return
            except httpx.TransportError:
                time.sleep(0.2)
        raise AssertionError("the scoring server did not start")

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(20)
        self._log.close()
