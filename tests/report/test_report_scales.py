"""Scales hold what they are given, between round numbers."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.report import elements, scales

NUMBERS = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=20)


@pytest.mark.parametrize("module", [elements, scales], ids=["elements", "scales"])
def test_examples(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@given(NUMBERS)
def test_a_linear_scale_holds_all_numbers_in_order(values: list[float]) -> None:
    scale = scales.linear(values, "coefficient")
    slack = 1e-9 * max(1.0, *map(abs, values))
    assert scale.low - slack <= min(values)
    assert max(values) <= scale.high + slack
    assert 2 <= len(scale.ticks) <= 7
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)


@given(st.lists(st.floats(0.001, 1e9), min_size=1, max_size=20))
def test_a_logarithmic_scale_holds_all_numbers(values: list[float]) -> None:
    scale = scales.logarithmic(values, "seconds")
    assert scale.low <= min(values) * (1 + 1e-6)
    assert max(values) * (1 - 1e-6) <= scale.high
    assert scale.ticks


@given(st.lists(st.floats(0.02, 50), min_size=1, max_size=5))
def test_a_scale_of_ratios_has_no_effect_in_the_middle(values: list[float]) -> None:
    scale = scales.ratios(values)
    assert scale.at(1.0) == 50
    assert scale.low <= min(values) * (1 + 1e-9)
    assert max(values) <= scale.high * (1 + 1e-9)
