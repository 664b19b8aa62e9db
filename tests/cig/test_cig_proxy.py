"""The two proxies, by hand."""

import math

import pytest

from evaluators import CIGProxy
from evaluators.corpus import Corpus, Speaker, Utterance

TEXTS = [
    ("a", "Parks stay open."),
    ("b", "Parks cost money."),
    ("a", "Open parks at night help nurses, open parks help."),
    ("b", "I am against it."),
    ("a", "ok!"),
]


def small() -> Corpus:
    people = {name: Speaker(name) for name in "ab"}
    return Corpus(utterances=[Utterance(f"u{n}", people[who], "c", text, n) for n, (who, text) in enumerate(TEXTS)])


def test_values() -> None:
    corpus = CIGProxy().transform(small())
    # u0, u1 are the opening, u4 is a fragment: not rated, but counted among the N = 5 utterances
    assert [each.meta["cig_content_tokens"] for each in corpus.iter_utterances()] == [None, None, 8, 0, None]
    # u2: open parks [at] night help nurses open parks help = 8 content tokens; u3: i, am, against, it = 0
    # idf = ln(6 / (1 + df)) + 1; df: parks 3 (u0, u1, u2), open 2 (u0, u2), at night help nurses 1 each
    # tf in u2: parks 2, open 2, help 2, at 1, night 1, nurses 1
    parks, opened, once = math.log(6 / 4) + 1, math.log(6 / 3) + 1, math.log(6 / 2) + 1
    assert corpus.get_utterance("u2").meta["cig_tfidf"] == pytest.approx(
        2 * parks + 2 * opened + (2 + 1 + 1 + 1) * once
    )
    assert corpus.get_utterance("u3").meta["cig_tfidf"] == pytest.approx(4 * once)
    assert corpus.get_utterance("u0").meta["cig_tfidf"] is None


def test_summary() -> None:
    proxy = CIGProxy()
    table = proxy.summarize(proxy.transform(small()))
    assert list(table.columns) == ["conversation_id", "is_mediator", "n_rated", "tfidf_mean", "content_tokens_mean"]
    (row,) = table.to_dict("records")
    assert (row["conversation_id"], row["is_mediator"], row["n_rated"]) == ("c", False, 2)
    assert row["content_tokens_mean"] == 4.0  # (8 + 0) / 2


def test_other_function_words() -> None:
    corpus = CIGProxy(function_words=("parks", "open", "help")).transform(small())
    # at, night and nurses remain of u2
    assert corpus.get_utterance("u2").meta["cig_content_tokens"] == 3
