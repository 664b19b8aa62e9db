"""What an import has to do: pure rules over what the files hold and what stands in Label Studio (design, section 3)."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from convolabel.task_data import TaskData, fingerprint_of
from convolabel.validation import Fault


@dataclass(frozen=True)
class Standing:
    """A conversation that stands in Label Studio, as little of it as planning needs."""

    task_id: int
    fingerprint: str
    digest: str
    """`content_digest` of its task data."""
    is_worked_on: bool
    """Anybody has an annotation or a draft of it."""
    is_resegmented: bool
    """Units were split or merged since the import: its spans are not those of the file any more, on purpose."""
    span_ids: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A conversation to update in place."""

    item_id: str
    task_id: int
    units_changed: bool
    """Text, speakers or spans changed, so the frozen units have to be made anew."""


@dataclass(frozen=True)
class Refused:
    """A conversation that is left out, and why."""

    item_id: str
    reason: str


@dataclass
class Plan:
    """What to do with each conversation, in the order of the files. Items are named by id, for memory's sake."""

    create: list[str] = field(default_factory=list)
    update: list[Change] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def standing(task_id: int, data: TaskData, *, is_worked_on: bool) -> Standing:
    """What planning has to know of a task and its data."""
    return Standing(
        task_id=task_id,
        fingerprint=data.fingerprint,
        digest=content_digest(data),
        is_worked_on=is_worked_on,
        is_resegmented=fingerprint_of(data.messages, data.spans) != data.fingerprint,
        span_ids=tuple(span.span_id for span in data.spans),
    )


def content_digest(data: TaskData) -> str:
    """A hash of what an import brings, whatever the order of keys.

    `spans` is left out: as imported they are part of the fingerprint, and splitting or merging them is no new import.
    """
    brought = data.model_dump(mode="json", exclude={"spans"})
    return hashlib.sha256(json.dumps(brought, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def plan_import(conversations: Iterable[TaskData], stands: Mapping[str, Standing]) -> Plan:
    """Decide on every conversation; `stands` maps item ids to what Label Studio holds.

    New ones are created. One whose text, speakers or spans changed is refused once anybody has worked on it or its
    units were split or merged, and updated otherwise; a change of label or metadata alone is always taken over. A span
    id that another conversation holds is refused, and so is an item id that comes twice.
    """
    holders = {span_id: item_id for item_id, kept in stands.items() for span_id in kept.span_ids}
    seen: set[str] = set()
    plan = Plan()
    for data in conversations:
        fault = Fault("item_id_duplicate", data.id, data.id) if data.id in seen else _taken_span_id(data, holders)
        seen.add(data.id)
        if fault is not None:
            plan.refused.append(Refused(data.id, str(fault)))
            continue
        holders |= dict.fromkeys((span.span_id for span in data.spans), data.id)
        existing = stands.get(data.id)
        if existing is None:
            plan.create.append(data.id)
        elif existing.fingerprint == data.fingerprint:
            if existing.digest == content_digest(data):
                plan.unchanged.append(data.id)
            else:
                plan.update.append(Change(data.id, existing.task_id, units_changed=False))
        elif existing.is_worked_on or existing.is_resegmented:
            plan.refused.append(Refused(data.id, _protected(data.id, existing)))
        else:
            plan.update.append(Change(data.id, existing.task_id, units_changed=True))
    return plan


def _taken_span_id(data: TaskData, holders: Mapping[str, str]) -> Fault | None:
    for span in data.spans:
        holder = holders.get(span.span_id, data.id)
        if holder != data.id:
            message_id = data.messages[span.message].message_id
            return Fault("span_id_duplicate", f"it belongs to item {holder}", data.id, message_id, span.span_id)
    return None


def _protected(item_id: str, existing: Standing) -> str:
    done = "raters have worked on it" if existing.is_worked_on else "its units were split or merged"
    return (
        f"item {item_id}: its text, speakers or spans changed, but {done} (task {existing.task_id}); import the new"
        " version under another id, or leave the old one."
    )
