"""How a text is worded, as a vector: words, punctuation and neighbouring pairs, weighted by how rare they are.

Sentence embeddings carry what a text is about; what it does to the hearer shows in form words, order and marks
("you feel", "could you", a final question mark), which these vectors keep. No word list is used, so any language works.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]

# a clitic ("'re", "'d") is a word of its own, so that "you're" shares "you" with "you feel"
_TOKEN = re.compile(r"[^\W_]+|['’][^\W_]+|[^\w\s]")
_START, _END = "\x02", "\x03"


class Wording:
    """TF-IDF vectors of length one (or less, see `vectors`) over the words and pairs of a set of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        frequency = Counter(feature for text in texts for feature in set(_features(text)))
        self._column = {feature: column for column, feature in enumerate(sorted(frequency))}
        self._rarity = {feature: math.log((len(texts) + 1) / (count + 1)) + 1 for feature, count in frequency.items()}
        self._unseen_rarity = math.log(len(texts) + 1) + 1

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """One row per text. Words never seen count toward a text's length of one but have no column of their own."""
        rows = np.zeros((len(texts), len(self._column)))
        for row, text in zip(rows, texts, strict=True):
            weights = {
                feature: (1 + math.log(count)) * self._rarity.get(feature, self._unseen_rarity)
                for feature, count in Counter(_features(text)).items()
            }
            length = math.sqrt(sum(weight * weight for weight in weights.values()))
            for feature, weight in weights.items():
                column = self._column.get(feature)
                if column is not None:
                    row[column] = weight / length
        return rows


def _features(text: str) -> list[str]:
    tokens = _TOKEN.findall(text.casefold())
    return [*tokens, *(f"{left} {right}" for left, right in zip([_START, *tokens], [*tokens, _END], strict=True))]
