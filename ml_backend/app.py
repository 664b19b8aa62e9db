"""The scoring server as a Flask app: Label Studio's ML protocol, without any state per project."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from convolabel.credentials import Credentials
from convolabel.errors import InputError
from convolabel.native_regions import UNITS_VERSION, unit_region
from convolabel.study import Study
from convolabel.task_data import TaskData
from ml_backend.copilot_service import CopilotService
from ml_backend.embedder import Embedder, SentenceEmbedder
from ml_backend.refusal import RefusedError
from ml_backend.wire import json_object, predict_request

MAX_REQUEST_BYTES = 64 * 1024 * 1024
SERVICE = "convolabel_copilot"
"""Under this name the app keeps its `CopilotService` in `app.extensions`."""
EVENTS = frozenset(
    {
        "ANNOTATION_CREATED",
        "ANNOTATION_UPDATED",
        "ANNOTATION_DELETED",
        "ANNOTATIONS_DELETED",
        "START_TRAINING",
        "PROJECT_UPDATED",
    }
)

_log = logging.getLogger(__name__)


def create_app(
    studies: Iterable[Study],
    credentials: Credentials,
    state_dir: Path,
    *,
    embedders: Callable[[str], Embedder] = SentenceEmbedder,
    max_request_bytes: int = MAX_REQUEST_BYTES,
) -> Flask:
    """The app for `studies`; `state_dir` (made when absent) keeps salts and suggestions.

    `embedders` makes the embedder of a model name. No model is loaded here: that happens at the first suggestion, or
    before it with `app.extensions[SERVICE].warm_up()`. Raises `convolabel.errors.InputError`.
    """
    _make_folder(state_dir)
    service = CopilotService(studies, state_dir, embedders)
    app = Flask("convolabel", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = max_request_bytes
    app.extensions[SERVICE] = service

    @app.before_request
    def authorise() -> Response | None:
        given = request.authorization
        basic = given is not None and given.type == "basic"
        if given is not None and basic and credentials.match(given.username, given.password):
            return None
        refused = _error(401, "The scoring server needs its Basic user and password; set them where it is registered.")
        refused.headers["WWW-Authenticate"] = 'Basic realm="convolabel"'
        return refused

    @app.get("/")
    @app.get("/health")
    def health() -> Response:
        return jsonify(status="UP", model_class="convolabel")

    @app.post("/setup")
    def setup() -> Response:
        json_object(request.get_data(cache=False))
        return jsonify(model_version=UNITS_VERSION)

    @app.route("/versions", methods=["GET", "POST"])
    def versions() -> Response:
        return jsonify(versions=[UNITS_VERSION])

    @app.post("/webhook")
    def webhook() -> Response:
        action = json_object(request.get_data(cache=False)).get("action")
        if not isinstance(action, str):
            raise RefusedError(400, "`action` is missing; send one of Label Studio's events.")
        return jsonify(status="ok" if action in EVENTS else "ignored")

    @app.post("/predict")
    def predict() -> Response:
        asked = predict_request(json_object(request.get_data(cache=False)))
        if asked.copilot is None:
            predictions = [_frozen_units(data) for data in asked.conversations]
        else:
            predictions = [service.prediction(asked.copilot, asked.project, asked.conversations[0])]
        version = predictions[0]["model_version"] if predictions else UNITS_VERSION
        return jsonify(results=predictions, model_version=version)

    @app.errorhandler(RefusedError)
    def refuse(refused: RefusedError) -> Response:
        response = _error(refused.status, refused.sentence)
        if refused.status == 429:
            response.headers["Retry-After"] = "1"
        return response

    @app.errorhandler(HTTPException)
    def refuse_http(error: HTTPException) -> Response:
        if error.code == 413:
            return _error(413, f"The request is larger than {max_request_bytes} bytes; send fewer tasks at a time.")
        return _error(error.code or 500, f"{error.name}: the scoring server has no such route or method.")

    @app.errorhandler(Exception)
    def fail(error: Exception) -> Response:
        # neither message nor traceback: both can hold a conversation's text
        _log.error("%s %s failed: %s", request.method, request.url_rule, type(error).__name__)
        return _error(500, "The scoring server failed; its log names the kind of error.")

    return app


def _make_folder(state_dir: Path) -> None:
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot make the folder {state_dir}: {error.strerror}; give another one.") from None


def _frozen_units(data: TaskData) -> dict[str, object]:
    regions = [unit_region(data, span) for span in data.spans]
    return {"result": regions, "score": 1.0, "model_version": UNITS_VERSION}


def _error(status: int, sentence: str) -> Response:
    response = jsonify(error=sentence)
    response.status_code = status
    return response
