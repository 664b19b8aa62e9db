"""The co-pilot: one suggestion for one unit, in time or not at all (design, section 7)."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from convolabel.errors import ConvolabelError, InputError
from convolabel.native_regions import unit_region
from convolabel.study import Copilot, Study
from convolabel.task_data import TaskData, TaskSpan
from ml_backend.context import Context, context_of
from ml_backend.control import is_control
from ml_backend.embedder import Embedder
from ml_backend.local_provider import ExampleClassifiers, LocalProvider
from ml_backend.refusal import RefusedError
from ml_backend.salts import study_salt
from ml_backend.store import StoreKey, SuggestionStore
from ml_backend.suggestion import Suggestions, checked
from ml_backend.wire import CopilotRequest
from ml_backend.workers import OverloadedError, Workers

AHEAD = 3
"""How many of the following units are computed while the rater looks at this one."""
MAX_WORK = 64
"""Suggestions that may be waiting or under way."""
MAX_WAITING = 24
"""Requests that may wait for a suggestion at one time."""

_log = logging.getLogger(__name__)

Reason = Literal["abstained", "timeout", "failed"]


@dataclass(frozen=True)
class _Desk:
    """What the co-pilot of one study needs."""

    study: Study
    settings: Copilot
    provider: LocalProvider
    salt: str


class CopilotService:
    """The co-pilots of all studies that have one, over one store and one pool of workers.

    Raises `InputError` when two studies share a name, a salt is damaged or a codebook cannot be learned from.
    """

    def __init__(self, studies: Iterable[Study], state_dir: Path, embedders: Callable[[str], Embedder]) -> None:
        self._names: set[str] = set()
        self._desks: dict[str, _Desk] = {}
        classifiers: dict[tuple[str, str], ExampleClassifiers] = {}
        by_model: dict[str, Embedder] = {}
        for study in studies:
            if study.study in self._names:
                raise InputError(f"Two studies are named `{study.study}`; give each study file its own `study`.")
            self._names.add(study.study)
            if study.copilot is None:
                continue
            model, codebook = study.copilot.model, study.codebook
            by_model[model] = by_model.get(model) or embedders(model)
            known = (model, codebook.fingerprint)
            classifiers[known] = classifiers.get(known) or ExampleClassifiers(codebook, by_model[model])
            provider = LocalProvider(study, study.copilot, classifiers[known])
            self._desks[study.study] = _Desk(study, study.copilot, provider, study_salt(study.study, state_dir))
        self._store = SuggestionStore(state_dir / "suggestions.sqlite")
        self._workers: Workers[StoreKey, Suggestions] = Workers(MAX_WORK)
        self._waiting = threading.BoundedSemaphore(MAX_WAITING)

    def warm_up(self) -> threading.Thread:
        """Load models and learn examples in a background thread, so that the first rater need not wait for it."""
        thread = threading.Thread(target=self._prepare, name="warm-up", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        self._workers.close()
        self._store.close()

    def prediction(self, request: CopilotRequest, project: str | None, data: TaskData) -> dict[str, Any]:
        """A Label Studio prediction for one unit, with the study's `copilot` part beside it.

        The region carries no category and the score is 0 unless the suggestion may be shown.
        Raises `RefusedError` when there is no such study or unit (404), when the request contradicts itself (400), or
        when too much is waiting (429).
        """
        asked_at = time.monotonic()
        desk = self._desk(request.study)
        span = _unit(request, data)
        if project is None:
            raise RefusedError(400, "`project` is missing; the co-pilot needs Label Studio's project id.")
        suggestions, reason = self._answer(desk, data, span, asked_at)
        self._look_ahead(desk, data, span)
        copilot = self._copilot_part(desk, request, project, suggestions, reason)
        shown = copilot["suggestions"]
        return {
            "result": [unit_region(data, span)],
            "score": _SCORES[shown[0]["confidence"]] if shown else 0.0,
            "model_version": desk.provider.model,
            "copilot": copilot,
        }

    def _desk(self, study: str) -> _Desk:
        if study in self._desks:
            return self._desks[study]
        if study in self._names:
            raise RefusedError(404, "This study has no `copilot` in its study file; add one and restart the server.")
        raise RefusedError(404, "This server does not know the study; start it with the study's file.")

    def _answer(
        self, desk: _Desk, data: TaskData, span: TaskSpan, asked_at: float
    ) -> tuple[Suggestions, Reason | None]:
        key, context = self._question(desk, data, span)
        answer = self._store.get(key)
        if answer is None:
            future = self._awaited(desk, key, context, asked_at)
            if not future.done():
                return (), "timeout"
            if future.cancelled():
                return (), "failed"
            if error := future.exception():
                _log_failure("A suggestion failed", error)
                return (), "failed"
            answer = future.result()
        return answer, None if answer else "abstained"

    def _awaited(self, desk: _Desk, key: StoreKey, context: Context, asked_at: float) -> Future[Suggestions]:
        """The answer's future, done or out of time."""
        if not self._waiting.acquire(blocking=False):
            raise _overloaded()
        try:
            future = self._workers.compute(key, lambda: self._compute(desk, key, context))
            wait([future], timeout=max(0.0, asked_at + desk.settings.wait_seconds - time.monotonic()))
        except OverloadedError:
            raise _overloaded() from None
        finally:
            self._waiting.release()
        return future

    def _compute(self, desk: _Desk, key: StoreKey, context: Context) -> Suggestions:
        stored = self._store.get(key)
        if stored is not None:
            return stored
        answer = checked(desk.provider.suggest(context), desk.study.codebook, desk.settings.top_k, context)
        self._store.put(key, answer)
        return answer

    def _look_ahead(self, desk: _Desk, data: TaskData, span: TaskSpan) -> None:
        following = data.spans.index(span) + 1
        for later in data.spans[following : following + AHEAD]:
            key, context = self._question(desk, data, later)

            def work(key: StoreKey = key, context: Context = context) -> Suggestions:
                return self._compute(desk, key, context)

            self._workers.compute_ahead(key, work)

    def _question(self, desk: _Desk, data: TaskData, span: TaskSpan) -> tuple[StoreKey, Context]:
        context = context_of(data, span, no_future_messages=desk.study.visibility.no_future_messages)
        provider = desk.provider
        key = StoreKey(
            study=desk.study.study,
            conversation=data.id,
            span_id=span.span_id,
            rev=span.rev,
            model=provider.model,
            prompt_version=provider.prompt_version,
            context=context.fingerprint,
        )
        return key, context

    def _copilot_part(
        self,
        desk: _Desk,
        request: CopilotRequest,
        project: str,
        suggestions: Suggestions,
        reason: Reason | None,
    ) -> dict[str, Any]:
        control = is_control(
            desk.salt,
            desk.settings.control_share,
            unit=desk.settings.control_unit,
            project=project,
            rater=str(request.rater),
            conversation=request.conversation,
            span_id=request.span_id,
        )
        found = [suggestion.model_dump(mode="json") for suggestion in suggestions]
        part: dict[str, Any] = {
            "arm": "none" if reason else "control" if control else "shown",
            "suggestions": [] if control else found,
            "withheld": found if control else [],
            "model": desk.provider.model,
            "prompt_version": desk.provider.prompt_version,
        }
        return {**part, "reason": reason} if reason else part

    def _prepare(self) -> None:
        for desk in self._desks.values():
            try:
                desk.provider.prepare()
            except Exception as error:  # noqa: BLE001  a thread has nobody to raise to
                _log_failure(f"The co-pilot of study {desk.study.study} cannot load its model", error)


_SCORES = {"high": 0.9, "medium": 0.6, "low": 0.3}
"""Label Studio wants a number for a prediction; its order is the confidence's."""


def _unit(request: CopilotRequest, data: TaskData) -> TaskSpan:
    if data.study != request.study or data.id != request.conversation:
        raise RefusedError(400, "The task is not of the study and conversation that the co-pilot was asked about.")
    span = data.span(request.span_id)
    if span is None or span.rev != request.rev:
        raise RefusedError(404, "The task has no such unit in this revision; fetch the task again.")
    return span


def _overloaded() -> RefusedError:
    return RefusedError(429, "The co-pilot has more to do than it takes on; ask again in a moment.")


def _log_failure(what: str, error: BaseException) -> None:
    """A sentence for the log; only convolabel's own messages are known to hold no text and no secret."""
    detail = str(error) if isinstance(error, ConvolabelError) else type(error).__name__
    _log.warning("%s: %s", what, detail)
