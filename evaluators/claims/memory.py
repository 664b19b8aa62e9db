"""The memory of claims. Entries are added, restated, refined or superseded; none is ever deleted."""

from collections.abc import Collection, Sequence
from typing import Any

from evaluators.claims.records import Claim, Decision, Entry
from evaluators.participants import MEDIATOR

ACTIVE, RETRACTED = "active", "retracted"


def new_entry(memory: Sequence[Entry], claim: Claim, turn: int | str) -> Entry:
    """An entry for `claim`, numbered to follow those in `memory`, and not put there."""
    when = str(turn)
    return Entry(
        id=f"c_{len(memory)}",
        speaker=claim["speaker"],
        role="mediator" if claim["speaker"] == MEDIATOR else "participant",
        target_speaker=claim.get("target_speaker"),
        claim=claim["claim"],
        kind=claim.get("kind", "own"),
        about=claim.get("about"),
        first_turn=when,
        last_turn=when,
        status=ACTIVE,
        history=[{"turn": when, "op": "ADD", "claim": claim["claim"], "relation": None, "target": None}],
        restated=_restated(claim, when),
        links=[],
        supersedes=None,
        superseded_by=None,
        retracted_at=None,
    )


def active(memory: Sequence[Entry], speaker: str | None = None) -> list[Entry]:
    """The entries that are not retracted, of one speaker or of all."""
    return [each for each in memory if each["status"] == ACTIVE and speaker in (None, each["speaker"])]


def held_entries(memory: Sequence[Entry], speaker: str, kinds: Collection[str] = ("own",)) -> list[Entry]:
    """The claims a speaker holds: the active entries of the given kinds."""
    return [each for each in active(memory, speaker) if each["kind"] in kinds]


def resolved(memory: Sequence[Entry], decisions: Sequence[Decision]) -> list[Decision]:
    """The decisions of one utterance as far as the memory still allows them, one after the other.

    They were made on the memory as it was before the utterance. A claim that an earlier decision retracted can be
    neither restated nor refined nor superseded again, and one that was refined is no longer the claim that a second
    refinement or a retraction was judged on: these become ADD, with the link that says how the claims are related.
    """
    retracted = {each["id"] for each in memory if each["status"] == RETRACTED}
    refined: set[str] = set()
    done: list[Decision] = []
    for decision in decisions:
        target = decision.get("target") or ""
        is_gone = decision["op"] != "ADD" and target in retracted
        if is_gone or (decision["op"] in ("REFINE", "SUPERSEDE") and target in refined):
            done.append(_linked(decision, target))
            continue
        if decision["op"] == "SUPERSEDE":
            retracted.add(target)
        if decision["op"] == "REFINE":
            refined.add(target)
        done.append(decision)
    return done


def apply_updates(
    memory: list[Entry], decisions: Sequence[Decision], new_claims: Sequence[Claim], turn: int | str
) -> list[Entry]:
    """Do to `memory`, in place, what was decided about each of `new_claims`.

    Returns the entries that were added or whose text changed. See `resolved` for what happens when several decisions
    of one utterance are about one entry.
    """
    by_id = {each["id"]: each for each in memory}
    changed: list[Entry] = []
    for decision, claim in zip(resolved(memory, decisions), new_claims, strict=True):
        target = by_id.get(decision.get("target") or "")
        if decision["op"] == "RESTATE" and target is not None:
            _restate(target, claim, decision, str(turn))
        elif decision["op"] == "REFINE" and target is not None:
            _refine(target, claim, decision, str(turn))
            changed.append(target)
        else:
            entry = _add(memory, claim, decision, target, str(turn))
            by_id[entry["id"]] = entry
            changed.append(entry)
    return changed


def _linked(decision: Decision, target: str) -> Decision:
    return Decision(op="ADD", relation=decision.get("relation", ""), target=target, instead_of=decision["op"])


def _restate(target: Entry, claim: Claim, decision: Decision, turn: str) -> None:
    restatement: dict[str, Any] = {"turn": turn, "claim": claim["claim"], "relation": decision.get("relation")}
    target["restated"] += [restatement, *_restated(claim, turn)]
    target["last_turn"] = turn


def _refine(target: Entry, claim: Claim, decision: Decision, turn: str) -> None:
    text = decision.get("text") or claim["claim"]
    change = {"turn": turn, "op": "REFINE", "claim": text, "relation": decision.get("relation"), "from": claim["claim"]}
    target["history"].append(change)
    target["restated"] += _restated(claim, turn)
    target["claim"], target["last_turn"] = text, turn


def _add(memory: list[Entry], claim: Claim, decision: Decision, target: Entry | None, turn: str) -> Entry:
    entry = new_entry(memory, claim, turn)
    if target is not None:
        relation = decision.get("relation")
        entry["links"].append({"turn": turn, "relation": relation, "to": target["id"], "speaker": target["speaker"]})
        entry["history"][0].update(relation=relation, target=target["id"])
        if decision["op"] == "SUPERSEDE":
            target["status"], target["retracted_at"], target["superseded_by"] = RETRACTED, turn, entry["id"]
            entry["supersedes"] = target["id"]
    memory.append(entry)
    return entry


def _restated(claim: Claim, turn: str) -> list[dict[str, Any]]:
    return [{"turn": turn, "claim": text, "relation": "sibling"} for text in claim.get("siblings", [])]
