"""A model that is loaded when it is first used, once, and used by one thread at a time."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from convolabel.llm.errors import LLMError


class ModelNotLoaded(LLMError):  # noqa: N818 - named like the other things that can go wrong with a call
    """A model of this machine could not be loaded: no conversation that needs it can be scored."""

    kind = "model_not_loaded"
    stops_run = True


class SharedModel:
    """A model given, or one that `load` brings when it is first needed.

    `load` raises `ModelNotLoaded` or `MissingExtraError`.
    """

    def __init__(self, given: Any, load: Callable[[], Any]) -> None:
        self._model = given
        self._load = load
        # a fast tokenizer cannot be used from two threads at once
        self._lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[Any]:
        """The model, for this thread alone."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            yield self._model


def load_named(kind: str, name: str, load: Callable[[], Any]) -> Any:
    """`load()`, with every failure said in one sentence. `kind` is what `name` is, such as `embedding model`."""
    try:
        _without_bars()
        return load()
    except ImportError as error:
        reason = f"{type(error).__name__}; a newer version of transformers may be needed"
    except Exception as error:  # noqa: BLE001 - the loaders below raise whatever their libraries raise
        reason = type(error).__name__
    raise ModelNotLoaded(
        f"The {kind} {name!r} could not be loaded ({reason}): give the path of a folder, or a name that can be "
        "reached on Hugging Face."
    ) from None


def _without_bars() -> None:
    """Loading from disk is short, and its progress bars would write into ours; downloads keep theirs."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
