"""The conversation format, schema version 1.0 (design, section 3; docs/format.md).

These models accept what is well formed; which spans are right is judged by `convolabel.validation`,
the only way by which files become `Conversation` objects.
"""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

SCHEMA_VERSION = "1.0"
PUBLIC_ASSISTANT = "public assistant"
"""The role of the AI mediator, unless a study names others."""

NonEmpty = Annotated[str, Field(strict=True, min_length=1)]
SpanId = Annotated[str, Field(strict=True, min_length=1, max_length=64)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Span(_Strict):
    """`[start, end)` in Unicode code points of the message's content."""

    span_id: SpanId
    start: StrictInt
    end: StrictInt
    text: StrictStr | None = None


class Speaker(_Strict):
    name: StrictStr | None = None
    role: StrictStr | None = None


class Message(_Strict):
    """One message. `content` is kept byte-exact; `timestamp` never reorders anything."""

    message_id: NonEmpty | StrictInt | None = None
    speaker: NonEmpty | None = None
    role: NonEmpty | None = None
    content: StrictStr
    timestamp: StrictStr | StrictInt | StrictFloat | None = None
    labelable: StrictBool = False
    spans: tuple[Span, ...] = ()


class Content(_Strict):
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]


class Voice(NamedTuple):
    """Who speaks a message: id, the name to show, and the role (None when the file gives none)."""

    speaker: str
    name: str
    role: str | None


class Conversation(_Strict):
    """One item of a conversation file."""

    id: NonEmpty
    label: StrictStr | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    speakers: dict[str, Speaker] = Field(default_factory=dict)
    content: Content

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.content.messages

    @property
    def title(self) -> str:
        return self.label or self.id

    def voice(self, message: Message) -> Voice:
        """Who speaks `message`; without `speaker` the role is the speaker."""
        speaker = message.speaker or message.role or ""
        known = self.speakers.get(speaker, Speaker())
        return Voice(speaker, known.name or speaker, message.role or known.role)


class ConversationFile(_Strict):
    schema_version: Literal["1.0"]
    items: tuple[Conversation, ...]


def message_id(message: Message, index: int) -> str | int:
    """The message's id; by default its 1-based position, `index` being 0-based."""
    return index + 1 if message.message_id is None else message.message_id
