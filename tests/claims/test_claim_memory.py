"""From a relation to an operation, and from operations to the memory."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import ClaimTracker
from evaluators.claims.consolidation import RELATIONS
from evaluators.claims.memory import resolved
from evaluators.claims.records import Decision, Entry
from tests.claims.claim_objects import by_id, claim, memory_of

OWN = {"relation": "equivalent", "target": "c_0"}


def said(relation: Any, target: Any = "c_0", merged: Any = None, supersedes: Any = None) -> dict[str, Any]:
    """In ConvoKit's form."""
    return {
        "logical_relation": relation,
        "target": {"id": target} if target else None,
        "merged_claim": merged,
        "supersedes": supersedes,
    }


def shown() -> dict[str, Entry]:
    """c_0 Ann's own, c_1 Bob's own, c_2 Ann's report."""
    return by_id(memory_of(claim("a"), claim("b", "Bob"), claim("r", kind="reported", about="Bob")))


ADD = {"op": "ADD", "relation": "neutral", "target": None}


@pytest.mark.parametrize(
    ("update", "decision"),
    [
        (said("neutral"), ADD),
        (said("akin"), ADD),
        (said(None), ADD),
        ({}, ADD),
        (said("equivalent", None), ADD),
        (said("equivalent", "c_9"), ADD),
        ({"logical_relation": "equivalent", "target": 3}, ADD),
        # another's claim: linked, whatever the relation
        (said("equivalent", "c_1"), {"op": "ADD", "relation": "equivalent", "target": "c_1"}),
        (said("contradiction", "c_1", supersedes=True), {"op": "ADD", "relation": "contradiction", "target": "c_1"}),
        (said("forward_entail", "c_1", "m"), {"op": "ADD", "relation": "forward_entail", "target": "c_1"}),
        # own, of another kind
        (said("equivalent", "c_2"), {"op": "ADD", "relation": "equivalent", "target": "c_2"}),
        # own, of the same kind
        (said("equivalent"), {"op": "RESTATE", "relation": "equivalent", "target": "c_0"}),
        (said("backward_entail"), {"op": "RESTATE", "relation": "backward_entail", "target": "c_0"}),
        (
            said("forward_entail", merged=" m "),
            {"op": "REFINE", "relation": "forward_entail", "target": "c_0", "text": "m"},
        ),
        (
            said("forward_entail", merged=" "),
            {"op": "REFINE", "relation": "forward_entail", "target": "c_0", "text": None},
        ),
        (said("contradiction", supersedes=True), {"op": "SUPERSEDE", "relation": "contradiction", "target": "c_0"}),
        (said("contradiction", supersedes=False), {"op": "ADD", "relation": "contradiction", "target": "c_0"}),
        (said("contradiction"), {"op": "ADD", "relation": "contradiction", "target": "c_0"}),
        # labels as models write them
        (said("Forward-Entail"), {"op": "REFINE", "relation": "forward_entail", "target": "c_0", "text": None}),
        (said(" backward entail "), {"op": "RESTATE", "relation": "backward_entail", "target": "c_0"}),
        (said("CONTRADICTION", supersedes="True"), {"op": "SUPERSEDE", "relation": "contradiction", "target": "c_0"}),
        (said("contradiction", supersedes="false"), {"op": "ADD", "relation": "contradiction", "target": "c_0"}),
    ],
)
def test_operations(update: dict[str, Any], decision: dict[str, Any]) -> None:
    assert ClaimTracker.repair_update(update, shown(), "Ann") == decision


def test_a_report_restates_a_report() -> None:
    assert ClaimTracker.repair_update(said("equivalent", "c_2"), shown(), "Ann", "reported")["op"] == "RESTATE"
    assert ClaimTracker.repair_update(said("equivalent", "c_0"), shown(), "Ann", "reported")["op"] == "ADD"


def test_updates_belong_to_the_claim_they_quote_never_to_a_place() -> None:
    new = [claim("one"), claim("two")]
    updates = [{**said("equivalent"), "source": {"claim": " two "}}, "garbage", {**said("equivalent"), "source": None}]
    assert [each["op"] for each in ClaimTracker.decide(updates, shown(), new, "Ann")] == ["ADD", "RESTATE"]
    assert [each["op"] for each in ClaimTracker.decide([], shown(), new, "Ann")] == ["ADD", "ADD"]


def apply(memory: list[Entry], *decisions: dict[str, Any], turn: int = 4) -> list[Entry]:
    new = [claim(f"new {place}", siblings=(f"like {place}",)) for place in range(len(decisions))]
    done: list[Any] = list(decisions)
    return ClaimTracker.apply_updates(memory, done, new, turn)


def test_an_added_claim_is_an_entry_with_all_its_fields() -> None:
    memory = memory_of(claim("b", "Bob"))
    (entry,) = apply(memory, {"op": "ADD", "relation": "equivalent", "target": "c_0"})
    assert memory[1] is entry
    assert entry == {
        "id": "c_1",
        "speaker": "Ann",
        "role": "participant",
        "target_speaker": "Everyone",
        "claim": "new 0",
        "kind": "own",
        "about": None,
        "first_turn": "4",
        "last_turn": "4",
        "status": "active",
        "history": [{"turn": "4", "op": "ADD", "claim": "new 0", "relation": "equivalent", "target": "c_0"}],
        "restated": [{"turn": "4", "claim": "like 0", "relation": "sibling"}],
        "links": [{"turn": "4", "relation": "equivalent", "to": "c_0", "speaker": "Bob"}],
        "supersedes": None,
        "superseded_by": None,
        "retracted_at": None,
    }


def test_a_restated_claim_keeps_its_text_and_logs_the_new_one_and_its_siblings() -> None:
    memory = memory_of(claim("a"))
    assert apply(memory, {"op": "RESTATE", "relation": "backward_entail", "target": "c_0"}) == []
    assert len(memory) == 1
    assert (memory[0]["claim"], memory[0]["first_turn"], memory[0]["last_turn"]) == ("a", "pre-survey", "4")
    assert memory[0]["restated"] == [
        {"turn": "4", "claim": "new 0", "relation": "backward_entail"},
        {"turn": "4", "claim": "like 0", "relation": "sibling"},
    ]


@pytest.mark.parametrize(("text", "becomes"), [("both", "both"), (None, "new 0")])
def test_a_refined_claim_changes_its_text_and_keeps_the_old_one(text: str | None, becomes: str) -> None:
    memory = memory_of(claim("a"))
    changed = apply(memory, {"op": "REFINE", "relation": "forward_entail", "target": "c_0", "text": text})
    assert changed == memory
    assert memory[0]["claim"] == becomes
    assert [each["claim"] for each in memory[0]["history"]] == ["a", becomes]
    assert memory[0]["history"][1]["from"] == "new 0"


def test_a_superseded_claim_is_retracted_and_stays() -> None:
    memory = memory_of(claim("a"))
    (entry,) = apply(memory, {"op": "SUPERSEDE", "relation": "contradiction", "target": "c_0"})
    old = memory[0]
    assert (old["status"], old["retracted_at"], old["superseded_by"]) == ("retracted", "4", "c_1")
    assert (entry["supersedes"], entry["links"][0]["relation"]) == ("c_0", "contradiction")
    assert ClaimTracker.active(memory) == [entry]
    assert ClaimTracker.active(memory, "Bob") == []


def ops(memory: list[Entry], *decisions: dict[str, Any]) -> list[tuple[str, str | None]]:
    given_: list[Any] = list(decisions)
    return [(each["op"], each.get("instead_of")) for each in resolved(memory, given_)]


REFINE = {"op": "REFINE", "relation": "forward_entail", "target": "c_0", "text": None}
RESTATE = {"op": "RESTATE", "relation": "equivalent", "target": "c_0"}
SUPERSEDE = {"op": "SUPERSEDE", "relation": "contradiction", "target": "c_0"}


@pytest.mark.parametrize(
    ("decisions", "done"),
    [
        ((REFINE, REFINE), [("REFINE", None), ("ADD", "REFINE")]),
        ((SUPERSEDE, RESTATE), [("SUPERSEDE", None), ("ADD", "RESTATE")]),
        ((SUPERSEDE, REFINE), [("SUPERSEDE", None), ("ADD", "REFINE")]),
        ((SUPERSEDE, SUPERSEDE), [("SUPERSEDE", None), ("ADD", "SUPERSEDE")]),
        ((REFINE, SUPERSEDE), [("REFINE", None), ("ADD", "SUPERSEDE")]),
        ((REFINE, RESTATE), [("REFINE", None), ("RESTATE", None)]),
        ((RESTATE, RESTATE), [("RESTATE", None), ("RESTATE", None)]),
        ((RESTATE, SUPERSEDE), [("RESTATE", None), ("SUPERSEDE", None)]),
    ],
)
def test_decisions_of_one_utterance_meet_the_memory_as_the_earlier_ones_leave_it(
    decisions: tuple[dict[str, Any], ...], done: list[tuple[str, str | None]]
) -> None:
    memory = memory_of(claim("a"))
    assert ops(memory, *decisions) == done
    apply(memory, *decisions)
    added = [op for op, _ in done].count("ADD") + [op for op, _ in done].count("SUPERSEDE")
    assert len(memory) == 1 + added
    if done[1][0] == "ADD":
        assert memory[-1]["claim"] == "new 1"
        assert memory[-1]["links"][0]["to"] == "c_0"


def test_claims_held_are_active_and_own() -> None:
    memory = memory_of(claim("a"), claim("r", kind="reported"), claim("b", "Bob"), claim("old"))
    apply(memory, {"op": "SUPERSEDE", "relation": "contradiction", "target": "c_3"})
    assert [each["claim"] for each in ClaimTracker.held_entries(memory, "Ann")] == ["a", "new 0"]
    assert [each["claim"] for each in ClaimTracker.held_entries(memory, "Ann", ("reported",))] == ["r"]


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(RELATIONS), st.integers(0, 9), st.sampled_from([True, False, None])), max_size=4
        ),
        max_size=8,
    )
)
def test_no_entry_is_ever_deleted_and_every_claim_is_somewhere(turns: list[list[tuple[str, int, bool | None]]]) -> None:
    memory = memory_of(claim("first"), claim("of Bob", "Bob"))
    for turn, answers in enumerate(turns):
        before = copy.deepcopy(memory)
        new = [claim(f"{turn}.{place}") for place in range(len(answers))]
        updates = {
            place: said(relation, f"c_{target}", supersedes=supersedes)
            for place, (relation, target, supersedes) in enumerate(answers)
        }
        known = by_id(ClaimTracker.active(memory))
        decisions: list[Decision] = [ClaimTracker.repair_update(updates[place], known, "Ann") for place in updates]
        ClaimTracker.apply_updates(memory, decisions, new, turn)
        assert [each["id"] for each in memory] == [f"c_{place}" for place in range(len(memory))]
        assert len(memory) >= len(before)
        for old, entry in zip(before, memory, strict=False):
            assert entry["history"][: len(old["history"])] == old["history"]
            assert old["status"] == "active" or entry["claim"] == old["claim"]
            assert old["speaker"] == "Ann" or entry == old
        texts = {each["claim"] for entry in memory for each in (*entry["history"], *entry["restated"])}
        texts |= {str(each.get("from")) for entry in memory for each in entry["history"]}
        assert {each["claim"] for each in new} <= texts
        for entry in memory:
            assert (entry["status"] == "retracted") == (entry["superseded_by"] is not None)
