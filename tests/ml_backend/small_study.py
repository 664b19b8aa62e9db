"""A small codebook and an embedder whose rows follow from the words alone, for the scoring server's tests."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flask.testing import FlaskClient

from convolabel.codebook import Codebook
from convolabel.credentials import Credentials
from convolabel.study import Study
from convolabel.task_data import TaskData, TaskMessage, TaskSpan

Clients = Callable[..., FlaskClient]
CREDENTIALS = Credentials("studio", "correct horse")
CODEBOOK = Codebook.model_validate(
    {
        "name": "small",
        "title": "Small",
        "dimensions": [
            {
                "id": "intent",
                "title": "Intent",
                "categories": [
                    {"id": "Q", "name": "Question", "examples": ["How was it?", "When was it?", "How are you?"]},
                    {"id": "A", "name": "Advisement", "examples": ["Please sit down.", "Please wait.", "Sit here."]},
                    {"id": "D", "name": "Disclosure", "examples": ["I am sad.", "I feel sad.", "I am glad."]},
                ],
            },
            {
                "id": "form",
                "title": "Form",
                "categories": [{"id": "x", "name": "X"}, {"id": "y", "name": "Y", "examples": ["Alone."]}],
            },
        ],
    }
)


class WordEmbedder:
    """Adds up one fixed direction per word and counts how often it is asked; `gate` holds every call back."""

    identity = "words-1"

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.fails = False

    def __call__(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float64]]":
        self.calls.append(list(texts))
        assert self.gate.wait(30)
        if self.fails:
            raise RuntimeError(f"cannot embed {texts}")
        rows = np.array([sum(map(self._direction, text.casefold().split() or [""])) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    @staticmethod
    def _direction(word: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).normal(size=32)

    def count(self, text: str) -> int:
        return sum(call == [text] for call in self.calls)


def study(**copilot: Any) -> Study:
    return Study(study="demo", codebook=CODEBOOK, copilot={"control_share": 0, "wait_seconds": 5, **copilot})


def talk(*texts: str, identity: str = "talk-1", rev: int = 1) -> TaskData:
    """A conversation whose every message is labelable and is one unit, `u0`, `u1`, ..."""
    return TaskData(
        study="demo",
        id=identity,
        label=identity,
        metadata={},
        messages=tuple(
            TaskMessage(message_id=n, speaker="a", author="A", text=text, labelable=True)
            for n, text in enumerate(texts, start=1)
        ),
        spans=tuple(
            TaskSpan(span_id=f"u{n}", rev=rev, message=n, start=0, end=len(text)) for n, text in enumerate(texts)
        ),
        fingerprint="f",
    )


def plain_body(*conversations: TaskData) -> dict[str, Any]:
    """What Label Studio sends for "retrieve predictions"."""
    tasks = [{"id": n, "data": data.model_dump(mode="json")} for n, data in enumerate(conversations, start=1)]
    params = {"login": None, "password": None, "context": None}
    return {"tasks": tasks, "project": "12.1700000000", "label_config": "<View/>", "params": params}


def copilot_body(data: TaskData, span_id: str = "u0", **changed: Any) -> dict[str, Any]:
    ask = {"study": "demo", "span_id": span_id, "rev": 1, "rater": 7, "conversation": data.id, **changed}
    body = plain_body(data)
    body["params"]["context"] = {"copilot": ask}
    return body
