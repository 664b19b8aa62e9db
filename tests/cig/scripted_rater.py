"""A model whose ratings are scripted by utterance; it reads the prompt as a model would, line by line."""

import json
import threading
from collections.abc import Mapping
from typing import Any

from evaluators.corpus import Corpus


def lines_in(prompt: str) -> list[dict[str, Any]]:
    """The utterances shown in a prompt, as the objects their lines hold."""
    rows = [json.loads(line) for line in prompt.split("\n") if line.startswith('{"utterance_index"')]
    return [row for row in rows if "text" in row]


def asked_in(prompt: str) -> list[int]:
    """The indices of the lines to rate."""
    return [row["utterance_index"] for row in lines_in(prompt) if row.get("rate")]


class ScriptedRater:
    """`answers` is the script of a reference corpus: scores by utterance id, and whole replies by conversation."""

    def __init__(self, corpus: Corpus, answers: Mapping[str, Any]) -> None:
        self._by_text = {utterance.text: utterance for utterance in corpus.iter_utterances()}
        self._scores = answers.get("cig", {})
        self._overrides = answers.get("overrides", {})
        self._lock = threading.Lock()
        self.prompts: list[str] = []

    def generate_json(self, prompt: str) -> Any:
        with self._lock:
            self.prompts.append(prompt)
        shown = {row["utterance_index"]: self._by_text[row["text"]] for row in lines_in(prompt)}
        conversation = next(iter(shown.values())).conversation_id
        if f"cig:{conversation}" in self._overrides:
            return self._overrides[f"cig:{conversation}"]["raw"]
        return [
            {"utterance_index": index, "informativeness": self._scores[shown[index].id]} for index in asked_in(prompt)
        ]


def scores(corpus: Corpus, attribute: str = "cig") -> dict[str, Any]:
    return {utterance.id: utterance.meta.get(attribute) for utterance in corpus.iter_utterances()}
