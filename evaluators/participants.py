"""Who speaks, under which name, about what (evaluator spec, "Shared"); ConvoKit's names of these functions."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from convolabel.conversation import PUBLIC_ASSISTANT
from evaluators.reading_order import in_reading_order

if TYPE_CHECKING:
    from evaluators.corpus.protocols import ConversationLike, SpeakerLike

IsMediator = Callable[[Any], bool]
"""From a speaker."""
NameOf = Callable[[Any, Any], str]
"""From a conversation and a speaker."""
TopicOf = Callable[[Any], str]
"""From a conversation."""
SeedText = Callable[[Any, Any], str | None]
"""From a conversation and a speaker."""

MEDIATOR = "Mediator"
"""What every mediator is called in prompts and results."""


def default_is_mediator(speaker: "SpeakerLike") -> bool:
    """Whether the speaker's role (`ai_meta["role"]`) is `public assistant`."""
    return bool((getattr(speaker, "ai_meta", None) or {}).get("role") == PUBLIC_ASSISTANT)


def default_speaker_name(conversation: "ConversationLike", speaker: "SpeakerLike") -> str:
    """The speaker's alias in the conversation, else the speaker's id."""
    return (getattr(conversation, "alias", None) or {}).get(speaker.id) or speaker.id


def default_topic(conversation: "ConversationLike") -> str:
    """The topic, followed by the debate statement when there is one; an empty text when there is neither."""
    topic = conversation.meta.get("topic") or ""
    statement = conversation.meta.get("statement")
    return f"{topic} — debate statement: {statement}" if statement else str(topic)


def pre_survey_text(conversation: "ConversationLike", speaker: "SpeakerLike") -> str | None:
    """What the speaker wrote before the conversation, or `None`."""
    return (conversation.meta.get("pre_survey") or {}).get(speaker.id)


def display_names(
    conversation: "ConversationLike",
    is_mediator: IsMediator = default_is_mediator,
    name_func: NameOf = default_speaker_name,
    mediator: str = MEDIATOR,
) -> dict[str, str]:
    """Speaker id -> name of everyone who speaks and is no mediator, in order of first utterance.

    Names are distinct: a second "Ann" is "Ann (2)", and one called like the `mediator` gets " (participant)".
    """
    speakers = {}
    for utterance in in_reading_order(conversation).utterances:
        if utterance.speaker.id not in speakers and not is_mediator(utterance.speaker):
            speakers[utterance.speaker.id] = name_func(conversation, utterance.speaker)
    return dict(zip(speakers, _distinct(speakers.values(), mediator), strict=True))


def _distinct(names: Iterable[str], mediator: str) -> list[str]:
    wanted = [f"{name} (participant)" if name == mediator else str(name) for name in names]
    given: list[str] = []
    for name in wanted:
        number, candidate = 1, name
        # a later "Ann (2)" by birth keeps its name too
        while candidate in given or (number > 1 and candidate in wanted):
            number += 1
            candidate = f"{name} ({number})"
        given.append(candidate)
    return given
