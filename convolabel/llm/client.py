"""A client that asks a provider: answers from the store first, bounded, retried, counted."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from convolabel.llm.completion import Completion, Provider
from convolabel.llm.errors import LLMError, RateLimited, Truncated, Unusable
from convolabel.llm.limiter import Limiter
from convolabel.llm.replies import parse_json
from convolabel.llm.retries import RetryPolicy
from convolabel.llm.usage import Usage

if TYPE_CHECKING:
    from convolabel.llm.cache import AnswerCache

Value = TypeVar("Value")
_ROOM_AFTER_CUT = 4


class JSONSource(Protocol):
    """All that an evaluator needs of a client, this package's or anyone's."""

    def generate_json(self, prompt: str, /) -> Any: ...


class LLMClient:
    """Asks one model. Safe to use from several threads.

    An answer is kept in `cache` as soon as it arrived and could be read, and is then never asked for again. A reply
    that cannot be read (empty, malformed, cut) is asked for once more, with more room after a cut one.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        cache: "AnswerCache | None" = None,
        limiter: Limiter | None = None,
        usage: Usage | None = None,
        retries: RetryPolicy | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        self.provider = provider
        self.cache = cache
        self.limiter = limiter or Limiter()
        self.usage = usage or Usage()
        self.retries = retries or RetryPolicy()
        self.stopping = stopping or threading.Event()

    @property
    def model(self) -> str:
        return self.provider.model

    @property
    def notes(self) -> Sequence[str]:
        return self.provider.notes

    def for_run(self, *, cache: "AnswerCache | None", usage: Usage, stopping: threading.Event) -> "LLMClient":
        """The same client for one run: its usage, its stop signal and, unless the client has one, its cache."""
        return LLMClient(
            self.provider,
            cache=cache if self.cache is None else self.cache,
            limiter=self.limiter,
            usage=usage,
            retries=self.retries,
            stopping=stopping,
        )

    def generate(self, prompt: str, **_: Any) -> Completion:
        """The model's answer as text. Further arguments are those of ConvoKit's interface and change nothing.

        Raises `LLMError`, or `Stopped` once the run was stopped.
        """
        return self._ask(prompt, None, lambda completion: completion)

    def generate_json(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Any:
        """The JSON object or array in the model's answer; `schema` (JSON schema) goes to providers that take one.

        Raises `LLMError`, or `Stopped` once the run was stopped.
        """
        return self._ask(prompt, schema, lambda completion: parse_json(completion.text))

    def has_answer(self, prompt: str, schema: Mapping[str, Any] | None = None) -> bool:
        """Whether the answer is in store, so that asking costs nothing."""
        return self.cache is not None and self.cache.get(self._key(prompt, schema)) is not None

    def discard(self, prompt: str, schema: Mapping[str, Any] | None = None) -> None:
        """Forget the answer in store: it proved of no use, and the next run shall ask again."""
        if self.cache is not None:
            self.cache.discard(self._key(prompt, schema))

    def _ask(self, prompt: str, schema: Mapping[str, Any] | None, read: Callable[[Completion], Value]) -> Value:
        key = self._key(prompt, schema) if self.cache is not None else ""
        stored = self.cache.get(key) if self.cache is not None else None
        if stored is not None:
            try:
                value = read(stored)
            except Unusable:
                pass  # stored as text by `generate`; it is asked for again
            else:
                self.usage.record(self.model, stored)
                return value
        try:
            completion, value = self._answer(prompt, schema, 1, read)
        except Unusable as error:
            room = _ROOM_AFTER_CUT if isinstance(error, Truncated) else 1
            completion, value = self._answer(prompt, schema, room, read)
        if self.cache is not None:
            self.cache.put(key, self.model, completion)
        return value

    def _answer(
        self, prompt: str, schema: Mapping[str, Any] | None, room: int, read: Callable[[Completion], Value]
    ) -> tuple[Completion, Value]:
        completion = self.retries.run(lambda: self._call(prompt, schema, room), self.stopping, self._on_wait)
        return completion, read(completion)

    def _call(self, prompt: str, schema: Mapping[str, Any] | None, room: int) -> Completion:
        with self.limiter.slot(self.stopping):
            try:
                completion = self.provider.complete(prompt, schema=schema, room=room)
            except LLMError:
                self.usage.record_failure(self.model)
                raise
        self.usage.record(self.model, completion)
        return completion

    def _on_wait(self, error: LLMError) -> None:
        if isinstance(error, RateLimited) and error.retry_after is not None:
            self.limiter.pause(error.retry_after)

    def _key(self, prompt: str, schema: Mapping[str, Any] | None) -> str:
        from convolabel.llm.cache import answer_key

        parameters = dict(self.provider.parameters)
        return answer_key(self.model, parameters if schema is None else {**parameters, "schema": dict(schema)}, prompt)
