"""Two proxies of CIG that need no model: the TF-IDF sum and the number of content tokens."""

import math
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Self

import regex

from evaluators.cig.function_words import ENGLISH_FUNCTION_WORDS
from evaluators.cig.summary import mean_rows
from evaluators.cig.targets import rating_targets
from evaluators.evaluator import AnyCorpus, Selector, everything, table
from evaluators.participants import IsMediator, default_is_mediator
from evaluators.reading_order import in_reading_order

if TYPE_CHECKING:
    import pandas as pd

    from evaluators.corpus.protocols import CorpusLike

_TOKEN = regex.compile(r"[\p{L}\p{N}]+(?:['’][\p{L}]+)*")
COLUMNS = ("conversation_id", "is_mediator", "n_rated", "tfidf_mean", "content_tokens_mean")


class CIGProxy:
    """Writes two numbers for each utterance that CIG would rate, and `None` elsewhere. They are not on CIG's scale.

    TF-IDF sum: over the distinct tokens t of an utterance, the sum of tf(t) * (ln((1 + N) / (1 + df(t))) + 1), where
    tf counts t in the utterance and df counts the utterances with t among all N of the selected conversations.
    Content tokens: how many tokens are not `function_words` (English unless others are given). Tokens are runs of
    letters and digits, in lower case. Both quantities grow with length, as information gain does; they are published
    as correlates of human CIG ratings, and serve as baselines, not as replacements.
    """

    def __init__(
        self,
        tfidf_attribute_name: str = "cig_tfidf",
        content_attribute_name: str = "cig_content_tokens",
        is_mediator: IsMediator = default_is_mediator,
        function_words: Collection[str] = ENGLISH_FUNCTION_WORDS,
    ) -> None:
        self.tfidf_attribute_name = tfidf_attribute_name
        self.content_attribute_name = content_attribute_name
        self.is_mediator = is_mediator
        self.function_words = frozenset(word.lower() for word in function_words)

    def fit(self, corpus: Any, y: Any = None, selector: Selector = everything) -> Self:
        return self

    def transform(self, corpus: AnyCorpus, selector: Selector = everything) -> AnyCorpus:
        """Write the proxies into the utterances of the conversations that `selector` takes."""
        conversations = [in_reading_order(each).utterances for each in corpus.iter_conversations() if selector(each)]
        tokens = [[_tokens(each.text) for each in utterances] for utterances in conversations]
        spread = Counter(token for rows in tokens for row in rows for token in set(row))
        count = sum(map(len, tokens))
        for utterances, rows in zip(conversations, tokens, strict=True):
            _, is_target = rating_targets(utterances)
            for utterance, row, rate in zip(utterances, rows, is_target, strict=True):
                utterance.meta[self.tfidf_attribute_name] = tfidf_sum(row, spread, count) if rate else None
                content = sum(token not in self.function_words for token in row)
                utterance.meta[self.content_attribute_name] = content if rate else None
        return corpus

    def summarize(
        self,
        corpus: "CorpusLike",
        selector: Selector = everything,
        speaker_selector: Callable[[Any], bool] = everything,
        min_mediator_utts: int = 2,
    ) -> "pd.DataFrame":
        """As `CIG.summarize`, with the columns tfidf_mean and content_tokens_mean."""
        rows = mean_rows(
            corpus,
            {self.tfidf_attribute_name: "tfidf_mean", self.content_attribute_name: "content_tokens_mean"},
            self.is_mediator,
            selector=selector,
            speaker_selector=speaker_selector,
            min_mediator_utts=min_mediator_utts,
        )
        return table(rows, COLUMNS)


def tfidf_sum(tokens: list[str], spread: "Counter[str]", count: int) -> float:
    """The TF-IDF sum of one utterance; `spread` is the number of utterances with each token, of `count` in all."""
    return math.fsum(tf * (math.log((1 + count) / (1 + spread[token])) + 1) for token, tf in Counter(tokens).items())


def _tokens(text: str) -> list[str]:
    return [token.replace("’", "'") for token in _TOKEN.findall(text.lower())]
