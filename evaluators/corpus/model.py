"""A corpus in memory, with the names of ConvoKit 5.0's `Corpus` (design, section 10)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from convolabel.errors import InputError
from evaluators.reading_order import in_reading_order


class Speaker:
    """Someone who speaks in one or more conversations. `ai_meta["role"]` is the role, if any."""

    def __init__(
        self,
        id: str,
        meta: Mapping[str, Any] | None = None,
        *,
        is_ai: bool = False,
        ai_meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.meta: dict[str, Any] = dict(meta or {})
        self.is_ai = is_ai
        self.ai_meta: dict[str, Any] = dict(ai_meta or {})

    def __repr__(self) -> str:
        return f"Speaker({self.id!r})"

    def retrieve_meta(self, key: str) -> Any:
        return self.meta.get(key)

    def add_meta(self, key: str, value: Any) -> None:
        self.meta[key] = value


class Utterance:
    """One utterance. `timestamp` is a number, a text, or `None`; `reply_to` is an utterance id or `None`."""

    def __init__(
        self,
        id: str,
        speaker: Speaker,
        conversation_id: str,
        text: str = "",
        timestamp: Any = None,
        reply_to: str | None = None,
        meta: Mapping[str, Any] | None = None,
        ai_meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.speaker = speaker
        self.conversation_id = conversation_id
        self.text = text
        self.timestamp = timestamp
        self.reply_to = reply_to
        self.meta: dict[str, Any] = dict(meta or {})
        self.ai_meta: dict[str, Any] = dict(ai_meta or {})

    def __repr__(self) -> str:
        return f"Utterance({self.id!r})"

    def get_speaker(self) -> Speaker:
        return self.speaker

    def retrieve_meta(self, key: str) -> Any:
        return self.meta.get(key)

    def add_meta(self, key: str, value: Any) -> None:
        self.meta[key] = value


class Conversation:
    """Utterances in file order. `ai_meta["alias"]` maps speaker ids to the names used in this conversation."""

    def __init__(
        self,
        id: str,
        utterances: Sequence[Utterance],
        meta: Mapping[str, Any] | None = None,
        ai_meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.meta: dict[str, Any] = dict(meta or {})
        self.ai_meta: dict[str, Any] = dict(ai_meta or {})
        self._utterances = {utterance.id: utterance for utterance in utterances}

    def __repr__(self) -> str:
        return f"Conversation({self.id!r})"

    @property
    def alias(self) -> dict[str, str]:
        """A copy of the names by speaker id."""
        return dict(self.ai_meta.get("alias") or {})

    def get_utterance(self, utterance_id: str) -> Utterance:
        return self._utterances[utterance_id]

    def get_utterance_ids(self) -> list[str]:
        return list(self._utterances)

    def iter_utterances(self, selector: Callable[[Utterance], bool] = lambda _: True) -> Iterator[Utterance]:
        return filter(selector, self._utterances.values())

    def get_chronological_utterance_list(
        self, selector: Callable[[Utterance], bool] = lambda _: True
    ) -> list[Utterance]:
        """By timestamp, ties in file order; in file order where timestamps are missing or mixed."""
        return [utterance for utterance in in_reading_order(self).utterances if selector(utterance)]

    def iter_speakers(self) -> Iterator[Speaker]:
        return iter({utterance.speaker.id: utterance.speaker for utterance in self.iter_utterances()}.values())

    def get_speaker_ids(self) -> list[str]:
        return [speaker.id for speaker in self.iter_speakers()]

    def retrieve_meta(self, key: str) -> Any:
        return self.meta.get(key)

    def add_meta(self, key: str, value: Any) -> None:
        self.meta[key] = value


class Corpus:
    """Conversations with their speakers.

    `filename` is a ConvoKit directory, a conversation file (.json, .jsonl) or an exported votes table (.csv, .jsonl,
    .parquet); without it the corpus is made of `utterances`. Reading raises `InputError`.
    """

    def __init__(
        self,
        filename: str | Path | None = None,
        utterances: Sequence[Utterance] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.meta: dict[str, Any] = dict(meta or {})
        self.ai_meta: dict[str, Any] = {}
        self.has_ai = False
        self.utterances: dict[str, Utterance] = {}
        self.speakers: dict[str, Speaker] = {}
        self.conversations: dict[str, Conversation] = {}
        if filename is not None:
            from evaluators.corpus.reading import fill_from

            fill_from(Path(filename), self)
        self.add_utterances(utterances or ())

    def add_utterances(
        self,
        utterances: Sequence[Utterance],
        conversations: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] | None = None,
    ) -> None:
        """Add whole conversations; `conversations` gives `meta` and `ai_meta` by conversation id.

        Raises `InputError` when an utterance id or a conversation is there already.
        """
        grouped: dict[str, list[Utterance]] = {}
        for utterance in utterances:
            if utterance.id in self.utterances:
                raise InputError(f"The utterance id {utterance.id} stands twice in the corpus; ids must be unique.")
            self.utterances[utterance.id] = utterance
            self.speakers.setdefault(utterance.speaker.id, utterance.speaker)
            grouped.setdefault(utterance.conversation_id, []).append(utterance)
        for conversation_id, members in grouped.items():
            if conversation_id in self.conversations:
                raise InputError(f"The conversation {conversation_id} is in the corpus already; add it whole.")
            metas = (conversations or {}).get(conversation_id, ({}, {}))
            self.conversations[conversation_id] = Conversation(conversation_id, members, *metas)

    def __len__(self) -> int:
        return len(self.conversations)

    def iter_conversations(self, selector: Callable[[Conversation], bool] = lambda _: True) -> Iterator[Conversation]:
        return filter(selector, self.conversations.values())

    def iter_utterances(self, selector: Callable[[Utterance], bool] = lambda _: True) -> Iterator[Utterance]:
        return filter(selector, self.utterances.values())

    def iter_speakers(self, selector: Callable[[Speaker], bool] = lambda _: True) -> Iterator[Speaker]:
        return filter(selector, self.speakers.values())

    def get_conversation(self, conversation_id: str) -> Conversation:
        return self.conversations[conversation_id]

    def get_utterance(self, utterance_id: str) -> Utterance:
        return self.utterances[utterance_id]

    def get_speaker(self, speaker_id: str) -> Speaker:
        return self.speakers[speaker_id]

    def get_conversation_ids(self) -> list[str]:
        return list(self.conversations)

    def get_utterance_ids(self) -> list[str]:
        return list(self.utterances)

    def get_speaker_ids(self) -> list[str]:
        return list(self.speakers)

    def set_speaker_convo_info(self, speaker_id: str, convo_id: str, key: str, value: Any) -> None:
        self.get_speaker(speaker_id).meta.setdefault("conversations", {}).setdefault(convo_id, {})[key] = value

    def get_speaker_convo_info(self, speaker_id: str, convo_id: str, key: str | None = None) -> Any:
        info = self.get_speaker(speaker_id).meta.get("conversations", {}).get(convo_id, {})
        return info if key is None else info.get(key)

    def dump(self, name: str, base_path: str | Path = ".") -> Path:
        """Write a ConvoKit directory `name` below `base_path`; returns its path. Raises `InputError`."""
        from evaluators.corpus.convokit_files import write_convokit

        return write_convokit(self, Path(base_path) / name)
