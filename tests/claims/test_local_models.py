"""Models that run on this machine: device, loading, and a real NLI model, trained here on a handful of sentences."""

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from convolabel.errors import MissingExtraError
from evaluators import ClaimTracker
from evaluators.models import device
from evaluators.models.embeddings import Embedder
from evaluators.models.loading import ModelNotLoaded, SharedModel
from evaluators.models.nli import EntailmentModel, entailment_column
from tests.claims.claim_objects import claim
from tests.claims.test_claims_runs import corpus_of, reply_to

torch = pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")


@pytest.mark.parametrize(
    ("has_cuda", "has_mps", "chosen"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_the_best_device_is_chosen(has_cuda: bool, has_mps: bool, chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    assert device.chosen_device() == chosen
    assert device.chosen_device("cpu") == "cpu"


def test_without_torch_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"convolabel\[models\]"):
        device.chosen_device()


def test_a_model_is_loaded_once_and_used_by_one_thread_at_a_time() -> None:
    loads: list[int] = []
    inside = threading.Lock()
    shared = SharedModel(None, lambda: loads.append(1) or "model")  # type: ignore[func-returns-value]

    def use() -> None:
        with shared.held() as model:
            assert model == "model"
            assert inside.acquire(blocking=False)
            inside.release()

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]


def labels(*names: str) -> Any:
    return SimpleNamespace(config=SimpleNamespace(id2label=dict(enumerate(names))))


@pytest.mark.parametrize(
    ("model", "column"),
    [
        (labels("contradiction", "entailment", "neutral"), 1),
        (labels("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), 0),
        (labels("not_entailment", "entailment"), 1),
        (labels("entailment", "not_entailment"), 0),
        (labels("LABEL_0", "LABEL_1", "LABEL_2"), 1),
        (SimpleNamespace(model=labels("neutral", "contradiction", "Entailment")), 2),
        (object(), 1),
    ],
)
def test_the_column_of_entailment_is_told_by_the_labels(model: Any, column: int) -> None:
    assert entailment_column(model) == column


def test_a_model_without_a_probability_per_label_is_refused() -> None:
    ranker = SimpleNamespace(predict=lambda pairs, apply_softmax: np.zeros(len(pairs)))
    with pytest.raises(ModelNotLoaded, match="natural language inference"):
        EntailmentModel(ranker)([("a", "b")])


@pytest.mark.parametrize("model", [Embedder(name="./nowhere", device="cpu"), EntailmentModel(name="./nowhere")])
def test_a_model_that_is_not_there_is_named(model: Any) -> None:
    with pytest.raises(ModelNotLoaded, match=r"\./nowhere"):
        model([("a", "b")])


def test_a_model_that_cannot_be_loaded_ends_the_run_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    class Model:
        calls = 0

        def generate_json(self, prompt: str) -> Any:
            Model.calls += 1
            return reply_to(prompt)

    tracker = ClaimTracker(
        Model(), embedding_model="./nowhere", device="cpu", top_k=1, verbosity=0, run_folder=tmp_path
    )
    with pytest.raises(ModelNotLoaded, match=r"\./nowhere"):
        tracker.transform(corpus_of(3))
    assert tracker.report is not None
    assert "complete" not in tracker.report.totals
    assert len(tracker.run_folder.answers) == Model.calls > 0  # type: ignore[union-attr]


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys; from evaluators import ClaimTracker; ClaimTracker(object())\n"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


PARAPHRASES = [("trams are quiet", "the tram makes little noise"), ("parks need lamps", "put light into the parks")]
OTHERS = [(one, other) for one in PARAPHRASES[0] for other in PARAPHRASES[1]]


@pytest.fixture(scope="session")
def nli_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer that learned the pairs above by heart; its first label is entailment."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder = tmp_path_factory.mktemp("nli")
    words = sorted({word for pair in (*PARAPHRASES, *OTHERS) for text in pair for word in text.split()})
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    tokenizer = BertTokenizer(str(folder / "vocab.txt"))
    torch.manual_seed(0)
    torch.set_num_threads(1)  # more of them are in each other's way in a model this small
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=0.2,
            id2label={0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"},
            label2id={"ENTAILMENT": 0, "NEUTRAL": 1, "CONTRADICTION": 2},
        )
    )
    both_ways = [(pair, 0) for pair in PARAPHRASES] + [(pair, 1) for pair in OTHERS]
    both_ways += [((b, a), label) for (a, b), label in both_ways]
    inputs = tokenizer(
        [a for (a, _), _ in both_ways], [b for (_, b), _ in both_ways], padding=True, return_tensors="pt"
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    target = torch.tensor([label for _, label in both_ways])
    for _ in range(200):
        optimizer.zero_grad()
        model(**inputs, labels=target).loss.backward()
        optimizer.step()
    model.eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_real_nli_model_finds_paraphrases(nli_folder: Path) -> None:
    entails = EntailmentModel(name=str(nli_folder), device="cpu")
    assert all(probability > 0.9 for probability in entails(PARAPHRASES))
    assert all(probability < 0.1 for probability in entails(OTHERS))
    tracker = ClaimTracker(object(), nli_model=str(nli_folder), device="cpu")
    texts = ["trams are quiet", "parks need lamps", "put light into the parks", "the tram makes little noise"]
    kept = tracker.collapse_siblings([claim(text) for text in texts])
    assert [(each["claim"], each["siblings"]) for each in kept] == [
        ("trams are quiet", ["the tram makes little noise"]),
        ("parks need lamps", ["put light into the parks"]),
    ]
