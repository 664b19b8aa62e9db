"""Clients by a model's name, with ConvoKit's names and parameters (evaluator spec, "LLM clients")."""

import re
from typing import TYPE_CHECKING, Any

from convolabel.llm.adapters import TextSourceProvider
from convolabel.llm.client import LLMClient
from convolabel.llm.completion import Provider
from convolabel.llm.errors import UnknownProvider
from convolabel.llm.gemini_provider import GeminiProvider
from convolabel.llm.limiter import Limiter
from convolabel.llm.openai_provider import OpenAIProvider
from convolabel.llm.retries import RetryPolicy
from convolabel.llm.usage import Usage

if TYPE_CHECKING:
    from convolabel.llm.cache import AnswerCache

_OPENAI = re.compile(r"gpt|chatgpt|o[134](?:$|[-.:])")
_GEMINI = re.compile(r"(?:models/)?gemini")
_PROVIDERS = {"gpt": "gpt", "openai": "gpt", "gemini": "gemini", "google": "gemini"}


def infer_provider(model: str) -> str:
    """`"gpt"` (OpenAI) or `"gemini"`, by the model's name. Raises `UnknownProvider`, a `ValueError`, for others."""
    name = model.lower()
    if _OPENAI.match(name):
        return "gpt"
    if _GEMINI.match(name):
        return "gemini"
    raise UnknownProvider(
        f"Nothing tells who serves the model {model!r}: pass provider='gpt' or 'gemini', or the base_url of its server."
    )


def get_eval_llm_client(
    model: str,
    provider: str | None = None,
    config_manager: Any = None,
    reasoning_effort: str = "minimal",
    seed: int | None = None,
    json_mode: bool = False,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 180.0,
    cache: "AnswerCache | None" = None,
    limiter: Limiter | None = None,
    usage: Usage | None = None,
) -> LLMClient:
    """A client for `model`.

    The key is `api_key`, else what `config_manager.get_api_key("gpt" | "gemini")` returns, else the environment's
    `OPENAI_API_KEY` or `GPT_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`. `base_url` names an OpenAI-compatible
    server, or, with `provider="gemini"`, another address of Gemini. `json_mode` asks OpenAI for a JSON object;
    Gemini is always in JSON mode. `reasoning_effort` goes to OpenAI's reasoning models only. `timeout` in seconds.

    Raises `UnknownProvider`, `BadKey`, `MissingExtraError`.
    """
    served_by = _provider_name(model, provider, base_url)
    key = api_key or (config_manager.get_api_key(served_by) if config_manager is not None else None)
    source: Provider
    if served_by == "gemini":
        source = GeminiProvider(model, base_url=base_url, api_key=key, seed=seed, timeout=timeout)
    else:
        source = OpenAIProvider(
            model,
            base_url=base_url,
            api_key=key,
            reasoning_effort=reasoning_effort,
            seed=seed,
            form="object" if json_mode else "text",
            timeout=timeout,
        )
    return LLMClient(source, cache=cache, limiter=limiter, usage=usage)


class GPT5Client(LLMClient):
    """An OpenAI reasoning model. `max_retries` bounds how often a failed call is tried again."""

    def __init__(
        self,
        model: str,
        config_manager: Any = None,
        reasoning_effort: str = "minimal",
        seed: int | None = None,
        json_mode: bool = False,
        max_retries: int = 5,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
    ) -> None:
        key = api_key or (config_manager.get_api_key("gpt") if config_manager is not None else None)
        provider = OpenAIProvider(
            model,
            base_url=base_url,
            api_key=key,
            reasoning_effort=reasoning_effort,
            seed=seed,
            form="object" if json_mode else "text",
        )
        super().__init__(provider, retries=RetryPolicy(attempts=max_retries + 1))


class JSONClient(LLMClient):
    """Wraps a client with `generate(prompt, **generate_kwargs)`, such as ConvoKit's own, so that it answers JSON."""

    def __init__(self, client: Any, max_retries: int = 1, **generate_kwargs: Any) -> None:
        super().__init__(TextSourceProvider(client, generate_kwargs), retries=RetryPolicy(attempts=max_retries + 1))


def _provider_name(model: str, provider: str | None, base_url: str | None) -> str:
    if provider is not None:
        try:
            return _PROVIDERS[provider.lower()]
        except KeyError:
            raise UnknownProvider(f"Unknown provider {provider!r}: use one of {', '.join(_PROVIDERS)}.") from None
    return "gpt" if base_url is not None else infer_provider(model)
