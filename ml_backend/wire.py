"""Requests as Label Studio and the plugin send them, checked before anything else looks at them."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic_core import from_json

from convolabel.task_data import TaskData
from ml_backend.refusal import RefusedError

Name = Annotated[StrictStr, Field(min_length=1, max_length=1000)]


class CopilotRequest(BaseModel):
    """`params.context.copilot`: which unit of which conversation, and for whom."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    study: Name
    span_id: Name
    rev: Annotated[StrictInt, Field(ge=1)]
    rater: StrictInt | Name
    conversation: Name


@dataclass(frozen=True)
class PredictRequest:
    """`project` is Label Studio's project id. Without `copilot` it is a plain request for predictions."""

    project: str | None
    conversations: tuple[TaskData, ...]
    copilot: CopilotRequest | None


def json_object(raw: bytes) -> dict[str, Any]:
    """The JSON object in a request's body. Lone surrogates, which no store can keep, are malformed."""
    try:
        document = from_json(raw)
    except ValueError:
        raise RefusedError(400, "The request body is not valid JSON in UTF-8; send one JSON object.") from None
    if not isinstance(document, dict):
        raise RefusedError(400, "The request body must be one JSON object.")
    return document


def predict_request(body: dict[str, Any]) -> PredictRequest:
    """The request for predictions in `body`. Raises `RefusedError` (400) for anything but Label Studio's shape."""
    tasks = body.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise RefusedError(400, "`tasks` must be a list of Label Studio tasks.")
    conversations = tuple(_conversation(task.get("data"), position) for position, task in enumerate(tasks, start=1))
    copilot = _copilot(body.get("params"))
    if copilot is not None and len(conversations) != 1:
        raise RefusedError(400, f"The co-pilot is asked about one task at a time; `tasks` holds {len(conversations)}.")
    return PredictRequest(_project_id(body.get("project")), conversations, copilot)


def _conversation(data: object, position: int) -> TaskData:
    where = f"Task number {position} is not a conversation imported by convolabel"
    try:
        conversation = TaskData.model_validate(data)
    except ValidationError as error:
        raise RefusedError(400, f"{where}: {_first_fault(error)}.") from None
    for number, span in enumerate(conversation.spans, start=1):
        known = 0 <= span.message < len(conversation.messages)
        if not known or not 0 <= span.start < span.end <= len(conversation.messages[span.message].text):
            raise RefusedError(400, f"{where}: span number {number} lies outside the messages.")
    return conversation


def _copilot(params: object) -> CopilotRequest | None:
    context = params.get("context") if isinstance(params, dict) else None
    request = context.get("copilot") if isinstance(context, dict) else None
    if request is None:
        return None
    try:
        return CopilotRequest.model_validate(request)
    except ValidationError as error:
        raise RefusedError(400, f"`params.context.copilot` is not usable: {_first_fault(error)}.") from None


def _project_id(project: object) -> str | None:
    """Label Studio names a project `<id>.<time of creation>`."""
    if isinstance(project, bool) or not isinstance(project, str | int):
        return None
    return str(project).split(".", 1)[0] or None


def _first_fault(error: ValidationError) -> str:
    """The place and rule of the first fault; the value stays out, it may be a conversation's text."""
    fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
    # an unknown field's name is the sender's text too
    place = fault["loc"][:-1] if fault["type"] == "extra_forbidden" else fault["loc"]
    return f"{'.'.join(str(part) for part in place) or 'data'}: {fault['msg']}"
