"""Raters with known anchoring: does the interval cover the truth, and does the test keep its size?

Each simulated conversation has its own rate at which raters agree with the suggestion unaided, and each unit its own
answer that raters share in part, so votes depend on each other inside a unit and a conversation. A rater who sees
the suggestion takes it over with probability `anchoring`, else answers unaided; the truth is
`anchoring * (1 - mean unaided agreement)`.
"""

import numpy as np
import pytest

from evaluators import copilot_effect, load_votes
from evaluators.arms import Arms, p_value
from evaluators.arrays import BoolArray, FloatArray, IntArray
from evaluators.intervals import Bootstrap

SIMULATIONS = 200
TALKS, UNITS, RATERS = 40, 8, 3
N = TALKS * UNITS * RATERS
UNAIDED = 6 / (6 + 4)


def talk_unit_rater() -> tuple[IntArray, IntArray, IntArray]:
    vote = np.arange(N)
    return vote // (UNITS * RATERS), vote // RATERS, vote % RATERS


def drawn_arms(rng: np.random.Generator, share: float, by_span: bool) -> BoolArray:
    _, unit, _ = talk_unit_rater()
    return (rng.random(TALKS * UNITS) >= share)[unit] if by_span else rng.random(N) >= share


def agreements(rng: np.random.Generator, shown: BoolArray, anchoring: float, shared: float = 0.5) -> FloatArray:
    """1 where a vote is as suggested. A share of the raters' unaided answers to a unit is the same coin."""
    talk, unit, _ = talk_unit_rater()
    rate = rng.beta(6, 4, TALKS)[talk]
    coin = np.where(rng.random(N) < shared, rng.random(TALKS * UNITS)[unit], rng.random(N))
    return ((coin < rate) | (shown & (rng.random(N) < anchoring))).astype(np.float64)[:, None]


def arms_of(shown: BoolArray, by_span: bool) -> Arms:
    talk, unit, rater = talk_unit_rater()
    if by_span:
        return Arms(shown, talk, TALKS, unit, np.arange(TALKS * UNITS) // UNITS)
    return Arms(shown, talk, TALKS, np.arange(N), talk * RATERS + rater)


def redrawn_effects(arms: Arms, outcomes: FloatArray, rng: np.random.Generator) -> FloatArray:
    pieces = arms.redrawn(199, int(rng.integers(2**31)))
    return np.concatenate([np.subtract(*arms.means(outcomes, piece))[:, 0] for piece in pieces])


def tolerated(share: float) -> tuple[float, float]:
    """About three standard deviations of a binomial count around its mean."""
    mean, deviation = SIMULATIONS * share, (SIMULATIONS * share * (1 - share)) ** 0.5
    return mean - 3.2 * deviation, mean + 3.2 * deviation


@pytest.mark.parametrize("by_span", [False, True], ids=["rater_span", "span"])
def test_the_interval_covers_the_truth_at_its_nominal_rate(by_span: bool) -> None:
    rng = np.random.default_rng(20)
    anchoring = 0.25
    truth = anchoring * (1 - UNAIDED)
    covered = above = 0
    for _ in range(SIMULATIONS):
        arms = arms_of(shown := drawn_arms(rng, 0.3, by_span), by_span)
        bootstrap = Bootstrap(300, int(rng.integers(2**31)), 0.9)
        shown_means, control_means = arms.resampled_means(agreements(rng, shown, anchoring), bootstrap)
        interval = bootstrap.of_sample((shown_means - control_means)[:, 0])
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= truth <= interval.high
        above += interval.low > truth
    low, high = tolerated(0.9)
    assert low <= covered <= high
    assert tolerated(0.05)[0] <= above <= tolerated(0.05)[1]


@pytest.mark.parametrize("by_span", [False, True], ids=["rater_span", "span"])
def test_the_randomisation_test_has_its_size_without_an_effect_and_power_with_one(by_span: bool) -> None:
    rng = np.random.default_rng(21)
    rejected = {0.0: 0, 0.35: 0}
    for _ in range(SIMULATIONS):
        for anchoring in rejected:
            arms = arms_of(shown := drawn_arms(rng, 0.3, by_span), by_span)
            outcomes = agreements(rng, shown, anchoring)
            observed = float(np.subtract(*arms.means(outcomes))[0, 0])
            rejected[anchoring] += p_value(observed, redrawn_effects(arms, outcomes, rng)) <= 0.05
    low, high = tolerated(0.05)
    assert low <= rejected[0.0] <= high
    assert rejected[0.35] > 0.8 * SIMULATIONS


def test_redrawing_votes_alone_would_be_too_liberal_where_units_were_drawn() -> None:
    """Why the unit of the draw matters: answers to one unit depend on each other."""
    rng = np.random.default_rng(22)
    rejected = 0
    for _ in range(SIMULATIONS):
        shown = drawn_arms(rng, 0.3, by_span=True)
        outcomes = agreements(rng, shown, 0.0, shared=0.9)
        arms = arms_of(shown, by_span=False)
        observed = float(np.subtract(*arms.means(outcomes))[0, 0])
        rejected += p_value(observed, redrawn_effects(arms, outcomes, rng)) <= 0.05
    assert rejected > tolerated(0.05)[1]


def test_a_whole_simulated_study_through_the_table() -> None:
    rng = np.random.default_rng(23)
    talk, unit, rater = talk_unit_rater()
    shown = drawn_arms(rng, 0.3, by_span=False)
    agrees = agreements(rng, shown, 0.25)[:, 0]
    rows = [
        {
            "conversation_id": f"c{talk[vote]}",
            "span_id": f"s{unit[vote]}",
            "span_rev": 1,
            "rater_id": f"r{rater[vote]}",
            "category": "QR"[int(agrees[vote] == 0)],
            "copilot_arm": "shown" if shown[vote] else "control",
            "copilot_label": "Q",
        }
        for vote in range(N)
    ]
    result = copilot_effect(load_votes(rows), draws=300, redraws=300)
    row = result.effects.set_index("measure").loc["agreement with the suggestion"]
    assert row["effect"] == pytest.approx(agrees[shown].mean() - agrees[~shown].mean())
    assert row["low"] < 0.25 * (1 - UNAIDED) < row["high"]
    assert row["p"] < 0.05
    assert len(result.by_rater) == RATERS
