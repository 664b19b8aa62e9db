"""Who held a claim first, and what share of the claims held at the end came from whom."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluators.claims.memory import held_entries
from evaluators.claims.records import PRE_SURVEY, Agreement, Entry, Record
from evaluators.participants import MEDIATOR

UNKNOWN = "unknown"
Origin = tuple[str, int]
"""Name and turn; the pre-survey is turn -1."""

_ADOPTING = ("equivalent", "forward_entail")
_RESERVED = frozenset(
    {
        *("everyone", "everybody", "all", "both", "others", "the others", "group", "team", "people", "participants"),
        *("anyone", "anybody", "someone", "somebody", "no one", "nobody", "none", "unknown", "they", "we", "us", "you"),
        *("mediator", "facilitator", "moderator", "speaker", "participant"),
    }
)
"""Words that stand for nobody in particular, or for the mediator."""


def origin_of(
    entry: Entry, by_id: Mapping[str, Entry], names: Sequence[str], *, match_convokit: bool = False
) -> Origin:
    """The first to hold the claim, over the entry and all that its `equivalent` and `forward_entail` links lead to.

    A reported claim counts for the participant it is about (`names` are those of the participants), and for
    `"unknown"` when that is nobody in particular. With `match_convokit` this is so for the mediator's reports only.
    Of several earliest entries the first in the order of the links counts.
    """
    best: Origin | None = None
    seen: set[str] = set()
    waiting = [entry]
    while waiting:
        here = waiting.pop()
        if here["id"] in seen:
            continue
        seen.add(here["id"])
        turn = _turn_number(here["first_turn"])
        if best is None or turn < best[1]:
            best = (_holder(here, names, match_convokit), turn)
        linked = [link["to"] for link in here["links"] if link["relation"] in _ADOPTING and link["to"] in by_id]
        waiting += [by_id[ident] for ident in reversed(linked)]
    assert best is not None  # noqa: S101 - the entry itself was looked at
    return best


def source_shares(record: Record, *, match_convokit: bool = False) -> dict[str, dict[str, Any]]:
    """Participant -> how many of the claims held at the end came first from the mediator, and from a partner.

    Keys: n_final, n_from_mediator, n_from_partner, and share_from_mediator and share_from_partner, which are `None`
    when nothing is held.
    """
    names = list(record["initial"])
    by_id = {entry["id"]: entry for entry in record["memory"]}
    shares = {}
    for name in names:
        held = held_entries(record["memory"], name)
        holders = [origin_of(entry, by_id, names, match_convokit=match_convokit)[0] for entry in held]
        from_mediator = sum(holder == MEDIATOR for holder in holders)
        from_partner = sum(holder in names and holder != name for holder in holders)
        shares[name] = {
            "n_final": len(held),
            "n_from_mediator": from_mediator,
            "n_from_partner": from_partner,
            "share_from_mediator": from_mediator / len(held) if held else None,
            "share_from_partner": from_partner / len(held) if held else None,
        }
    return shares


def common_ground_shares(
    record: Record, agreement: Agreement, *, match_convokit: bool = False
) -> dict[str, dict[str, Any]]:
    """Participant -> how many claims became shared during the conversation, and the share of these that came from
    the mediator (`None` when there are none, or when an answer about the participant's claims is missing).

    A claim is newly shared when a partner agrees with it at the end and none agreed with it at the start. It came
    from the mediator when the earliest origin of it and of the partners' claims that agree with it is the mediator's.
    Keys: n_new_shared, share_new_common_ground.
    """
    names = list(record["initial"])
    by_id = {entry["id"]: entry for entry in record["memory"]}
    held = {name: held_entries(record["memory"], name) for name in names}
    seeds = {name: seed_entries(record, name) for name in names}
    shares = {}
    for name in names:
        partners = _agreeing(agreement, name, "final", held)
        at_start = {seeds[name][place]["id"] for place in _agreeing(agreement, name, "initial", seeds)}
        new = [place for place in partners if held[name][place]["id"] not in at_start]
        origins = [
            [
                origin_of(entry, by_id, names, match_convokit=match_convokit)
                for entry in (held[name][place], *partners[place])
            ]
            for place in new
        ]
        from_mediator = sum(min(group, key=lambda origin: origin[1])[0] == MEDIATOR for group in origins)
        is_known = bool(new) and not _has_failure(agreement, name)
        shares[name] = {
            "n_new_shared": len(new),
            "share_new_common_ground": from_mediator / len(new) if is_known else None,
        }
    return shares


def seed_entries(record: Record, name: str) -> list[Entry]:
    """The entries that `record["initial"][name]` lists, in its order: those of the pre-survey text that are own, or,
    in a record made like ConvoKit's, those of every kind."""
    seeds = [each for each in record["memory"] if each["speaker"] == name and each["first_turn"] == PRE_SURVEY]
    lists_all_kinds = len(record["initial"][name]) == len(seeds)
    return seeds if lists_all_kinds else [each for each in seeds if each["kind"] == "own"]


def named_participant(about: Any, names: Iterable[str]) -> str | None:
    """The one participant that `about` names, whole and in any case; `None` for nobody, several, or a reserved word.

    "Everyone" does not name Eve, and "the mediator" does not name a participant who calls himself mediator.
    """
    text = " ".join(about.split()).casefold() if isinstance(about, str) else ""
    if text.removeprefix("the ") in _RESERVED:
        return None
    folded = {name: " ".join(name.split()).casefold() for name in names}
    same = [name for name, known in folded.items() if known == text]
    if len(same) == 1:
        return same[0]
    inside = {
        name: known
        for name, known in folded.items()
        if known and known not in _RESERVED and re.search(rf"(?<!\w){re.escape(known)}(?!\w)", text)
    }
    # "Ann (2)" names the second Ann only
    longest = [
        name
        for name, known in inside.items()
        if not any(known != other and known in other for other in inside.values())
    ]
    return longest[0] if len(longest) == 1 else None


def _holder(entry: Entry, names: Sequence[str], match_convokit: bool) -> str:
    is_report = entry["kind"] == "reported" and (entry["role"] == "mediator" or not match_convokit)
    return (named_participant(entry["about"], names) or UNKNOWN) if is_report else entry["speaker"]


def _turn_number(turn: str) -> int:
    return -1 if turn == PRE_SURVEY else int(turn)


def _agreeing(
    agreement: Agreement, name: str, stage: str, entries: Mapping[str, Sequence[Entry]]
) -> dict[int, list[Entry]]:
    """Place in the participant's list -> the partners' entries that agree with it, in the order they were judged."""
    found: dict[int, list[Entry]] = {}
    for pair in agreement["pairs"]:
        if name not in (pair["a"], pair["b"]):
            continue
        mine, theirs = ("a", "b") if pair["a"] == name else ("b", "a")
        partner = entries[str(pair[theirs])]  # type: ignore[literal-required]
        for judged in pair[stage]["pairs"]:  # type: ignore[literal-required]
            if judged["relation"] == "agree":
                found.setdefault(judged[mine], []).append(partner[judged[theirs]])
    return found


def _has_failure(agreement: Agreement, name: str) -> bool:
    return any(
        pair["initial"].get("failed") or pair["final"].get("failed")
        for pair in agreement["pairs"]
        if name in (pair["a"], pair["b"])
    )
