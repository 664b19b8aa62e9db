"""Small HTTP servers on loopback that stand for a receiver of webhooks and for a scoring server."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from tests.label_studio_server import free_port


@dataclass
class Recording:
    """`received` holds the JSON bodies in order of arrival; `answer` makes the reply to a path and a body."""

    url: str
    answer: Callable[[str, Any], Any] = lambda path, body: {}
    open: Event = field(default_factory=Event)
    """Answers are held back while this is cleared."""
    received: list[Any] = field(default_factory=list)


@contextmanager
def recording_server() -> Iterator[Recording]:
    port = free_port()
    recording = Recording(f"http://127.0.0.1:{port}")
    recording.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(said) if said else None
            recording.received.append(body)
            recording.open.wait(60)
            self._reply(recording.answer(self.path, body))

        def do_GET(self) -> None:
            self._reply({"status": "UP"})

        def _reply(self, document: Any) -> None:
            content = json.dumps(document).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except BrokenPipeError:
                pass  # the caller did not wait

        def log_message(self, *_: Any) -> None:
            """Nothing on the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield recording
    finally:
        recording.open.set()
        server.shutdown()
        server.server_close()
