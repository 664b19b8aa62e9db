"""Which work counts as a rater's state of a conversation, when Label Studio holds several pieces of it. Pure rules."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from convolabel.study import Study


@dataclass(frozen=True)
class Rater:
    """A study rater with an account. `rater_id` is Label Studio's user id."""

    rater_id: int
    email: str
    name: str


@dataclass(frozen=True)
class Work:
    """One annotation or draft: its results and its times (UTC, ISO 8601 with Z)."""

    is_draft: bool
    results: tuple[Mapping[str, Any], ...]
    created_at: str
    updated_at: str


@dataclass
class SetAside:
    """Pieces of work that do not count, by reason."""

    others: Counter[str] = field(default_factory=Counter)
    """Pieces by people who are no raters of the study, by who made them."""
    superseded: int = 0
    """Older annotations or drafts of a rater who has a newer one of the same conversation."""
    cancelled: int = 0
    """Annotations that were skipped in the stock interface."""


def study_raters(study: Study, users: Iterable[Mapping[str, Any]]) -> list[Rater]:
    """The study's raters that have an account, in the order of the study file. `users` as Label Studio lists them."""
    accounts = {str(user["email"]).lower(): user for user in users}
    raters = []
    for account in study.raters:
        user = accounts.get(account.email)
        if user is not None:
            full_name = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
            raters.append(Rater(int(user["id"]), account.email, account.name or full_name or account.email))
    return raters


def rater_work(
    annotations: Iterable[Mapping[str, Any]],
    drafts: Iterable[Mapping[str, Any]],
    raters: Iterable[Rater],
    aside: SetAside,
) -> dict[Rater, Work]:
    """The newest piece of each rater's work on one conversation.

    Label Studio's own clock decides; a draft goes before an annotation of the same moment, since submitting deletes
    the draft. What does not count is noted in `aside`.
    """
    by_id = {rater.rater_id: rater for rater in raters}
    by_email = {rater.email: rater for rater in by_id.values()}
    pieces: dict[Rater, list[Work]] = {}
    for annotation in annotations:
        user_id = _user_id(annotation["completed_by"])
        rater = by_id.get(user_id)
        if rater is None:
            aside.others[f"user {user_id}"] += 1
        elif annotation.get("was_cancelled"):
            aside.cancelled += 1
        else:
            pieces.setdefault(rater, []).append(_work(annotation, is_draft=False))
    for draft in drafts:
        email = str(draft["user"]).lower()
        rater = by_email.get(email)
        if rater is None:
            aside.others[email] += 1
        else:
            pieces.setdefault(rater, []).append(_work(draft, is_draft=True))
    aside.superseded += sum(len(found) - 1 for found in pieces.values())
    return {rater: max(found, key=lambda work: (work.updated_at, work.is_draft)) for rater, found in pieces.items()}


def utc(moment: str) -> str:
    """An ISO 8601 time with an offset, as UTC with microseconds and a final Z: such texts sort by time."""
    return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _work(piece: Mapping[str, Any], *, is_draft: bool) -> Work:
    # the work began with the draft that the annotation was submitted from
    began = piece.get("draft_created_at") or piece["created_at"]
    return Work(is_draft, tuple(piece["result"] or ()), utc(began), utc(piece["updated_at"]))


def _user_id(completed_by: Any) -> int:
    return int(completed_by["id"] if isinstance(completed_by, dict) else completed_by)
