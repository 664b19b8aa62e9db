"""OpenAI's Chat Completions, and every server that speaks them."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from convolabel.errors import MissingExtraError
from convolabel.llm.completion import Completion
from convolabel.llm.dropping import SentParameters
from convolabel.llm.errors import BadKey, BadRequest, Blocked, EmptyReply, LLMError, Refused, Truncated, Unavailable
from convolabel.llm.sdk_errors import as_llm_error

KEY_NAMES = ("OPENAI_API_KEY", "GPT_API_KEY")
_REASONING = re.compile(r"(?:openai/)?(?:o\d|gpt-[5-9])(?!.*chat)")
OutputForm = Literal["schema", "object", "text"]
"""How much the server is asked to hold the reply to JSON; a server that cannot is asked for the next weaker form."""
_FORMS: tuple[OutputForm, ...] = ("schema", "object", "text")


def is_reasoning_model(model: str) -> bool:
    """Whether an OpenAI model takes `reasoning_effort` and no temperature."""
    return _REASONING.match(model.lower()) is not None


class OpenAIProvider:
    """One model of OpenAI or, with `base_url`, of a compatible server.

    `form` is the strongest form of JSON output asked for; a schema is sent only where a call has one. The budget of
    output tokens is not bounded unless `max_output_tokens` is given. Raises `MissingExtraError` without the SDK and
    `BadKey` without a key (a server at `base_url` needs none).
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        reasoning_effort: str | None = "minimal",
        temperature: float | None = 0.0,
        seed: int | None = None,
        form: OutputForm = "text",
        max_output_tokens: int | None = None,
        timeout: float = 180.0,
    ) -> None:
        self.model = model
        self._budget_name = "max_tokens" if base_url else "max_completion_tokens"
        effort = {"reasoning_effort": reasoning_effort}
        shaping = effort if is_reasoning_model(model) else {"temperature": temperature}
        given = {**shaping, "seed": seed, self._budget_name: max_output_tokens}
        configured = {name: value for name, value in given.items() if value is not None}
        self.parameters: Mapping[str, Any] = {**configured, "form": form, "base_url": base_url}
        self._sent = SentParameters(model, configured)
        self._form = form
        self._form_notes: list[str] = []
        self._key_name, key = _key(api_key, needed=base_url is None)
        self._client = _sdk_client(key, base_url, timeout)

    @property
    def notes(self) -> Sequence[str]:
        return (*self._sent.notes, *self._form_notes)

    def complete(self, prompt: str, *, schema: Mapping[str, Any] | None = None, room: int = 1) -> Completion:
        while True:
            sent, form = self._sent(), self._form
            try:
                return self._call(prompt, {**sent, **_response_format(form, schema)}, room)
            except BadRequest as error:
                is_about_form = form != "text" and "response_format" in (error.parameter or "")
                if is_about_form:
                    self._weaken(form)
                elif not self._sent.drop_refused(error, sent):
                    raise
            except Unavailable:
                # compatible servers are known to answer 500 to a form that they do not know
                if form != "schema" or schema is None or self.parameters["base_url"] is None:
                    raise
                self._weaken(form)

    def _weaken(self, refused: OutputForm) -> None:
        if self._form == refused:
            self._form = _FORMS[_FORMS.index(refused) + 1]
            self._form_notes.append(f"{self.model} refuses JSON output by {refused}; asked for {self._form} instead.")

    def _call(self, prompt: str, sent: dict[str, Any], room: int) -> Completion:
        if room > 1 and self._budget_name in sent:
            sent[self._budget_name] *= room
        began = time.monotonic()
        try:
            reply = self._client.chat.completions.create(
                model=self.model, messages=[{"role": "user", "content": prompt}], **sent
            )
        except Exception as error:
            known = as_llm_error(error, model=self.model, key_name=self._key_name)
            if known is None:
                raise
            raise known from None
        return self._completion(reply, time.monotonic() - began)

    def _completion(self, reply: Any, latency: float) -> Completion:
        choice = reply.choices[0] if reply.choices else None
        if choice is None:
            raise EmptyReply(f"{self.model} gave no answer.")
        text = choice.message.content or ""
        fault = self._fault(choice, text)
        if fault is not None:
            raise fault
        usage = reply.usage
        return Completion(
            text,
            usage.prompt_tokens if usage else None,
            usage.completion_tokens if usage else None,
            latency=latency,
            raw=reply,
        )

    def _fault(self, choice: Any, text: str) -> LLMError | None:
        if choice.finish_reason == "content_filter":
            return Blocked(f"The answer of {self.model} was held back by its provider's content filter.")
        if getattr(choice.message, "refusal", None):
            return Refused(f"{self.model} declined to answer.")
        if choice.finish_reason == "length":
            return Truncated(f"The answer of {self.model} was cut at its token budget.")
        return None if text.strip() else EmptyReply(f"{self.model} gave an empty answer.")


def _response_format(form: OutputForm, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    if form == "text":
        return {}
    if form == "schema" and schema is not None:
        named = {"name": "answer", "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {"response_format": {"type": "json_object"}}


def _key(given: str | None, *, needed: bool) -> tuple[str, str]:
    """Where the key came from, and the key."""
    if given:
        return "the argument api_key", given
    for name in KEY_NAMES:
        if os.environ.get(name):
            return name, os.environ[name]
    if needed:
        raise BadKey(f"No key for OpenAI: set {KEY_NAMES[0]} and try again.")
    return KEY_NAMES[0], "none"


def _sdk_client(key: str, base_url: str | None, timeout: float) -> Any:
    try:
        from openai import OpenAI
    except ImportError:
        raise MissingExtraError("Asking an OpenAI model", "llm") from None
    # retries are ours: the SDK's own would not be bounded, counted or stopped with the run
    return OpenAI(api_key=key, base_url=base_url, timeout=timeout, max_retries=0)
