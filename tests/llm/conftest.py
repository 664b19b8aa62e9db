"""A stub of both providers, and clients of it that lose no time between retries."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from convolabel.llm import LLMClient, RetryPolicy, get_eval_llm_client
from tests.llm_stub_server import KEY, LLMStub


@pytest.fixture
def stub() -> Iterator[LLMStub]:
    with LLMStub(lambda _prompt: '{"answer": 1}') as running:
        yield running


@pytest.fixture(params=["gpt-5-mini", "gemini-2.5-flash"])
def client(request: pytest.FixtureRequest, make_client: Callable[..., LLMClient]) -> LLMClient:
    """One client per provider."""
    return make_client(request.param)


@pytest.fixture
def make_client(stub: LLMStub) -> Callable[..., LLMClient]:
    def make(model: str, **options: Any) -> LLMClient:
        url = stub.gemini_url if model.startswith("gemini") else stub.openai_url
        provider = "gemini" if model.startswith("gemini") else "gpt"
        made = get_eval_llm_client(model, provider, base_url=url, api_key=KEY, **options)
        made.retries = RetryPolicy(attempts=4, first_wait=0.001, longest_wait=0.01)
        return made

    return make
