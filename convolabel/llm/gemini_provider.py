"""Google's Gemini models."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from convolabel.errors import MissingExtraError
from convolabel.llm.completion import Completion
from convolabel.llm.dropping import SentParameters
from convolabel.llm.errors import BadKey, BadRequest, Blocked, EmptyReply, LLMError, Truncated
from convolabel.llm.sdk_errors import as_llm_error

KEY_NAMES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_BLOCKING = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY")


class GeminiProvider:
    """One Gemini model, in JSON mode. Raises `MissingExtraError` without the SDK and `BadKey` without a key."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float | None = 0.0,
        seed: int | None = None,
        max_output_tokens: int | None = None,
        timeout: float = 180.0,
    ) -> None:
        self.model = model.removeprefix("models/")
        given = {"temperature": temperature, "seed": seed, "max_output_tokens": max_output_tokens}
        configured = {name: value for name, value in given.items() if value is not None}
        self.parameters: Mapping[str, Any] = {**configured, "base_url": base_url}
        self._sent = SentParameters(self.model, configured)
        self._key_name, key = _key(api_key)
        self._client = _sdk_client(key, base_url, timeout)

    @property
    def notes(self) -> Sequence[str]:
        return tuple(self._sent.notes)

    def complete(self, prompt: str, *, schema: Mapping[str, Any] | None = None, room: int = 1) -> Completion:
        while True:
            sent = self._sent()
            try:
                return self._call(prompt, sent, schema, room)
            except BadRequest as error:
                if not self._sent.drop_refused(error, sent):
                    raise

    def _call(self, prompt: str, sent: dict[str, Any], schema: Mapping[str, Any] | None, room: int) -> Completion:
        if "max_output_tokens" in sent:
            sent = {**sent, "max_output_tokens": sent["max_output_tokens"] * room}
        form: dict[str, Any] = {"response_mime_type": "application/json"}
        if schema is not None:
            form["response_json_schema"] = dict(schema)
        began = time.monotonic()
        try:
            reply = self._client.models.generate_content(model=self.model, contents=prompt, config={**sent, **form})
        except Exception as error:
            known = as_llm_error(error, model=self.model, key_name=self._key_name)
            if known is None:
                raise
            raise known from None
        return self._completion(reply, time.monotonic() - began)

    def _completion(self, reply: Any, latency: float) -> Completion:
        candidate = reply.candidates[0] if reply.candidates else None
        text = _text(candidate)
        fault = self._fault(reply, candidate, text)
        if fault is not None:
            raise fault
        usage = reply.usage_metadata
        prompt_tokens = usage.prompt_token_count if usage else None
        answer_tokens = usage.candidates_token_count if usage else None
        if usage and answer_tokens is not None:
            answer_tokens += usage.thoughts_token_count or 0
        return Completion(text, prompt_tokens, answer_tokens, latency=latency, raw=reply)

    def _fault(self, reply: Any, candidate: Any, text: str) -> LLMError | None:
        feedback = getattr(reply, "prompt_feedback", None)
        if feedback is not None and feedback.block_reason:
            return Blocked(f"The prompt for {self.model} was held back by its provider's safety filter.")
        reason = _name(getattr(candidate, "finish_reason", None))
        if reason in _BLOCKING:
            return Blocked(f"The answer of {self.model} was held back by its provider's safety filter ({reason}).")
        if reason == "MAX_TOKENS":
            return Truncated(f"The answer of {self.model} was cut at its token budget.")
        return None if text.strip() else EmptyReply(f"{self.model} gave an empty answer.")


def _text(candidate: Any) -> str:
    """The answer without the model's thoughts."""
    parts = candidate.content.parts if candidate is not None and candidate.content is not None else None
    return "".join(part.text or "" for part in parts or () if not part.thought)


def _name(reason: Any) -> str:
    return str(getattr(reason, "name", reason))


def _key(given: str | None) -> tuple[str, str]:
    """Where the key came from, and the key."""
    if given:
        return "the argument api_key", given
    for name in KEY_NAMES:
        if os.environ.get(name):
            return name, os.environ[name]
    raise BadKey(f"No key for Gemini: set {KEY_NAMES[0]} and try again.")


def _sdk_client(key: str, base_url: str | None, timeout: float) -> Any:
    try:
        from google import genai
        from google.genai import types
    except ImportError:
        raise MissingExtraError("Asking a Gemini model", "llm") from None
    # one attempt: retries are ours, bounded, counted and stopped with the run
    options = types.HttpOptions(
        base_url=base_url, timeout=int(timeout * 1000), retry_options=types.HttpRetryOptions(attempts=1)
    )
    return genai.Client(api_key=key, http_options=options)
