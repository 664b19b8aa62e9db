"""Means per conversation, of participants and of the mediator."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluators.corpus.protocols import CorpusLike

COLUMNS = ("conversation_id", "is_mediator", "n_rated", "cig_mean")


def mean_rows(
    corpus: "CorpusLike",
    means: Mapping[str, str],
    is_mediator: Callable[[Any], bool],
    *,
    selector: Callable[[Any], bool],
    speaker_selector: Callable[[Any], bool],
    min_mediator_utts: int,
) -> list[dict[str, Any]]:
    """One row per conversation and side that has values; participants first.

    `means` maps an utterance attribute to the column of its mean; `n_rated` counts the values of the first.
    """
    rows: list[dict[str, Any]] = []
    for conversation in corpus.iter_conversations():
        if not selector(conversation):
            continue
        utterances = [(bool(is_mediator(each.speaker)), each) for each in conversation.iter_utterances()]
        if 0 < sum(side for side, _ in utterances) < min_mediator_utts:
            continue
        for side in (False, True):
            counted = [each for of, each in utterances if of is side and speaker_selector(each.speaker)]
            row = _row(counted, means)
            if row is not None:
                rows.append({"conversation_id": conversation.id, "is_mediator": side, **row})
    return rows


def _row(utterances: list[Any], means: Mapping[str, str]) -> dict[str, Any] | None:
    row: dict[str, Any] = {}
    for attribute, column in means.items():
        values = [value for each in utterances if (value := each.meta.get(attribute)) is not None]
        if not values:
            return None
        row.setdefault("n_rated", len(values))
        row[column] = sum(values) / len(values)
    return row
