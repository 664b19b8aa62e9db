"""Clients that others wrote, behind the same store, bounds and record as our own."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from convolabel.llm.client import LLMClient
from convolabel.llm.completion import Completion
from convolabel.llm.errors import LLMError, Malformed
from convolabel.llm.sdk_errors import as_llm_error


class JSONSourceProvider:
    """Any object with `generate_json(prompt)`, as a provider; its own retries stay its own."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.model = _name(source)
        self.parameters: Mapping[str, Any] = {}
        self.notes: Sequence[str] = ()

    def complete(self, prompt: str, *, schema: Mapping[str, Any] | None = None, room: int = 1) -> Completion:
        began = time.monotonic()
        try:
            reply = self._source.generate_json(prompt)
        except Exception as error:
            raise _as_llm_error(error, self.model) from error
        try:
            text = json.dumps(reply, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError):
            raise Malformed(f"{self.model} returned something that is not JSON.") from None
        return Completion(text, latency=time.monotonic() - began)


class TextSourceProvider:
    """Any object with `generate(prompt, **options)` that returns an object with `text` (ConvoKit's `LLMClient`)."""

    def __init__(self, source: Any, options: Mapping[str, Any]) -> None:
        self._source = source
        self._options = dict(options)
        self.model = _name(source)
        self.parameters: Mapping[str, Any] = {name: repr(value) for name, value in self._options.items()}
        self.notes: Sequence[str] = ()

    def complete(self, prompt: str, *, schema: Mapping[str, Any] | None = None, room: int = 1) -> Completion:
        began = time.monotonic()
        try:
            reply = self._source.generate(prompt, **self._options)
        except Exception as error:
            raise _as_llm_error(error, self.model) from error
        return Completion(str(reply.text), latency=time.monotonic() - began, raw=reply)


def as_client(source: Any) -> LLMClient:
    """`source` itself when it is an `LLMClient`, else one that asks it."""
    return source if isinstance(source, LLMClient) else LLMClient(JSONSourceProvider(source))


def _name(source: Any) -> str:
    model = getattr(source, "model", None) or getattr(source, "model_name", None)
    return model if isinstance(model, str) else type(source).__qualname__


def _as_llm_error(error: Exception, model: str) -> LLMError:
    if isinstance(error, LLMError):
        return error
    # the error's own words are left out: they may quote the prompt or a key
    return as_llm_error(error, model=model, key_name="its client") or LLMError(
        f"The client of {model} failed with {type(error).__name__}."
    )
