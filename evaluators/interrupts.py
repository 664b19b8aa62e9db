"""Ctrl-C as a request to stop, not as an error at whatever place the program happens to be."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_NOTICE = b"\nStopping when the calls in flight have ended; press Ctrl-C again not to wait for them.\n"


@contextmanager
def stopped_by_interrupt(stop: Callable[[BaseException], None]) -> Iterator[None]:
    """Within the context the first Ctrl-C calls `stop` with a `KeyboardInterrupt`; a second one raises it.

    Outside the main thread, where no signal arrives, and where Ctrl-C is ignored, nothing changes.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, usual)
        stop(KeyboardInterrupt())
        # print would fail when it is what was interrupted
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, _NOTICE)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
