"""What a likelihood model is asked and what it answers: the same reply after two contexts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

BLANK_LINE = "\n\n"
"""Stands between the lines of a scored text."""


@dataclass(frozen=True)
class Comparison:
    """Lines of dialogue ("Ann: Good morning."): what was said, what it is compared with, and the reply to both.

    The lines with which both contexts begin are background: they are cut first when a model's window is too short.
    """

    actual: tuple[str, ...]
    reference: tuple[str, ...]
    reply: tuple[str, ...]

    @property
    def background(self) -> int:
        """The number of lines with which both contexts begin; the last line of the actual one is never among them."""
        shared = 0
        for ours, theirs in zip(self.actual[:-1], self.reference, strict=False):
            if ours != theirs:
                break
            shared += 1
        return shared


@dataclass(frozen=True)
class ReplyLikelihood:
    """Natural log-probabilities of the reply, summed over its `reply_tokens` (`None`: the model does not tell).

    `context_tokens_cut` of a context's beginning and `reply_tokens_cut` of the reply's end did not fit the window.
    """

    actual: float
    reference: float
    reply_tokens: int | None
    context_tokens_cut: int = 0
    reply_tokens_cut: int = 0


class LikelihoodModel(Protocol):
    """`HFLikelihoodModel`, or any other object with these."""

    @property
    def identity(self) -> str | None:
        """Changes with everything that changes likelihoods; `None` when this cannot be told, for nothing is kept then.

        Loads the model when it is not loaded yet.
        """
        ...

    def batches(self, comparisons: Sequence[Comparison]) -> list[list[int]]:
        """Places of the comparisons that are scored together; depends on the comparisons only."""
        ...

    def compare(self, comparisons: Sequence[Comparison]) -> list[ReplyLikelihood]:
        """Likelihoods in the order of the comparisons."""
        ...
