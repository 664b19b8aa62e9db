"""The co-pilot's effect: hand-worked cases, choices, and undefined cases."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from vote_rows import rows, vote

from convolabel.errors import InputError
from evaluators import CopilotEffect, agreement, copilot_effect, load_votes
from evaluators.alpha import alpha_sums
from evaluators.arms import Arms, p_value
from evaluators.copilot_redraws import redraw
from evaluators.copilot_votes import copilot_votes
from evaluators.intervals import wilson
from evaluators.metrics import metric_for

Cell = tuple[str, str | None, str, str | None]
"""Rater, category (`None`: unsure), arm, suggestion."""


def coded(cells: list[Cell], **more: Any) -> list[Any]:
    """One vote per cell; the units of each rater are numbered from 0, four to a conversation."""
    numbers: dict[str, itertools.count[int]] = {}
    votes = []
    for rater, category, arm, suggestion in cells:
        place = next(numbers.setdefault(rater, itertools.count()))
        copilot = {"copilot_arm": arm, "copilot_label": suggestion, "copilot_shown": arm == "shown"}
        votes.append(vote(f"s{place}", rater, category, conversation_id=f"c{place // 4}", **{**copilot, **more}))
    return votes


def of(table: list[Any], **options: Any) -> CopilotEffect:
    return copilot_effect(load_votes(table), **{"draws": 50, "redraws": 50, **options})


def effect(result: CopilotEffect, measure: str) -> dict[str, Any]:
    return next(row for row in result.as_dict()["effects"] if row["measure"] == measure)


SHOWN: list[Cell] = [
    ("a", "Q", "shown", "Q"),
    ("a", "Q", "shown", "Q"),
    ("a", "R", "shown", "Q"),
    ("a", "R", "shown", "R"),
]
CONTROL: list[Cell] = [("a", "Q", "control", "R"), ("a", "R", "control", "R")]


def test_anchoring_is_agreement_with_the_suggestion_shown_less_control() -> None:
    # shown: 3 of 4 as suggested; control: 1 of 2 as would have been suggested
    row = effect(of(coded(SHOWN + CONTROL)), "agreement with the suggestion")
    assert (row["shown"], row["control"], row["effect"]) == (0.75, 0.5, 0.25)
    assert (row["n_shown"], row["n_control"], row["scale"], row["null"]) == (4, 2, "difference", 0.0)


def test_failed_and_late_suggestions_and_assessors_are_in_neither_arm() -> None:
    extra: list[Cell] = [("a", "Q", "none", None), ("a", "Q", "control", None)]
    table = coded(SHOWN + CONTROL + extra)
    table += coded([("gpt", "Q", "shown", "R")] * 6, rater_kind="llm")
    row = effect(of(table), "agreement with the suggestion")
    assert (row["n_shown"], row["n_control"]) == (4, 2)
    arms = of(table).arms.set_index("arm")["votes"].to_dict()
    assert arms == {"shown": 4, "control": 3, "none": 1}


def test_unsure_is_no_outcome_or_a_category_that_disagrees() -> None:
    table = coded([*SHOWN, ("a", None, "shown", "Q"), *CONTROL])
    missing, category = of(table), of(table, unsure="category")
    assert effect(missing, "agreement with the suggestion")["shown"] == 3 / 4
    assert effect(category, "agreement with the suggestion")["shown"] == 3 / 5
    for result in (missing, category):
        assert effect(result, "unsure")["shown"] == 1 / 5
        assert effect(result, "unsure")["control"] == 0.0


def test_compared_as_drawn_or_as_seen() -> None:
    table = coded(SHOWN + CONTROL)
    table[0] = table[0].model_copy(update={"copilot_shown": False})
    assert effect(of(table), "agreement with the suggestion")["n_shown"] == 4
    seen = of(table, by="shown")
    assert effect(seen, "agreement with the suggestion")["shown"] == 2 / 3
    assert seen.used["compared"] == "suggestions on screen against control"


def test_either_of_two_suggestions() -> None:
    table = coded(SHOWN + CONTROL)
    table[2] = table[2].model_copy(update={"copilot_label_2": "R"})
    result = of(table)
    assert effect(result, "agreement with the suggestion")["shown"] == 3 / 4
    assert effect(result, "agreement with either suggestion")["shown"] == 1.0


def test_time_is_compared_by_geometric_means() -> None:
    table = [
        each.model_copy(update={"time_ms": ms})
        for each, ms in zip(coded(SHOWN + CONTROL), (100, 400, None, 200, 800, 200), strict=True)
    ]
    row = effect(of(table), "time to first decision (ms)")
    # shown: cube root of 100 * 400 * 200 = 200; control: root of 800 * 200 = 400
    assert (row["shown"], row["control"], row["effect"]) == (pytest.approx(200), pytest.approx(400), pytest.approx(0.5))
    assert (row["scale"], row["null"], row["n_shown"]) == ("ratio", 1.0, 3)


def pairs_of_raters() -> list[Any]:
    cells: list[Cell] = []
    for rater, shift in (("a", 0), ("b", 1), ("c", 3)):
        for unit in range(24):
            arm = "control" if (unit + shift) % 3 == 0 else "shown"
            cells.append((rater, "QRI"[(unit * (unit + shift) // 2) % 3], arm, "QRI"[unit % 3]))
    return coded(cells)


def test_agreement_between_raters_is_alpha_where_both_were_in_the_arm() -> None:
    table = pairs_of_raters()
    result = of(table)
    by_arm = agreement(load_votes(table), draws=0).by_arm.set_index("arm")
    row = effect(result, "alpha between raters")
    assert (row["shown"], row["control"]) == (
        pytest.approx(by_arm["alpha"]["shown"]),
        pytest.approx(by_arm["alpha"]["control"]),
    )
    assert row["effect"] == pytest.approx(by_arm["alpha"]["shown"] - by_arm["alpha"]["control"])
    assert 0 < row["p"] <= 1
    assert row["low"] <= row["effect"] <= row["high"]
    raw = effect(result, "agreement between raters")
    assert raw["shown"] == pytest.approx(by_arm["observed_agreement"]["shown"])


def test_distribution_and_its_distance() -> None:
    result = of(coded(SHOWN + CONTROL))
    # shown Q Q R R, control Q R
    assert result.distribution[["category", "shown", "control", "effect"]].to_numpy().tolist() == [
        *(["Q", 0.5, 0.5, 0.0], ["R", 0.5, 0.5, 0.0])
    ]
    assert effect(result, "category distribution")["effect"] == 0.0
    moved = of(coded([*SHOWN, *[("a", "R", "control", "R")] * 2]))
    row = effect(moved, "category distribution")
    assert (row["effect"], row["low"]) == (0.5, None)
    assert "p-value" in row["interval_reason"]


def test_uptake_by_category_confidence_and_rater() -> None:
    table = [
        {**each.model_dump(), "copilot_accepted": accepted, "copilot_confidence": confidence}
        for each, accepted, confidence in zip(
            coded(SHOWN + CONTROL),
            (True, False, False, True, None, None),
            ("high", "high", "low", "low", "high", "low"),
            strict=True,
        )
    ]
    result = of(table)
    found = result.uptake.set_index(["split", "part"])
    assert found.loc[("overall", "all"), ["shown", "accepted", "share", "same_label"]].tolist() == [4, 2, 0.5, 3]
    assert found.loc[("category", "Q"), ["shown", "accepted", "same_label"]].tolist() == [3, 1, 2]
    assert found.loc[("confidence", "high"), ["shown", "accepted"]].tolist() == [2, 1]
    assert found.loc[("rater", "a"), "shown"] == 4
    by_confidence = result.by_confidence.set_index("confidence")
    # calibration is in the control column: high Q against R, low R against R
    assert by_confidence.index.tolist() == ["high", "low"]
    assert by_confidence["control"].tolist() == [0.0, 1.0]
    assert by_confidence["shown"].tolist() == [1.0, 0.5]


def test_a_table_without_confidence_says_so() -> None:
    result = of(coded(SHOWN + CONTROL))
    assert result.by_confidence.empty
    assert result.used["not_computed"]["by_confidence"] == "the column `copilot_confidence` is empty"
    rows = [{**vote.model_dump()} for vote in coded(SHOWN + CONTROL)]
    for row in rows:
        del row["copilot_confidence"]
    result = of(rows)
    assert result.by_confidence.empty
    assert result.used["not_computed"]["by_confidence"] == "the table has no column `copilot_confidence`"


def test_thumbs() -> None:
    table = [
        each.model_copy(update={"copilot_helpful": helpful})
        for each, helpful in zip(coded(SHOWN), (True, False, None, True), strict=True)
    ]
    found = of(table).thumbs.set_index(["split", "part"])
    assert found.loc[("overall", "all"), ["helpful", "not_helpful"]].tolist() == [2, 1]
    assert found.loc[("overall", "all"), ["low", "high"]].tolist() == list(wilson(2, 3))
    assert found.loc[("category", "R"), ["helpful", "not_helpful"]].tolist() == [1, 0]


def test_a_suggestion_is_about_one_dimension_but_the_arm_is_the_units() -> None:
    table = coded(SHOWN + CONTROL)
    table += [each.model_copy(update={"dimension": "form", "category": "x", "copilot_label": None}) for each in table]
    result = of(table)
    assert result.as_dict()["effects"][0]["dimension"] == "intent"
    form = [row for row in result.as_dict()["effects"] if row["dimension"] == "form"]
    assert form[0]["reason"] == "one of the arms has no such vote"
    assert next(row for row in form if row["measure"] == "unsure")["n_shown"] == 4


def test_without_control_or_variation_null_with_a_reason() -> None:
    result = of(coded(SHOWN))
    found = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    for row in found["effects"]:
        assert row["effect"] is None
        assert row["reason"]
        assert row["p"] is None
    assert found["by_rater"][0]["reason"] == "one of the arms has no such vote"
    assert result.text()


def test_no_interval_over_one_conversation_and_no_draws() -> None:
    one_talk = [each.model_copy(update={"conversation_id": "c"}) for each in coded(SHOWN + CONTROL)]
    row = effect(of(one_talk), "agreement with the suggestion")
    assert (row["low"], row["interval_reason"]) == (None, "an interval over conversations needs two or more of them")
    assert row["p"] is not None
    for row in of(pairs_of_raters(), draws=0, redraws=0).as_dict()["effects"]:
        assert (row["p"], row["low"]) == (None, None)
        assert (row["effect"] is None) == row["measure"].startswith("time")
        assert row["interval_reason"]


def test_redrawn_sums_are_those_of_alpha() -> None:
    votes = load_votes(pairs_of_raters())
    compared = copilot_votes(votes, "intent", "missing", "arm", "rater_span")
    redraws = redraw(compared, compared.agrees()[:, None], 7, seed=5)
    metric, _ = metric_for(compared.cells.values, "nominal")
    drawn = np.concatenate(list(compared.arms.redrawn(7, seed=5)))
    for place, shown in enumerate(drawn):
        for arm, sums in ((shown, redraws.shown), (~shown, redraws.control)):
            expected = alpha_sums(compared.cells.counts(arm), metric)
            assert sums.values()[place] == pytest.approx(expected.values()[0])
            assert sums.agreement()[place] == pytest.approx(expected.agreement()[0])


def test_what_the_arms_were_drawn_for_is_told_by_the_table_and_named() -> None:
    assert of(pairs_of_raters()).used["control_unit"] == "rater_span (by the table)"
    same: list[Cell] = [(rater, "Q", ("shown", "control")[unit % 2], "Q") for rater in "ab" for unit in range(8)]
    assert of(coded(same)).used["control_unit"] == "span (by the table)"
    assert of(coded(same), control_unit="rater_span").used["control_unit"] == "rater_span (given)"


def test_a_table_without_the_copilot_is_refused() -> None:
    with pytest.raises(InputError, match="no column `copilot_arm`"):
        of([*rows([["Q"]])])


def test_redrawing_keeps_the_arms_of_every_stratum_and_reaches_every_arrangement() -> None:
    shown = np.array([True, False, True, True, False, True])
    stratum = np.array([0, 0, 0, 1, 1, 1])
    arms = Arms(shown, stratum, 2, np.arange(6), stratum)
    drawn = np.concatenate(list(arms.redrawn(900, seed=1)))
    assert (drawn[:, :3].sum(axis=1) == 2).all()
    assert (drawn[:, 3:].sum(axis=1) == 2).all()
    # 3 x 3 arrangements, each 900 / 9 = 100 times, within 5 standard deviations of sqrt(900 * 1/9 * 8/9) = 9.4
    _, times = np.unique(drawn, axis=0, return_counts=True)
    assert len(times) == 9
    assert abs(times - 100).max() < 48


def test_votes_of_one_unit_move_together_when_the_unit_was_drawn() -> None:
    item = np.array([0, 1, 2, 0, 1, 2])
    arms = Arms(np.array([True, False, True] * 2), np.zeros(6, dtype=np.int64), 1, item, np.zeros(3, dtype=np.int64))
    drawn = np.concatenate(list(arms.redrawn(50, seed=1)))
    assert (drawn[:, :3] == drawn[:, 3:]).all()
    assert (drawn[:, :3].sum(axis=1) == 2).all()


def test_p_value_of_a_small_case_by_enumeration() -> None:
    # one stratum of 4, 2 shown, outcomes 1 1 0 0: the 6 arrangements give differences 1, 0 (4 times), -1
    # observed 1: upper tail 1/6, so p = 2/6 up to the draws
    outcomes = np.array([[1.0], [1.0], [0.0], [0.0]])
    zeros = np.zeros(4, dtype=np.int64)
    arms = Arms(np.array([True, True, False, False]), zeros, 1, np.arange(4), zeros)
    differences = [np.subtract(*arms.means(outcomes, piece))[:, 0] for piece in arms.redrawn(3000, seed=2)]
    found = p_value(1.0, np.concatenate(differences))
    assert found == pytest.approx(2 / 6, abs=4 * 2 * math.sqrt(1 / 6 * 5 / 6 / 3000))
    assert p_value(0.0, np.array([0.0, 0.0])) == 1.0
