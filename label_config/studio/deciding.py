"""One decision of one rater on one unit: merged into the native record and logged in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from convolabel.codebook import Codebook
from convolabel.decisions import Decision
from convolabel.native_regions import choice_result, note_result, unit_region
from convolabel.task_data import TaskData, TaskSpan
from convolabel.units import Unit
from convolabel.visibility import may_decide
from label_config.studio import labelstudio
from label_config.studio.models import SeenMessages, UnitLog
from label_config.studio.rater_conversation import RaterConversation, load
from label_config.studio.refusals import Refusal, not_found, stale_unit

NOTE_LIMIT = 4000
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
    ms: int | None
    shown: bool
    accepted: bool


@dataclass(frozen=True)
class Outcome:
    conversation: RaterConversation
    span: TaskSpan
    version: int
    new_from: int
    """Messages from this one on came into view."""


def decide(task_id: int, user: Any, span_id: str, write: Write) -> Outcome:
    """Take one write. Raises `Refusal`: 400 `invalid`, 404 `not_found`, 409 `conflict` or `stale_unit`."""
    with transaction.atomic():
        try:
            task = labelstudio.lock_task(task_id)
        except labelstudio.Task.DoesNotExist:
            raise not_found() from None
        conversation = load(task, user)
        span = conversation.data.span(span_id)
        seen = conversation.visible
        if span is None or not may_decide(conversation.data, Unit(span_id, write.rev), seen):
            raise stale_unit()
        _refuse_foreign_labels(write, conversation.codebook)
        log = _log_row(conversation, span)
        if write.client == log.client and write.seq <= log.seq:
            return Outcome(conversation, span, log.version, new_from=span.message + 1)
        if write.base != log.version and write.client != log.client:
            current = conversation.decisions.get(span.unit, Decision())
            raise Refusal(
                409,
                "conflict",
                "This unit was changed in another window; its newer state is shown.",
                unit=unit_state(span, current, log.version),
            )
        _write_native(conversation, span, write)
        _write_log(log, conversation, write)
        _remember_seen(conversation)
        return Outcome(conversation, span, log.version, new_from=seen)


def unit_state(span: TaskSpan, decision: Decision, version: int) -> dict[str, Any]:
    """A unit's decision as the API shows it."""
    return {
        "span_id": span.span_id,
        "rev": span.rev,
        "labels": dict(decision.labels),
        "note": decision.note,
        "version": version,
    }


def merged_results(
    results: list[dict[str, Any]], data: TaskData, span: TaskSpan, decision: Decision
) -> list[dict[str, Any]]:
    """Native results with one unit's decision replaced; every unit has its region, all other results stay as they are."""
    regions = {str(result.get("id")) for result in results if result.get("type") == "paragraphlabels"}
    missing = [unit_region(data, each) for each in data.spans if each.span_id not in regions]
    kept = [
        result for result in results if str(result.get("id")) != span.span_id or result["type"] == "paragraphlabels"
    ]
    own = [choice_result(data, span, dimension, [label]) for dimension, label in decision.labels.items()]
    if decision.note:
        own.append(note_result(data, span, decision.note))
    return [*kept, *missing, *own]


def _refuse_foreign_labels(write: Write, codebook: Codebook) -> None:
    for dimension_id, label in write.labels.items():
        dimension = codebook.dimension(dimension_id)
        if dimension is None or label not in dimension.choices:
            raise Refusal(400, "invalid", "This label is not in the study's codebook; reload the page.")
    if len(write.note) > NOTE_LIMIT:
        raise Refusal(400, "invalid", f"A note has at most {NOTE_LIMIT} characters; shorten it.")


def _log_row(conversation: RaterConversation, span: TaskSpan) -> UnitLog:
    key = {"task": conversation.task, "user": conversation.user, "span_id": span.span_id, "rev": span.rev}
    return UnitLog.objects.filter(**key).first() or UnitLog(**key)


def _write_native(conversation: RaterConversation, span: TaskSpan, write: Write) -> None:
    home = _writable_home(conversation)
    decision = Decision(dict(write.labels), write.note)
    home.result = merged_results(home.result or [], conversation.data, span, decision)
    if write.ms is not None and 0 <= write.ms <= DAY_MS:
        home.lead_time = (home.lead_time or 0.0) + write.ms / 1000
    if isinstance(home, labelstudio.Annotation):
        home.updated_by = conversation.user
    home.save()
    conversation.home = home
    del conversation.decisions


def _writable_home(conversation: RaterConversation) -> Any:
    """The record to write into. A draft that revises an annotation (made in the stock interface) is adopted into it."""
    home = conversation.home
    if home is None:
        return labelstudio.AnnotationDraft(task=conversation.task, user=conversation.user, result=[])
    if isinstance(home, labelstudio.AnnotationDraft) and home.annotation is not None:
        annotation = home.annotation
        annotation.result = home.result
        home.delete()
        return annotation
    return home


def _write_log(log: UnitLog, conversation: RaterConversation, write: Write) -> None:
    first_time = log.first_labels is None
    ms = write.ms if write.ms is not None and 0 <= write.ms <= DAY_MS else None
    decided = Decision(write.labels).is_decided(conversation.codebook)
    if first_time:
        # time before the first decision adds up over visits; one unusable figure makes the sum unusable
        log.first_ms = None if ms is None or (log.version > 0 and log.first_ms is None) else (log.first_ms or 0) + ms
        if decided:
            log.first_labels = dict(write.labels)
            log.created_at = timezone.now()
            log.shown = write.shown and bool(log.suggestions)
    elif ms is not None:
        log.later_ms = (log.later_ms or 0) + ms
    if log.shown:
        same = dict(write.labels) == log.labels
        log.accepted = bool(log.accepted) if same and not write.accepted else write.accepted and _is_served(log, write)
    log.labels = dict(write.labels)
    log.version += 1
    log.client, log.seq = write.client, write.seq
    log.save()


def _is_served(log: UnitLog, write: Write) -> bool:
    """Whether a label of the write is the first suggestion that was served for its dimension."""
    first: dict[str, str] = {}
    for suggestion in log.suggestions:
        first.setdefault(suggestion.get("dimension", ""), suggestion["label"])
    return any(first.get(dimension) == label for dimension, label in write.labels.items())


def _remember_seen(conversation: RaterConversation) -> None:
    if conversation.visible > conversation.seen:
        SeenMessages.objects.update_or_create(
            task=conversation.task, user=conversation.user, defaults={"count": conversation.visible}
        )
        conversation.seen = conversation.visible
