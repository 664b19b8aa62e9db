"""Likelihoods computed the plain way, one sequence at a time with all logits, to compare with."""

import math
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from evaluators.corpus import Corpus, Speaker, Utterance

TINY_LM = Path(__file__).resolve().parents[1] / "data" / "tiny_lm"
"""A random Llama over bytes: every ASCII character is one token."""


def tiny_model() -> Any:
    return AutoModelForCausalLM.from_pretrained(TINY_LM).eval()


def tiny_tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(TINY_LM)


def plain_log_probability(model: Any, ids: Sequence[int], count: int) -> float:
    """Of the last `count` of `ids` given those before, in natural logarithms, summed."""
    with torch.no_grad():
        logits = model(torch.tensor([list(ids)])).logits[0].double()
    values = torch.log_softmax(logits, dim=-1)
    return math.fsum(values[place - 1, ids[place]].item() for place in range(len(ids) - count, len(ids)))


class ConvoKitsWay:
    """ConvoKit's interface and what is odd about its likelihoods: a BOS in the middle of the text, which is scored,
    no blank line before the reply, and a window that may cut away the whole context."""

    def __init__(self, max_length: int = 512) -> None:
        self.model, self.tokenizer, self.max_length = tiny_model(), tiny_tokenizer(), max_length

    def transform(self, test_data: Any, verbosity: int = 5) -> list[dict[str, float]]:
        contexts, replies = test_data
        return [
            {ident: self._value(context[ident], reply[ident]) for ident in context if ident in reply}
            for context, reply in zip(contexts, replies, strict=True)
        ]

    def _value(self, context: Sequence[str], reply: Sequence[str]) -> float:
        before, said = (
            self.tokenizer("\n\n".join(lines), truncation=True, max_length=self.max_length).input_ids
            for lines in (context, reply)
        )
        ids = (before + said)[-self.max_length :]
        # with the context cut away the first token of the reply is looked up in the last row, as index -1 does
        with torch.no_grad():
            values = torch.log_softmax(self.model(torch.tensor([ids])).logits[0], dim=-1)
        first = len(ids) - len(said) - 1
        return sum(values[first + place, token].item() for place, token in enumerate(said))


class ReferenceLikelihood:
    """ConvoKit's interface: the deterministic stand-in with which the reference scores called `fake` were made."""

    def transform(self, test_data: Any, verbosity: int = 5) -> list[dict[str, float]]:
        contexts, replies = test_data
        return [
            {ident: self._value(context[ident], reply[ident]) for ident in context if ident in reply}
            for context, reply in zip(contexts, replies, strict=True)
        ]

    def _value(self, context: Sequence[str], reply: Sequence[str]) -> float:
        known = set(_words(context))
        texts = "\n\n".join(context) + "\x00" + "\n\n".join(reply)
        words = sum(-0.05 if word in known else -0.31 for word in _words(reply))
        return words - (zlib.crc32(texts.encode()) % 1000) / 20000.0 - 1e-3


class SharedWords:
    """ConvoKit's interface: a word of the reply counts -0.05 when it stands in the context, and -0.31 otherwise."""

    def __init__(self) -> None:
        self.asked = 0

    def transform(self, test_data: Any, verbosity: int = 5) -> list[dict[str, float]]:
        contexts, replies = test_data
        return [
            {ident: self._value(context[ident], reply[ident]) for ident in context if ident in reply}
            for context, reply in zip(contexts, replies, strict=True)
        ]

    def _value(self, context: Sequence[str], reply: Sequence[str]) -> float:
        self.asked += 1
        known = set(_words(context))
        return math.fsum(-0.05 if word in known else -0.31 for word in _words(reply))


def _words(lines: Sequence[str]) -> list[str]:
    return re.findall(r"\w+", " ".join(lines).lower())


def talk(turns: Sequence[tuple[str, str]], ident: str = "t", names: Mapping[str, str] | None = None) -> Corpus:
    """One conversation of (speaker, text); "m" and "m2" are mediators."""
    return talks({ident: turns}, names)


def talks(conversations: Mapping[str, Sequence[tuple[str, str]]], names: Mapping[str, str] | None = None) -> Corpus:
    speakers: dict[str, Speaker] = {}
    utterances = []
    for ident, turns in conversations.items():
        for place, (who, text) in enumerate(turns):
            role = "public assistant" if who in ("m", "m2") else "participant"
            speaker = speakers.setdefault(who, Speaker(who, ai_meta={"role": role}))
            utterances.append(Utterance(f"{ident}.u{place}", speaker, ident, text=text, timestamp=place))
    corpus = Corpus(utterances=utterances)
    for conversation in corpus.iter_conversations():
        conversation.ai_meta["alias"] = dict(names or {})
    return corpus
