"""Sentence embeddings: texts as vectors of length one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from convolabel.errors import MissingExtraError
from evaluators.models.device import chosen_device
from evaluators.models.loading import SharedModel, load_named

if TYPE_CHECKING:
    from evaluators.arrays import FloatArray

DEFAULT_EMBEDDING_MODEL = "Qwen/Qwen3-Embedding-0.6B"


def load_embedder(name: str = DEFAULT_EMBEDDING_MODEL, device: str | None = None) -> Any:
    """A sentence-transformers model, by its name on Hugging Face or the path of its folder.

    Raises `MissingExtraError` without the package, `ModelNotLoaded` when there is no such model.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtraError("Comparing claims by sentence embeddings", "models") from None
    where = chosen_device(device)
    return load_named("embedding model", name, lambda: SentenceTransformer(name, device=where))


class Embedder:
    """Safe to call from several threads. `model` is any object with `encode(texts, normalize_embeddings=True)`."""

    def __init__(self, model: Any = None, *, name: str = DEFAULT_EMBEDDING_MODEL, device: str | None = None) -> None:
        self._shared = SharedModel(model, lambda: load_embedder(name, device))

    def __call__(self, texts: Sequence[str]) -> "FloatArray":
        """Texts x dimensions, each row of length one (or all zero), whatever the model does about lengths."""
        import numpy as np

        with self._shared.held() as model:
            rows = np.asarray(model.encode(list(texts), normalize_embeddings=True), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: FloatArray = rows / np.where(lengths > 0, lengths, 1.0)
        return unit
