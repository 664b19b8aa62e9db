"""A model whose claims and relations are scripted; it reads the prompts as a model would, line by line."""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evaluators.corpus import Corpus


class Asked(NamedTuple):
    """What a prompt asks. `kind` is extraction, consolidation or agreement; `rows` are the JSON lines in it."""

    kind: str
    rows: list[dict[str, Any]]

    @property
    def target(self) -> dict[str, Any]:
        """The message whose claims are wanted: the last line with a text."""
        return [row for row in self.rows if "text" in row][-1]

    @property
    def context(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if "text" in row or "topic" in row][:-1]

    @property
    def shown(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if "id" in row]

    @property
    def new(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if "new" in row]

    def claims(self, side: str) -> list[str]:
        """Of one of the two lists to compare, `a` or `b`."""
        return [row["claim"] for row in self.rows if side in row and "claim" in row]


def asked_in(prompt: str) -> Asked:
    lines = (line for line in prompt.split("\n") if line.startswith("{"))
    examples = ("claims", "relations", "pairs")
    rows = [row for line in lines if not any(name in (row := json.loads(line)) for name in examples)]
    if any("new" in row for row in rows):
        return Asked("consolidation", rows)
    return Asked("agreement" if any("a" in row for row in rows) else "extraction", rows)


class ScriptedModel:
    """`answers` is the script of a reference corpus. Without an answer there is no claim, no relation, no pair."""

    def __init__(self, corpus: Corpus, answers: Mapping[str, Any]) -> None:
        self._keys = {utterance.text: utterance.id for utterance in corpus.iter_utterances()}
        for conversation in corpus.iter_conversations():
            for speaker, text in (conversation.meta.get("pre_survey") or {}).items():
                self._keys[text] = f"pre:{conversation.id}:{speaker}"
        self._answers = answers
        self._overrides = answers.get("overrides", {})
        self._lock = threading.Lock()
        self.prompts: list[str] = []

    @property
    def asked(self) -> list[Asked]:
        return [asked_in(prompt) for prompt in self.prompts]

    def number_of(self, kind: str) -> int:
        return sum(each.kind == kind for each in self.asked)

    def generate_json(self, prompt: str) -> Any:
        with self._lock:
            self.prompts.append(prompt)
        asked = asked_in(prompt)
        if asked.kind == "extraction":
            return self._claims(self._keys[asked.target["text"]])
        if asked.kind == "consolidation":
            return self._relations(asked.shown, asked.new)
        return self._pairs(asked.claims("a"), asked.claims("b"))

    def _claims(self, key: str) -> Any:
        if f"extraction:{key}" in self._overrides:
            return self._overrides[f"extraction:{key}"]["raw"]
        return {"claims": self._answers.get("claims", {}).get(key, [])}

    def _relations(self, shown: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> Any:
        override = self._overrides.get("consolidation:" + "|".join(row["claim"] for row in new))
        if override is not None:
            return {"relations": [_translated(row, new) for row in override["raw"]["memory_updates"]]}
        ids: dict[str, str] = {}
        for row in shown:
            ids.setdefault(row["claim"], row["id"])
        return {"relations": [self._relation(row, ids) for row in new]}

    def _relation(self, row: dict[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
        for rule in self._answers.get("relations", []):
            if rule["new"] == row["claim"] and rule["target"] in ids:
                answer = {"relation": rule["relation"], "target": ids[rule["target"]]}
                return {"new": row["new"], **answer, "merged_claim": rule["merged"], "supersedes": rule["supersedes"]}
        return {"new": row["new"], "relation": "neutral", "target": None, "merged_claim": None, "supersedes": None}

    def _pairs(self, claims_a: Sequence[str], claims_b: Sequence[str]) -> Any:
        for override in self._answers.get("agreement_overrides", []):
            if (override["a"], override["b"]) == (claims_a, claims_b):
                return override["raw"]
        rules = {frozenset((rule["x"], rule["y"])): rule["relation"] for rule in self._answers.get("pairs", [])}
        pairs = [
            {"a": i, "b": j, "relation": rules[frozenset((a, b))]}
            for i, a in enumerate(claims_a)
            for j, b in enumerate(claims_b)
            if frozenset((a, b)) in rules
        ]
        return {"pairs": pairs}


def _translated(row: Any, new: Sequence[dict[str, Any]]) -> Any:
    """An answer in ConvoKit's form, which quotes the new claim instead of giving its number."""
    if not isinstance(row, dict):
        return row
    quoted = ((row.get("source") or {}).get("claim") or "").strip()
    number = next((each["new"] for each in new if each["claim"] == quoted), None)
    return {
        "new": number,
        "relation": row["logical_relation"],
        "target": (row["target"] or {}).get("id"),
        "merged_claim": row.get("merged_claim"),
        "supersedes": row.get("supersedes"),
    }
