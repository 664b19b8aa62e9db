"""Claims of a corpus into a folder: memories, agreement, shares, report; what the command `claims` does."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.cig.windows import estimated_tokens
from evaluators.claims.agreement import pairs_of
from evaluators.claims.records import PRE_SURVEY, Record
from evaluators.claims.summary import COLUMNS
from evaluators.claims.tracker import ClaimTracker
from evaluators.kept_results import keep_results, restore_results
from evaluators.reading_order import in_reading_order
from evaluators.result_status import status_key

if TYPE_CHECKING:
    from evaluators.corpus.model import Corpus
    from evaluators.run_folder import RunFolder

_OPERATIONS = ("SEED", "ADD", "RESTATE", "REFINE", "SUPERSEDE")

UTTERANCE_COLUMNS = (
    "conversation_id",
    "utterance_id",
    "message_id",
    "turn",
    "speaker",
    "status",
    "n_claims",
    *(f"n_{operation.lower()}" for operation in _OPERATIONS),
    "claims",
    "problems",
)
"""Of `claims_utterances.csv`: one row per pre-survey text and utterance. `claims` is a JSON list of texts; `status`
is that of the conversation."""

MEMORY_COLUMNS = (
    *("conversation_id", "id", "speaker", "speaker_id", "role", "kind", "claim", "about", "target_speaker", "status"),
    *("first_turn", "last_turn", "n_restated", "links", "supersedes", "superseded_by", "retracted_at"),
    *("origin_speaker", "origin_turn"),
)
"""Of `claims_memory.csv`: one row per claim; `links` is a JSON list of relations and ids."""

AGREEMENT_COLUMNS = (
    *("conversation_id", "a", "b", "agree_initial", "agree_final", "contradiction_initial", "contradiction_final"),
    *("n_pairs_initial", "n_pairs_final"),
)
"""Of `claims_agreement.csv`: one row per two participants, by speaker id."""

_TOKENS_PER_CLAIM = 30
_CLAIMS_PER_UTTERANCE = 2


@dataclass(frozen=True)
class Estimate:
    """What a run would ask for. How many consolidations there are shows only when claims are there: the number and
    the tokens are for two claims in every utterance. Reasoning tokens are not counted."""

    conversations: int
    extraction_calls: int
    extraction_calls_in_store: int
    consolidation_calls: int
    agreement_calls: int
    input_tokens: int
    output_tokens: int


def track_into_folder(corpus: "Corpus", tracker: ClaimTracker, folder: "RunFolder") -> None:
    """Track `corpus` and write the tables, and the results for the next run.

    Records of an earlier run into the folder stay, marked as stale, where this run fails. The tables are written also
    when the run is stopped or ends by an error, which is then raised.
    """
    restore_results(folder, tracker.claims_attribute_name, corpus)
    try:
        tracker.transform(corpus)
    finally:
        if tracker.report is not None:
            write_tables(corpus, tracker, folder)


def write_tables(corpus: "Corpus", tracker: ClaimTracker, folder: "RunFolder") -> None:
    """The tables of the records that stand in `corpus`."""
    folder.write_table("claims_utterances.csv", UTTERANCE_COLUMNS, _utterance_rows(corpus, tracker))
    folder.write_table("claims_memory.csv", MEMORY_COLUMNS, _memory_rows(corpus, tracker))
    folder.write_table("claims_agreement.csv", AGREEMENT_COLUMNS, _agreement_rows(corpus, tracker))
    folder.write_table("claims_summary.csv", COLUMNS, tracker.summary_rows(corpus))
    keep_results(folder, tracker.claims_attribute_name, corpus)


def estimate(corpus: "Corpus", tracker: ClaimTracker) -> Estimate:
    """What tracking `corpus` would ask for, before any repair."""
    prompts = tracker.tracking.prompts
    extraction, consolidations, agreements, tokens, answers = [], 0, 0, 0, 0
    for conversation in corpus.iter_conversations():
        transcript = tracker.transcript(conversation)
        asked = [each for each in transcript.requests(prompts.extraction, tracker.tracking.context_window) if each]
        extraction += [request.prompt for request in asked]
        utterances = sum(request.turn != PRE_SURVEY for request in asked)
        pairs = len(pairs_of(transcript.names))
        consolidations += utterances
        agreements += 2 * pairs
        held = _CLAIMS_PER_UTTERANCE * len(asked) // max(len(transcript.names) + 1, 1)
        shown = min(held, tracker.tracking.own_cap) + len(transcript.names) * tracker.tracking.top_k
        tokens += utterances * (estimated_tokens(prompts.consolidation) + _TOKENS_PER_CLAIM * (shown + 2))
        tokens += 2 * pairs * (estimated_tokens(prompts.agreement) + _TOKENS_PER_CLAIM * 2 * held)
        answers += _TOKENS_PER_CLAIM * (_CLAIMS_PER_UTTERANCE * (len(asked) + utterances) + 2 * pairs * held)
    return Estimate(
        conversations=len(corpus),
        extraction_calls=len(extraction),
        extraction_calls_in_store=sum(tracker.is_answered(prompt) for prompt in extraction),
        consolidation_calls=consolidations,
        agreement_calls=agreements,
        input_tokens=tokens + sum(map(estimated_tokens, extraction)),
        output_tokens=answers,
    )


def _records(corpus: "Corpus", tracker: ClaimTracker) -> Iterator[tuple[Any, Record, str]]:
    """Conversation, record, status."""
    for conversation in corpus.iter_conversations():
        record = conversation.meta.get(tracker.claims_attribute_name)
        if record:
            status = (conversation.meta.get(status_key(tracker.claims_attribute_name)) or {}).get("status", "")
            yield conversation, record, status


def _utterance_rows(corpus: "Corpus", tracker: ClaimTracker) -> Iterator[dict[str, Any]]:
    for conversation, record, status in _records(corpus, tracker):
        utterances = in_reading_order(conversation).utterances
        for step in record["steps"]:
            done = Counter(decision["op"] for decision in step["decisions"])
            utterance = None if step["turn"] == PRE_SURVEY else utterances[int(step["turn"])]
            yield {
                "conversation_id": conversation.id,
                "utterance_id": utterance and utterance.id,
                "message_id": utterance and utterance.meta.get("message_id"),
                "turn": step["turn"],
                "speaker": utterance.speaker.id if utterance else record["speakers"][step["speaker"]],
                "status": status,
                "n_claims": len(step["extracted"]),
                **{f"n_{operation.lower()}": done[operation] for operation in _OPERATIONS},
                "claims": json.dumps([claim["claim"] for claim in step["extracted"]], ensure_ascii=False),
                "problems": "; ".join(step.get("problems", [])),
            }


def _memory_rows(corpus: "Corpus", tracker: ClaimTracker) -> Iterator[dict[str, Any]]:
    for conversation, record, _ in _records(corpus, tracker):
        by_id = {entry["id"]: entry for entry in record["memory"]}
        for entry in record["memory"]:
            who, turn = tracker.origin_of(entry, by_id, list(record["initial"]))
            links = [[link["relation"], link["to"]] for link in entry["links"]]
            values: Mapping[str, Any] = entry
            yield {
                **values,
                "conversation_id": conversation.id,
                "speaker_id": record["speakers"].get(entry["speaker"]),
                "n_restated": len(entry["restated"]),
                "links": json.dumps(links),
                "origin_speaker": who,
                "origin_turn": PRE_SURVEY if turn < 0 else turn,
            }


def _agreement_rows(corpus: "Corpus", tracker: ClaimTracker) -> Iterator[dict[str, Any]]:
    for conversation, record, _ in _records(corpus, tracker):
        for pair in record["agreement"]["pairs"]:
            yield {
                "conversation_id": conversation.id,
                "a": record["speakers"][pair["a"]],
                "b": record["speakers"][pair["b"]],
                "agree_initial": pair["initial"]["agree"],
                "agree_final": pair["final"]["agree"],
                "contradiction_initial": pair["initial"]["contradiction"],
                "contradiction_final": pair["final"]["contradiction"],
                "n_pairs_initial": len(pair["initial"]["pairs"]),
                "n_pairs_final": len(pair["final"]["pairs"]),
            }
