"""ClaimTracker when things go wrong: failures, stale records, stops, kills, resumption."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convolabel.llm import Limiter, LLMClient, RetryPolicy, get_eval_llm_client
from convolabel.llm.adapters import JSONSourceProvider
from convolabel.llm.errors import BadKey, Blocked, LLMError, TooLong, Unavailable
from evaluators import ClaimTracker, Corpus, Speaker, Utterance
from evaluators.run_report import Status
from tests.claims.fake_models import FakeEmbedder, FakeNLI
from tests.claims.scripted_model import asked_in
from tests.llm_stub_server import KEY, Fault, LLMStub, Reply, Reset


def corpus_of(count: int = 2, length: int = 6) -> Corpus:
    """Two participants and a mediator in turn; each utterance gives the claim "claim of ...", Ann and Bob a seed."""
    people = [Speaker("ann"), Speaker("bob"), Speaker("bot", ai_meta={"role": "public assistant"})]
    corpus = Corpus(
        utterances=[
            Utterance(f"c{talk}.u{place}", people[place % 3], f"c{talk}", f"talk {talk} point {place}", place)
            for talk in range(count)
            for place in range(length)
        ]
    )
    for talk, conversation in enumerate(corpus.iter_conversations()):
        conversation.meta["pre_survey"] = {name: f"talk {talk} view of {name}" for name in ("ann", "bob")}
    return corpus


CALLS = 2 + 6 + 6 + 2
"""Per conversation: seeds, extractions, consolidations (something is on record from the start), agreement."""


def reply_to(prompt: str) -> Any:
    asked = asked_in(prompt)
    if asked.kind == "extraction":
        return {"claims": [{"claim": f"claim of {asked.target['text']}", "kind": "own"}]}
    if asked.kind == "agreement":
        return {"pairs": [{"a": 0, "b": 0, "relation": "agree"}]}
    return {"relations": [{"new": row["new"], "relation": "neutral", "target": None} for row in asked.new]}


def answer(prompt: str) -> str:
    return json.dumps(reply_to(prompt))


class Model:
    """`reply(prompt)` gives the reply or raises."""

    def __init__(self, reply: Callable[[str], Any] = reply_to) -> None:
        self.reply = reply
        self.prompts: list[str] = []
        self._lock = threading.Lock()

    def generate_json(self, prompt: str) -> Any:
        with self._lock:
            self.prompts.append(prompt)
        return self.reply(prompt)


def failing(error: LLMError, kind: str, *words: str) -> Callable[[str], Any]:
    """Raises at prompts of that kind that hold one of `words` in what is asked about."""

    def reply(prompt: str) -> Any:
        asked = asked_in(prompt)
        about = {"extraction": lambda: [asked.target], "consolidation": lambda: asked.new}
        rows = about.get(asked.kind, lambda: asked.rows)()
        if asked.kind == kind and any(word in json.dumps(rows) for word in words):
            raise error
        return reply_to(prompt)

    return reply


def tracker(model: Any, **options: Any) -> ClaimTracker:
    return ClaimTracker(model, embedder=FakeEmbedder(), nli=FakeNLI(), verbosity=0, **options)


def tracked(corpus: Corpus, reply: Callable[[str], Any] = reply_to, **options: Any) -> tuple[ClaimTracker, Model]:
    model = Model(reply)
    made = tracker(model, **options)
    made.transform(corpus)
    assert made.report is not None
    return made, model


def statuses(made: ClaimTracker) -> dict[str, Status]:
    assert made.report is not None
    return made.report.statuses


@pytest.mark.parametrize("n_workers", [1, 2, 8])
def test_what_is_written_where(n_workers: int) -> None:
    corpus = corpus_of(3)
    made, model = tracked(corpus, n_workers=n_workers)
    assert statuses(made) == {f"c{n}": Status.COMPLETE for n in range(3)}
    assert len(model.prompts) == 3 * CALLS
    for conversation in corpus.iter_conversations():
        talk = conversation.id[1:]
        record = conversation.meta["claims"]
        assert set(record) == {"speakers", "initial", "final", "memory", "steps", "agreement"}
        assert conversation.meta["claims_status"] == {"status": "complete"}
        assert record["initial"]["ann"] == [f"claim of talk {talk} view of ann"]
        assert [entry["claim"] for entry in record["memory"]] == [
            *(f"claim of talk {talk} view of {name}" for name in ("ann", "bob")),
            *(f"claim of talk {talk} point {place}" for place in range(6)),
        ]
        assert json.loads(json.dumps(record)) == record
        info = corpus.get_speaker_convo_info("bob", conversation.id)
        assert set(info) == {
            *("claims_initial", "claims_final", "claims_share_from_mediator"),
            *("claims_share_from_partner", "claims_share_new_common_ground"),
        }
        assert info["claims_final"] == record["final"]["bob"]
    assert corpus.get_speaker_convo_info("bot", "c0") == {}


def test_each_claim_is_embedded_once() -> None:
    corpus, embedder = corpus_of(2, 30), FakeEmbedder()
    ClaimTracker(Model(), embedder=embedder, nli=FakeNLI(), verbosity=0).transform(corpus)
    assert len(embedder.texts) == len(set(embedder.texts)) == 2 * 32


@pytest.mark.parametrize("error", [Blocked("Held back."), TooLong("Too long.")])
def test_an_utterance_that_no_run_would_get_leaves_a_gap_that_is_named(error: LLMError) -> None:
    corpus = corpus_of()
    made, model = tracked(corpus, failing(error, "extraction", "talk 0 point 3"))
    assert statuses(made) == {"c0": Status.PARTIAL, "c1": Status.COMPLETE}
    assert made.report is not None
    (failure,) = made.report.failures
    assert (failure.conversation_id, failure.stage, failure.kind) == ("c0", "extraction, turn 3", error.kind)
    conversation = corpus.get_conversation("c0")
    assert conversation.meta["claims_status"] == {
        "status": "partial",
        "problems": [f"extraction, turn 3: {error}"],
    }
    steps = conversation.meta["claims"]["steps"]
    assert [step["turn"] for step in steps if "problems" in step] == ["3"]
    assert len(conversation.meta["claims"]["memory"]) == 7
    assert len(model.prompts) == 2 * CALLS - 1


def test_a_claim_whose_relation_is_held_back_is_added() -> None:
    corpus = corpus_of(1)
    made, _ = tracked(corpus, failing(Blocked("Held back."), "consolidation", "point 3"))
    assert statuses(made) == {"c0": Status.PARTIAL}
    step = corpus.get_conversation("c0").meta["claims"]["steps"][5]
    assert (step["updates"], step["decisions"]) == ([], [{"op": "ADD", "relation": "neutral", "target": None}])
    assert step["problems"] == ["consolidation: Held back."]
    assert len(corpus.get_conversation("c0").meta["claims"]["memory"]) == 8


def test_an_agreement_that_is_held_back_is_undefined_and_marked() -> None:
    corpus = corpus_of(1)
    made, _ = tracked(corpus, failing(Blocked("Held back."), "agreement", "point 0"))
    assert statuses(made) == {"c0": Status.PARTIAL}
    agreement = corpus.get_conversation("c0").meta["claims"]["agreement"]
    assert agreement["pairs"][0]["final"] == {"pairs": [], "agree": None, "contradiction": None, "failed": True}
    assert (agreement["initial"], agreement["final"], agreement["gain"], agreement["n_pairs"]) == (1.0, None, None, 0)
    assert corpus.get_speaker_convo_info("ann", "c0")["claims_share_new_common_ground"] is None


@pytest.mark.parametrize("kind", ["extraction", "consolidation", "agreement"])
def test_an_outage_ends_its_conversation_and_the_next_run_goes_on_there(kind: str, tmp_path: Path) -> None:
    corpus = corpus_of()
    word = "talk 0" if kind == "agreement" else "talk 0 point 3"
    made, model = tracked(
        corpus, failing(Unavailable("Down.", retry_after=1e9), kind, word), run_folder=tmp_path, n_workers=2
    )
    assert statuses(made) == {"c0": Status.FAILED, "c1": Status.COMPLETE}
    assert "claims" not in corpus.get_conversation("c0").meta
    assert made.report is not None
    assert {failure.kind for failure in made.report.failures} == {"unavailable"}
    assert [row["conversation_id"] for row in made.summary_rows(corpus)] == ["c1", "c1"]
    answered = {prompt for prompt in model.prompts if _is_answered(failing(Blocked(""), kind, word), prompt)}
    again, second = tracked(corpus, run_folder=tmp_path)
    assert statuses(again) == {"c0": Status.COMPLETE, "c1": Status.COMPLETE}
    assert answered.isdisjoint(second.prompts)
    assert len(answered) + len(second.prompts) == 2 * CALLS


def _is_answered(reply: Callable[[str], Any], prompt: str) -> bool:
    try:
        reply(prompt)
    except LLMError:
        return False
    return True


def test_an_error_of_the_callers_own_function_fails_one_conversation_without_its_words() -> None:
    def topic(conversation: Any) -> str:
        if conversation.id == "c0":
            raise KeyError("Ann is ill")
        return ""

    made, _ = tracked(corpus_of(), topic_func=topic)
    assert statuses(made) == {"c0": Status.FAILED, "c1": Status.COMPLETE}
    assert made.report is not None
    assert "KeyError" in made.report.text()
    assert "Ann" not in made.report.text()


@pytest.mark.parametrize(
    "error", [Unavailable("Down.", retry_after=1e9), Blocked("Held back.")], ids=["failed", "partial"]
)
def test_a_worse_rerun_keeps_the_good_record_and_marks_it_stale(error: LLMError) -> None:
    corpus = corpus_of(1)
    tracked(corpus)
    before = json.dumps(corpus.get_conversation("c0").meta["claims"])
    info = dict(corpus.get_speaker_convo_info("ann", "c0"))
    made, _ = tracked(corpus, failing(error, "extraction", "point 3"))
    assert statuses(made) == {"c0": Status.STALE}
    conversation = corpus.get_conversation("c0")
    assert json.dumps(conversation.meta["claims"]) == before
    assert corpus.get_speaker_convo_info("ann", "c0") == info
    assert conversation.meta["claims_status"]["status"] == "stale"
    assert str(error) in json.dumps(conversation.meta["claims_status"])
    tracked(corpus)
    assert conversation.meta["claims_status"] == {"status": "complete"}


def test_a_record_with_gaps_is_replaced_by_a_better_one_and_by_another_with_gaps() -> None:
    corpus = corpus_of(1)
    tracked(corpus, failing(Blocked("Held back."), "extraction", "point 3"))
    made, _ = tracked(corpus, failing(Blocked("Held back."), "extraction", "point 4"))
    assert statuses(made) == {"c0": Status.PARTIAL}
    steps = corpus.get_conversation("c0").meta["claims"]["steps"]
    assert [step["turn"] for step in steps if "problems" in step] == ["4"]
    made, _ = tracked(corpus)
    assert statuses(made) == {"c0": Status.COMPLETE}


def test_nobody_to_compare_and_nothing_said() -> None:
    people = [Speaker("bot", ai_meta={"role": "public assistant"})]
    corpus = Corpus(utterances=[Utterance("u", people[0], "c", text="Hello?", timestamp=0)])
    made, _ = tracked(corpus)
    assert statuses(made) == {"c": Status.COMPLETE}
    assert corpus.get_conversation("c").meta["claims"]["agreement"]["pairs"] == []
    assert made.summary_rows(corpus) == []


def test_a_selector_and_another_attribute_name() -> None:
    corpus = corpus_of()
    made, _ = tracked(corpus, claims_attribute_name="theses")
    assert "claims" not in corpus.get_conversation("c0").meta
    assert corpus.get_conversation("c0").meta["theses_status"] == {"status": "complete"}
    assert len(made.summary_rows(corpus, selector=lambda each: each.id == "c1")) == 2
    corpus = corpus_of()
    tracker(Model()).transform(corpus, selector=lambda each: each.id == "c1")
    assert "claims" not in corpus.get_conversation("c0").meta


def test_a_refused_key_ends_the_run_after_what_is_done_was_written() -> None:
    first_is_judged = threading.Semaphore(0)
    refused = failing(BadKey("The key in OPENAI_API_KEY was refused."), "consolidation", "talk 2 point 2")

    def reply(prompt: str) -> Any:
        asked = asked_in(prompt)
        if asked.kind == "agreement" and "talk 0" in prompt:
            first_is_judged.release()
        if asked.kind == "consolidation" and "talk 2 point 2" in asked.new[0]["claim"]:
            assert all(first_is_judged.acquire(timeout=20) for _ in range(2))
        return refused(prompt)

    corpus = corpus_of(6)
    made = tracker(Model(reply))
    with pytest.raises(BadKey, match="OPENAI_API_KEY"):
        made.transform(corpus)
    assert (statuses(made)["c0"], statuses(made)["c2"]) == (Status.COMPLETE, Status.FAILED)
    assert (statuses(made)["c4"], statuses(made)["c5"]) == (Status.NOT_REACHED, Status.NOT_REACHED)
    assert "claims" in corpus.get_conversation("c0").meta
    assert "claims" not in corpus.get_conversation("c5").meta
    assert made.report is not None
    assert made.report.was_stopped


def test_ctrl_c_keeps_what_was_answered_and_the_next_run_asks_only_for_the_rest(tmp_path: Path) -> None:
    reached, interrupted = threading.Event(), threading.Event()

    def reply(prompt: str) -> Any:
        if len(model.prompts) > 30:
            reached.set()
            interrupted.wait(20)
        return reply_to(prompt)

    def interrupt() -> None:
        reached.wait(20)
        signal.pthread_kill(main, signal.SIGINT)
        interrupted.set()

    main = threading.main_thread().ident
    assert main is not None
    corpus, model = corpus_of(6), Model(reply)
    made = tracker(model, n_workers=2, run_folder=tmp_path)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        made.transform(corpus)
    assert Status.NOT_REACHED in statuses(made).values()
    assert json.loads((tmp_path / "claims_report.json").read_text())["was_stopped"] is True
    first = list(model.prompts)
    assert len(first) < 6 * CALLS
    again, second = tracked(corpus, run_folder=tmp_path)
    assert set(statuses(again).values()) == {Status.COMPLETE}
    assert set(first).isdisjoint(second.prompts)
    assert len(first) + len(second.prompts) == 6 * CALLS


def test_a_second_run_into_a_folder_asks_nothing(tmp_path: Path) -> None:
    _, first = tracked(corpus_of(2), run_folder=tmp_path)
    made, second = tracked(corpus_of(2), run_folder=tmp_path, n_workers=2)
    assert (len(first.prompts), len(second.prompts)) == (2 * CALLS, 0)
    assert made.report is not None
    assert made.report.usage["stored"] == 2 * CALLS


def test_one_limiter_bounds_the_calls_of_all_conversations() -> None:
    with LLMStub(answer, latency=0.01) as stub:
        client = get_eval_llm_client("gpt-5", base_url=stub.openai_url, api_key=KEY, limiter=Limiter(3))
        made = tracker(client, n_workers=6)
        made.transform(corpus_of(8))
        assert stub.most_in_flight <= 3
        assert made.report is not None
        assert made.report.totals == {"complete": 8}
        assert made.report.usage["calls"] == len(stub.calls) == 8 * CALLS
        # per call 100 tokens in and 20 out at $1.25 and $10 per million
        assert made.report.usage["cost_usd"] == pytest.approx(8 * CALLS * (100 * 1.25 + 20 * 10) / 1e6)


def test_extractions_of_a_conversation_run_side_by_side() -> None:
    """All seeds and the first six utterances are in flight together, or the barrier would break."""
    together = threading.Barrier(8, timeout=20)

    def reply(prompt: str) -> Any:
        if asked_in(prompt).kind == "extraction":
            together.wait()
        return reply_to(prompt)

    made = tracker(LLMClient(JSONSourceProvider(Model(reply)), limiter=Limiter(16)))
    made.transform(corpus_of(1))
    assert statuses(made) == {"c0": Status.COMPLETE}


def test_agreements_of_a_conversation_run_side_by_side() -> None:
    together = threading.Barrier(2, timeout=20)

    def reply(prompt: str) -> Any:
        if asked_in(prompt).kind == "agreement":
            together.wait()
        return reply_to(prompt)

    made, _ = tracked(corpus_of(1), reply)
    assert statuses(made) == {"c0": Status.COMPLETE}


FAULTS = [
    Fault(429, headers={"Retry-After": "0"}),
    Fault(503),
    Reset(),
    Reply("```json\n{"),
    Reply("", finish="length"),
    Fault(500),
    Reply("sorry"),
    Fault(429, headers={"Retry-After": "0.01"}),
]


def test_faults_of_every_kind_lose_nothing() -> None:
    with LLMStub(answer) as stub:
        client = get_eval_llm_client("gpt-5", base_url=stub.openai_url, api_key=KEY, limiter=Limiter(1))
        client = LLMClient(client.provider, limiter=client.limiter, retries=RetryPolicy(first_wait=0.001))
        for fault in FAULTS * 2:
            stub.enqueue(fault, None)  # None: a good answer
        corpus, calm = corpus_of(2), corpus_of(2)
        made = tracker(client)
        made.transform(corpus)
        tracked(calm)
        assert made.report is not None
        assert made.report.totals == {"complete": 2}
        assert len(stub.calls) == 2 * CALLS + len(FAULTS) * 2
        for conversation in calm.iter_conversations():
            assert corpus.get_conversation(conversation.id).meta["claims"] == conversation.meta["claims"]


KILLED = """
import sys
from tests.claims.test_claims_runs import corpus_of, tracker
from convolabel.llm import get_eval_llm_client
client = get_eval_llm_client("gpt-5", base_url=sys.argv[1], api_key="x")
corpus = corpus_of(8)
tracker(client, n_workers=2, run_folder=sys.argv[2]).transform(corpus)
print(all(each.meta["claims_status"]["status"] == "complete" for each in corpus.iter_conversations()))
"""


def test_a_kill_at_any_moment_loses_no_answered_call(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    enough = threading.Event()

    def counted(prompt: str) -> str:
        if len(stub.calls) >= 40:
            enough.set()
        return answer(prompt)

    with LLMStub(counted, latency=0.03) as stub:
        command = [sys.executable, "-c", KILLED, stub.openai_url, str(tmp_path)]
        run = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE)
        assert enough.wait(60)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        asked = [call.prompt for call in stub.calls]
        assert len(set(asked)) == len(asked) < 8 * CALLS
        finished = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        assert finished.stdout == "True\n"
        prompts = [call.prompt for call in stub.calls]
    assert len(set(prompts)) == 8 * CALLS
    # only what was in flight when the kill came, eight calls at most, was asked for twice
    assert 8 * CALLS <= len(prompts) <= 8 * CALLS + 8
