"""Serving the app with waitress until SIGINT or SIGTERM."""

import signal
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from types import FrameType

from waitress.server import create_server  # type: ignore[import-untyped]

from convolabel.credentials import Credentials
from convolabel.study import Study
from ml_backend.app import MAX_REQUEST_BYTES, SERVICE, create_app
from ml_backend.copilot_service import MAX_WAITING
from ml_backend.embedder import Embedder, SentenceEmbedder

_FREE_THREADS = 8
"""Threads that stored suggestions can count on while all others wait for a model."""


def serve(
    studies: Iterable[Study],
    credentials: Credentials,
    state_dir: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 9090,
    embedders: Callable[[str], Embedder] = SentenceEmbedder,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until the process gets SIGINT or SIGTERM; models load in the background meanwhile.

    `on_ready` is called with the server's address once it accepts requests; port 0 takes a free one. Raises
    `convolabel.errors.InputError` for settings that cannot work, and `OSError` when the port is taken.
    """
    app = create_app(studies, credentials, state_dir, embedders=embedders)
    service = app.extensions[SERVICE]
    try:
        server = create_server(
            app,
            host=host,
            port=port,
            threads=MAX_WAITING + _FREE_THREADS,
            ident=None,
            max_request_body_size=MAX_REQUEST_BYTES,
        )
        with closing(server):
            _stop_on_signals()
            service.warm_up()
            if on_ready is not None:
                on_ready(f"http://{server.effective_host}:{server.effective_port}")
            server.run()  # returns on SystemExit, when the requests under way are answered
    finally:
        service.close()


def _stop_on_signals() -> None:
    # Python lets only the main thread set handlers
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)
