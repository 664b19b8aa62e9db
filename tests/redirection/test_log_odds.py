import math
from decimal import Decimal, getcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.redirection.log_odds import log_odds, log_odds_difference

getcontext().prec = 400


@pytest.mark.parametrize(
    ("probability", "odds"),
    [(0.5, 1.0), (0.75, 3.0), (0.2, 0.25), (0.9, 9.0)],  # p / (1 - p)
)
def test_worked_examples(probability: float, odds: float) -> None:
    assert log_odds(math.log(probability)) == pytest.approx(math.log(odds))


@given(st.floats(min_value=-700, max_value=-1e-300))
def test_no_digit_is_lost_at_either_end(log_probability: float) -> None:
    """Against 400 digits: p / (1 - p) of p = e^x."""
    exact = Decimal(log_probability)
    expected = exact - (1 - exact.exp()).ln()
    assert log_odds(log_probability) == pytest.approx(float(expected), rel=1e-13, abs=1e-15)


@given(st.floats(min_value=-1e6, max_value=-1e-12), st.floats(min_value=-1e6, max_value=-1e-12))
def test_the_difference_has_the_sign_of_the_change_and_turns_round(actual: float, reference: float) -> None:
    score = log_odds_difference(actual, reference)
    assert math.isfinite(score)
    assert score == -log_odds_difference(reference, actual)
    if actual > reference:
        assert score >= actual - reference >= 0


def test_improbable_replies_differ_by_their_log_probabilities() -> None:
    # e^-3449 is 0 in floating point; 1 - p is 1, so the log-odds are the logarithms
    assert log_odds_difference(-3449.0, -3500.5) == 51.5


def test_certain_and_impossible_values() -> None:
    assert log_odds(0.0) == math.inf
    assert log_odds(-math.inf) == -math.inf
    assert math.isnan(log_odds(1e-9))
    assert math.isnan(log_odds(math.nan))
    assert math.isnan(log_odds_difference(0.0, 0.0))
