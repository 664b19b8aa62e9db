"""What a rater has said of one unit, and how far a conversation is (design, section 6)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from convolabel.codebook import Codebook
from convolabel.units import Unit


@dataclass(frozen=True)
class Decision:
    """`labels` maps dimension id to a category id or `UNSURE`; a dimension without an answer is absent."""

    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def is_decided(self, codebook: Codebook) -> bool:
        return all(dimension.id in self.labels for dimension in codebook.dimensions)

    @property
    def is_started(self) -> bool:
        return bool(self.labels or self.note)


class Status(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"


@dataclass(frozen=True)
class Progress:
    decided: int
    total: int
    status: Status


def decided_units(decisions: Mapping[Unit, Decision], codebook: Codebook) -> frozenset[Unit]:
    return frozenset(unit for unit, decision in decisions.items() if decision.is_decided(codebook))


def progress(current: Iterable[Unit], decisions: Mapping[Unit, Decision], codebook: Codebook) -> Progress:
    """Progress over the `current` units; decisions on units that no longer exist never count."""
    units = list(current)
    decided = sum(1 for unit in units if unit in decisions and decisions[unit].is_decided(codebook))
    started = any(unit in decisions and decisions[unit].is_started for unit in units)
    unfinished = Status.IN_PROGRESS if started else Status.PENDING
    status = Status.DONE if decided == len(units) else unfinished
    return Progress(decided, len(units), status)
