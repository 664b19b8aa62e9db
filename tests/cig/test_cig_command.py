"""The command `cig` from end to end, in processes of its own, against a stub of the provider."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cig.scripted_rater import asked_in
from tests.llm_stub_server import KEY, Fault, LLMStub

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "data" / "reference" / "c08_empties.conversations.json"


def reply_to(prompt: str) -> str:
    return json.dumps([{"utterance_index": place, "informativeness": 2} for place in asked_in(prompt)])


@pytest.fixture
def stub() -> Iterator[LLMStub]:
    with LLMStub(reply_to) as running:
        yield running


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "convolabel", "cig", *map(str, arguments)]


def environment(**variables: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**inherited, **variables}


def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=ROOT, env=environment(**variables), capture_output=True, text=True, check=False
    )


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def talks(path: Path, count: int) -> Path:
    def message(talk: int, place: int) -> dict[str, Any]:
        return {"role": "ab"[place % 2], "content": f"In talk {talk} I say thing number {place} about it."}

    items = [{"id": f"t{n}", "content": {"messages": [message(n, place) for place in range(4)]}} for n in range(count)]
    path.write_text(json.dumps({"schema_version": "1.0", "items": items}), encoding="utf-8")
    return path


def test_tables_report_and_resumption(tmp_path: Path, stub: LLMStub) -> None:
    output = tmp_path / "run"
    arguments = (CORPUS, "-o", output, "--base-url", stub.openai_url, "--model", "gpt-5-mini")
    done = run(*arguments, OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert "1 complete" in done.stdout
    assert "1 calls" in done.stdout
    assert "Rating: 1 of 1" in done.stderr
    rows = table(output / "cig_utterances.csv")
    assert [row["utterance_id"] for row in rows] == [f"emp.u{place}" for place in range(15)]
    # as in the reference values: the opening is u0-u3, u5 and u11 are blank
    rated = {row["utterance_id"] for row in rows if row["cig"] == "2"}
    assert rated == {f"emp.u{place}" for place in (4, 6, 7, 8, 9, 10, 12, 13, 14)}
    assert {row["status"] for row in rows} == {"complete"}
    assert all(bool(row["cig_tfidf"]) == bool(row["cig"]) for row in rows)
    # participants 4 ratings, the mediator 5, as in the reference
    assert [(row["is_mediator"], row["n_rated"], row["cig_mean"]) for row in table(output / "cig_summary.csv")] == [
        ("false", "4", "2.0"),
        ("true", "5", "2.0"),
    ]
    report = json.loads((output / "cig_report.json").read_text())
    # 100 tokens in and 20 out at $0.25 and $2 per million: (25 + 40) / 1e6
    assert report["usage"]["cost_usd"] == pytest.approx(65e-6)
    again = run(*arguments, "--json", OPENAI_API_KEY=KEY)
    assert again.returncode == 0
    assert json.loads(again.stdout)["usage"]["stored"] == 1
    assert len(stub.calls) == 1
    for text in (done.stdout, done.stderr, *(path.read_bytes().decode("latin-1") for path in output.iterdir())):
        assert KEY not in text


def test_a_dry_run_asks_nothing_needs_no_key_and_makes_no_folder(tmp_path: Path, stub: LLMStub) -> None:
    output = tmp_path / "run"
    arguments = (CORPUS, "-o", output, "--base-url", stub.openai_url, "--dry-run")
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert "1 calls, 0 calls in store" in done.stdout
    assert "$" in done.stdout
    assert not output.exists()
    estimate = json.loads(run(*arguments, "--json", "--price", "1", "0").stdout)["estimate"]
    assert estimate["output_tokens"] == 9 * 20  # nine ratings of about 20 tokens
    assert estimate["cost_usd"] == pytest.approx(estimate["input_tokens"] / 1e6)
    assert stub.calls == []


def test_a_dry_run_knows_what_is_in_store(tmp_path: Path, stub: LLMStub) -> None:
    arguments = (CORPUS, "-o", tmp_path, "--base-url", stub.openai_url)
    run(*arguments, OPENAI_API_KEY=KEY)
    assert "1 calls, 1 calls in store" in run(*arguments, "--dry-run").stdout


def test_a_refused_key_exits_with_3_names_the_variable_and_keeps_what_was_good(tmp_path: Path, stub: LLMStub) -> None:
    corpus, output = talks(tmp_path / "talks.json", 3), tmp_path / "run"
    arguments = ("-o", output, "--base-url", stub.openai_url, "--workers", "1")
    assert run(corpus, *arguments, OPENAI_API_KEY=KEY).returncode == 0
    stub.enqueue(Fault(401, "invalid_api_key", message=f"Incorrect API key {KEY}"))
    refused = run(corpus, *arguments, "--model", "gpt-5-nano", OPENAI_API_KEY=KEY)
    assert refused.returncode == 3
    assert "OPENAI_API_KEY" in refused.stderr
    assert KEY not in refused.stderr
    rows = table(output / "cig_utterances.csv")
    assert {(row["cig"], row["status"]) for row in rows if row["position"] in "23"} == {("2", "stale")}


def test_conversations_that_failed_exit_with_3_and_are_listed(tmp_path: Path, stub: LLMStub) -> None:
    stub.enqueue(Fault(400, "invalid_request"))
    done = run(talks(tmp_path / "t.json", 2), "-o", tmp_path / "run", "--base-url", stub.openai_url, "--workers", "1")
    assert done.returncode == 3
    assert "t0, rating" in done.stdout
    assert "1 failed, 1 complete" in done.stdout


def test_bad_input_exits_with_2(tmp_path: Path) -> None:
    missing = run(tmp_path / "nowhere.json", "-o", tmp_path / "run")
    assert (missing.returncode, "nowhere.json" in missing.stderr) == (2, True)
    assert "Traceback" not in missing.stderr
    unknown = run(CORPUS, "-o", tmp_path / "run", "--model", "llama")
    assert (unknown.returncode, "base_url" in unknown.stderr) == (2, True)


def test_proxies_need_no_model(tmp_path: Path) -> None:
    done = run(CORPUS, "-o", tmp_path, "--proxies-only")
    assert done.returncode == 0, done.stderr
    rows = table(tmp_path / "cig_utterances.csv")
    assert sum(bool(row["cig_content_tokens"]) for row in rows) == 9


def test_proxies_leave_the_ratings_of_an_earlier_run(tmp_path: Path, stub: LLMStub) -> None:
    run(CORPUS, "-o", tmp_path, "--base-url", stub.openai_url)
    before = table(tmp_path / "cig_utterances.csv")
    assert run(CORPUS, "-o", tmp_path, "--proxies-only").returncode == 0
    assert table(tmp_path / "cig_utterances.csv") == before


def test_other_roles_of_mediators(tmp_path: Path) -> None:
    done = run(CORPUS, "-o", tmp_path, "--proxies-only", "--mediator-role", "participant")
    assert done.returncode == 0
    assert {row["speaker"] for row in table(tmp_path / "cig_utterances.csv") if row["is_mediator"] == "false"} == {
        "bot"
    }


def test_ctrl_c_exits_with_130_after_writing_and_the_next_run_goes_on(tmp_path: Path) -> None:
    some_answered = threading.Event()

    def answer(prompt: str) -> str:
        if len(stub.calls) > 5:
            some_answered.set()
        return reply_to(prompt)

    with LLMStub(answer, latency=0.05) as stub:
        corpus, output = talks(tmp_path / "talks.json", 40), tmp_path / "run"
        arguments = (corpus, "-o", output, "--base-url", stub.openai_url, "--workers", "2")
        running = subprocess.Popen(
            command(*arguments), cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert some_answered.wait(60)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
        assert running.returncode == 130
        assert "Stopped." in errors
        assert "not reached" in errors
        answered = len(stub.calls)
        assert answered < 40
        rows = table(output / "cig_utterances.csv")
        assert sum(row["status"] == "complete" for row in rows) == 4 * answered
        assert run(*arguments).returncode == 0
        assert len(stub.calls) == 40
    assert all(row["status"] == "complete" for row in table(output / "cig_utterances.csv"))
