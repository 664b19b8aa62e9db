"""The same decisions on PostgreSQL, where locks are per row and SQL is stricter than on SQLite."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.label_studio_server import LabelStudioServer, free_port
from tests.studio.studio_projects import Projects, conversation

pytestmark = pytest.mark.studio

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def as_postgres(command: Sequence[str | Path]) -> None:
    """PostgreSQL refuses to run as root."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*user, *map(str, command)], check=True, capture_output=True, cwd=tempfile.gettempdir())


@contextmanager
def postgres() -> Iterator[dict[str, str]]:
    """A cluster of its own in a temporary folder; yields what Label Studio needs in its environment."""
    initdb = BINARIES[-1]
    port = str(free_port())
    folder = Path(tempfile.mkdtemp(prefix="convolabel-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        data = folder / "data"
        as_postgres([initdb, "-D", data, "-U", "studio", "--auth", "trust", "--encoding", "UTF8"])
        options = f"-p {port} -h 127.0.0.1 -k {folder}"
        control = initdb.with_name("pg_ctl")
        as_postgres([control, "-D", data, "-w", "-l", folder / "log", "-o", options, "start"])
        try:
            as_postgres([initdb.with_name("createdb"), "-h", folder, "-p", port, "-U", "studio", "studio"])
            yield {
                "DJANGO_DB": "default",
                "POSTGRE_NAME": "studio",
                "POSTGRE_USER": "studio",
                "POSTGRE_PASSWORD": "",
                "POSTGRE_HOST": "127.0.0.1",
                "POSTGRE_PORT": port,
            }
        finally:
            as_postgres([control, "-D", data, "-m", "fast", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif(not BINARIES, reason="PostgreSQL is not installed (Debian: postgresql)")
def test_decisions_reveal_and_finish_on_postgres(tmp_path: Path) -> None:
    with postgres() as environment:
        data = tmp_path / "data"
        data.mkdir()
        server = LabelStudioServer(data, plugin=True, environment=environment)
        with server, Projects(server) as projects:
            project = projects.make([conversation("pg", turns=3, units=4)], raters=4)
            (task,) = project.tasks
            raters = [project.sign_in(number) for number in range(4)]
            assert len(raters[0].open(task)["units"]) == 4
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda rater: rater.decide_all(task), raters))
            repeated = raters[0].body("R", base=1)
            assert [raters[0].put(task, "pg-0-0", repeated).json()["unit"]["version"] for _ in range(2)] == [2, 2]
            finished = [rater.finish(task).json()["annotation"] for rater in raters for _ in range(2)]
            assert len(set(finished)) == 4
            assert finished[::2] == finished[1::2]
            assert len(projects.log(project)) == 4 * 12
            native = projects.task(task)
            assert native["total_annotations"] == 4
            for annotation in native["annotations"]:
                labels = [result for result in annotation["result"] if result["type"] == "choices"]
                assert len({result["id"] for result in labels}) == len(labels) == 12
            for rater in raters:
                rater.close()
