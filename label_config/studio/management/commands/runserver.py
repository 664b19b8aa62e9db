"""The command that `label-studio start` serves with, answering as soon as an answer is there.

Django's server writes headers and body apart. With Nagle's algorithm on, the body waits until the browser has
acknowledged the headers, which browsers put off: about 40 ms more for every answer.
"""

import gc
import socket
from typing import Any

from django.contrib.staticfiles.management.commands.runserver import Command as DjangoCommand
from django.core.servers.basehttp import WSGIServer


class PromptServer(WSGIServer):
    request_queue_size = 128
    """Connections that may wait; Django's 10 are fewer than a room of raters opens at once."""

    def get_request(self) -> Any:
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        # what start-up has loaded stays; looking through it again and again costs single answers 0.2 s
        gc.collect()
        gc.freeze()
        super().serve_forever(poll_interval)


class Command(DjangoCommand):
    server_cls = PromptServer
