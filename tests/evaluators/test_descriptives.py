"""Frequencies, transitions, role scores, notes: hand-worked cases."""

import doctest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vote_rows import rows, vote

from evaluators import Descriptives, descriptives, load_votes, vrm
from evaluators.intervals import wilson
from evaluators.vrm import MODES, SCORES, role_scores


def of(table: list[Any]) -> Descriptives:
    return descriptives(load_votes(table))


def talk(rater: str, said: str, speakers: str = "", **cells: Any) -> list[Any]:
    """One unit per letter of `said`, `?` being unsure; `speakers` names who speaks each message (one unit each)."""
    return [
        vote(
            f"s{place}",
            rater,
            None if value == "?" else value,
            message_id=f"m{place}",
            speaker=(speakers or "x" * len(said))[place],
            speaker_role={"c": "client", "t": "coach"}.get((speakers or "x" * len(said))[place]),
            **cells,
        )
        for place, value in enumerate(said)
    ]


def test_frequencies_with_wilson_intervals() -> None:
    table = talk("a", "QQR?", "ctct") + talk("b", "QRRR", "ctct")
    result = of(table).frequencies
    overall = result[result["split"] == "overall"].set_index("category")
    assert overall["n"].to_dict() == {"Q": 3, "R": 4, "unsure": 1}
    assert overall.loc["Q", ["total", "share"]].tolist() == [8, 3 / 8]
    assert overall.loc["Q", ["low", "high"]].tolist() == list(wilson(3, 8))
    by_part = result.set_index(["split", "part", "category"])["n"]
    assert by_part["rater", "a", "Q"] == 2
    assert by_part["role", "client", "Q"] == 2
    assert by_part["role", "coach", "R"] == 2


def test_transitions_between_neighbours_that_both_have_a_category() -> None:
    # a: Q Q R ? R: Q-Q, Q-R; the unsure unit breaks the chain. b: Q R (only the first two)
    table = talk("a", "QQR?R", "cctct") + talk("b", "QR", "cc")
    result = of(table).transitions
    units = result[result["between"] == "units"].set_index(["from_category", "to_category"])
    assert units["n"].to_dict() == {("Q", "Q"): 1, ("Q", "R"): 2}
    assert units["share"].to_dict() == {("Q", "Q"): 1 / 3, ("Q", "R"): 2 / 3}
    speakers = result[result["between"] == "speakers"]
    # the speaker changes from u1 to u2 (client to coach), a only
    assert speakers.drop(columns="dimension").to_numpy().tolist() == [["speakers", "client", "coach", "Q", "R", 1, 1.0]]


def test_transitions_stay_inside_a_conversation() -> None:
    table = [*talk("a", "Q"), vote("t0", "a", "R", conversation_id="d")]
    assert of(table).transitions.empty
    lacking = of([*rows([["Q", "R"]])])
    assert lacking.transitions.empty
    assert lacking.used["not_computed"] == {"transitions": "the table has no column for the conversation"}


def test_role_scores_of_vrm() -> None:
    assert doctest.testmod(vrm) == (0, 1)
    # attentive R K I Q, acquiescent R K C E, presumptuous R I C A
    result = of(talk("a", "DEACQKIRU?", "cccccttttt")).role_scores.set_index(["split", "part"])
    whole = result.loc["overall", "all"]
    assert whole[["n", "uncodable", "attentive", "acquiescent", "presumptuous"]].tolist() == [8, 1, 0.5, 0.5, 0.5]
    client = result.loc["role", "client"]  # D E A C Q
    assert client[["n", "attentive", "acquiescent", "presumptuous"]].tolist() == [5, 1 / 5, 2 / 5, 2 / 5]


def test_role_scores_only_for_the_categories_and_dimensions_of_vrm() -> None:
    assert of(talk("a", "QX")).role_scores.empty
    assert of(talk("a", "QR", dimension="stance")).role_scores.empty
    assert of(talk("a", "?")).role_scores.empty


def test_the_three_questions_tell_the_eight_modes_apart() -> None:
    answers = {mode: tuple(mode in half for half in SCORES.values()) for mode in MODES}
    assert len(set(answers.values())) == 8


@given(st.dictionaries(st.sampled_from([*sorted(MODES), "U"]), st.integers(0, 50)))
def test_role_scores_are_shares(counts: dict[str, int]) -> None:
    n = sum(count for mode, count in counts.items() if mode != "U")
    for score, value in role_scores(counts).items():
        expected = sum(counts.get(mode, 0) for mode in SCORES[score])
        assert value == (pytest.approx(expected / n) if n else None)


def test_notes_are_listed_once_per_unit_and_rater_as_they_are() -> None:
    note = "<b>hm</b>\r\n=1+1"
    table = [vote("s1", "a", "Q", note=note), vote("s1", "a", None, dimension="form", note=note)]
    table += [vote("s1", "b", "R"), vote("s2", "b", "R", note="kurz", span_rev=2)]
    notes = of(table).as_dict()["notes"]
    assert notes == [
        {
            "conversation": "c",
            "unit": "s1",
            "rater": "a",
            "said": "intent: Q; form: unsure",
            "note": note,
            "text": "Ja.",
        },
        {
            "conversation": "c",
            "unit": "s2 rev 2",
            "rater": "b",
            "said": "intent: R",
            "note": "kurz",
            "text": "Ja.",
        },
    ]
