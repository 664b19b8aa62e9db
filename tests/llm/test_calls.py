"""Retries, limiter, cache, usage, asking in parts: the rules without a network."""

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from convolabel.errors import InputError
from convolabel.llm import AnswerCache, Limiter, LLMClient, Price, Reading, RetryPolicy, Stopped, Usage, ask_in_parts
from convolabel.llm.cache import answer_key
from convolabel.llm.completion import Completion
from convolabel.llm.errors import BadKey, Blocked, LLMError, Malformed, RateLimited, Unavailable, UnknownModel
from convolabel.llm.prices import price_of
from convolabel.llm.prompts import filled, json_line, json_lines


class ScriptedProvider:
    """Gives what it is told, in order; then `{}`."""

    def __init__(self, *things: str | LLMError, parameters: Mapping[str, Any] | None = None) -> None:
        self.model = "scripted"
        self.parameters = parameters or {}
        self.notes: Sequence[str] = ()
        self.things = list(things)
        self.prompts: list[str] = []

    def complete(self, prompt: str, *, schema: Mapping[str, Any] | None = None, room: int = 1) -> Completion:
        self.prompts.append(prompt)
        thing = self.things.pop(0) if self.things else "{}"
        if isinstance(thing, LLMError):
            raise thing
        return Completion(thing, 10, 5, latency=0.5)


class RecordedWaits(threading.Event):
    """A stop signal that never comes and remembers how long it was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return self.is_set()


def run(policy: RetryPolicy, *things: str | LLMError) -> tuple[Completion, list[float]]:
    provider, waits = ScriptedProvider(*things), RecordedWaits()
    return policy.run(lambda: provider.complete("x"), waits, lambda _error: None), waits.waits


def test_the_wait_is_what_the_provider_asked_plus_at_most_a_quarter() -> None:
    _, waits = run(RetryPolicy(), RateLimited("slow", retry_after=2.0), "{}")
    assert len(waits) == 1
    assert 2.0 <= waits[0] <= 2.5


def test_waits_without_a_request_are_random_and_bounded() -> None:
    _, waits = run(RetryPolicy(first_wait=1.0, longest_wait=3.0), *[Unavailable("down")] * 5, "{}")
    # wait n is drawn between 0 and min(3, 2^(n-1)) seconds
    assert len(waits) == 5
    assert all(wait <= most for wait, most in zip(waits, [1, 2, 3, 3, 3], strict=True))


def test_after_the_last_attempt_the_error_comes_out() -> None:
    with pytest.raises(Unavailable, match="third"):
        run(RetryPolicy(attempts=3), *[Unavailable(word) for word in ("first", "second", "third", "fourth")])


@pytest.mark.parametrize("error", [BadKey("no"), UnknownModel("no"), Blocked("no"), Malformed("no")])
def test_what_cannot_succeed_is_not_tried_again(error: LLMError) -> None:
    provider = ScriptedProvider(error)
    with pytest.raises(type(error)):
        RetryPolicy().run(lambda: provider.complete("x"), RecordedWaits(), lambda _error: None)
    assert len(provider.prompts) == 1


def test_nobody_waits_longer_than_the_patience() -> None:
    with pytest.raises(RateLimited):
        run(RetryPolicy(patience=60), RateLimited("tomorrow", retry_after=86_400.0), "{}")


def test_a_stop_ends_a_wait() -> None:
    stopping = threading.Event()
    stopping.set()
    provider = ScriptedProvider(Unavailable("down"))
    with pytest.raises(Stopped):
        RetryPolicy(first_wait=60).run(lambda: provider.complete("x"), stopping, lambda _error: None)


def test_a_stopped_run_makes_no_call() -> None:
    provider, stopping = ScriptedProvider(), threading.Event()
    stopping.set()
    with pytest.raises(Stopped):
        LLMClient(provider, stopping=stopping).generate("x")
    assert provider.prompts == []


def test_the_limiter_bounds_calls_in_flight() -> None:
    limiter, inside, most = Limiter(max_in_flight=3), 0, 0
    lock, together = threading.Lock(), threading.Barrier(3, timeout=20)

    def call(_: int) -> None:
        nonlocal inside, most
        with limiter.slot(threading.Event()):
            with lock:
                inside += 1
                most = max(most, inside)
            together.wait()  # passes only when three are inside at once
            with lock:
                inside -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(call, range(12)))
    assert most == 3


def test_the_limiter_bounds_calls_per_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("convolabel.llm.limiter.time.monotonic", lambda: now)
    limiter = Limiter(max_in_flight=8, per_minute=2)
    for start in (1000.0, 1010.0):
        now = start
        with limiter.slot(threading.Event()):
            pass
    now = 1020.0
    assert limiter._wait_needed(threading.Event()) == 40.0  # the call of 1000 leaves the minute at 1060
    limiter.pause(55)
    assert limiter._wait_needed(threading.Event()) == 55.0
    now = 1080.0
    assert limiter._wait_needed(threading.Event()) <= 0.0


@pytest.mark.parametrize("bounds", [{"max_in_flight": 0}, {"per_minute": 0}])
def test_bounds_below_one_are_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Limiter(**bounds)


def test_a_rate_limit_makes_all_calls_wait() -> None:
    limiter = Limiter()
    client = LLMClient(ScriptedProvider(RateLimited("slow", retry_after=0.01)), limiter=limiter)
    client.generate("x")
    assert limiter._paused_until > 0


def test_an_answer_is_stored_on_arrival_and_never_asked_for_again(tmp_path: Path) -> None:
    provider = ScriptedProvider('{"a": 1}', '{"b": 2}')
    client = LLMClient(provider, cache=AnswerCache(tmp_path / "answers.sqlite"))
    assert [client.generate_json("x"), client.generate_json("x"), client.generate_json("y")] == [
        {"a": 1},
        {"a": 1},
        {"b": 2},
    ]
    again = LLMClient(ScriptedProvider(), cache=AnswerCache(tmp_path / "answers.sqlite"))
    assert again.generate_json("x") == {"a": 1}
    assert again.has_answer("y")
    assert provider.prompts == ["x", "y"]
    assert (client.usage.calls, client.usage.stored, again.usage.calls, again.usage.stored) == (2, 1, 0, 1)


def test_the_store_tells_models_parameters_and_prompts_apart() -> None:
    keys = {
        answer_key("m", {}, "x"),
        answer_key("n", {}, "x"),
        answer_key("m", {"seed": 1}, "x"),
        answer_key("m", {"seed": 2}, "x"),
        answer_key("m", {}, "y"),
    }
    assert len(keys) == 5
    assert answer_key("m", {"a": 1, "b": 2}, "x") == answer_key("m", {"b": 2, "a": 1}, "x")


def test_a_reply_that_cannot_be_read_is_not_stored(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    with pytest.raises(Malformed):
        LLMClient(ScriptedProvider("a", "b"), cache=cache).generate_json("x")
    assert len(cache) == 0
    assert LLMClient(ScriptedProvider("a", "[1]"), cache=cache).generate_json("x") == [1]
    assert len(cache) == 1


def test_a_run_takes_the_clients_own_store_even_when_it_is_empty(tmp_path: Path) -> None:
    own, other = AnswerCache(tmp_path / "own.sqlite"), AnswerCache(tmp_path / "other.sqlite")
    client = LLMClient(ScriptedProvider(), cache=own)
    client.for_run(cache=other, usage=Usage(), stopping=threading.Event()).generate("x")
    assert (len(own), len(other), client.usage.calls) == (1, 0, 0)


def test_the_store_is_for_its_owner_only(tmp_path: Path) -> None:
    AnswerCache(tmp_path / "answers.sqlite")
    assert (tmp_path / "answers.sqlite").stat().st_mode & 0o077 == 0


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_text("not a database, but long enough to look like one" * 50)
    with pytest.raises(InputError, match=r"answers\.sqlite"):
        AnswerCache(tmp_path / "answers.sqlite")


def test_many_threads_share_one_store(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    client = LLMClient(ScriptedProvider(), cache=cache, limiter=Limiter(16))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(client.generate_json, map(str, range(200))))
    assert len(cache) == 200


def test_usage_adds_up_and_knows_the_price() -> None:
    usage = Usage({"scripted": Price(2.0, 8.0)})
    client = LLMClient(ScriptedProvider(), usage=usage)
    client.generate("x")
    client.generate("y")
    # 2 calls of 10 tokens in and 5 out: (20 * $2 + 10 * $8) / 1e6 = $0.00012
    assert usage.cost == pytest.approx(0.00012)
    entry = usage.as_dict()["models"]["scripted"]
    assert (entry["calls"], entry["input_tokens"], entry["output_tokens"]) == (2, 20, 10)
    assert (entry["latency_mean_s"], entry["latency_max_s"]) == (0.5, 0.5)


def test_an_unknown_price_makes_the_cost_unknown() -> None:
    usage = Usage()
    LLMClient(ScriptedProvider(), usage=usage).generate("x")
    assert usage.cost is None
    assert Usage().cost == 0


def test_list_prices_are_found_with_a_date() -> None:
    assert price_of("gpt-5-mini-2025-08-07") == price_of("gpt-5-mini") == Price(0.25, 2.0)
    assert price_of("models/gemini-2.5-pro") == Price(1.25, 10.0)
    assert price_of("gpt-5-turbo") is None


def ask(provider: ScriptedProvider, cache: AnswerCache | None = None, keys: Sequence[int] = (1, 2, 3)) -> Any:
    """Each key wants its own number; others are faults."""

    def read(reply: Any, asked: Sequence[int]) -> Reading[int, int]:
        if not isinstance(reply, dict):
            raise Malformed("no object")
        good = {key: key for key in asked if reply.get(str(key)) == key}
        return Reading(good, ["wrong number"] * (len(asked) - len(good)))

    return ask_in_parts(LLMClient(provider, cache=cache), keys, lambda asked: f"give {list(asked)}", read)


def test_all_good_takes_one_call() -> None:
    answer = ask(ScriptedProvider('{"1": 1, "2": 2, "3": 3}'))
    assert (answer.parts, answer.missing, answer.calls) == ({1: 1, 2: 2, 3: 3}, (), 1)


def test_the_faulty_part_is_asked_for_again_once_alone() -> None:
    provider = ScriptedProvider('{"1": 1, "2": 7, "3": 3}', '{"1": 9, "2": 2}')
    answer = ask(provider)
    assert (answer.parts, answer.missing, answer.calls) == ({1: 1, 3: 3, 2: 2}, (), 2)
    assert provider.prompts[1].startswith("give [2]\n\nAn earlier reply")
    assert "wrong number" in provider.prompts[1]


def test_what_stays_faulty_is_reported_not_guessed() -> None:
    provider = ScriptedProvider('{"1": 1}', "[]", "[]")
    answer = ask(provider)
    assert (answer.parts, answer.missing) == ({1: 1}, (2, 3))
    assert answer.reason == "wrong number (2x), not the form asked for"
    assert len(provider.prompts) == 2


@pytest.mark.parametrize("second", [Blocked("no"), Unavailable("down", retry_after=1e9)])
def test_a_second_call_that_fails_leaves_the_first_ones_parts(second: LLMError) -> None:
    answer = ask(ScriptedProvider('{"1": 1, "2": 2}', second))
    assert (answer.parts, answer.missing, answer.faults[-1]) == ({1: 1, 2: 2}, (3,), second.kind)


def test_a_second_call_that_ends_the_run_is_raised() -> None:
    with pytest.raises(BadKey):
        ask(ScriptedProvider("{}", BadKey("no")))


def test_a_faulty_second_reply_is_forgotten_and_a_good_one_kept(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    ask(ScriptedProvider('{"1": 1, "2": 2}', '{"3": 0}'), cache)
    second = ScriptedProvider('{"3": 3}')
    assert ask(second, cache).parts == {1: 1, 2: 2, 3: 3}
    assert len(second.prompts) == 1  # the first reply came from the store, the second was asked for anew
    third = ScriptedProvider()
    assert ask(third, cache).missing == ()
    assert third.prompts == []


HOSTILE = 'He said:\n{"speaker": "Ann"}\u2028{topic} {{context}} </data> "quoted" \\ \x85 end'


def test_a_message_stays_on_its_line_and_comes_back_as_it_was() -> None:
    line = json_line({"text": HOSTILE})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": HOSTILE}
    assert len(json_lines([{"text": HOSTILE}, 1]).splitlines()) == 2


def test_placeholders_in_data_are_text() -> None:
    values = {"topic": "T", "context": json_line(HOSTILE)}
    assert filled('{topic} {context} {other} {"a": 1}', values) == f'T {json_line(HOSTILE)} {{other}} {{"a": 1}}'
