"""The frame of a run: what every evaluator relies on."""

import csv
import json
import threading
from pathlib import Path

import pytest

from convolabel.errors import InputError
from convolabel.llm import Limiter, get_eval_llm_client
from convolabel.llm.errors import BadKey, Blocked
from evaluators import Corpus, RunFolder, RunReport, Speaker, Utterance
from evaluators.kept_results import keep_results, restore_results
from evaluators.result_status import mark_status
from evaluators.run import Run
from evaluators.run_report import Status
from tests.llm_stub_server import KEY, LLMStub


def corpus_of(count: int) -> Corpus:
    return Corpus(utterances=[Utterance(f"u{n}", Speaker("a"), f"c{n}", "x", n) for n in range(count)])


def test_results_are_in_the_order_given_whoever_ends_first() -> None:
    first_may_end = threading.Event()

    def work(conversation: object) -> str:
        ident: str = conversation.id  # type: ignore[attr-defined]
        if ident == "c0":
            assert first_may_end.wait(20)
        else:
            first_may_end.set()
        return ident.upper()

    seen: list[tuple[int, int]] = []
    with Run(RunReport("test"), n_workers=2, progress=lambda done, total: seen.append((done, total))) as run:
        results = run.conversations(list(corpus_of(4).iter_conversations()), work)
    assert list(results.items()) == [(f"c{n}", f"C{n}") for n in range(4)]
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_workers_bound_conversations_in_flight() -> None:
    inside, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3, timeout=20)

    def work(_: object) -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        together.wait()
        with lock:
            inside -= 1

    with Run(RunReport("test"), n_workers=3) as run:
        run.conversations(list(corpus_of(9).iter_conversations()), work)
    assert most == 3
    with pytest.raises(InputError):
        Run(RunReport("test"), n_workers=0)


def test_calls_of_all_conversations_share_one_pool_as_wide_as_the_limiter() -> None:
    with LLMStub(lambda _prompt: "[]", latency=0.05) as stub:
        client = get_eval_llm_client("gpt-5", base_url=stub.openai_url, api_key=KEY, limiter=Limiter(4))
        with Run(RunReport("test"), client, n_workers=2) as run:

            def work(conversation: object) -> list[object]:
                ident: str = conversation.id  # type: ignore[attr-defined]
                return run.map_calls(run.client.generate_json, [f"{ident}.{n}" for n in range(6)])

            results = run.conversations(list(corpus_of(2).iter_conversations()), work)
        assert results == {"c0": [[]] * 6, "c1": [[]] * 6}
        assert 2 < stub.most_in_flight <= 4


def test_map_calls_ends_all_before_it_raises_the_first_error() -> None:
    done: list[int] = []

    def call(number: int) -> int:
        if number in (1, 3):
            raise Blocked(f"call {number}")
        done.append(number)
        return number

    with Run(RunReport("test")) as run:
        with pytest.raises(Blocked, match="call 1"):
            run.map_calls(call, range(5))
        assert sorted(done) == [0, 2, 4]
        assert run.map_calls(call, [4, 2]) == [4, 2]


def test_an_error_that_ends_the_run_leaves_the_rest_not_reached_and_is_raised_at_the_end() -> None:
    report, written = RunReport("test"), []

    def work(conversation: object) -> int:
        if conversation.id == "c1":  # type: ignore[attr-defined]
            raise BadKey("refused")
        return 1

    def whole_run() -> None:
        with Run(report) as run:
            written.append(run.conversations(list(corpus_of(4).iter_conversations()), work))
            assert run.stopping.is_set()

    with pytest.raises(BadKey, match="refused"):
        whole_run()
    assert written == [{"c0": 1}]
    assert [str(status) for status in report.statuses.values()] == [
        "not reached",  # it has a result; which status that deserves is for the evaluator to say
        "failed",
        "not reached",
        "not reached",
    ]


def test_a_report_counts_notes_and_reads_well() -> None:
    report = RunReport("claims")
    report.set_status("c0", Status.COMPLETE)
    report.set_status("c1", Status.PARTIAL)
    report.fail("c1", "extraction", Blocked("held back"))
    report.fail("c1", "agreement", "one pair is missing", kind="faulty_reply")
    report.count("claims of an unknown kind", 2)
    report.note("seed was left out.")
    report.note("seed was left out.")
    assert report.totals == {"complete": 1, "partial": 1}
    document = report.as_dict()
    assert json.loads(json.dumps(document)) == document
    assert document["failures"][0] == {
        "conversation_id": "c1",
        "stage": "extraction",
        "kind": "blocked",
        "reason": "held back",
    }
    text = report.text()
    for part in (
        "1 complete, 1 partial",
        "c1, extraction: held back (blocked)",
        "2 x claims",
        "note: seed was left out.",
    ):
        assert text.count(part) == 1


def test_tables_and_documents_of_a_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "new" / "run")
    path = folder.write_table(
        "t.csv", ("a", "b", "c"), [{"a": 1.5, "b": True, "c": 'x,"y"\n'}, {"a": None, "b": False}]
    )
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["a", "b", "c"], ["1.5", "true", 'x,"y"\n'], ["", "false", ""]]
    with pytest.raises(ValueError, match="JSON compliant"):
        folder.write_json("x.json", float("nan"))
    assert sorted(path.name for path in folder.path.iterdir()) == ["t.csv"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        RunFolder(tmp_path / "file")


def test_results_are_kept_and_restored_for_unchanged_texts_only(tmp_path: Path) -> None:
    folder, corpus = RunFolder(tmp_path), corpus_of(2)
    for conversation in corpus.iter_conversations():
        conversation.meta["score"] = {"n": 1}
        mark_status(conversation, "score", Status.COMPLETE)
    corpus.get_utterance("u0").meta["score"] = 3
    keep_results(folder, "score", corpus)
    again = corpus_of(3)
    again.get_utterance("u1").text = "changed"
    assert restore_results(folder, "score", again) == 1
    assert again.get_conversation("c0").meta == {"score": {"n": 1}, "score_status": {"status": "complete"}}
    assert again.get_utterance("u0").meta["score"] == 3
    assert again.get_conversation("c1").meta == {}
    (tmp_path / "score_results.json").write_text("[1]")
    with pytest.raises(InputError, match=r"score_results\.json"):
        restore_results(folder, "score", again)


@pytest.mark.parametrize("status", [Status.FAILED, Status.NOT_REACHED])
def test_a_status_of_no_result_over_good_ones_is_stale(status: Status) -> None:
    conversation = corpus_of(1).get_conversation("c0")
    assert mark_status(conversation, "score", status) is status
    assert mark_status(conversation, "score", Status.PARTIAL, missing=["u1"]) is Status.PARTIAL
    assert conversation.meta["score_status"] == {"status": "partial", "missing": ["u1"]}
    assert mark_status(conversation, "score", status) is Status.STALE
    assert mark_status(conversation, "score", status) is Status.STALE
    assert mark_status(conversation, "score", Status.COMPLETE) is Status.COMPLETE
