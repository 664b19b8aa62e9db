"""Which category a text belongs to, learned from the codebook's examples alone.

Kernel ridge regression, one target per category (Rifkin, Yeo and Poggio 2003, "Regularized least-squares
classification"). The kernel is the mean of two cosines: sentence embeddings (meaning) and `ml_backend.wording`.
Predictions with one example held out have a closed form, so confidence is calibrated on answers whose truth is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ml_backend.calibration import Calibration
from ml_backend.wording import Vectors, Wording

RIDGE = 0.15
"""Ridge penalty on a kernel whose diagonal is 1."""


@dataclass(frozen=True)
class Neighbour:
    """An example of the codebook and its similarity to the text asked about, at most 1."""

    text: str
    label: str
    similarity: float


@dataclass(frozen=True)
class Ranked:
    """A category with the share of right answers among held-out examples that looked like this one."""

    label: str
    share: float
    nearest: Neighbour
    nearest_other: Neighbour
    """The nearest example of any other category; it can be nearer than `nearest`."""


class ExampleClassifier:
    """Ranks categories for a text.

    `texts`, `labels` and `embeddings` (one row of length one per text) describe the examples, of two labels or more.
    """

    def __init__(self, texts: Sequence[str], labels: Sequence[str], embeddings: Vectors) -> None:
        self._texts, self._labels = list(texts), list(labels)
        self._embeddings = embeddings
        self._wording = Wording(texts)
        self._wordings = self._wording.vectors(texts)
        self._categories = list(dict.fromkeys(labels))
        self._category_of = np.array([self._categories.index(label) for label in labels])
        targets = np.eye(len(self._categories))[self._category_of]
        self._base = targets.mean(axis=0)
        kernel = self._similarities(self._embeddings, self._wordings)
        inverse = np.linalg.inv(kernel + RIDGE * np.eye(len(texts)))
        self._weights = inverse @ (targets - self._base)
        self._learn_from_held_out(kernel, kernel @ inverse, targets - self._base)

    @property
    def held_out_labels(self) -> tuple[str, ...]:
        """What each example would be taken for, had it not been among the examples; in the order given."""
        return self._held_out_labels

    def rank(self, text: str, embedding: Vectors) -> tuple[Ranked, ...]:
        """The two likeliest categories, best first.

        Empty when nothing is close: the text is further from every example than any example is from all the others.
        """
        similarities = self._row(text, embedding)
        if similarities.max() < self._close:
            return ()
        order, margin = _order_and_margin(similarities @ self._weights + self._base)
        return (
            self._ranked(int(order[0]), self._first_right.share(margin), similarities),
            self._ranked(int(order[1]), self._second_right.share(-margin), similarities),
        )

    def closest_to(self, label: str, texts: Sequence[str], embeddings: Vectors) -> int:
        """The index of the text that speaks most for `label`."""
        similarities = self._similarities(embeddings, self._wording.vectors(texts))
        return int(np.argmax((similarities @ self._weights)[:, self._categories.index(label)]))

    def _learn_from_held_out(self, kernel: Vectors, hat: Vectors, centred: Vectors) -> None:
        own = np.diag(hat)[:, None]
        scores = (hat @ centred - own * centred) / (1 - own) + self._base
        ranked = [_order_and_margin(row) for row in scores]
        margins = [margin for _, margin in ranked]
        self._held_out_labels = tuple(self._categories[int(order[0])] for order, _ in ranked)
        truth = [int(category) for category in self._category_of]
        first = [int(order[0]) == right for (order, _), right in zip(ranked, truth, strict=True)]
        second = [int(order[1]) == right for (order, _), right in zip(ranked, truth, strict=True)]
        self._first_right = Calibration(margins, first)
        # the clearer the first answer, the less likely is the second: so it is read against the negative margin
        self._second_right = Calibration([-margin for margin in margins], second)
        others = kernel - 2 * np.eye(len(kernel))
        self._close = float(others.max(axis=1).min())

    def _row(self, text: str, embedding: Vectors) -> Vectors:
        row: Vectors = self._similarities(embedding.reshape(1, -1), self._wording.vectors([text]))[0]
        return row

    def _similarities(self, embeddings: Vectors, wordings: Vectors) -> Vectors:
        similarities: Vectors = (embeddings @ self._embeddings.T + wordings @ self._wordings.T) / 2
        return similarities

    def _ranked(self, category: int, share: float, similarities: Vectors) -> Ranked:
        own = self._category_of == category
        return Ranked(
            self._categories[category], share, self._nearest(similarities, own), self._nearest(similarities, ~own)
        )

    def _nearest(self, similarities: Vectors, among: NDArray[np.bool_]) -> Neighbour:
        index = int(np.argmax(np.where(among, similarities, -np.inf)))
        return Neighbour(self._texts[index], self._labels[index], float(similarities[index]))


def _order_and_margin(scores: Vectors) -> tuple[NDArray[np.intp], float]:
    """Categories from the highest score down, and how far the first is ahead of the second.

    Six decimals are kept: less than that is rounding, which may differ from machine to machine.
    """
    rounded = np.round(scores, 6)
    order = np.argsort(-rounded, kind="stable")
    return order, float(round(rounded[order[0]] - rounded[order[1]], 6))
