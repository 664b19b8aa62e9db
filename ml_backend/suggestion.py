"""A suggestion as it leaves the server, and the checks that every provider's answer must pass."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from convolabel.codebook import Codebook
from ml_backend.context import Context

Confidence = Literal["high", "medium", "low"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Evidence(_Strict):
    """A quote; when it is verbatim, `[start, end)` locates it in code points of message number `message`."""

    text: str
    message: int | None = None
    start: int | None = None
    end: int | None = None
    verbatim: bool = False


class Suggestion(_Strict):
    """One category for one dimension. `label` is a category id, `rationale` one or two plain sentences."""

    dimension: str
    label: str
    rationale: str
    confidence: Confidence
    evidence: Evidence | None = None


Suggestions = tuple[Suggestion, ...]
"""Best first within each dimension; empty when the provider abstained."""
SUGGESTIONS: TypeAdapter[Suggestions] = TypeAdapter(Suggestions)


class UnusableAnswerError(Exception):
    """A provider's answer breaks a rule; the message names the rule and holds no text of the conversation."""


def checked(suggestions: Iterable[Suggestion], codebook: Codebook, top_k: int, context: Context) -> Suggestions:
    """The suggestions with their evidence verified against what the provider could read.

    Raises `UnusableAnswerError` for a label outside the codebook, a label given twice, or more than `top_k` labels.
    """
    found = tuple(suggestions)
    for suggestion in found:
        dimension = codebook.dimension(suggestion.dimension)
        if dimension is None or dimension.category(suggestion.label) is None:
            raise UnusableAnswerError("a label that is not in the codebook")
    if len({(suggestion.dimension, suggestion.label) for suggestion in found}) < len(found):
        raise UnusableAnswerError("the same label twice")
    if any(count > top_k for count in Counter(suggestion.dimension for suggestion in found).values()):
        raise UnusableAnswerError(f"more than {top_k} labels for one dimension")
    return tuple(
        suggestion.model_copy(update={"evidence": suggestion.evidence and _verified(suggestion.evidence, context)})
        for suggestion in found
    )


def _verified(evidence: Evidence, context: Context) -> Evidence:
    """A quote that does not stand where it claims to stand is kept, but marked so and without a place."""
    start, end = evidence.start, evidence.end
    if (
        evidence.message == context.message
        and start is not None
        and end is not None
        and 0 <= start < end <= len(context.text)
        and context.text[start:end] == evidence.text
    ):
        return evidence.model_copy(update={"verbatim": True})
    return Evidence(text=evidence.text)
