"""CIG of a corpus into a folder: ratings, means, report; what the command `cig` does."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.cig.cig import CIG
from evaluators.cig.proxy import CIGProxy
from evaluators.cig.summary import COLUMNS
from evaluators.cig.windows import estimated_tokens
from evaluators.kept_results import keep_results, restore_results
from evaluators.participants import default_is_mediator
from evaluators.reading_order import in_reading_order
from evaluators.result_status import status_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.corpus.model import Corpus
    from evaluators.run_folder import RunFolder

UTTERANCE_COLUMNS = (
    "conversation_id",
    "utterance_id",
    "message_id",
    "position",
    "speaker",
    "is_mediator",
    "status",
    "cig",
    "cig_tfidf",
    "cig_content_tokens",
)
"""Of `cig_utterances.csv`: one row per utterance in reading order; `status` is that of the conversation's ratings."""

_TOKENS_PER_RATING = 20


@dataclass(frozen=True)
class Estimate:
    """What a run would ask for; tokens are estimates, reasoning tokens not counted."""

    conversations: int
    calls: int
    calls_in_store: int
    input_tokens: int
    output_tokens: int


def rate_into_folder(corpus: "Corpus", cig: CIG, folder: "RunFolder", min_mediator_utts: int = 2) -> None:
    """Rate `corpus` and write `cig_utterances.csv`, `cig_summary.csv` and the results for the next run.

    Ratings of an earlier run into the folder stay, marked as stale, where this run fails. The tables are written
    also when the run is stopped or ends by an error, which is then raised.
    """
    restore_results(folder, cig.cig_attribute_name, corpus)
    try:
        cig.transform(corpus)
    finally:
        if cig.report is not None:
            write_tables(corpus, cig, folder, min_mediator_utts)


def write_tables(corpus: "Corpus", cig: CIG, folder: "RunFolder", min_mediator_utts: int = 2) -> None:
    """The tables of ratings that stand in `corpus`, with the two proxies that need no model."""
    CIGProxy(is_mediator=cig.is_mediator).transform(corpus)
    folder.write_table("cig_utterances.csv", UTTERANCE_COLUMNS, _rows(corpus, cig))
    rows = cig.summary_rows(corpus, min_mediator_utts=min_mediator_utts)
    folder.write_table("cig_summary.csv", COLUMNS, rows)
    keep_results(folder, cig.cig_attribute_name, corpus)


def write_proxies(corpus: "Corpus", folder: "RunFolder", is_mediator: Any = default_is_mediator) -> None:
    """`cig_utterances.csv` with the two proxies and the ratings of earlier runs into the folder; no model is asked."""
    cig = CIG(is_mediator=is_mediator)
    restore_results(folder, cig.cig_attribute_name, corpus)
    CIGProxy(is_mediator=is_mediator).transform(corpus)
    folder.write_table("cig_utterances.csv", UTTERANCE_COLUMNS, _rows(corpus, cig))


def estimate(corpus: "Corpus", cig: CIG) -> Estimate:
    """What rating `corpus` would ask for, before any repair."""
    prompts = [prompt for each in corpus.iter_conversations() for prompt in cig.prompts(each)]
    targets = sum(sum(cig.rating_targets(in_reading_order(each).utterances)[1]) for each in corpus.iter_conversations())
    stored = sum(cig.is_answered(prompt) for prompt in prompts)
    return Estimate(
        conversations=len(corpus),
        calls=len(prompts),
        calls_in_store=stored,
        input_tokens=sum(map(estimated_tokens, prompts)),
        output_tokens=targets * _TOKENS_PER_RATING,
    )


def _rows(corpus: "Corpus", cig: CIG) -> "Iterator[dict[str, Any]]":
    for conversation in corpus.iter_conversations():
        status = (conversation.meta.get(status_key(cig.cig_attribute_name)) or {}).get("status")
        for position, utterance in enumerate(in_reading_order(conversation).utterances):
            yield {
                "conversation_id": conversation.id,
                "utterance_id": utterance.id,
                "message_id": utterance.meta.get("message_id"),
                "position": position,
                "speaker": utterance.speaker.id,
                "is_mediator": bool(cig.is_mediator(utterance.speaker)),
                "status": status,
                "cig": utterance.meta.get(cig.cig_attribute_name),
                "cig_tfidf": utterance.meta.get("cig_tfidf"),
                "cig_content_tokens": utterance.meta.get("cig_content_tokens"),
            }
