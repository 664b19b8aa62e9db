"""The rules of a log row: which writes are taken, and what a taken write changes (design, sections 5 and 8). Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class Write:
    """What the page sends for one unit (docs/plugin-api.md)."""

    rev: int
    labels: Mapping[str, str]
    note: str
    base: int
    client: str
    seq: int
    ms: int | None = None
    shown: bool = False
    accepted: bool = False

    @property
    def time(self) -> int | None:
        """Milliseconds, or None when the figure cannot be one: negative, or longer than a day."""
        return self.ms if self.ms is not None and 0 <= self.ms <= DAY_MS else None


@dataclass(frozen=True)
class History:
    """What is known of one rater's work on one unit."""

    version: int = 0
    client: str = ""
    seq: int = 0
    suggestions: Sequence[Mapping[str, Any]] = ()
    shown: bool | None = None
    accepted: bool | None = None
    first_labels: Mapping[str, str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    first_ms: int | None = None
    later_ms: int | None = None


class Judgement(Enum):
    TAKE = "take"
    REPEATED = "repeated"
    CONFLICT = "conflict"


def judge(history: History, write: Write) -> Judgement:
    """Whether a write is new, was taken before, or was made on a state that somebody else has changed since.

    One load of the page (`client`) may overtake its own writes, because it numbers them; another may not.
    """
    if write.client == history.client:
        return Judgement.TAKE if write.seq > history.seq else Judgement.REPEATED
    return Judgement.TAKE if write.base == history.version else Judgement.CONFLICT


def after(history: History, write: Write, *, decided: bool) -> History:
    """The history with a taken write added; `decided` says whether its labels answer every dimension.

    Time before the first decision adds up over visits and is fixed by it; one unusable figure makes the sum unusable.
    Time after it is counted apart. `shown` is fixed by the first decision too; `accepted` stays null when nothing was
    shown, and an acceptance lasts as long as the labels do.
    """
    labels = dict(write.labels)
    version = history.version + 1
    if history.first_labels is not None:
        later = history.later_ms if write.time is None else (history.later_ms or 0) + write.time
        changed = replace(history, later_ms=later)
    else:
        unusable = write.time is None or (history.version > 0 and history.first_ms is None)
        changed = replace(history, first_ms=None if unusable else (history.first_ms or 0) + (write.time or 0))
        if decided:
            changed = replace(changed, first_labels=labels, shown=write.shown and bool(history.suggestions))
    if changed.shown:
        stands = bool(history.accepted) and labels == dict(history.labels)
        changed = replace(changed, accepted=stands or (write.accepted and _was_suggested(history.suggestions, labels)))
    return replace(changed, labels=labels, version=version, client=write.client, seq=write.seq)


def _was_suggested(suggestions: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> bool:
    """Whether a label is among those suggested for its dimension."""
    served = {(suggestion.get("dimension"), suggestion.get("label")) for suggestion in suggestions}
    return any((dimension, label) in served for dimension, label in labels.items())
