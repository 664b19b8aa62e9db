"""Corpora for the evaluators: ConvoKit's directories and objects, conversation files, votes tables."""

from evaluators.corpus.model import Conversation, Corpus, Speaker, Utterance
from evaluators.corpus.protocols import (
    ConversationLike,
    CorpusLike,
    SpeakerLike,
    UtteranceLike,
    read_speaker_info,
    write_speaker_info,
)

__all__ = [
    "Conversation",
    "ConversationLike",
    "Corpus",
    "CorpusLike",
    "Speaker",
    "SpeakerLike",
    "Utterance",
    "UtteranceLike",
    "read_speaker_info",
    "write_speaker_info",
]
