"""The `local` provider: embeddings and the codebook's examples, without key or network, deterministic."""

import hashlib
import json
import threading
from typing import Any

from convolabel.codebook import Codebook, Dimension
from convolabel.errors import InputError
from convolabel.study import Copilot, Study
from ml_backend.calibration import confidence
from ml_backend.clauses import clauses
from ml_backend.context import Context
from ml_backend.embedder import Embedder
from ml_backend.example_classifier import RIDGE, ExampleClassifier, Neighbour, Ranked
from ml_backend.suggestion import Evidence, Suggestion, Suggestions

METHOD = "examples-ridge-1"
"""Grows whenever the way from text to suggestion changes, its sentences included."""
_QUOTE_LENGTH = 80


class ExampleClassifiers:
    """One classifier per dimension of a codebook, built once, when first needed.

    Dimensions in which fewer than two categories have examples get no suggestion; a codebook with no other raises
    `InputError`.
    """

    def __init__(self, codebook: Codebook, embedder: Embedder) -> None:
        self.embedder = embedder
        self.dimensions = tuple(dimension for dimension in codebook.dimensions if _is_learnable(dimension))
        if not self.dimensions:
            raise InputError(
                f"The codebook `{codebook.name}` has no dimension with examples for at least two categories, which "
                "the co-pilot's `local` provider learns from; add examples or leave the co-pilot out."
            )
        self._lock = threading.Lock()
        self._built: dict[str, ExampleClassifier] = {}

    def __getitem__(self, dimension: Dimension) -> ExampleClassifier:
        with self._lock:
            if dimension.id not in self._built:
                self._built[dimension.id] = self._build(dimension)
            return self._built[dimension.id]

    def _build(self, dimension: Dimension) -> ExampleClassifier:
        examples = [(text, category.id) for category in dimension.categories for text in category.examples]
        texts = [text for text, _ in examples]
        return ExampleClassifier(texts, [label for _, label in examples], self.embedder(texts))


class LocalProvider:
    """Suggests the category whose examples a unit resembles in meaning and wording."""

    def __init__(self, study: Study, copilot: Copilot, classifiers: ExampleClassifiers) -> None:
        self.model = copilot.model
        self._top_k = copilot.top_k
        self._classifiers = classifiers
        self.prompt_version = _hash(
            {
                "provider": "local",
                "method": METHOD,
                "ridge": RIDGE,
                "model": copilot.model,
                "weights": classifiers.embedder.identity,
                "codebook": study.codebook.fingerprint,
                "top_k": copilot.top_k,
                "no_future_messages": study.visibility.no_future_messages,
            }
        )

    def prepare(self) -> None:
        """Load the model and learn the examples."""
        for dimension in self._classifiers.dimensions:
            self._classifiers[dimension]

    def suggest(self, context: Context) -> Suggestions:
        """Up to `top_k` suggestions for every dimension with examples; none for one in which nothing is close."""
        unit = context.unit_text
        # the unit is embedded alone: in a batch, padding would let its neighbours change the last digits
        embedding = self._classifiers.embedder([unit])[0]
        found: list[Suggestion] = []
        for dimension in self._classifiers.dimensions:
            ranked = self._classifiers[dimension].rank(unit, embedding)[: self._top_k]
            found += [self._suggestion(dimension, entry, context) for entry in ranked]
        return tuple(found)

    def _suggestion(self, dimension: Dimension, ranked: Ranked, context: Context) -> Suggestion:
        return Suggestion(
            dimension=dimension.id,
            label=ranked.label,
            rationale=_rationale(dimension, ranked),
            confidence=confidence(ranked.share),
            evidence=self._evidence(dimension, ranked.label, context),
        )

    def _evidence(self, dimension: Dimension, label: str, context: Context) -> Evidence:
        unit = context.unit_text
        parts = clauses(unit) or [(0, len(unit))]
        best = 0
        if len(parts) > 1:
            texts = [unit[start:end] for start, end in parts]
            best = self._classifiers[dimension].closest_to(label, texts, self._classifiers.embedder(texts))
        start, end = (context.start + offset for offset in parts[best])
        return Evidence(text=context.text[start:end], message=context.message, start=start, end=end)


def _is_learnable(dimension: Dimension) -> bool:
    return sum(1 for category in dimension.categories if category.examples) >= 2


def _rationale(dimension: Dimension, ranked: Ranked) -> str:
    nearest, other = (_described(dimension, neighbour) for neighbour in (ranked.nearest, ranked.nearest_other))
    closer = ranked.nearest_other.similarity > ranked.nearest.similarity
    contrast = "A single example of another category is closer" if closer else "The closest of another category is"
    return f"Closest example of {nearest}. {contrast}{':' if closer else ''} {other}."


def _described(dimension: Dimension, neighbour: Neighbour) -> str:
    category = dimension.category(neighbour.label)
    name = category.name if category else neighbour.label
    quote = neighbour.text
    if len(quote) > _QUOTE_LENGTH:
        quote = quote[: _QUOTE_LENGTH - 1].rstrip() + "…"
    return f"{name}: “{quote}” (similarity {neighbour.similarity:.2f})"


def _hash(shape: dict[str, Any]) -> str:
    canonical = json.dumps(shape, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
