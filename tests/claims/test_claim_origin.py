"""Who held a claim first, and the shares that rest on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import ClaimTracker
from evaluators.claims.agreement import agreement_of, judgement, without_answer
from evaluators.claims.memory import new_entry
from evaluators.claims.origin import common_ground_shares, named_participant, origin_of, source_shares
from evaluators.claims.records import Entry, PairAgreement, Record
from tests.claims.claim_objects import by_id, claim, link, memory_of

NAMES = ["Ann", "Bob"]


def chain(*steps: tuple[str, int | str]) -> list[Entry]:
    """Entries of speakers and turns, each linked to the one before."""
    memory: list[Entry] = []
    for speaker, turn in steps:
        memory.append(new_entry(memory, claim(f"{speaker} {turn}", speaker), turn))
        if len(memory) > 1:
            link(memory[-1], "equivalent", memory[-2])
    return memory


def origin(memory: list[Entry], place: int = -1) -> tuple[str, int]:
    return ClaimTracker.origin_of(memory[place], by_id(memory), NAMES)


def test_the_earliest_over_links_counts_and_the_pre_survey_is_before_all_turns() -> None:
    assert origin(chain(("Ann", 3), ("Mediator", 4), ("Bob", 5))) == ("Ann", 3)
    assert origin(chain(("Ann", "pre-survey"), ("Bob", 0))) == ("Ann", -1)
    assert origin(chain(("Ann", 3))) == ("Ann", 3)


@pytest.mark.parametrize("relation", ["backward_entail", "contradiction", "neutral"])
def test_other_links_lead_nowhere(relation: str) -> None:
    memory = memory_of(claim("a"))
    memory.append(new_entry(memory, claim("b", "Bob"), 5))
    link(memory[1], relation, memory[0])
    assert origin(memory) == ("Bob", 5)


def test_forward_entailment_is_followed() -> None:
    memory = memory_of(claim("a"))
    memory.append(new_entry(memory, claim("b", "Bob"), 5))
    link(memory[1], "forward_entail", memory[0])
    assert origin(memory) == ("Ann", -1)


def test_cycles_end_and_equal_turns_do_not_replace() -> None:
    memory = chain(("Ann", 2), ("Bob", 2), ("Mediator", 2))
    link(memory[0], "equivalent", memory[2])
    assert [origin(memory, place) for place in range(3)] == [("Ann", 2), ("Bob", 2), ("Mediator", 2)]


def test_a_chain_longer_than_the_recursion_limit() -> None:
    assert origin(chain(*[("Ann" if turn == 0 else "Bob", turn) for turn in range(5000)])) == ("Ann", 0)


def test_reported_claims_count_for_whom_they_are_about() -> None:
    def reported(speaker: str, about: str | None) -> Entry:
        return memory_of(claim("x", speaker, "reported", about), turn=3)[0]

    def of(entry: Entry, *, match_convokit: bool = False) -> str:
        return origin_of(entry, {}, NAMES, match_convokit=match_convokit)[0]

    assert of(reported("Mediator", "Ann")) == "Ann"
    assert of(reported("Bob", "Ann")) == "Ann"
    assert of(reported("Bob", "Ann"), match_convokit=True) == "Bob"
    assert of(reported("Mediator", "Ann"), match_convokit=True) == "Ann"
    assert of(reported("Mediator", None)) == "unknown"
    assert of(reported("Bob", "everyone")) == "unknown"


@pytest.mark.parametrize(
    ("about", "names", "found"),
    [
        ("ann", ["Ann", "Bob"], "Ann"),
        ("  Ann  ", ["Ann", "Bob"], "Ann"),
        ("the user Ann", ["Ann", "Bob"], "Ann"),
        ("Anna", ["Ann", "Bob"], None),  # ConvoKit: Ann, whose name is inside
        ("An", ["Ann", "Bob"], None),  # ConvoKit: Ann
        ("everyone", ["Eve", "Bob"], None),  # ConvoKit: Eve
        ("the mediator", ["mediator", "Bob"], None),  # ConvoKit: the participant
        ("The Mediator", ["Ann", "mediator"], None),
        ("Others", ["others"], None),
        ("Ann and Bob", ["Ann", "Bob"], None),
        ("Ann (2)", ["Ann", "Ann (2)"], "Ann (2)"),
        ("about Ann (2)", ["Ann", "Ann (2)"], "Ann (2)"),
        ("Ann", ["Ann", "Ann (2)"], "Ann"),
        ("Mediator (participant)", ["Mediator (participant)", "Bob"], "Mediator (participant)"),
        ("", ["Ann"], None),
        (None, ["Ann"], None),
        (7, ["Ann"], None),
        ("a.b", ["a.b", "axb"], "a.b"),
        ("STRASSE", ["Straße"], "Straße"),
    ],
)
def test_whom_about_names(about: object, names: list[str], found: str | None) -> None:
    assert named_participant(about, names) == found


@given(st.text(max_size=20), st.lists(st.text(min_size=1, max_size=6), max_size=4))
def test_about_names_a_participant_or_nobody(about: str, names: list[str]) -> None:
    assert named_participant(about, names) in {*names, None}


def record(memory: list[Entry]) -> Record:
    seeds = {
        name: [each["claim"] for each in memory if each["speaker"] == name and each["first_turn"] == "pre-survey"]
        for name in NAMES
    }
    final = {name: [each["claim"] for each in ClaimTracker.held_entries(memory, name)] for name in NAMES}
    return Record(speakers={"Ann": "a", "Bob": "b"}, initial=seeds, final=final, memory=memory, steps=[])


def two_adopters() -> Record:
    """Ann holds a seed and a claim of the mediator's; Bob holds Ann's seed and the mediator's claim."""
    memory = memory_of(claim("seed"))
    for text, speaker, turn in (("idea", "Mediator", 1), ("idea!", "Ann", 2), ("seed!", "Bob", 3), ("idea?", "Bob", 4)):
        memory.append(new_entry(memory, claim(text, speaker), turn))
    link(memory[2], "equivalent", memory[1])
    link(memory[3], "equivalent", memory[0])
    link(memory[4], "forward_entail", memory[1])
    return record(memory)


def test_shares_of_sources() -> None:
    shares = source_shares(two_adopters())
    assert shares["Ann"] == {
        "n_final": 2,
        "n_from_mediator": 1,
        "n_from_partner": 0,
        "share_from_mediator": 0.5,
        "share_from_partner": 0.0,
    }
    assert (shares["Bob"]["share_from_mediator"], shares["Bob"]["share_from_partner"]) == (0.5, 0.5)
    empty = source_shares(record([]))
    assert (empty["Ann"]["share_from_mediator"], empty["Ann"]["share_from_partner"]) == (None, None)


def agreed(final: list[tuple[int, int]], initial: list[tuple[int, int]] = (), *, lost: bool = False) -> PairAgreement:  # type: ignore[assignment]
    def pairs(found: list[tuple[int, int]]) -> list[dict[str, object]]:
        return [{"a": a, "b": b, "relation": "agree"} for a, b in found]

    return PairAgreement(
        a="Ann",
        b="Bob",
        initial=judgement(pairs(initial), 1, 0 if not initial else 1),
        final=without_answer() if lost else judgement(pairs(final), 2, 2),
    )


def test_shares_of_new_common_ground() -> None:
    tracked = two_adopters()
    # Ann's list: seed, idea!; Bob's: seed!, idea?
    shares = common_ground_shares(tracked, agreement_of([agreed([(0, 0), (1, 1)])]))
    # two claims of each are newly shared; one of them began with Ann's seed, one with the mediator
    assert shares["Ann"] == {"n_new_shared": 2, "share_new_common_ground": 0.5}
    assert shares["Bob"] == {"n_new_shared": 2, "share_new_common_ground": 0.5}
    nothing = common_ground_shares(tracked, agreement_of([agreed([])]))
    assert nothing["Ann"] == {"n_new_shared": 0, "share_new_common_ground": None}


def test_what_was_shared_at_the_start_is_not_new_even_when_it_was_refined() -> None:
    memory = memory_of(claim("x"), claim("x!", "Bob"))
    memory[0]["claim"] = "x, refined"
    tracked = record(memory)
    shares = common_ground_shares(tracked, agreement_of([agreed([(0, 0)], [(0, 0)])]))
    assert shares == {name: {"n_new_shared": 0, "share_new_common_ground": None} for name in NAMES}


def test_a_lost_answer_leaves_the_share_undefined() -> None:
    shares = common_ground_shares(two_adopters(), agreement_of([agreed([], lost=True)]))
    assert shares["Ann"]["share_new_common_ground"] is None
