"""Clients of language models, shared by the evaluators and the co-pilot.

One call goes: `LLMClient` looks into its `AnswerCache`, waits for a slot of the `Limiter`, lets a `Provider` make the
call, retries what can succeed, reads the reply, keeps it, and enters it into the `Usage`. SDKs and SQLAlchemy are
imported when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convolabel.errors import MissingExtraError

if TYPE_CHECKING:
    from convolabel.llm.adapters import as_client
    from convolabel.llm.asking import Answer, Reading, ask_in_parts
    from convolabel.llm.cache import AnswerCache
    from convolabel.llm.client import LLMClient
    from convolabel.llm.clients import GPT5Client, JSONClient, get_eval_llm_client, infer_provider
    from convolabel.llm.completion import Completion, Provider
    from convolabel.llm.errors import LLMError, Malformed, Stopped
    from convolabel.llm.limiter import Limiter
    from convolabel.llm.prices import Price
    from convolabel.llm.prompts import filled, json_line, json_lines
    from convolabel.llm.replies import list_in, parse_json
    from convolabel.llm.retries import RetryPolicy
    from convolabel.llm.usage import Usage

_HOME = {
    "Answer": "asking",
    "AnswerCache": "cache",
    "Completion": "completion",
    "GPT5Client": "clients",
    "JSONClient": "clients",
    "LLMClient": "client",
    "LLMError": "errors",
    "Limiter": "limiter",
    "Malformed": "errors",
    "Price": "prices",
    "Provider": "completion",
    "Reading": "asking",
    "RetryPolicy": "retries",
    "Stopped": "errors",
    "Usage": "usage",
    "as_client": "adapters",
    "ask_in_parts": "asking",
    "filled": "prompts",
    "get_eval_llm_client": "clients",
    "infer_provider": "clients",
    "json_line": "prompts",
    "json_lines": "prompts",
    "list_in": "replies",
    "parse_json": "replies",
}
_EXTRA = frozenset({"sqlalchemy", "tenacity"})

__all__ = [
    "Answer",
    "AnswerCache",
    "Completion",
    "GPT5Client",
    "JSONClient",
    "LLMClient",
    "LLMError",
    "Limiter",
    "Malformed",
    "Price",
    "Provider",
    "Reading",
    "RetryPolicy",
    "Stopped",
    "Usage",
    "as_client",
    "ask_in_parts",
    "filled",
    "get_eval_llm_client",
    "infer_provider",
    "json_line",
    "json_lines",
    "list_in",
    "parse_json",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"convolabel.llm.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _EXTRA:
            raise MissingExtraError("Asking a language model", "llm") from None
        raise
