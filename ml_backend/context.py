"""What a provider may read of a conversation when it suggests a category for a unit."""

import hashlib
import json
from dataclasses import astuple, dataclass

from convolabel.task_data import TaskData, TaskSpan


@dataclass(frozen=True)
class Context:
    """A unit `[start, end)` in code points of `text`, the part of message number `message` that may be read."""

    message: int
    text: str
    start: int
    end: int

    @property
    def unit_text(self) -> str:
        return self.text[self.start : self.end]

    @property
    def fingerprint(self) -> str:
        """Changes whenever anything the provider reads changes."""
        canonical = json.dumps(astuple(self), separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:32]


def context_of(data: TaskData, span: TaskSpan, *, no_future_messages: bool) -> Context:
    """The context of a unit. With `no_future_messages` its message ends where the unit ends (design, section 7)."""
    text = data.messages[span.message].text
    return Context(span.message, text[: span.end] if no_future_messages else text, span.start, span.end)
