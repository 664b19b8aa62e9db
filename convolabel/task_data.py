"""A conversation as the data of one Label Studio task: the contract between import, plugin, scoring server and export.

The keys `messages`, `author` and `text` are what the labeling config's Paragraphs tag reads.
Offsets stay in code points here; Label Studio's own regions count UTF-16 and are made in one place,
`convolabel.native_regions`.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from convolabel.conversation import PUBLIC_ASSISTANT, Conversation, message_id
from convolabel.units import Unit


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskMessage(_Strict):
    message_id: str | int
    speaker: str
    author: str
    role: str | None = None
    mediator: bool = False
    text: str
    timestamp: str | int | float | None = None
    labelable: bool = False


class TaskSpan(_Strict):
    """A unit: `[start, end)` in code points of message number `message` (0-based position in the task)."""

    span_id: str
    rev: int = 1
    message: int
    start: int
    end: int

    @property
    def unit(self) -> Unit:
        return Unit(self.span_id, self.rev)


class TaskData(_Strict):
    """What Label Studio stores for one conversation. `spans` are in reading order."""

    convolabel: str = "1.0"
    study: str
    id: str
    label: str
    metadata: dict[str, Any]
    messages: tuple[TaskMessage, ...]
    spans: tuple[TaskSpan, ...]
    fingerprint: str
    """Of messages, speakers and spans as imported; splitting and merging leaves it alone."""

    def span_text(self, span: TaskSpan) -> str:
        return self.messages[span.message].text[span.start : span.end]

    def span(self, span_id: str) -> TaskSpan | None:
        return next((span for span in self.spans if span.span_id == span_id), None)

    def up_to(self, message_count: int) -> "TaskData":
        """The same conversation cut to its first `message_count` messages: nothing of the rest remains.

        Metadata goes too: a rater is not shown it, so neither is a model.
        """
        return self.model_copy(
            update={
                "metadata": {},
                "fingerprint": "",
                "messages": self.messages[:message_count],
                "spans": tuple(span for span in self.spans if span.message < message_count),
            }
        )


def task_data(conversation: Conversation, study: str, mediator_roles: Iterable[str] = (PUBLIC_ASSISTANT,)) -> TaskData:
    """The task data of a validated conversation, every unit in its first revision."""
    mediators = frozenset(mediator_roles)
    messages = []
    spans = []
    for index, message in enumerate(conversation.messages):
        voice = conversation.voice(message)
        messages.append(
            TaskMessage(
                message_id=message_id(message, index),
                speaker=voice.speaker,
                author=voice.name,
                role=voice.role,
                mediator=voice.role in mediators,
                text=message.content,
                timestamp=message.timestamp,
                labelable=message.labelable,
            )
        )
        spans += [
            TaskSpan(span_id=span.span_id, message=index, start=span.start, end=span.end) for span in message.spans
        ]
    return TaskData(
        study=study,
        id=conversation.id,
        label=conversation.title,
        metadata=conversation.metadata,
        messages=tuple(messages),
        spans=tuple(spans),
        fingerprint=fingerprint_of(messages, spans),
    )


def is_task_data(data: object) -> bool:
    """Whether a Label Studio task was imported by convolabel."""
    return isinstance(data, dict) and "convolabel" in data and "spans" in data and "fingerprint" in data


def fingerprint_of(messages: Sequence[TaskMessage], spans: Sequence[TaskSpan]) -> str:
    """A hash of messages, speakers and spans; it differs from `fingerprint` once units were split or merged."""
    parts = [[part.model_dump(mode="json") for part in group] for group in (messages, spans)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
