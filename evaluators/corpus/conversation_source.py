"""Conversations in convolabel's own format as a corpus."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convolabel.conversation import PUBLIC_ASSISTANT, Conversation, message_id
from convolabel.conversation_files import read_conversations
from convolabel.errors import InputError
from evaluators.corpus.model import Corpus, Speaker, Utterance

_SHOWN_FAULTS = 10


def read_conversation_file(path: Path, corpus: Corpus) -> None:
    """Fill `corpus` from a conversation file, with or without spans. Raises `InputError` with the faults."""
    checked = read_conversations([path], spans_required=False)
    if checked.faults:
        shown = [str(fault) for fault in checked.faults[:_SHOWN_FAULTS]]
        more = len(checked.faults) - len(shown)
        raise InputError("\n".join([*shown, f"and {more} more faults."] if more > 0 else shown))
    fill_from_conversations(checked.conversations, corpus)


def fill_from_conversations(conversations: Sequence[Conversation], corpus: Corpus) -> None:
    """Add `conversations`, in order.

    An utterance has its message's id where that is a text which no other conversation uses, else
    `<conversation>.<message>`. Names become aliases and roles `ai_meta["role"]`. A speaker id that has several roles
    in the corpus stands for several speakers: those of a later role are called `<id> (<role>)`.
    """
    uses = Counter(message.message_id for each in conversations for message in each.messages)
    roles: dict[str, str | None] = {}
    for conversation in conversations:
        ids = _speaker_ids(conversation, roles)
        aliases: dict[str, str] = {}
        utterances: list[Utterance] = []
        for index, message in enumerate(conversation.messages):
            voice = conversation.voice(message)
            speaker = _speaker(corpus, ids[voice.speaker], voice.role)
            if voice.name != voice.speaker:
                aliases[speaker.id] = voice.name
            given = message.message_id
            is_unique = isinstance(given, str) and uses[given] == 1
            utterances.append(
                Utterance(
                    str(given) if is_unique else f"{conversation.id}.{message_id(message, index)}",
                    speaker,
                    conversation.id,
                    text=message.content,
                    timestamp=message.timestamp,
                    reply_to=utterances[-1].id if utterances else None,
                    meta={"message_id": str(message_id(message, index))},
                )
            )
        meta = _metadata(conversation, ids)
        corpus.add_utterances(utterances, {conversation.id: (meta, {"alias": aliases})})


def _speaker_ids(conversation: Conversation, roles: dict[str, str | None]) -> dict[str, str]:
    """The corpus's id of each speaker of `conversation`; `roles` remembers the role of every id so far."""
    ids: dict[str, str] = {}
    for message in conversation.messages:
        speaker, _, role = conversation.voice(message)
        if speaker not in ids:
            known = roles.setdefault(speaker, role)
            ids[speaker] = speaker if known == role else f"{speaker} ({role or 'no role'})"
    return ids


def _speaker(corpus: Corpus, speaker_id: str, role: str | None) -> Speaker:
    speaker = corpus.speakers.get(speaker_id)
    if speaker is None:
        ai_meta = {} if role is None else {"role": role}
        speaker = corpus.speakers[speaker_id] = Speaker(speaker_id, is_ai=role == PUBLIC_ASSISTANT, ai_meta=ai_meta)
        corpus.has_ai = corpus.has_ai or speaker.is_ai
    return speaker


def _metadata(conversation: Conversation, ids: dict[str, str]) -> dict[str, Any]:
    meta = dict(conversation.metadata)
    if isinstance(meta.get("pre_survey"), dict):
        meta["pre_survey"] = {ids.get(speaker, speaker): text for speaker, text in meta["pre_survey"].items()}
    return meta if conversation.label is None else {"label": conversation.label, **meta}
