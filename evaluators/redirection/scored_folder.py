"""Redirection of a corpus into a folder: scores, means, report; what the command `redirection` does."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.kept_results import keep_results, restore_results
from evaluators.reading_order import in_reading_order
from evaluators.redirection.redirection import COLUMNS
from evaluators.result_status import status_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.corpus.model import Corpus
    from evaluators.redirection.redirection import MediatorRedirection
    from evaluators.run_folder import RunFolder

TURN_COLUMNS = (
    "conversation_id",
    "utterance_id",
    "message_id",
    "position",
    "status",
    "redirection",
    "per_token",
    "reply_tokens",
    "actual_log_probability",
    "reference_log_probability",
    "context_tokens_cut",
    "reply_tokens_cut",
)
"""Of `redirection_turns.csv`: one row per scored mediator turn in reading order; `redirection` is the summed score or
that per token, as asked for; log-probabilities are natural."""


@dataclass(frozen=True)
class Estimate:
    """What a run would compute. `characters` are those of all contexts and replies, each read once."""

    conversations: int
    mediator_turns: int
    sequences: int
    characters: int


def score_into_folder(corpus: "Corpus", redirection: "MediatorRedirection", folder: "RunFolder") -> None:
    """Score `corpus` and write `redirection_turns.csv`, `redirection_summary.csv` and the results for the next run.

    Scores of an earlier run into the folder stay, marked as stale, where this run fails. The tables are written also
    when the run is stopped or ends by an error, which is then raised.
    """
    attribute = redirection.redirection_attribute_name
    restore_results(folder, attribute, corpus)
    try:
        redirection.transform(corpus, verbosity=0)
    finally:
        if redirection.report is not None:
            folder.write_table("redirection_turns.csv", TURN_COLUMNS, _rows(corpus, attribute))
            folder.write_table("redirection_summary.csv", COLUMNS, redirection.summary_rows(corpus))
            keep_results(folder, attribute, corpus)


def estimate(corpus: "Corpus", redirection: "MediatorRedirection") -> Estimate:
    """What scoring `corpus` would compute; no model is loaded."""
    asked = [each for one in corpus.iter_conversations() for each in redirection.comparisons(one).values()]
    lines = [line for each in asked for text in (each.actual, each.reference) for line in (*text, *each.reply)]
    return Estimate(len(corpus), len(asked), 2 * len(asked), sum(map(len, lines)))


def _rows(corpus: "Corpus", attribute: str) -> "Iterator[dict[str, Any]]":
    for conversation in corpus.iter_conversations():
        status = (conversation.meta.get(status_key(attribute)) or {}).get("status")
        details = conversation.meta.get(attribute) or {}
        for position, utterance in enumerate(in_reading_order(conversation).utterances):
            if utterance.meta.get(attribute) is not None:
                yield {
                    **(details.get(utterance.id) or {}),
                    "conversation_id": conversation.id,
                    "utterance_id": utterance.id,
                    "message_id": utterance.meta.get("message_id"),
                    "position": position,
                    "status": status,
                    "redirection": utterance.meta[attribute],
                }
