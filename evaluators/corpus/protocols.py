"""What the evaluators use of a corpus: ConvoKit's own objects and ours both have it."""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Protocol


class SpeakerLike(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def meta(self) -> MutableMapping[str, Any]: ...


class UtteranceLike(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def speaker(self) -> Any:
        """A `SpeakerLike`."""
        ...

    @property
    def text(self) -> str: ...

    @property
    def timestamp(self) -> Any: ...

    @property
    def meta(self) -> MutableMapping[str, Any]: ...


class ConversationLike(Protocol):
    """`alias`, a mapping of speaker ids to names, and `ai_meta` may be missing."""

    @property
    def id(self) -> str: ...

    @property
    def meta(self) -> MutableMapping[str, Any]: ...

    def iter_utterances(self) -> Iterator[Any]:
        """`UtteranceLike` objects in file order."""
        ...


class CorpusLike(Protocol):
    def iter_conversations(self) -> Iterator[Any]:
        """`ConversationLike` objects."""
        ...

    def get_speaker(self, speaker_id: str, /) -> Any: ...


SpeakerConversationInfo = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""speaker id -> conversation id -> attribute -> value"""

_INFO = "conversations"


def write_speaker_info(corpus: CorpusLike, info: SpeakerConversationInfo) -> None:
    """Store values per speaker and conversation where ConvoKit's `get_speaker_convo_info` finds them.

    Each speaker's metadata is read and written once: ConvoKit copies all of it at every access, so that one write
    per conversation would take time that grows with the square of the corpus.
    """
    for speaker_id, conversations in info.items():
        meta = corpus.get_speaker(speaker_id).meta
        known = dict(meta.get(_INFO) or {})
        for conversation_id, values in conversations.items():
            known[conversation_id] = {**(known.get(conversation_id) or {}), **values}
        meta[_INFO] = known


def read_speaker_info(corpus: CorpusLike, speaker_ids: Iterable[str]) -> SpeakerConversationInfo:
    """What `write_speaker_info` stored, each speaker's metadata read once."""
    return {speaker: dict(corpus.get_speaker(speaker).meta.get(_INFO) or {}) for speaker in speaker_ids}
