"""The command `claims` from end to end, in processes of its own, against a stub of the provider."""

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

from tests.claims.scripted_model import ScriptedModel
from tests.claims.test_claims_runs import answer
from tests.llm_stub_server import KEY, Fault, LLMStub
from tests.reference_corpora import reference

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "data" / "reference" / "c01_basic3.conversations.json"
# nothing is embedded when all claims are shown, and no model is needed where there is nothing to compare
OFFLINE = ("--top-k", "100", "--sibling-entail", "2")


@pytest.fixture
def stub() -> Iterator[LLMStub]:
    given = reference("c01_basic3")
    model = ScriptedModel(given.corpus, given.answers)
    with LLMStub(lambda prompt: json.dumps(model.generate_json(prompt))) as running:
        yield running


@pytest.fixture(scope="session")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights: for what it says does not matter where nothing can be a paraphrase."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("random_nli")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"]))
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    config = transformers.BertConfig(vocab_size=6, num_labels=3, **shape)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "convolabel", "claims", *map(str, arguments)]


def environment(**variables: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**inherited, "OMP_NUM_THREADS": "1", **variables}


def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=ROOT, env=environment(**variables), capture_output=True, text=True, check=False
    )


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_report_and_resumption(tmp_path: Path, stub: LLMStub, nli: Path) -> None:
    output = tmp_path / "run"
    arguments = (CORPUS, "-o", output, "--base-url", stub.openai_url, "--nli-model", nli, *OFFLINE)
    done = run(*arguments, "--match-convokit", OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert "1 complete" in done.stdout
    assert "Tracking: 1 of 1" in done.stderr
    expected = reference("c01_basic3").expected
    rows = table(output / "claims_summary.csv")
    for row, wanted in zip(rows, expected["claims_summary"], strict=True):
        assert list(row) == list(wanted)
        assert (row["speaker"], int(row["n_final"])) == (wanted["speaker"], wanted["n_final"])
        assert float(row["share_from_mediator"]) == pytest.approx(wanted["share_from_mediator"])
    known = expected["conversations"]["basic3"]["claims"]
    memory = table(output / "claims_memory.csv")
    assert [(row["id"], row["claim"], row["status"]) for row in memory] == [
        (entry["id"], entry["claim"], entry["status"]) for entry in known["memory"]
    ]
    assert [row["origin_speaker"] for row in memory] == [known["origins"][row["id"]][0] for row in memory]
    utterances = table(output / "claims_utterances.csv")
    assert [row["turn"] for row in utterances] == ["pre-survey"] * 3 + [str(turn) for turn in range(15)]
    assert [row["utterance_id"] for row in utterances][3] == "basic3.u0"
    assert sum(int(row["n_supersede"]) for row in utterances) == 2
    assert sum(int(row["n_seed"]) for row in utterances) == 6
    pairs = table(output / "claims_agreement.csv")
    assert [(row["a"], row["b"]) for row in pairs] == [("p1", "p2"), ("p1", "p3"), ("p2", "p3")]
    assert float(pairs[0]["agree_final"]) == 0.5
    again = run(*arguments, "--match-convokit", "--json", OPENAI_API_KEY=KEY)
    assert again.returncode == 0, again.stderr
    # 18 extractions, 13 consolidations, 6 agreements
    assert json.loads(again.stdout)["usage"]["stored"] == len(stub.calls) == 37
    assert stub.calls[0].body["response_format"] == {"type": "json_object"}
    for text in (done.stdout, done.stderr, *(path.read_bytes().decode("latin-1") for path in output.iterdir())):
        assert KEY not in text
    assert "Goose" not in done.stdout + done.stderr


def test_a_dry_run_asks_nothing_needs_no_key_no_model_and_makes_no_folder(tmp_path: Path, stub: LLMStub) -> None:
    output = tmp_path / "run"
    done = run(CORPUS, "-o", output, "--base-url", stub.openai_url, "--dry-run", "--json", "--price", "1", "2")
    assert done.returncode == 0, done.stderr
    estimate = json.loads(done.stdout)["estimate"]
    assert (estimate["extraction_calls"], estimate["extraction_calls_in_store"]) == (18, 0)
    # an utterance each at most, and three pairs before and after
    assert (estimate["consolidation_calls"], estimate["agreement_calls"]) == (15, 6)
    assert estimate["cost_usd"] == pytest.approx((estimate["input_tokens"] + 2 * estimate["output_tokens"]) / 1e6)
    assert not output.exists()
    assert stub.calls == []


def test_a_refused_key_exits_with_3_names_the_variable_and_keeps_what_was_good(
    tmp_path: Path, stub: LLMStub, nli: Path
) -> None:
    arguments = (CORPUS, "-o", tmp_path, "--base-url", stub.openai_url, "--nli-model", nli, *OFFLINE)
    assert run(*arguments, OPENAI_API_KEY=KEY).returncode == 0
    stub.enqueue(*[Fault(401, "invalid_api_key", message=f"Incorrect API key {KEY}")] * 8)
    refused = run(*arguments, "--model", "gpt-5-nano", OPENAI_API_KEY=KEY)
    assert refused.returncode == 3
    assert "OPENAI_API_KEY" in refused.stderr
    assert KEY not in refused.stderr
    assert {row["status"] for row in table(tmp_path / "claims_utterances.csv")} == {"stale"}
    assert len(table(tmp_path / "claims_memory.csv")) == 20


def test_a_model_that_is_not_there_exits_with_3_and_no_traceback(tmp_path: Path, stub: LLMStub) -> None:
    done = run(CORPUS, "-o", tmp_path, "--base-url", stub.openai_url, "--nli-model", "./nowhere")
    assert (done.returncode, "./nowhere" in done.stderr, "Traceback" in done.stderr) == (3, True, False)


def test_bad_input_exits_with_2(tmp_path: Path) -> None:
    missing = run(tmp_path / "nowhere.json", "-o", tmp_path / "run")
    assert (missing.returncode, "nowhere.json" in missing.stderr) == (2, True)
    assert run(CORPUS, "-o", tmp_path / "run", "--own-cap", "0").returncode == 2


def talks(path: Path, count: int) -> Path:
    def message(talk: int, place: int) -> dict[str, Any]:
        return {"role": "ab"[place % 2], "content": f"In talk {talk} I say thing number {place}."}

    items = [{"id": f"t{n}", "content": {"messages": [message(n, place) for place in range(4)]}} for n in range(count)]
    path.write_text(json.dumps({"schema_version": "1.0", "items": items}), encoding="utf-8")
    return path


def test_ctrl_c_exits_with_130_after_writing_and_the_next_run_goes_on(tmp_path: Path) -> None:
    some_done = threading.Event()

    def counted(prompt: str) -> str:
        if len(stub.calls) > 30:
            some_done.set()
        return answer(prompt)

    with LLMStub(counted, latency=0.05) as stub:
        corpus, output = talks(tmp_path / "talks.json", 20), tmp_path / "run"
        arguments = (corpus, "-o", output, "--base-url", stub.openai_url, "--workers", "2", *OFFLINE)
        running = subprocess.Popen(
            command(*arguments), cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert some_done.wait(60)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
        assert running.returncode == 130, errors
        assert "not reached" in errors
        # per talk 4 extractions, 3 consolidations (the first claim is alone), one agreement (no pre-survey)
        asked = [call.prompt for call in stub.calls]
        assert len(set(asked)) == len(asked) < 20 * 8
        rows = table(output / "claims_utterances.csv")
        assert {row["status"] for row in rows} <= {"complete"}
        assert run(*arguments).returncode == 0
        assert len({call.prompt for call in stub.calls}) == len(stub.calls) == 20 * 8
    assert len(table(output / "claims_summary.csv")) == 40
