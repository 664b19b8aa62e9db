"""The corpora in tests/data/reference, with their scripted answers and expected values."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.corpus import Corpus

_FOLDER = Path(__file__).parent / "data" / "reference"


@dataclass(frozen=True)
class Reference:
    """`corpus` is a fresh object; `answers` script the model; `expected` are ConvoKit's values."""

    corpus: Corpus
    answers: dict[str, Any]
    expected: dict[str, Any]


def reference(name: str) -> Reference:
    """By its full name, such as `c01_basic3`."""
    answers = json.loads((_FOLDER / f"{name}.answers.json").read_text("utf-8"))
    expected = json.loads((_FOLDER / f"{name}.expected.json").read_text("utf-8"))
    return Reference(Corpus(_FOLDER / f"{name}.conversations.json"), answers, expected)
