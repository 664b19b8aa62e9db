"""Answers to every prompt of CIG and ClaimTracker by rules of thumb over words, for the notebook.

They show what a run looks like; the numbers that come of them mean nothing.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from evaluators.cig.function_words import ENGLISH_FUNCTION_WORDS
from tests.cig.scripted_rater import lines_in
from tests.claims.scripted_model import Asked, asked_in

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_WORD = re.compile(r"[^\W\d_]+")
_NEGATION = re.compile(r"\b(?:not|no|never|nobody|nothing|nicht|nie)\b|n['’]t\b", re.IGNORECASE)
_FEWEST_WORDS = 5
_SHORTEST = 4


def sample_answer(prompt: str) -> str:
    """The reply to a prompt of either evaluator, as JSON text; always the same for the same prompt."""
    lines = lines_in(prompt)
    if lines:
        return json.dumps(_ratings(lines))
    asked = asked_in(prompt)
    answer = {"extraction": _claims, "consolidation": _relations, "agreement": _pairs}[asked.kind]
    return json.dumps(answer(asked), ensure_ascii=False)


def _ratings(lines: Sequence[dict[str, Any]]) -> list[dict[str, int]]:
    """1 to 4 by how many content words no line before had: 0-1, 2-4, 5-8, more."""
    heard: set[str] = set()
    ratings = []
    for line in lines:
        new = _content_words(line["text"]) - heard
        heard |= new
        if line.get("rate"):
            score = 1 + sum(len(new) >= least for least in (2, 5, 9))
            ratings.append({"utterance_index": line["utterance_index"], "informativeness": score})
    return ratings


def _claims(asked: Asked) -> dict[str, Any]:
    """Every sentence that is no question and has some words is an own claim."""
    sentences = (sentence.strip() for sentence in _SENTENCE.findall(asked.target["text"]))
    stated = [each for each in sentences if not each.endswith("?") and len(_WORD.findall(each)) >= _FEWEST_WORDS]
    return {"claims": [{"claim": each, "kind": "own", "about": None, "target_speaker": None} for each in stated]}


def _relations(asked: Asked) -> dict[str, Any]:
    return {"relations": [_relation(new, asked.shown) for new in asked.new]}


def _relation(new: dict[str, Any], shown: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """To the claim with most content words in common, the speaker's own first."""

    def nearness(row: dict[str, Any]) -> tuple[int, bool]:
        return len(_common(row["claim"], new["claim"])), row["speaker"] == new["speaker"]

    nearest = max(shown, key=nearness, default=None)
    if nearest is None or not _common(nearest["claim"], new["claim"]):
        return {"new": new["new"], "relation": "neutral", "target": None, "merged_claim": None, "supersedes": None}
    relation = _compared(nearest["claim"], new["claim"])
    is_own = nearest["speaker"] == new["speaker"]
    return {
        "new": new["new"],
        "relation": relation,
        "target": nearest["id"],
        "merged_claim": f"{nearest['claim']} {new['claim']}" if relation == "forward_entail" and is_own else None,
        "supersedes": False if relation == "contradiction" and is_own else None,
    }


def _compared(old: str, new: str) -> str:
    if _is_negated(old) != _is_negated(new):
        return "contradiction"
    return "forward_entail" if len(_content_words(new)) > len(_content_words(old)) else "equivalent"


def _pairs(asked: Asked) -> dict[str, Any]:
    pairs = [
        {"a": a, "b": b, "relation": "contradiction" if _is_negated(one) != _is_negated(other) else "agree"}
        for a, one in enumerate(asked.claims("a"))
        for b, other in enumerate(asked.claims("b"))
        if _common(one, other)
    ]
    return {"pairs": pairs}


def _common(one: str, other: str) -> set[str]:
    return _content_words(one) & _content_words(other)


def _content_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) >= _SHORTEST} - ENGLISH_FUNCTION_WORDS


def _is_negated(text: str) -> bool:
    return bool(_NEGATION.search(text))
