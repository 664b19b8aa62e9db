"""Where a run leaves off in a corpus: what is good stays, what is old is marked."""

from typing import Any

from evaluators.run_report import Status

_GOOD = (Status.COMPLETE, Status.PARTIAL, Status.STALE)


def status_key(attribute: str) -> str:
    """The key in a conversation's metadata that tells the status of its results in `attribute`."""
    return f"{attribute}_status"


def mark_status(conversation: Any, attribute: str, status: Status, **details: Any) -> Status:
    """Write the status of a conversation's results and return it.

    A run that failed or did not get there leaves earlier results as they are; their status is then `STALE`.
    `details` are JSON values that a reader needs to judge the results, such as what failed.
    """
    if status in (Status.FAILED, Status.NOT_REACHED) and has_results(conversation, attribute):
        status = Status.STALE
    conversation.meta[status_key(attribute)] = {"status": str(status), **details}
    return status


def has_results(conversation: Any, attribute: str) -> bool:
    """Whether an earlier run left results of use."""
    known = conversation.meta.get(status_key(attribute))
    if isinstance(known, dict):
        return known.get("status") in _GOOD
    # results without a status: ConvoKit's
    return conversation.meta.get(attribute) is not None or any(
        utterance.meta.get(attribute) is not None for utterance in conversation.iter_utterances()
    )
