"""The page about evaluators: its Python runs as it stands but for the models, and its tables are those there are."""

import re
from pathlib import Path
from typing import Any

import pytest

from evaluators.cig.rated_folder import UTTERANCE_COLUMNS as CIG_UTTERANCES
from evaluators.cig.summary import COLUMNS as CIG_SUMMARY
from evaluators.claims.summary import COLUMNS as CLAIMS_SUMMARY
from evaluators.claims.tracked_folder import AGREEMENT_COLUMNS, MEMORY_COLUMNS
from evaluators.claims.tracked_folder import UTTERANCE_COLUMNS as CLAIMS_UTTERANCES
from evaluators.redirection.redirection import COLUMNS as REDIRECTION_SUMMARY
from evaluators.redirection.scored_folder import TURN_COLUMNS
from evaluators.run_report import Status
from tests.claims.fake_models import FakeEmbedder, FakeNLI
from tests.llm_stub_server import KEY, LLMStub
from tests.sample_answers import sample_answer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8")
TINY_LM = ROOT / "tests" / "data" / "tiny_lm"
TABLES = {
    "cig_summary.csv": CIG_SUMMARY,
    "cig_utterances.csv": CIG_UTTERANCES,
    "claims_summary.csv": CLAIMS_SUMMARY,
    "claims_agreement.csv": AGREEMENT_COLUMNS,
    "claims_memory.csv": MEMORY_COLUMNS,
    "claims_utterances.csv": CLAIMS_UTTERANCES,
    "redirection_summary.csv": REDIRECTION_SUMMARY,
    "redirection_turns.csv": TURN_COLUMNS,
}


def test_every_table_is_listed_with_its_columns_in_order() -> None:
    rows = re.findall(r"^\| `(\w+\.csv)` \|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    listed = {name: tuple(re.sub(r"\(.*?\)", "", columns).replace(" ", "").split(",")) for name, columns in rows}
    assert listed == TABLES


def test_every_status_is_listed() -> None:
    assert re.findall(r"^\| `([a-z ]+)` \|", PAGE.split("| status | means |")[1].split("\n\n")[0], re.MULTILINE) == [
        *("complete", "partial", "nothing to score", "failed", "stale", "not reached")
    ]
    assert len(Status) == 6


def test_the_python_runs_and_every_evaluator_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    monkeypatch.chdir(tmp_path)
    sample = ROOT / "convolabel" / "sample" / "conversations.json"
    (tmp_path / "conversations.json").write_bytes(sample.read_bytes())
    monkeypatch.setattr("evaluators.models.embeddings.load_embedder", lambda *_: FakeEmbedder())
    monkeypatch.setattr("evaluators.models.nli.load_nli", lambda *_: FakeNLI())
    names: dict[str, Any] = {}
    with LLMStub(sample_answer) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
            exec(block.replace("google/gemma-2b", str(TINY_LM)), names)
    for name in ("cig", "tracker", "redirection"):
        report = names[name].report
        assert set(report.totals) <= {"complete", "nothing to score"}, report.text()
        assert report.statuses["sample-03-kitchen-peace"] is Status.COMPLETE
