"""Agreement: hand-worked cases, undefined cases, and algebra on random tables."""

import doctest
import json
import math
from itertools import permutations
from random import Random
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vote_rows import Table, rows, vote

from convolabel.errors import InputError
from evaluators import Agreement, agreement, alpha, distances, intervals, load_votes, nominal_alpha
from evaluators.alpha import alpha_of, alpha_sums
from evaluators.intervals import Bootstrap, wilson
from evaluators.metrics import LEVELS, Level, metric_for, read_distances

tables = st.integers(1, 8).flatmap(
    lambda units: st.lists(
        st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=units, max_size=units), min_size=1, max_size=5
    )
)
number_tables = st.integers(1, 8).flatmap(
    lambda units: st.lists(
        st.lists(st.sampled_from(["", "1", "2", "3.5", "7"]), min_size=units, max_size=units), min_size=2, max_size=5
    )
)


def measured(source: Any, **options: Any) -> Agreement:
    return agreement(load_votes(source), draws=options.pop("draws", 0), **options)


def one(source: Any, **options: Any) -> dict[str, Any]:
    (row,) = measured(source, **options).as_dict()["overall"]
    return row  # type: ignore[no-any-return]


def in_talks(table: Table, units_per_talk: int) -> list[dict[str, object]]:
    return [{**row, "conversation_id": f"talk {int(str(row['span_id'])[1:]) // units_per_talk}"} for row in rows(table)]


def test_hand_worked_case_with_a_gap() -> None:
    # units:  u0 (a, a, b)  u1 (b, b, -)  u2 (a, -, -): u2 has one value and drops out
    # pairable values: a 2, b 3, n = 5
    # D_o = 1/5 * (u0: 4 differing ordered pairs / (3 - 1)  +  u1: 0 / (2 - 1)) = 1/5 * 2 = 2/5
    # D_e = 2 * 2 * 3 / (5 * 4) = 12/20 = 3/5;  alpha = 1 - (2/5) / (3/5) = 1/3
    result = one(rows([["a", "b", "a"], ["a", "b", ""], ["b", "", ""]]))
    assert result["alpha"] == pytest.approx(1 / 3, abs=1e-12)
    assert result["observed_agreement"] == pytest.approx(3 / 5, abs=1e-12)
    assert (result["units"], result["pairable_units"], result["raters"], result["values"]) == (3, 2, 3, 6)
    assert result["reason"] is None
    assert (result["low"], result["interval_reason"]) == (None, "the table has no column for the conversation")


def test_documented_examples() -> None:
    assert doctest.testmod(alpha) == (0, 2)
    assert doctest.testmod(intervals) == (0, 1)


def test_complete_agreement_is_exactly_one() -> None:
    assert one(rows([["a", "b", "c"]] * 3))["alpha"] == 1.0


def test_no_variation_is_undefined_with_a_reason() -> None:
    result = one(rows([["Q"] * 5] * 2))  # fault class 14
    assert result["alpha"] is None
    assert result["reason"] == "all values that can be paired are the same, so chance cannot be told from agreement"
    assert result["observed_agreement"] == 1.0


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([["a", "b"]], "alpha compares raters, and one rater gave values"),
        ([["", ""], ["", ""]], "alpha compares raters, and nobody gave a value"),
        ([["a", ""], ["", "b"]], "no unit has values from two raters"),
    ],
)
def test_without_pairs_nothing_is_defined(table: Table, reason: str) -> None:
    result = agreement(load_votes([*rows(table)])).as_dict()["overall"][0]
    assert (result["alpha"], result["observed_agreement"], result["reason"]) == (None, None, reason)


@settings(deadline=None, max_examples=40)
@given(tables, st.sampled_from(["missing", "category"]))
def test_json_holds_null_instead_of_nan(table: Table, unsure: str) -> None:
    table = [["unsure" if value == "c" else value for value in values] for values in table]
    result = measured(in_talks(table, 2), draws=20, unsure=unsure)
    found = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    for row in found["overall"] + found["by_category"] + found["by_conversation"]:
        assert (row["alpha"] is None) == (row["reason"] is not None)
        assert (row["low"] is None) == (row["interval_reason"] is not None)
    assert result.text()


@pytest.mark.parametrize("level", LEVELS)
@settings(deadline=None, max_examples=60)
@given(table=number_tables)
def test_same_as_the_krippendorff_package(level: Level, table: Table) -> None:
    codes = np.array([[float(value) if value else math.nan for value in values] for values in table])
    result = one(rows(table), level=level)["alpha"]
    if result is not None:
        expected = krippendorff.alpha(reliability_data=codes, level_of_measurement=level)
        assert result == pytest.approx(float(expected), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(tables)
def test_same_as_the_definition_by_pairs(table: Table) -> None:
    units = [[values[unit] for values in table if values[unit]] for unit in range(len(table[0]))]
    units = [values for values in units if len(values) > 1]
    n = sum(map(len, units))
    result = one(rows(table))
    if n == 0:
        assert result["alpha"] is None
        return
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / n
    expected = sum(a != b for a, b in permutations([value for unit in units for value in unit], 2)) / (n * (n - 1))
    assert result["observed_agreement"] == pytest.approx(1 - observed, abs=1e-12)
    if expected == 0:
        assert result["alpha"] is None
    else:
        assert result["alpha"] == pytest.approx(1 - observed / expected, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(tables, st.randoms(use_true_random=False))
def test_order_names_and_repeated_rows_do_not_matter(table: Table, random: Random) -> None:
    before = one(rows(table))
    again = [{**row, "category": f"x{row['category']}" if row["category"] else ""} for row in rows(table) * 2]
    random.shuffle(again)
    after = one(again)
    assert after == {
        key: pytest.approx(value, abs=1e-12) if isinstance(value, float) else value for key, value in before.items()
    }


@settings(deadline=None, max_examples=40)
@given(tables)
def test_one_category_against_the_others_is_alpha_of_the_two_valued_table(table: Table) -> None:
    by_category = measured(rows(table)).by_category.set_index("category")["alpha"]
    for category, found in by_category.items():
        merged = [[value and ("yes" if value == category else "no") for value in values] for values in table]
        expected = one(rows(merged))["alpha"]
        assert (None if math.isnan(found) else found) == (expected and pytest.approx(expected, abs=1e-12))


def test_a_large_table_does_not_overflow() -> None:
    # 3 million values in 2 categories, half of them each, every unit split 1:1: D_o = 1, D_e just over 1/2
    counts = np.ones((1_500_000, 2), dtype=np.int64)
    n = 3_000_000
    assert nominal_alpha(counts).value == pytest.approx(1 - 1 / (n / 2 / (n - 1)), abs=1e-12)


def test_unsure_is_missing_or_a_category_of_its_own() -> None:
    votes = [vote("s1", "a", "Q"), vote("s1", "b", "Q"), vote("s2", "a", None), vote("s2", "b", "R")]
    missing = one(votes)
    assert (missing["values"], missing["unsure"], missing["pairable_units"]) == (3, 1, 1)
    # values Q 2, unsure 1, R 1: D_o = 1/4 * 2 = 1/2; D_e = (16 - 6) / 12 = 5/6; alpha = 1 - 3/5 = 2/5
    category = measured(votes, unsure="category")
    assert category.overall["alpha"].tolist() == pytest.approx([2 / 5])
    assert category.by_category["category"].tolist() == ["Q", "R", "unsure"]
    assert category.used["unsure"] == "category"


def test_a_unit_is_a_span_in_one_revision() -> None:
    result = one([vote("s1", "a", "Q"), vote("s1", "b", "R", span_rev=2)])
    assert (result["units"], result["pairable_units"]) == (2, 0)


def test_one_result_per_dimension() -> None:
    votes = [vote("s1", rater, "Q") for rater in "ab"]
    votes += [vote("s1", rater, value, dimension="form") for rater, value in (("a", "x"), ("b", "y"))]
    result = measured(votes)
    assert result.overall[["dimension", "observed_agreement"]].to_numpy().tolist() == [["intent", 1.0], ["form", 0.0]]


def test_several_values_that_are_one_number_are_one_value_above_the_nominal_level() -> None:
    table = rows([["1", "2", "3"], ["1.0", "2", "4"]])
    # nominal: 1 and 1.0 differ, so two of three units disagree; as numbers only the last one does
    assert one(table)["observed_agreement"] == pytest.approx(1 / 3)
    # interval: pairs (1,1) (2,2) (3,4); D_o = 2 * 1 / 6; values 1 1 2 2 3 4, squared differences of all unordered
    # pairs: 4*1 + 2*4 + 2*9 + 2*1 + 2*4 + 1*1 = 41; D_e = 2 * 41 / 30; alpha = 1 - (1/3) / (41/15) = 1 - 5/41
    assert one(table, level="interval")["alpha"] == pytest.approx(36 / 41, abs=1e-12)


def test_an_order_of_values_makes_an_ordinal_scale() -> None:
    words = [["low", "mid", "high", "mid"], ["low", "high", "high", "low"]]
    places = {"low": "1", "mid": "2", "high": "3"}
    expected = one(rows([[places[word] for word in values] for values in words]), level="ordinal")["alpha"]
    found = one(rows(words), level="ordinal", order=["low", "mid", "high"])["alpha"]
    assert found == pytest.approx(expected, abs=1e-12)
    with pytest.raises(InputError, match="`high` is not in the order"):
        one(rows(words), level="ordinal", order=["low", "mid"])
    with pytest.raises(InputError, match="interval level needs numbers, and `high` is none"):
        one(rows(words), level="interval")
    for level in ("nominal", "ratio"):
        with pytest.raises(InputError, match="An order of values is for the ordinal level"):
            one(rows(words), level=level, order=["low", "mid", "high"])


def test_a_distance_matrix() -> None:
    table = rows([["a", "b", "a"], ["a", "c", "b"]])
    half = distances("abc", np.array([[0, 1, 1], [1, 0, 0.5], [1, 0.5, 0]]))
    # D_o = 2 * (0 + .5 + 1) / 6 = .5; values a 3, b 2, c 1: D_e = 2 * (6 + 3 + 2 * .5) / 30 = 2/3; alpha = 1 - 3/4
    assert one(table, distances=half)["alpha"] == pytest.approx(1 / 4, abs=1e-12)
    lopsided = distances("abc", np.array([[0, 1, 1], [1, 0, 0.75], [1, 0.25, 0]]))
    result = measured(table, distances=lopsided)
    assert result.overall["alpha"].tolist() == pytest.approx([1 / 4])
    assert result.used["distances"] == "given (mean of both directions)"
    nominal = distances("abc", 1 - np.eye(3))
    assert one(table, distances=nominal)["alpha"] == pytest.approx(one(table)["alpha"], abs=1e-12)
    with pytest.raises(InputError, match="takes the place of the interval level"):
        one(table, distances=nominal, level="interval")
    with pytest.raises(InputError, match="`c` is not in the distance matrix"):
        one(table, distances=distances("ab", 1 - np.eye(2)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x,a,b\na,0,1\nc,1,0\n", "the same labels in the same order"),
        ("x,a,b\na,0,1\nb,one,0\n", "one number for each of the 2 labels"),
        ("x,a,b\na,0,1\nb,1\n", "one number for each of the 2 labels"),
        ("x,a,b\na,0,1\nb,1,2\n", "zero on the diagonal"),
        ("x,a,b\na,0,-1\nb,-1,0\n", "nowhere below zero"),
        ("x,a,b\na,0,nan\nb,1,0\n", "one number for every pair"),
        ("", "the same labels"),
    ],
)
def test_a_broken_distance_matrix_is_refused(tmp_path: Any, content: str, said: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=said):
        read_distances(path)


def test_pairs_of_raters_and_their_confusion() -> None:
    # Cohen's kappa: agree on 3 of 4. a says Q Q R R, b says Q R R R: chance .5*.25 + .5*.75 = .5; kappa (.75-.5)/.5
    # pi: Q 3/8, R 5/8: chance 34/64, pi = (48 - 34) / (64 - 34) = 14/30
    result = measured(rows([["Q", "Q", "R", "R", "Q"], ["Q", "R", "R", "R", ""], ["", "", "", "", ""]]))
    (pair,) = result.as_dict()["pairs"]
    assert (pair["rater_a"], pair["rater_b"], pair["units"], pair["agreement"]) == ("r0", "r1", 4, 0.75)
    assert pair["kappa"] == pytest.approx(0.5)
    assert pair["weighted_kappa"] == pytest.approx(0.5)
    assert pair["pi"] == pytest.approx(14 / 30)
    cells = result.confusion[["value_a", "value_b", "n"]].to_numpy().tolist()
    assert cells == [["Q", "Q", 1], ["Q", "R", 1], ["R", "R", 2]]


def test_kappa_without_variation_is_undefined_with_a_reason() -> None:
    (pair,) = measured(rows([["Q", "Q"], ["Q", "Q"]])).as_dict()["pairs"]
    assert (pair["agreement"], pair["kappa"]) == (1.0, None)
    assert "chance" in pair["reason"]


def test_each_rater_against_the_rest() -> None:
    # c against a and b: u0 Q against (Q, Q), u1 R against (Q, R), u2 R against (R, R): agreement (1 + .5 + 1) / 3
    # c: Q 1/3, R 2/3; rest: Q (1 + .5 + 0) / 3 = .5, R .5: chance .5; kappa = (5/6 - 1/2) / (1/2) = 2/3
    # without c: a (Q, Q, R), b (Q, R, R): D_o = 2/6, D_e = 2 * 3 * 3 / 30 = 3/5, alpha = 4/9
    table = rows([["Q", "Q", "R"], ["Q", "R", "R"], ["Q", "R", "R"]])
    by_rater = measured(table).by_rater.set_index("rater").loc["r2"]
    assert by_rater["agreement_with_rest"] == pytest.approx(5 / 6)
    assert by_rater["kappa_with_rest"] == pytest.approx(2 / 3)
    assert by_rater["alpha_without"] == pytest.approx(4 / 9)


def test_humans_alone_and_with_an_assessor() -> None:
    votes = [
        vote(f"s{unit}", rater, value) for unit in range(4) for rater, value in (("a", "QR"[unit % 2]), ("b", "Q"))
    ]
    votes += [vote(f"s{unit}", "gpt", "QR"[unit % 2], rater_kind="llm") for unit in range(4)]
    result = measured(votes)
    assert result.overall["who"].tolist() == ["humans", "humans and gpt"]
    humans = one([each for each in votes if each.rater_kind == "human"])
    assert result.overall["alpha"][0] == pytest.approx(humans["alpha"])
    assert result.overall["raters"].tolist() == [2, 3]
    assert result.by_category["raters"].tolist() == [2, 2]
    assert measured(votes, who="all").by_category["raters"].tolist() == [3, 3]
    assert result.pairs["kind_b"].tolist() == ["human", "llm", "llm"]
    assessor = result.by_rater.set_index("rater").loc["gpt"]
    # against a (always the same) and b (Q): agreement (1 + .5 + 1 + .5) / 4; without it the humans' own alpha
    assert assessor["agreement_with_rest"] == pytest.approx(3 / 4)
    assert assessor["alpha_without"] == pytest.approx(humans["alpha"])


def test_by_role_conversation_and_arm() -> None:
    def coded(unit: int, rater: str, value: str, arm: str) -> Any:
        role, talk = ("client", "coach")[unit % 2], f"c{unit // 2}"
        return vote(f"s{unit}", rater, value, speaker_role=role, conversation_id=talk, copilot_arm=arm)

    votes = [coded(unit, "a", "QRRQ"[unit], "shown") for unit in range(4)]
    votes += [coded(unit, "b", "QRQR"[unit], "control" if unit == 3 else "shown") for unit in range(4)]
    result = measured(votes)
    for role, units in (("client", (0, 2)), ("coach", (1, 3))):
        expected = one([each for each in votes if int(each.span_id[1:]) in units])
        found = result.by_role.set_index("role").loc[role]
        assert found["alpha"] == pytest.approx(expected["alpha"])
    for talk in ("c0", "c1"):
        expected = one([each for each in votes if each.conversation_id == talk])
        found = result.by_conversation.set_index("conversation").loc[talk]
        assert found["alpha"] == pytest.approx(expected["alpha"])
        assert found["interval_reason"] == "an interval over conversations needs two or more of them"
    by_arm = result.by_arm.set_index("arm")
    assert by_arm["pairable_units"].to_dict() == {"shown": 3, "control": 0}
    assert by_arm["reason"]["control"] == "alpha compares raters, and one rater gave values"


def test_blocks_count_a_run_that_no_rater_breaks_once() -> None:
    # one message of 5 units, then another:  a: Q Q Q R R | R   b: Q Q R R R | R
    # nobody changes from u0 to u1 (QQ, QQ) and from u3 to u4 (RR, RR), and u5 has a message of its own: u0 u2 u3 | u5
    # blocks a Q Q R R, b Q R R R: D_o = 2/8, values Q 3, R 5: D_e = 30/56; alpha = 1 - (1/4) * (56/30) = 8/15
    def coded(unit: int, rater: str, value: str) -> Any:
        start = unit * 10
        return vote(f"s{unit}", rater, value, message_id=f"m{unit // 5}", span_start=start, span_end=start + 1 + unit)

    table = [
        coded(unit, rater, values[unit]) for rater, values in (("a", "QQQRRR"), ("b", "QQRRRR")) for unit in range(6)
    ]
    blocks = measured(table).blocks.set_index("on")
    assert blocks.loc["blocks", "units"] == 4
    assert blocks.loc["blocks", "alpha"] == pytest.approx(8 / 15)
    assert blocks.loc["units", "alpha"] == pytest.approx(one(table)["alpha"])
    # characters: units of 1 2 3 4 5 6, u2 of 3 differs: D_o = 2 * 3 / 42; Q 6 + 3, R 33: D_e = 2 * 9 * 33 / (42 * 41)
    assert blocks.loc["characters", "alpha"] == pytest.approx(1 - (6 / 42) / (594 / (42 * 41)))


def test_interval_of_the_bootstrap_is_the_percentile_of_alphas_of_resampled_talks() -> None:
    table = [["a", "b", "a", "c", "b", "b", "a", "a"], ["a", "b", "b", "c", "b", "a", "a", "c"]]
    found = measured(in_talks(table, 2), draws=200, seed=7).overall.iloc[0]
    rng = np.random.default_rng(7)
    alphas = []
    for picked in rng.integers(0, 4, (200, 4)):
        units = [unit for talk in picked for unit in (2 * talk, 2 * talk + 1)]
        alphas.append(one(rows([[values[unit] for unit in units] for values in table]))["alpha"])
    low, high = np.quantile([value for value in alphas if value is not None], [0.025, 0.975])
    assert (found["low"], found["high"]) == (pytest.approx(low), pytest.approx(high))
    assert found["low"] <= found["alpha"] <= found["high"]
    again = measured(in_talks(table, 2), draws=200, seed=7)
    pd.testing.assert_frame_equal(again.overall, measured(in_talks(table, 2), draws=200, seed=7).overall)
    assert again.used["seed"] == 7


@pytest.mark.parametrize("level", LEVELS)
def test_weighted_sums_are_the_sums_of_repeated_units(level: Level) -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 3, (12, 4))
    clusters = np.arange(12) // 3
    metric, _ = metric_for(["1", "2", "3", "5"], level)
    sums = alpha_sums(counts, metric, clusters=clusters, size=4)
    times = np.array([2, 0, 1, 3])
    repeated = np.repeat(counts, times[clusters], axis=0)
    assert sums.weighted(times[None, :].astype(float)).values()[0] == pytest.approx(
        alpha_of(alpha_sums(repeated, metric)).value
    )
    by_weight = alpha_of(alpha_sums(counts, metric, weights=times[clusters]))
    assert by_weight.value == pytest.approx(alpha_of(alpha_sums(repeated, metric)).value)


def test_the_bootstrap_in_pieces_is_the_same_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def means(bootstrap: Bootstrap) -> list[float]:
        return bootstrap.sample(lambda weights: weights @ np.arange(5.0), 5).tolist()

    at_once = means(Bootstrap(50, 1))
    monkeypatch.setattr(intervals, "_CELLS_AT_ONCE", 35)
    assert means(Bootstrap(50, 1)) == at_once
    assert means(Bootstrap(50, 2)) != at_once


def test_conversations_that_have_no_say_change_nothing() -> None:
    table = in_talks([["a", "b", "a", "c", "b", "b"], ["a", "b", "b", "c", "b", "a"]], 2)
    alone = [
        {"conversation_id": f"x{place}", "span_id": f"x{place}", "span_rev": 1, "rater_id": "r0", "category": "a"}
        for place in range(9)
    ]
    before, after = (measured(source, draws=100).overall.iloc[0] for source in (table, table + alone))
    assert before[["alpha", "low", "high", "conversations"]].equals(after[["alpha", "low", "high", "conversations"]])
    assert after["units"] == before["units"] + 9


def test_wilson_holds_at_the_ends() -> None:
    # 0 of 10: high = (z^2 / n) / (1 + z^2 / n) = .38415 / 1.38415; ends never leave 0 and 1
    assert wilson(0, 10) == (0.0, pytest.approx(0.27753, abs=1e-5))
    assert wilson(10, 10) == (pytest.approx(0.72247, abs=1e-5), 1.0)
    assert wilson(0, 0) == (None, None)


def test_undefined_resamples_are_named() -> None:
    # of two talks one has no variation: a resample of that talk alone is undefined, a quarter of them
    result = measured(in_talks([["a", "a", "a", "b"], ["a", "a", "b", "b"]], 2), draws=400).overall.iloc[0]
    assert result["alpha"] == pytest.approx(1 - 2 / 8 / (30 / 56))
    assert pd.isna(result["low"])
    assert "of 400 resamples" in result["interval_reason"]


def test_text_names_what_was_used_and_says_what_is_undefined() -> None:
    text = measured([vote("s1", "a", "Q"), vote("s1", "b", "Q")]).text()
    assert "level: nominal\nunsure: missing\n" in text
    assert "dimension  who     alpha  observed_agreement" not in text.split("OVERALL")[0]
    assert "all values that can be paired are the same" in text
