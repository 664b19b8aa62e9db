"""A rater finishes a conversation: their draft becomes a native annotation, once."""

from typing import Any

from convolabel.decisions import Status
from label_config.studio import labelstudio
from label_config.studio.rater_conversation import load
from label_config.studio.refusals import RefusedError, not_found


def finish(task_id: int, user: Any) -> int:
    """Id of the annotation. Raises `RefusedError` 409 `unfinished` while a unit is undecided, 404 `not_found`."""
    with labelstudio.writing():
        try:
            task = labelstudio.lock_task(task_id)
        except labelstudio.Task.DoesNotExist:
            raise not_found() from None
        conversation = load(task, user)
        progress = conversation.progress
        if progress.status is not Status.DONE:
            raise RefusedError(
                409,
                "unfinished",
                f"{progress.total - progress.decided} units are still to be decided.",
                progress={"decided": progress.decided, "total": progress.total, "status": progress.status},
            )
        if conversation.submitted:
            return int(conversation.home.pk)  # type: ignore[union-attr]
        draft = conversation.home
        assert draft is not None  # noqa: S101 - a conversation has units, and all are decided
        if draft.annotation_id is not None:
            return int(draft.annotation_id)
        return labelstudio.submit_draft(draft, draft.lead_time or 0.0)
