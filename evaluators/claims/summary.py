"""The results of tracking as rows of tables."""

from collections.abc import Iterator
from typing import Any

from evaluators.claims.origin import common_ground_shares, source_shares
from evaluators.claims.records import Record

COLUMNS = (
    "conversation_id",
    "speaker",
    "n_initial",
    "n_final",
    "agreement_gain",
    "share_from_mediator",
    "share_from_partner",
    "share_new_common_ground",
)
"""Of the summary: one row per participant of a conversation; `speaker` is the speaker id."""


def participant_info(record: Record, *, match_convokit: bool = False) -> dict[str, dict[str, Any]]:
    """Speaker id -> what is stored about a participant of a conversation."""
    sources = source_shares(record, match_convokit=match_convokit)
    common = common_ground_shares(record, record["agreement"], match_convokit=match_convokit)
    return {
        ident: {
            "claims_initial": record["initial"][name],
            "claims_final": record["final"][name],
            "claims_share_from_mediator": sources[name]["share_from_mediator"],
            "claims_share_from_partner": sources[name]["share_from_partner"],
            "claims_share_new_common_ground": common[name]["share_new_common_ground"],
        }
        for name, ident in record["speakers"].items()
    }


def summary_rows_of(conversation_id: str, record: Record, *, match_convokit: bool = False) -> Iterator[dict[str, Any]]:
    """The rows of one conversation, with `COLUMNS`."""
    for ident, info in participant_info(record, match_convokit=match_convokit).items():
        yield {
            "conversation_id": conversation_id,
            "speaker": ident,
            "n_initial": len(info["claims_initial"]),
            "n_final": len(info["claims_final"]),
            "agreement_gain": record["agreement"]["gain"],
            "share_from_mediator": info["claims_share_from_mediator"],
            "share_from_partner": info["claims_share_from_partner"],
            "share_new_common_ground": info["claims_share_new_common_ground"],
        }
