"""Natural language inference: how probable it is that one sentence entails another."""

from collections.abc import Sequence
from typing import Any

from convolabel.errors import MissingExtraError
from evaluators.models.device import chosen_device
from evaluators.models.loading import ModelNotLoaded, SharedModel, load_named

DEFAULT_NLI_MODEL = "cross-encoder/nli-deberta-v3-base"
_ENTAILMENT = 1
"""Its place among the labels of that model and of most others: contradiction, entailment, neutral."""


def load_nli(name: str = DEFAULT_NLI_MODEL, device: str | None = None) -> Any:
    """A cross-encoder of sentence-transformers, by its name on Hugging Face or the path of its folder.

    Raises `MissingExtraError` without the package, `ModelNotLoaded` when there is no such model.
    """
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        raise MissingExtraError("Finding paraphrases among claims", "models") from None
    where = chosen_device(device)
    return load_named("NLI model", name, lambda: CrossEncoder(name, device=where))


class EntailmentModel:
    """Safe to call from several threads. `model` is any object with `predict(pairs, apply_softmax=True)`.

    Which column is the probability of entailment is told by the label names of the model's configuration; without
    them it is the second.
    """

    def __init__(self, model: Any = None, *, name: str = DEFAULT_NLI_MODEL, device: str | None = None) -> None:
        self._shared = SharedModel(model, lambda: load_nli(name, device))

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (premise, hypothesis), the probability that the premise entails the hypothesis. One batch.

        Raises `ModelNotLoaded` when the model has no probability per label.
        """
        if not pairs:
            return []
        with self._shared.held() as model:
            rows = model.predict(list(pairs), apply_softmax=True)
            column = entailment_column(model)
        try:
            return [float(row[column]) for row in rows]
        except (IndexError, TypeError):
            raise ModelNotLoaded(
                "The model for paraphrases gives no probability per label: name a model of natural language inference."
            ) from None


def entailment_column(model: Any) -> int:
    """The place of the label `entailment`, in any case; `not_entailment` is another label."""
    config = getattr(model, "config", None) or getattr(getattr(model, "model", None), "config", None)
    labels = getattr(config, "id2label", None) or {}
    found = [int(place) for place, label in labels.items() if str(label).strip().lower() == "entailment"]
    return found[0] if len(found) == 1 else _ENTAILMENT
