"""Shares, means and the gain."""

from typing import Any

import pytest

from convolabel.llm.errors import Malformed
from evaluators import ClaimTracker
from evaluators.claims.agreement import agreement_of, judgement, pairs_of, read_pairs
from evaluators.claims.records import Judgement, PairAgreement


def pair(a: Any, b: Any, relation: Any = "agree") -> dict[str, Any]:
    return {"a": a, "b": b, "relation": relation}


@pytest.mark.parametrize(
    ("rows", "kept", "faults"),
    [
        ([pair(0, 1), pair(1, 0, "contradiction")], [pair(0, 1), pair(1, 0, "contradiction")], 0),
        ([pair(0, 0, "Agrees"), pair(0, 1, "CONTRADICTS")], [pair(0, 0), pair(0, 1, "contradiction")], 0),
        ([pair(0, 0), pair(0, 0)], [pair(0, 0)], 0),
        ([pair(0, 0, "neutral")], [], 0),
        ([pair(-1, 0), pair(0, -1), pair(2, 0), pair(0, 2)], [], 4),
        ([pair(True, False), pair("0", 0), pair(0.0, 0), pair(None, 0)], [], 4),
        ([pair(0, 0, "similar"), pair(0, 0, None), pair(0, 0, 1)], [], 3),
        ([None, "x", [0, 0], {"a": 0}], [], 4),
        ([], [], 0),
    ],
)
def test_pairs_of_a_reply(rows: list[Any], kept: list[dict[str, Any]], faults: int) -> None:
    found = read_pairs({"pairs": rows}, 2, 2)
    assert (found.items, len(found.faults)) == (kept, faults)


def test_a_reply_without_a_list_is_of_no_use() -> None:
    with pytest.raises(Malformed):
        read_pairs({"answer": "none"}, 1, 1)


def test_shares_are_means_of_both_sides() -> None:
    # of 4 claims of a two are in agreeing pairs, of 2 of b one: (2/4 + 1/2) / 2; contradicting 1 and 1: (1/4 + 1/2) / 2
    judged = judgement([pair(0, 1), pair(3, 1), pair(1, 0, "contradiction")], 4, 2)
    assert (judged["agree"], judged["contradiction"]) == (0.5, 0.375)
    assert judgement([], 0, 3) == {"pairs": [], "agree": None, "contradiction": None}
    assert judgement([], 1, 1) == {"pairs": [], "agree": 0.0, "contradiction": 0.0}


def test_empty_lists_are_not_asked_about() -> None:
    tracker = ClaimTracker(object())
    assert tracker.claim_agreement([], ["x"], "Ann", "Bob")["agree"] is None


def between(initial: float | None, final: float | None) -> PairAgreement:
    def judged(agree: float | None) -> Judgement:
        return Judgement(pairs=[], agree=agree, contradiction=agree)

    return PairAgreement(a="", b="", initial=judged(initial), final=judged(final))


@pytest.mark.parametrize(
    ("pairs", "initial", "final", "gain", "convokits"),
    [
        # over both pairs: (0.5 - 0.25) / (1 - 0.25)
        ([between(0.5, 0.5), between(0.0, 0.5)], 0.25, 0.5, 1 / 3, 1 / 3),
        # only the first has a start: (0.6 - 0.2) / 0.8; ConvoKit takes the mean of the end, 0.3: (0.3 - 0.2) / 0.8
        ([between(0.2, 0.6), between(None, 0.0)], 0.2, 0.3, 0.5, 0.125),
        # the first has a start only, the second an end only: nothing to compare; ConvoKit: (0.5 - 0) / 1
        ([between(0.0, None), between(None, 0.5)], 0.0, 0.5, None, 0.5),
        ([between(1.0, 0.5)], 1.0, 0.5, None, None),
        ([between(0.5, 0.0)], 0.5, 0.0, -1.0, -1.0),
        ([], None, None, None, None),
    ],
)
def test_the_gain_compares_like_with_like(
    pairs: list[PairAgreement], initial: float | None, final: float | None, gain: float | None, convokits: float | None
) -> None:
    found = agreement_of(pairs)
    assert (found["initial"], found["final"]) == (initial, final)
    assert found["gain"] == (None if gain is None else pytest.approx(gain))
    assert found["n_pairs"] == sum(None not in (p["initial"]["agree"], p["final"]["agree"]) for p in pairs)
    matched = agreement_of(pairs, match_convokit=True)["gain"]
    assert matched == (None if convokits is None else pytest.approx(convokits))


def test_every_two_participants_in_their_order() -> None:
    assert pairs_of(["Cy", "Ann", "Bob"]) == [("Cy", "Ann"), ("Cy", "Bob"), ("Ann", "Bob")]
