"""The sample study as three simulated raters and an assessor would have coded it; the same votes every time.

The answers are made up by chance around one answer per unit and say nothing about the sample's texts.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from convolabel.conversation_files import read_conversations
from convolabel.votes_table import Vote

SAMPLE = Path(__file__).resolve().parents[2] / "convolabel" / "sample" / "conversations.json"
MODES = "DEACQKIRU"
LIKE = {"D": "E", "E": "D", "A": "I", "C": "K", "Q": "A", "K": "C", "I": "R", "R": "I", "U": "K"}
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
ANCHORING = 0.35


def simulated_votes(dimensions: tuple[str, ...] = ("intent",), *, copilot: bool = True, seed: int = 4) -> list[Vote]:
    """Votes on every unit that raters are to code; a fifth of the suggestions are withheld."""
    votes: list[Vote] = []
    for number, rater in enumerate(("11", "12", "13")):
        votes += _of_human(rater, number, dimensions, copilot, random.Random(f"{seed}-{rater}"))
    return votes + list(_of_assessor(dimensions, random.Random(f"{seed}-assessor")))


def _units() -> Iterator[dict[str, object]]:
    for conversation in read_conversations([SAMPLE]).conversations:
        for index, message in enumerate(conversation.content.messages):
            speaker = conversation.speakers[message.speaker]
            for place, span in enumerate(message.spans or ()):
                yield {
                    "study": "sample",
                    "conversation_id": conversation.id,
                    "conversation_label": conversation.label or "",
                    "span_rev": 1,
                    "span_start": span.start,
                    "span_end": span.end,
                    "span_text": message.content[span.start : span.end],
                    "speaker": message.speaker,
                    "speaker_role": speaker.role,
                    "message_index": index,
                    "span_id": span.span_id,
                    "message_id": message.message_id,
                    "span_index": place,
                }


def _answer(unit: dict[str, object], dimension: str) -> str:
    return random.Random(f"{unit['span_id']}-{dimension}").choices(MODES, (6, 4, 2, 2, 6, 5, 3, 6, 1))[0]


def _of_human(
    rater: str, number: int, dimensions: tuple[str, ...], copilot: bool, chance: random.Random
) -> Iterator[Vote]:
    at = START + timedelta(days=number)
    for place, unit in enumerate(_units(), start=1):
        arm = chance.choices(("shown", "control", "none"), (78, 20, 2))[0] if copilot else None
        time_ms = int(1000 * chance.lognormvariate(1.9 - 0.12 * number, 0.6) * place**-0.15)
        at += timedelta(milliseconds=time_ms)
        for dimension in dimensions:
            answer = _answer(unit, dimension)
            said = chance.choices((answer, LIKE[answer], chance.choice(MODES)), (74 - 6 * number, 18, 8 + 6 * number))[
                0
            ]
            suggested = chance.choices((answer, LIKE[answer]), (7, 3))[0] if copilot and arm != "none" else None
            followed = arm == "shown" and chance.random() < ANCHORING
            said = suggested if followed and suggested else said
            is_unsure = chance.random() < 0.03
            yield Vote.model_validate(
                {
                    **unit,
                    "rater_id": rater,
                    "rater_name": f"Rater {'ABC'[number]}",
                    "dimension": dimension,
                    "category": None if is_unsure else said,
                    "unsure": is_unsure,
                    "note": "The unit begins too late, I would split after the comma." if place % 90 == 7 else "",
                    "copilot_arm": arm,
                    "copilot_shown": arm == "shown" if copilot else None,
                    "copilot_label": suggested,
                    "copilot_accepted": (followed and not is_unsure) if arm == "shown" else None,
                    "copilot_helpful": chance.random() < 0.7 if arm == "shown" and chance.random() < 0.1 else None,
                    "copilot_confidence": chance.choice(("high", "medium", "low")) if suggested else None,
                    "time_ms": time_ms if place % 50 else None,
                    "later_time_ms": 2500 if place % 20 == 3 else 0,
                    "created_at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                }
            )


def _of_assessor(dimensions: tuple[str, ...], chance: random.Random) -> Iterator[Vote]:
    for unit in _units():
        for dimension in dimensions:
            answer = _answer(unit, dimension)
            said = chance.choices((answer, LIKE[answer]), (7, 3))[0]
            yield Vote.model_validate(
                {**unit, "rater_kind": "llm", "rater_id": "assessor", "dimension": dimension, "category": said}
            )
