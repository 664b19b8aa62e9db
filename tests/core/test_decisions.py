"""Decided, started, done: progress over the units that exist."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convolabel.codebook import Codebook
from convolabel.decisions import Decision, Progress, Status, decided_units, progress
from convolabel.units import UNSURE, Unit

PAIR = [{"id": "A", "name": "Aa"}, {"id": "B", "name": "Bb"}]
ONE = Codebook.model_validate(
    {"name": "one", "title": "One", "dimensions": [{"id": "d", "title": "D", "categories": PAIR}]}
)
TWO = Codebook.model_validate(
    {
        "name": "two",
        "title": "Two",
        "dimensions": [{"id": "d", "title": "D", "categories": PAIR}, {"id": "e", "title": "E", "categories": PAIR}],
    }
)
UNITS = [Unit(f"s{number}", 1) for number in range(92)]
DECIDED = Decision({"d": "A"})


@pytest.mark.parametrize(
    ("decision", "codebook", "decided", "started"),
    [
        (Decision(), ONE, False, False),
        (Decision(note="?"), ONE, False, True),
        (Decision({"d": "A"}), ONE, True, True),
        (Decision({"d": UNSURE}), ONE, True, True),
        (Decision({"d": "A"}), TWO, False, True),
        (Decision({"d": "A", "e": UNSURE}), TWO, True, True),
        (Decision({"e": "A"}), ONE, False, True),
    ],
)
def test_decided_and_started(decision: Decision, codebook: Codebook, decided: bool, started: bool) -> None:
    assert decision.is_decided(codebook) is decided
    assert decision.is_started is started


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ({}, Progress(0, 92, Status.PENDING)),
        ({UNITS[0]: Decision()}, Progress(0, 92, Status.PENDING)),
        ({UNITS[0]: Decision(note="?")}, Progress(0, 92, Status.IN_PROGRESS)),
        (dict.fromkeys(UNITS[:40], DECIDED), Progress(40, 92, Status.IN_PROGRESS)),
        (dict.fromkeys(UNITS, DECIDED), Progress(92, 92, Status.DONE)),
        (dict.fromkeys(UNITS[:91], DECIDED) | {UNITS[91]: Decision(note="?")}, Progress(91, 92, Status.IN_PROGRESS)),
        ({Unit("s0", 2): DECIDED, Unit("gone", 1): DECIDED}, Progress(0, 92, Status.PENDING)),
    ],
)
def test_progress(decisions: dict[Unit, Decision], expected: Progress) -> None:
    assert progress(UNITS, decisions, ONE) == expected


@given(st.dictionaries(st.sampled_from(UNITS[:8]), st.sampled_from([Decision(), Decision(note="n"), DECIDED])))
def test_progress_counts_what_is_decided(decisions: dict[Unit, Decision]) -> None:
    found = progress(iter(UNITS[:6]), decisions, ONE)
    assert found.decided == len(decided_units(decisions, ONE) & set(UNITS[:6]))
    assert (found.status is Status.DONE) == (found.decided == 6)
