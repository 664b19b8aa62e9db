"""A conversation made ready for tracking: who says what, and what is asked about each message."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convolabel.llm.prompts import json_line
from evaluators.claims.extraction import Request, extraction_prompt, message
from evaluators.claims.records import PRE_SURVEY
from evaluators.participants import MEDIATOR, IsMediator, NameOf, SeedText, TopicOf, display_names

if TYPE_CHECKING:
    from evaluators.corpus.protocols import ConversationLike


@dataclass(frozen=True)
class Message:
    """`turn` is the place in reading order, or `"pre-survey"`."""

    turn: int | str
    speaker: str
    text: str

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def line(self) -> str:
        return message(self.turn, self.speaker, self.text)


@dataclass(frozen=True)
class Transcript:
    """`names` are the participants' by speaker id, `seeds` what they wrote before, one for each participant."""

    names: dict[str, str]
    topic: str
    seeds: list[Message]
    utterances: list[Message]

    @property
    def messages(self) -> list[Message]:
        return [*self.seeds, *self.utterances]

    @property
    def places(self) -> list[str]:
        """What each of `messages` is called in reports, without a name."""
        written = [f"pre-survey {number}" for number in range(1, len(self.seeds) + 1)]
        return written + [f"turn {each.turn}" for each in self.utterances]

    def requests(self, template: str, context_window: int) -> list[Request | None]:
        """What is asked about each of `messages`; `None` for a blank one."""
        prompts = (
            None if each.is_blank else extraction_prompt(template, self._context(each.turn, context_window), each.line)
            for each in self.messages
        )
        return [
            None if prompt is None else Request(each.turn, each.speaker, prompt, place)
            for each, prompt, place in zip(self.messages, prompts, self.places, strict=True)
        ]

    def _context(self, turn: int | str, window: int) -> str:
        before = [] if isinstance(turn, str) else self.utterances[max(0, turn - window) : turn]
        return "\n".join(each.line for each in before) or topic_line(self.topic)


def topic_line(topic: str) -> str:
    """What stands for the context where nothing was said before."""
    return json_line({"topic": topic})


def transcript_of(
    conversation: "ConversationLike",
    ordered: Sequence[Any],
    is_mediator: IsMediator,
    name_func: NameOf,
    topic_func: TopicOf,
    seed_text_func: SeedText | None,
) -> Transcript:
    """`ordered` are the conversation's utterances in reading order."""
    names = display_names(conversation, is_mediator, name_func)
    speakers = {each.speaker.id: each.speaker for each in ordered}
    seeds = []
    for ident, name in names.items():
        text = seed_text_func(conversation, speakers[ident]) if seed_text_func is not None else None
        seeds.append(Message(PRE_SURVEY, name, text or ""))
    utterances = [
        Message(place, names.get(each.speaker.id, MEDIATOR), each.text or "") for place, each in enumerate(ordered)
    ]
    return Transcript(names, topic_func(conversation), seeds, utterances)
