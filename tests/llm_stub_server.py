"""A local HTTP server that speaks enough of OpenAI's and Gemini's APIs for their SDKs, and misbehaves on request.

Each call takes the next thing from the queue; when the queue is empty or the thing is `None`, `answer(prompt)` is the
reply.
"""

import json
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

KEY = "sk-very-secret-0123456789"
"""What must never be seen in a message."""


@dataclass(frozen=True)
class Reply:
    """A model's answer. `finish` is `stop`, `length` (cut) or `blocked`; `after` seconds."""

    text: str
    finish: str = "stop"
    refusal: str | None = None
    after: float = 0.0


@dataclass(frozen=True)
class Fault:
    """An HTTP error with OpenAI's `code`, `param` and `message`."""

    status: int
    code: str = "some_error"
    message: str = "No."
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


class Reset:
    """The connection is closed without an answer."""


@dataclass(frozen=True)
class Call:
    api: str
    prompt: str
    body: dict[str, Any]
    key: str
    at: float


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that was killed breaks its connection; everything else is a fault of the stub."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LLMStub:
    """`with LLMStub() as stub: ... stub.openai_url, stub.gemini_url`."""

    def __init__(self, answer: Callable[[str], str] = lambda _prompt: "{}", latency: float = 0.0) -> None:
        self.answer = answer
        self.latency = latency
        self.calls: list[Call] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._queue: deque[Reply | Fault | Reset | None] = deque()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))

    def enqueue(self, *things: Reply | Fault | Reset | None) -> None:
        self._queue.extend(things)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.address}/v1"

    @property
    def gemini_url(self) -> str:
        return self.address

    def take(self, call: Call) -> Reply | Fault | Reset:
        with self._lock:
            self.calls.append(call)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            thing = self._queue.popleft() if self._queue else None
        try:
            time.sleep(self.latency)
            thing = thing or Reply(self.answer(call.prompt))
            if isinstance(thing, Reply) and thing.after:
                time.sleep(thing.after)
            return thing
        finally:
            with self._lock:
                self._in_flight -= 1

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(stub: LLMStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else the two writes of a reply wait 40 ms for each other

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_gemini = ":generateContent" in self.path
            call = _gemini_call(self.headers, body) if is_gemini else _openai_call(self.headers, body)
            thing = stub.take(call)
            if isinstance(thing, Reset):
                self.close_connection = True
                self.connection.close()
            elif isinstance(thing, Fault):
                self._send(thing.status, _gemini_fault(thing) if is_gemini else _openai_fault(thing), thing.headers)
            else:
                self._send(200, _gemini_reply(thing) if is_gemini else _openai_reply(thing, body), {})

        def _send(self, status: int, document: Any, headers: dict[str, str]) -> None:
            data = json.dumps(document).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except ConnectionError:  # the caller was killed meanwhile
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def _openai_call(headers: Any, body: dict[str, Any]) -> Call:
    prompt = "\n".join(message["content"] for message in body["messages"])
    return Call("openai", prompt, body, headers.get("Authorization", ""), time.monotonic())


def _gemini_call(headers: Any, body: dict[str, Any]) -> Call:
    prompt = "\n".join(part["text"] for content in body["contents"] for part in content["parts"])
    return Call("gemini", prompt, body, headers.get("x-goog-api-key", ""), time.monotonic())


def _openai_reply(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    finish = {"blocked": "content_filter"}.get(reply.finish, reply.finish)
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": finish, "logprobs": None, "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _openai_fault(fault: Fault) -> dict[str, Any]:
    return {"error": {"message": fault.message, "type": "error", "param": fault.param, "code": fault.code}}


def _gemini_reply(reply: Reply) -> dict[str, Any]:
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 15, "thoughtsTokenCount": 5, "totalTokenCount": 120}
    if reply.finish == "blocked" and not reply.text:
        return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "blocked": "SAFETY"}[reply.finish]
    content = {"role": "model", "parts": [{"text": reply.text}]}
    return {"candidates": [{"content": content, "finishReason": finish, "index": 0}], "usageMetadata": usage}


def _gemini_fault(fault: Fault) -> dict[str, Any]:
    details = []
    if "Retry-After" in fault.headers:
        delay = f"{fault.headers['Retry-After']}s"
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    return {"error": {"code": fault.status, "message": fault.message, "status": fault.code, "details": details}}
