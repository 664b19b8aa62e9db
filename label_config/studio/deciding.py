"""One decision of one rater on one unit: merged into the native record and logged in one transaction."""

from dataclasses import dataclass, fields
from typing import Any

from django.utils import timezone

from convolabel.codebook import Codebook
from convolabel.decisions import Decision
from convolabel.task_data import TaskSpan
from convolabel.units import Unit
from convolabel.visibility import may_decide
from label_config.studio import labelstudio
from label_config.studio.models import SeenMessages, UnitLog
from label_config.studio.native_merge import merged_results
from label_config.studio.rater_conversation import RaterConversation, load
from label_config.studio.refusals import RefusedError, not_found, stale_unit
from label_config.studio.unit_history import History, Judgement, Write, after, judge

NOTE_LIMIT = 4000


@dataclass(frozen=True)
class Outcome:
    conversation: RaterConversation
    span: TaskSpan
    version: int
    new_from: int
    """Messages from this one on came into view."""


def decide(task_id: int, user: Any, span_id: str, write: Write) -> Outcome:
    """Take one write. Raises `RefusedError`: 400 `invalid`, 404 `not_found`, 409 `conflict` or `stale_unit`."""
    with labelstudio.writing():
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
        history = History(**{each.name: getattr(log, each.name) for each in fields(History)})
        judgement = judge(history, write)
        if judgement is Judgement.REPEATED:
            return Outcome(conversation, span, log.version, new_from=span.message + 1)
        if judgement is Judgement.CONFLICT:
            current = conversation.decisions.get(span.unit, Decision())
            sentence = "This unit was changed in another window; its newer state is shown."
            raise RefusedError(409, "conflict", sentence, unit=unit_state(span, current, log.version))
        decision = Decision(dict(write.labels), write.note)
        _write_native(conversation, span, decision, write.time)
        _write_log(log, after(history, write, decided=decision.is_decided(conversation.codebook)))
        _remember_seen(conversation)
        # what an earlier write of this page brought into view, and whose answer it never got, comes again
        unheard = write.base != history.version
        return Outcome(conversation, span, log.version, new_from=min(seen, span.message + 1) if unheard else seen)


def unit_state(span: TaskSpan, decision: Decision, version: int) -> dict[str, Any]:
    """A unit's decision as the API shows it."""
    return {
        "span_id": span.span_id,
        "rev": span.rev,
        "labels": dict(decision.labels),
        "note": decision.note,
        "version": version,
    }


def _refuse_foreign_labels(write: Write, codebook: Codebook) -> None:
    for dimension_id, label in write.labels.items():
        dimension = codebook.dimension(dimension_id)
        if dimension is None or label not in dimension.choices:
            raise RefusedError(400, "invalid", "This label is not in the study's codebook; reload the page.")
    if len(write.note) > NOTE_LIMIT:
        raise RefusedError(400, "invalid", f"A note has at most {NOTE_LIMIT} characters; shorten it.")


def _log_row(conversation: RaterConversation, span: TaskSpan) -> UnitLog:
    key = {"task": conversation.task, "user": conversation.user, "span_id": span.span_id, "rev": span.rev}
    return UnitLog.objects.filter(**key).first() or UnitLog(**key)


def _write_native(conversation: RaterConversation, span: TaskSpan, decision: Decision, ms: int | None) -> None:
    home = _writable_home(conversation)
    home.result = merged_results(home.result or [], conversation.data, span, decision)
    home.lead_time = (home.lead_time or 0.0) + (ms or 0) / 1000
    if isinstance(home, labelstudio.Annotation):
        home.updated_by = conversation.user
    home.save()
    conversation.record(span.unit, decision, home)


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


def _write_log(log: UnitLog, history: History) -> None:
    if log.first_labels is None and history.first_labels is not None:
        log.created_at = timezone.now()
    for each in fields(History):
        setattr(log, each.name, getattr(history, each.name))
    log.save()


def _remember_seen(conversation: RaterConversation) -> None:
    if conversation.visible > conversation.seen:
        SeenMessages.objects.update_or_create(
            task=conversation.task, user=conversation.user, defaults={"count": conversation.visible}
        )
