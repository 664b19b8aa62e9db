"""The rater's side of the API (docs/plugin-api.md)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator
from rest_framework.response import Response

from convolabel.codebook import Codebook, assign_keys
from convolabel.decisions import Decision, Progress
from convolabel.units import Unit
from label_config.studio import labelstudio
from label_config.studio.api.base import PluginView
from label_config.studio.deciding import decide, unit_state
from label_config.studio.finishing import finish
from label_config.studio.models import UnitLog
from label_config.studio.rater_conversation import RaterConversation, load
from label_config.studio.refusals import not_found
from label_config.studio.suggesting import suggest
from label_config.studio.unit_history import Write


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CopilotBody(_Body):
    shown: bool = False
    accepted: bool = False


class DecisionBody(_Body):
    rev: Annotated[int, Field(ge=1)]
    labels: dict[str, str]
    # Postgres cannot store the character NUL, and a page would send the refused write for ever
    note: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")] = ""
    base: Annotated[int, Field(ge=0)]
    client: Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[!-~]+$")]
    seq: Annotated[int, Field(ge=1, lt=2**53)]
    ms: int | None = None
    copilot: CopilotBody = CopilotBody()

    @field_validator("ms", mode="before")
    @classmethod
    def _garbage_is_no_time(cls, value: object) -> object:
        """A decision is never lost over an unusable time."""
        return value if type(value) is int else None

    @field_validator("note")
    @classmethod
    def _storable(cls, note: str) -> str:
        if "\x00" in note or any("\ud800" <= char <= "\udfff" for char in note):
            raise ValueError("a note cannot hold a NUL or half of a character")
        return note

    def write(self) -> Write:
        return Write(
            rev=self.rev,
            labels=self.labels,
            note=self.note,
            base=self.base,
            client=self.client,
            seq=self.seq,
            ms=self.ms,
            shown=self.copilot.shown,
            accepted=self.copilot.accepted,
        )


class SuggestionBody(_Body):
    rev: Annotated[int, Field(ge=1)]


class TaskView(PluginView):
    def get(self, request: Any, task: int) -> Response:
        row = labelstudio.Task.objects.filter(pk=task).select_related("project").first()
        if row is None:
            raise not_found()
        conversation = load(row, request.user)
        return Response(
            {
                "task": row.pk,
                "project": row.project_id,
                "rater": request.user.pk,
                "conversation": {"id": conversation.data.id, "label": conversation.data.label},
                "codebook": codebook_state(conversation.codebook),
                "copilot": conversation.study.copilot is not None,
                "progress": progress_state(conversation.progress),
                "submitted": conversation.submitted,
                **visible_state(conversation, 0),
            }
        )


class UnitView(PluginView):
    def put(self, request: Any, task: int, span_id: str) -> Response:
        body = DecisionBody.model_validate(request.data)
        outcome = decide(task, request.user, span_id, body.write())
        conversation = outcome.conversation
        decision = conversation.decisions.get(outcome.span.unit, Decision())
        return Response(
            {
                "unit": unit_state(outcome.span, decision, outcome.version),
                "progress": progress_state(conversation.progress),
                **visible_state(conversation, outcome.new_from),
            }
        )


class SuggestionView(UnitView):
    def put(self, request: Any, task: int, span_id: str) -> Response:
        """A decision on a unit whose id itself ends in `/suggestion`."""
        return super().put(request, task, f"{span_id}/suggestion")

    def post(self, request: Any, task: int, span_id: str) -> Response:
        body = SuggestionBody.model_validate(request.data)
        return Response({"suggestions": suggest(task, request.user, span_id, body.rev)})


class FinishView(PluginView):
    def post(self, request: Any, task: int) -> Response:
        return Response({"annotation": finish(task, request.user)})


def codebook_state(codebook: Codebook) -> dict[str, Any]:
    """The codebook as the page needs it: without examples, with the key of every category."""
    return {
        "title": codebook.title,
        "dimensions": [
            {
                "id": dimension.id,
                "title": dimension.title,
                "question": dimension.question,
                "categories": [
                    {"id": each.id, "name": each.name, "definition": each.definition, "key": keys[each.id]}
                    for each in dimension.categories
                ],
            }
            for dimension in codebook.dimensions
            for keys in [assign_keys(dimension)]
        ],
    }


def progress_state(progress: Progress) -> dict[str, Any]:
    return {"decided": progress.decided, "total": progress.total, "status": str(progress.status)}


def visible_state(conversation: RaterConversation, first: int) -> dict[str, Any]:
    """Messages number `first` on, as far as they may be seen, with their units."""
    data, visible = conversation.data, conversation.visible
    logs = UnitLog.objects.filter(task=conversation.task, user=conversation.user)
    rows = logs.values_list("span_id", "rev", "version") if first < visible else ()
    versions = {Unit(span_id, rev): version for span_id, rev, version in rows}
    decisions = conversation.decisions
    units = [
        {
            **unit_state(span, decisions.get(span.unit, Decision()), versions.get(span.unit, 0)),
            "message": span.message,
            "start": span.start,
            "end": span.end,
        }
        for span in data.spans
        if first <= span.message < visible
    ]
    messages = [
        {
            "index": index,
            **message.model_dump(
                mode="json",
                include={"message_id", "speaker", "author", "role", "mediator", "text", "labelable"},
            ),
        }
        for index, message in enumerate(data.messages[first:visible], start=first)
    ]
    return {"messages": messages, "units": units, "more_messages": visible < len(data.messages)}
