"""Likelihood models with ConvoKit's interface, taken for ours."""

from collections.abc import Sequence
from inspect import getattr_static
from typing import Any

from convolabel.errors import InputError
from evaluators.models.reply_likelihood import Comparison, LikelihoodModel, ReplyLikelihood

_WANTED = ("identity", "batches", "compare")
_ABSENT = object()


class ConvoKitLikelihood:
    """`model.transform((contexts, replies))` gives summed log-probabilities by utterance id, as ConvoKit's do.

    It tells no number of tokens. Its `identity` is the model's, when it has one.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    @property
    def identity(self) -> str | None:
        known = getattr(self.model, "identity", None)
        return known if isinstance(known, str) else None

    def batches(self, comparisons: Sequence[Comparison]) -> list[list[int]]:
        return [list(range(len(comparisons)))] if comparisons else []

    def compare(self, comparisons: Sequence[Comparison]) -> list[ReplyLikelihood]:
        """Raises `InputError` when the model leaves a reply without a likelihood."""
        actual = self._values(comparisons, [each.actual for each in comparisons])
        reference = self._values(comparisons, [each.reference for each in comparisons])
        return [ReplyLikelihood(*pair, reply_tokens=None) for pair in zip(actual, reference, strict=True)]

    def _values(self, comparisons: Sequence[Comparison], contexts: Sequence[Sequence[str]]) -> list[float]:
        ids = [f"turn {place}" for place in range(len(comparisons))]
        given = {ident: list(lines) for ident, lines in zip(ids, contexts, strict=True)}
        replies = {ident: list(each.reply) for ident, each in zip(ids, comparisons, strict=True)}
        try:
            found = self.model.transform(([given], [replies]))[0]
            return [float(found[ident]) for ident in ids]
        except (KeyError, IndexError, TypeError):
            raise InputError(
                f"{type(self.model).__name__}.transform gave no log-probability for some reply; it has to return a "
                "list with a mapping of utterance ids to numbers for each conversation."
            ) from None


def as_likelihood_model(model: Any) -> LikelihoodModel:
    """`model`, or a wrapper of it when it has ConvoKit's interface. Raises `InputError` for anything else."""
    # looked up without calling: `identity` loads the model
    if all(getattr_static(model, name, _ABSENT) is not _ABSENT for name in _WANTED):
        ours: LikelihoodModel = model
        return ours
    if callable(getattr(model, "transform", None)):
        return ConvoKitLikelihood(model)
    raise InputError(
        f"{type(model).__name__} is no likelihood model: give an HFLikelihoodModel, or an object with ConvoKit's "
        "transform((contexts, replies))."
    )
