"""A local HTTP server that answers as Label Studio would, and fails as told."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VERSION = {"label-studio-os-package": {"version": "1.23.2"}}
RESET = "reset"
"""An answer that is none: the connection breaks off."""

Answer = tuple[int, Any] | str


@dataclass
class Script:
    """`answers` per path, used up one by one, the last one for good. `seen` are the requests in order."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    seen: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path, Authorization."""
    bodies: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    url: str = ""

    def paths(self) -> list[str]:
        return [path for _, path, _ in self.seen]

    def answer(self, path: str) -> Answer:
        waiting = self.answers.get(path, [(404, {"detail": "no such page"})])
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


@contextmanager
def serving(answers: dict[str, list[Answer]]) -> Iterator[Script]:
    good: dict[str, list[Answer]] = {
        "/api/version": [(200, VERSION)],
        "/api/current-user/whoami": [(200, {"id": 1})],
        "/api/token/refresh/": [(200, {"access": "access-1"}), (200, {"access": "access-2"})],
    }
    script = Script({**good, **answers})

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            path = self.path.partition("?")[0]
            script.seen.append((self.command, path, self.headers.get("Authorization", "")))
            length = int(self.headers.get("Content-Length") or 0)
            if length:
                script.bodies[path].append(json.loads(self.rfile.read(length)))
            answer = script.answer(path)
            if isinstance(answer, str):
                self.close_connection = True
                return
            status, body = answer
            content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "https://elsewhere.example/")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
