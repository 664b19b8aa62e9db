"""Clients against a stub of the providers' HTTP interfaces, through the real SDKs."""

import logging
from collections.abc import Callable

import pytest

from convolabel.llm import GPT5Client, JSONClient, LLMClient, RetryPolicy, get_eval_llm_client, infer_provider
from convolabel.llm.errors import (
    BadKey,
    BadRequest,
    Blocked,
    EmptyReply,
    LLMError,
    Malformed,
    QuotaExhausted,
    RateLimited,
    Refused,
    TooLong,
    Truncated,
    Unavailable,
    UnknownModel,
    UnknownProvider,
)
from tests.llm_stub_server import KEY, Fault, LLMStub, Reply, Reset


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        *[(name, "gpt") for name in ("gpt-5", "GPT-4o", "chatgpt-4o-latest", "o1", "o3-mini", "o4-mini", "o1-preview")],
        *[(name, "gemini") for name in ("gemini-2.5-flash", "models/gemini-2.5-pro", "Gemini-3")],
    ],
)
def test_the_provider_follows_from_the_models_name(model: str, provider: str) -> None:
    assert infer_provider(model) == provider


@pytest.mark.parametrize("model", ["llama-3", "mistral", "olmo-1", "o5", "o10-large", "my-gpt", ""])
def test_other_models_need_a_provider_or_an_address(model: str) -> None:
    with pytest.raises(UnknownProvider, match="base_url"):
        infer_provider(model)
    with pytest.raises(ValueError, match="base_url"):  # ConvoKit's kind of error
        get_eval_llm_client(model)


def test_an_answer_comes_with_its_tokens(client: LLMClient, stub: LLMStub) -> None:
    completion = client.generate("How many?")
    assert completion.text == '{"answer": 1}'
    assert completion.tokens == 120  # 100 in; OpenAI 20 out, Gemini 15 out and 5 of thoughts
    assert completion.raw is not None
    assert client.generate_json("How many?") == {"answer": 1}
    assert [call.prompt for call in stub.calls] == ["How many?", "How many?"]
    assert client.usage.calls == 2
    assert client.usage.tokens == 240


def test_reasoning_models_get_an_effort_and_no_temperature(
    make_client: Callable[..., LLMClient], stub: LLMStub
) -> None:
    for model in ("gpt-5", "o3-mini", "gpt-4o", "gpt-5-chat-latest"):
        make_client(model, seed=7, json_mode=True).generate("x")
    reasoning = {"reasoning_effort": "minimal", "seed": 7, "response_format": {"type": "json_object"}}
    plain = {"temperature": 0.0, "seed": 7, "response_format": {"type": "json_object"}}
    for call, expected in zip(stub.calls, [reasoning, reasoning, plain, plain], strict=True):
        assert {key: call.body[key] for key in call.body if key not in ("model", "messages")} == expected


def test_gemini_is_in_json_mode_with_the_seed(make_client: Callable[..., LLMClient], stub: LLMStub) -> None:
    make_client("gemini-2.5-flash", seed=7).generate("x")
    config = stub.calls[0].body["generationConfig"]
    assert config == {"temperature": 0.0, "seed": 7, "responseMimeType": "application/json"}


def test_a_schema_reaches_the_provider(make_client: Callable[..., LLMClient], stub: LLMStub) -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "integer"}}}
    make_client("gemini-2.5-flash").generate_json("x", schema)
    openai = make_client("gpt-5")
    openai.provider._form = "schema"  # type: ignore[attr-defined]
    openai.generate_json("x", schema)
    assert stub.calls[0].body["generationConfig"]["responseJsonSchema"] == schema
    assert stub.calls[1].body["response_format"]["json_schema"]["schema"] == schema


def test_a_server_that_knows_no_schema_is_asked_for_less(make_client: Callable[..., LLMClient], stub: LLMStub) -> None:
    client = make_client("local-model")
    client.provider._form = "schema"  # type: ignore[attr-defined]
    about_form = Fault(400, "bad", param="response_format")
    stub.enqueue(Fault(500, "no_idea"), about_form)
    assert client.generate_json("x", {"type": "object"}) == {"answer": 1}
    forms = [call.body.get("response_format", {}).get("type") for call in stub.calls]
    assert forms == ["json_schema", "json_object", None]
    assert len(client.notes) == 2


@pytest.mark.parametrize(
    ("thing", "error"),
    [
        (Reply("", finish="blocked"), Blocked),
        (Reply('{"a": 1', finish="length"), Truncated),
        (Reply(""), EmptyReply),
        (Reply("I would rather not say."), Malformed),
        (Fault(401, "invalid_api_key", message=f"Incorrect API key provided: {KEY}"), BadKey),
        (Fault(403, "PERMISSION_DENIED"), BadKey),
        (Fault(404, "model_not_found"), UnknownModel),
        (Fault(429, "insufficient_quota", message="insufficient_quota"), QuotaExhausted),
        (Fault(429, "rate_limit_exceeded"), RateLimited),
        (Fault(400, "invalid_request"), BadRequest),
        (Fault(400, "context_length_exceeded", message="maximum context length"), TooLong),
        (Fault(503, "overloaded"), Unavailable),
        (Fault(500, "oops"), Unavailable),
        (Reset(), Unavailable),
    ],
)
def test_every_fault_has_its_class_and_no_secret_in_it(
    client: LLMClient,
    stub: LLMStub,
    thing: Reply | Fault | Reset,
    error: type[LLMError],
    caplog: pytest.LogCaptureFixture,
) -> None:
    stub.enqueue(*[thing] * 4)
    with caplog.at_level(logging.INFO), pytest.raises(error) as raised:
        client.generate_json("Is Secretname ill?")
    assert type(raised.value) is error
    said = f"{raised.value} {raised.value!r} {caplog.text}"
    assert KEY not in said
    assert "Secretname" not in said
    # unreadable replies are asked for once more, what may pass is tried four times, the rest once
    expected = 4 if raised.value.is_retryable else 2 if error in (Truncated, EmptyReply, Malformed) else 1
    assert len(stub.calls) == expected


def test_a_model_that_declines_is_not_asked_again(make_client: Callable[..., LLMClient], stub: LLMStub) -> None:
    stub.enqueue(Reply("", refusal="I can't help with that."))
    with pytest.raises(Refused):
        make_client("gpt-5").generate_json("x")
    assert len(stub.calls) == 1


def test_a_bad_key_is_named_by_where_it_stands(monkeypatch: pytest.MonkeyPatch, stub: LLMStub) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    stub.enqueue(Fault(401, "invalid_api_key"))
    with pytest.raises(BadKey, match="OPENAI_API_KEY") as raised:
        get_eval_llm_client("gpt-5", base_url=stub.openai_url).generate("x")
    assert raised.value.stops_run
    assert KEY not in str(raised.value)
    assert stub.calls[0].key == f"Bearer {KEY}"


def test_geminis_way_to_refuse_a_key(make_client: Callable[..., LLMClient], stub: LLMStub) -> None:
    stub.enqueue(Fault(400, "INVALID_ARGUMENT", message="API key not valid. Please pass a valid API key."))
    with pytest.raises(BadKey):
        make_client("gemini-2.5-flash").generate("x")


@pytest.mark.parametrize(("model", "variable"), [("gpt-5", "OPENAI_API_KEY"), ("gemini-2.5-pro", "GEMINI_API_KEY")])
def test_without_a_key_the_variable_is_named(monkeypatch: pytest.MonkeyPatch, model: str, variable: str) -> None:
    for name in ("OPENAI_API_KEY", "GPT_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadKey, match=variable):
        get_eval_llm_client(model)


def test_the_key_may_come_from_convokits_configuration(stub: LLMStub) -> None:
    class Configuration:
        def get_api_key(self, provider: str) -> str:
            return f"{provider}-key"

    get_eval_llm_client("gpt-5", config_manager=Configuration(), base_url=stub.openai_url).generate("x")
    GPT5Client("gpt-5", Configuration(), base_url=stub.openai_url).generate("x")
    assert [call.key for call in stub.calls] == ["Bearer gpt-key"] * 2


@pytest.mark.parametrize(
    "things", [[Fault(503)] * 3, [Fault(429, headers={"Retry-After": "0"})], [Reset(), Reset()], [Fault(500)]]
)
def test_trouble_that_passes_is_waited_for(client: LLMClient, stub: LLMStub, things: list[Fault | Reset]) -> None:
    stub.enqueue(*things)
    assert client.generate_json("x") == {"answer": 1}
    assert len(stub.calls) == len(things) + 1
    assert client.usage.failed == len(things)
    assert client.usage.calls == 1


def test_a_refused_parameter_is_dropped_once_with_a_note(make_client: Callable[..., LLMClient], stub: LLMStub) -> None:
    client = make_client("gpt-4o", seed=1)
    stub.enqueue(
        Fault(400, "unsupported_parameter", param="temperature"), Fault(400, "unsupported_value", param="seed")
    )
    client.generate("one")
    client.generate("two")
    sent = [("temperature" in call.body, "seed" in call.body) for call in stub.calls]
    assert sent == [(True, True), (False, True), (False, False), (False, False)]
    assert client.notes == (
        "gpt-4o refuses the parameter temperature; it was left out.",
        "gpt-4o refuses the parameter seed; it was left out.",
    )


def test_a_parameter_named_only_in_the_message_is_dropped_too(
    make_client: Callable[..., LLMClient], stub: LLMStub
) -> None:
    client = make_client("gemini-2.5-flash", seed=1)
    stub.enqueue(Fault(400, "INVALID_ARGUMENT", message="The field seed is not supported by this model."))
    client.generate("x")
    assert ["seed" in call.body["generationConfig"] for call in stub.calls] == [True, False]


def test_a_cut_reply_is_asked_for_with_more_room(make_client: Callable[..., LLMClient], stub: LLMStub) -> None:
    from convolabel.llm.openai_provider import OpenAIProvider

    provider = OpenAIProvider("gpt-5", base_url=stub.openai_url, api_key=KEY, max_output_tokens=50)
    stub.enqueue(Reply('{"answer"', finish="length"))
    assert LLMClient(provider).generate_json("x") == {"answer": 1}
    assert [call.body["max_tokens"] for call in stub.calls] == [50, 200]


def test_a_client_of_convokits_kind_is_wrapped() -> None:
    class Foreign:
        model = "theirs"

        def __init__(self) -> None:
            self.asked: list[tuple[str, dict[str, object]]] = []

        def generate(self, prompt: str, **options: object) -> object:
            self.asked.append((prompt, options))
            text = "broken" if len(self.asked) == 1 else '```JSON\n{"a": 1}\n```'
            return type("Response", (), {"text": text})()

    foreign = Foreign()
    client = JSONClient(foreign, json_mode=True, seed=0)
    assert client.generate_json("x") == {"a": 1}
    assert foreign.asked == [("x", {"json_mode": True, "seed": 0})] * 2
    assert client.model == "theirs"


def test_a_foreign_clients_error_hides_its_words() -> None:
    class Foreign:
        def generate(self, prompt: str) -> object:
            raise RuntimeError(f"failed on {prompt}")

    with pytest.raises(LLMError, match="RuntimeError") as raised:
        JSONClient(Foreign()).generate_json("what Ann said")
    assert "Ann" not in str(raised.value)


def test_max_retries_of_the_peer_bounds_ours(stub: LLMStub) -> None:
    client = GPT5Client("gpt-5", max_retries=1, base_url=stub.openai_url, api_key=KEY)
    client.retries = RetryPolicy(client.retries.attempts, first_wait=0.001, longest_wait=0.001)
    stub.enqueue(*[Fault(503)] * 5)
    with pytest.raises(Unavailable):
        client.generate("x")
    assert len(stub.calls) == 2
