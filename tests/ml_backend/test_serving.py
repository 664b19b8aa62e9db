"""The server as a process: it answers on loopback and stops cleanly on a signal."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from small_study import CREDENTIALS, WordEmbedder, study

from ml_backend import serve

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from small_study import CREDENTIALS, WordEmbedder, study
from ml_backend import serve
serve([study()], CREDENTIALS, Path(sys.argv[2]), port=0, embedders=lambda _: WordEmbedder(),
      on_ready=lambda address: print(address, flush=True))
print("stopped", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_answers_and_stops(tmp_path: Path, number: signal.Signals) -> None:
    here = str(Path(__file__).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, here, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CONVOLABEL_SALT_DEMO": "a salt for these tests only"},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        request = urllib.request.Request(
            f"{address}/health", headers={"Authorization": "Basic c3R1ZGlvOmNvcnJlY3QgaG9yc2U="}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            assert reply.status == 200
            assert reply.headers.get("Server") is None
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "stopped\n", "")


def test_a_taken_port_is_an_os_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            serve([study()], CREDENTIALS, tmp_path, port=port, embedders=lambda _: WordEmbedder())
