"""One rater's view of one conversation: what may be seen, what was decided, where the labels live."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from convolabel.codebook import Codebook
from convolabel.decisions import Decision, Progress, decided_units, progress
from convolabel.native_results import read_decisions
from convolabel.study import Study
from convolabel.task_data import TaskData, is_task_data
from convolabel.units import Unit
from convolabel.visibility import visible_message_count
from label_config.studio import labelstudio
from label_config.studio.models import SeenMessages
from label_config.studio.refusals import not_found
from label_config.studio.roles import study_project_of_rater


@dataclass
class RaterConversation:
    """`home` is the native draft or annotation that holds this rater's labels; None before the first decision."""

    task: Any
    user: Any
    study: Study
    data: TaskData
    home: Any | None
    seen: int

    @property
    def codebook(self) -> Codebook:
        return self.study.codebook

    @property
    def submitted(self) -> bool:
        return isinstance(self.home, labelstudio.Annotation)

    @cached_property
    def decisions(self) -> dict[Unit, Decision]:
        return read_decisions(self.home.result or [], self.data, self.codebook) if self.home else {}

    def record(self, unit: Unit, decision: Decision, home: Any) -> None:
        """Labels now live in `home`, where `unit` has `decision`; reading a thousand others again would take long."""
        self.__dict__["decisions"] = {**self.decisions, unit: decision}
        self.home = home

    @property
    def visible(self) -> int:
        """Messages this rater may see. What was seen stays seen, also when a decision is taken back."""
        decided = decided_units(self.decisions, self.codebook)
        due = visible_message_count(self.data, decided, no_future_messages=self.study.visibility.no_future_messages)
        return max(due, self.seen)

    @property
    def progress(self) -> Progress:
        return progress((span.unit for span in self.data.spans), self.decisions, self.codebook)


def load(task: Any, user: Any) -> RaterConversation:
    """The conversation of `task` as `user` has it. Raises `RefusedError` 404 when they are not a rater of its study."""
    membership = study_project_of_rater(user, task.project_id)
    if membership is None or not is_task_data(task.data):
        raise not_found()
    seen = SeenMessages.objects.filter(task=task, user=user).values_list("count", flat=True).first()
    return RaterConversation(
        task=task,
        user=user,
        study=Study.model_validate(membership.study),
        data=TaskData.model_validate(task.data),
        home=native_home(task, user),
        seen=seen or 0,
    )


def native_home(task: Any, user: Any) -> Any | None:
    """The newest native record with this rater's labels: an annotation, a draft that revises it, or a first draft."""
    annotation = (
        labelstudio.Annotation.objects.filter(task=task, completed_by=user, was_cancelled=False).order_by("-pk").first()
    )
    drafts = labelstudio.AnnotationDraft.objects.filter(task=task, user=user, annotation=annotation)
    draft = drafts.order_by("-updated_at").first()
    if annotation is not None and draft is not None and draft.updated_at < annotation.updated_at:
        return annotation
    return draft or annotation
