"""Time on task: hand-worked cases."""

import json
from typing import Any

import pytest
from vote_rows import rows, vote

from convolabel.errors import InputError
from evaluators import Times, load_votes, times
from evaluators.intervals import wilson


def timed(*ms: int | None, rater: str = "a", **cells: Any) -> list[Any]:
    return [
        vote(f"s{place}", rater, "QR"[place % 2], time_ms=time, span_start=place * 5, span_end=place * 5 + 3, **cells)
        for place, time in enumerate(ms)
    ]


def of(table: list[Any], **options: int) -> Times:
    return times(load_votes(table), **options)


def test_quartiles_count_what_was_not_measured_apart() -> None:
    # 100 200 400 800: quartiles by linear interpolation at places .75, 1.5, 2.25
    row = of(timed(400, 100, None, 800, 200)).overall.iloc[0]
    assert (row["n"], row["unmeasured"]) == (4, 1)
    assert (row["q1_ms"], row["median_ms"], row["q3_ms"]) == (175.0, 300.0, 500.0)


def test_a_decision_on_two_dimensions_takes_its_time_once() -> None:
    table = timed(100, 300) + timed(100, 300, dimension="form")
    result = of(table)
    assert result.overall["n"].tolist() == [2]
    assert result.by_category[["dimension", "category", "n"]].to_numpy().tolist() == [
        *(["intent", "Q", 1], ["intent", "R", 1], ["form", "Q", 1], ["form", "R", 1])
    ]


def test_by_rater_category_position_conversation() -> None:
    result = of(timed(100, 200) + timed(300, 500, rater="b"))
    assert result.by_rater[["rater", "median_ms"]].to_numpy().tolist() == [["a", 150.0], ["b", 400.0]]
    assert result.by_category[["category", "median_ms"]].to_numpy().tolist() == [["Q", 200.0], ["R", 350.0]]
    assert result.by_position[["position", "median_ms"]].to_numpy().tolist() == [[1, 200.0], [2, 350.0]]
    assert result.by_conversation[["conversation", "n"]].to_numpy().tolist() == [["c", 4]]


def test_learning_follows_the_order_of_first_decisions() -> None:
    table = timed(100, 200, 300)
    moments = ("2025-03-01T10:00:02Z", "2025-03-01T10:00:01Z", "2025-03-01T10:00:01.500000Z")
    dated = [each.model_copy(update={"created_at": moment}) for each, moment in zip(table, moments, strict=True)]
    result = of(dated, step=2)
    assert result.used["order_of_decisions"] == "created_at"
    assert result.learning[["first", "last", "median_ms"]].to_numpy().tolist() == [[1, 2, 250.0], [3, 3, 100.0]]


def test_the_slope_of_the_power_law_of_practice() -> None:
    # 6400 / sqrt(number): halves when the number quadruples, so per doubling 1 / sqrt(2)
    times_ms = [round(640_000 / number**0.5) for number in range(1, 17)]
    slope = of(timed(*times_ms)).learning_slope.iloc[0]
    assert slope["slope"] == pytest.approx(-0.5, abs=1e-4)
    assert slope["ratio_per_doubling"] == pytest.approx(0.5**0.5, abs=1e-4)
    few = of(timed(*times_ms[:9])).as_dict()["learning_slope"][0]
    assert (few["slope"], few["reason"]) == (None, "fewer than 10 decisions with a time")


def test_later_time_stays_apart() -> None:
    table = [
        each.model_copy(update={"later_time_ms": later})
        for each, later in zip(timed(100, 200, 300, 400), (None, 0, 1000, 3000), strict=True)
    ]
    result = of(table)
    assert result.overall["median_ms"].tolist() == [250.0]
    row = result.later.iloc[0]
    assert (row["decisions"], row["returned"], row["share"], row["median_ms"]) == (4, 2, 0.5, 2000.0)


def test_fast_decisions_are_counted_where_a_suggestion_was_on_screen_and_where_it_was_withheld() -> None:
    shown = timed(499, 500, 20, None, copilot_shown=True, copilot_arm="shown", copilot_label="Q")
    withheld = timed(100, 900, rater="b", copilot_shown=False, copilot_arm="control", copilot_label="Q")
    neither = timed(100, rater="c", copilot_shown=False, copilot_arm="none")
    result = of(shown + withheld + neither)
    found = result.fast.set_index(["rater", "suggestion"])
    assert found.loc[("a", "on screen"), ["n", "under"]].tolist() == [3, 2]
    assert found.loc[("a", "on screen"), ["low", "high"]].tolist() == list(wilson(2, 3))
    assert found.loc[("b", "withheld"), ["n", "under"]].tolist() == [2, 1]
    assert found.loc[("all raters", "on screen"), "under"] == 2
    assert "c" not in found.index.get_level_values("rater")
    assert of(shown, fast_ms=501).fast["under"].max() == 3


def test_nothing_measured_is_null_not_nan() -> None:
    result = of(timed(None, None))
    assert json.loads(json.dumps(result.as_dict(), allow_nan=False))["overall"][0]["median_ms"] is None
    with pytest.raises(InputError, match="no column `time_ms`"):
        of([*rows([["Q", "R"]])])
    with pytest.raises(InputError, match="set another step"):
        of(timed(1), step=0)
