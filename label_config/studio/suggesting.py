"""A suggestion for one unit: asked of the scoring server with what the rater may see, logged, and shown or withheld."""

from typing import Any

from convolabel.codebook import Codebook
from convolabel.native_regions import unit_region
from convolabel.units import Unit
from convolabel.visibility import may_decide
from label_config.studio import labelstudio
from label_config.studio.models import UnitLog
from label_config.studio.rater_conversation import RaterConversation, load
from label_config.studio.refusals import not_found, stale_unit

ARMS = ("shown", "control", "none")
_PARTS = ("label", "rationale", "confidence", "evidence")


def suggest(task_id: int, user: Any, span_id: str, rev: int) -> list[dict[str, Any]]:
    """Suggestions to show, best first; empty for a control unit, a failure and an abstention alike.

    What was served once for a unit is served again. Raises `RefusedError` 404 `not_found`, 409 `stale_unit`.
    """
    task = labelstudio.Task.objects.select_related("project").filter(pk=task_id).first()
    if task is None:
        raise not_found()
    conversation = load(task, user)
    span = conversation.data.span(span_id)
    if span is None or not may_decide(conversation.data, Unit(span_id, rev), conversation.visible):
        raise stale_unit()
    if conversation.study.copilot is None:
        return []
    key = {"task": task, "user": user, "span_id": span_id, "rev": rev}
    log = UnitLog.objects.filter(**key).first()
    # a control unit is asked for again as an abstention is, or the time of the answer would tell them apart
    if log is None or log.arm != "shown":
        log = _ask_and_log(conversation, key, unit_region(conversation.data, span))
    return list(log.suggestions)


def _ask_and_log(conversation: RaterConversation, key: dict[str, Any], region: dict[str, Any]) -> UnitLog:
    copilot = conversation.study.copilot
    visible = conversation.data.up_to(conversation.visible)
    unit = {"span_id": key["span_id"], "rev": key["rev"]}
    context = {
        "study": conversation.study.study,
        "conversation": conversation.data.id,
        "rater": str(conversation.user.pk),
        **unit,
    }
    # the wait of the scoring server's own, and a little for the way
    timeout = (copilot.wait_seconds if copilot else 0) + 1.0
    task = {"id": conversation.task.pk, "data": visible.model_dump(mode="json")}
    reply = labelstudio.predict(conversation.task.project, task, {"copilot": context}, timeout)
    served = (reply or {}).get("copilot")
    served = served if isinstance(served, dict) else {}
    arm = served.get("arm") if served.get("arm") in ARMS else "none"
    shown = known_suggestions(served.get("suggestions"), conversation.codebook) if arm == "shown" else []
    if arm == "shown" and not shown:
        arm = "none"
    with labelstudio.writing():
        # a decision on the unit may come meanwhile; its part of the row must not be lost
        labelstudio.lock_task(conversation.task.pk)
        log = UnitLog.objects.filter(**key).first() or UnitLog(**key)
        # two windows may ask at once: what was served first stands
        if log.arm not in ("shown", "control"):
            log.arm = arm
            log.suggestions = shown
            log.withheld = known_suggestions(served.get("withheld"), conversation.codebook)
            log.model = str(served.get("model") or "")[:200]
            log.prompt_version = str(served.get("prompt_version") or "")[:64]
            log.save()
    return log


def known_suggestions(suggestions: object, codebook: Codebook) -> list[dict[str, Any]]:
    """The suggestions whose label is in the codebook: no other answer is ever shown, whoever gave it."""
    known = []
    for suggestion in suggestions if isinstance(suggestions, list) else []:
        if not isinstance(suggestion, dict):
            continue
        dimension = codebook.dimension(str(suggestion.get("dimension", codebook.dimensions[0].id)))
        if dimension is not None and dimension.category(str(suggestion.get("label"))) is not None:
            known.append({**{part: suggestion.get(part) for part in _PARTS}, "dimension": dimension.id})
    return known
