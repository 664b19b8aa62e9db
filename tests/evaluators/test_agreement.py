"""Reading reliability data and nominal alpha: hand-worked cases, undefined cases, and algebra on random tables."""

import doctest
import json
import math
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from random import Random

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convolabel.errors import InputError
from convolabel.votes_files import write_votes
from convolabel.votes_table import Vote
from evaluators import (
    Agreement,
    VoteColumns,
    agreement,
    agreement_text,
    alpha,
    nominal_alpha,
    read_reliability_data,
)

Table = list[list[str]]
"""Raters x units; an empty text is missing."""
tables = st.integers(1, 8).flatmap(
    lambda units: st.lists(
        st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=units, max_size=units), min_size=1, max_size=5
    )
)


def rows(table: Table) -> list[dict[str, object]]:
    return [
        {"span_id": f"s{unit}", "span_rev": 1, "rater_id": f"r{rater}", "category": value}
        for rater, values in enumerate(table)
        for unit, value in enumerate(values)
    ]


def one(source: list[dict[str, object]], **options: str) -> Agreement:
    (result,) = agreement(source, **options)  # type: ignore[arg-type]
    return result


def vote(span_id: str, rater: str, category: str | None, *, rev: int = 1, dimension: str = "intent") -> Vote:
    return Vote(
        study="s",
        conversation_id="c",
        rater_id=rater,
        dimension=dimension,
        category=category,
        unsure=category is None,
        span_rev=rev,
        span_start=0,
        span_end=3,
        span_text="Ja.",
        span_id=span_id,
        message_id="m1",
        span_index=0,
    )


def test_hand_worked_case_with_a_gap() -> None:
    # units:  u0 (a, a, b)  u1 (b, b, -)  u2 (a, -, -): u2 has one value and drops out
    # pairable values: a 2, b 3, n = 5
    # D_o = 1/5 * (u0: 4 differing ordered pairs / (3 - 1)  +  u1: 0 / (2 - 1)) = 1/5 * 2 = 2/5
    # D_e = 2 * 2 * 3 / (5 * 4) = 12/20 = 3/5;  alpha = 1 - (2/5) / (3/5) = 1/3
    result = one(rows([["a", "b", "a"], ["a", "b", ""], ["b", "", ""]]))
    assert result.alpha == pytest.approx(1 / 3, abs=1e-12)
    assert result.observed_agreement == pytest.approx(3 / 5, abs=1e-12)
    assert (result.units, result.pairable_units, result.raters, result.values) == (3, 2, 3, 6)
    assert result.categories == {"a": 3, "b": 3}
    assert result.reason is None


def test_documented_example() -> None:
    # D_o = (2/1) / 6 = 1/3, D_e = (36 - 9 - 9) / 30 = 18/30, alpha = 1 - 5/9
    found = doctest.testmod(alpha)
    assert (found.failed, found.attempted) == (0, 1)


def test_complete_agreement_is_exactly_one() -> None:
    assert one(rows([["a", "b", "c"]] * 3)).alpha == 1.0


def test_no_variation_is_undefined_with_a_reason() -> None:
    result = one(rows([["Q"] * 5] * 2))  # fault class 14
    assert result.alpha is None
    assert result.reason == "all values that can be paired are the same, so chance cannot be told from agreement"
    assert result.observed_agreement == 1.0


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([["a", "b"]], "alpha compares raters, and one rater gave values"),
        ([["", ""], ["", ""]], "alpha compares raters, and nobody gave a value"),
        ([["a", ""], ["", "b"]], "no unit has values from two raters"),
    ],
)
def test_without_pairs_nothing_is_defined(table: Table, reason: str) -> None:
    result = one(rows(table))
    assert (result.alpha, result.observed_agreement, result.reason) == (None, None, reason)


@given(tables)
def test_json_holds_null_instead_of_nan(table: Table) -> None:
    result = one(rows(table))
    text = json.dumps(result.as_dict(), allow_nan=False)
    assert json.loads(text)["alpha"] == result.alpha
    assert (result.alpha is None) == (result.reason is not None)


@given(tables)
def test_same_as_the_krippendorff_package(table: Table) -> None:
    codes = [[math.nan if value == "" else float("abc".index(value)) for value in values] for values in table]
    result = one(rows(table))
    if result.alpha is None:
        return
    expected = krippendorff.alpha(reliability_data=np.array(codes), level_of_measurement="nominal")
    assert result.alpha == pytest.approx(float(expected), abs=1e-12)


@given(tables)
def test_same_as_the_definition_by_pairs(table: Table) -> None:
    units = [[values[unit] for values in table if values[unit]] for unit in range(len(table[0]))]
    units = [values for values in units if len(values) > 1]
    n = sum(map(len, units))
    result = one(rows(table))
    if n == 0:
        assert result.alpha is None
        return
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / n
    expected = sum(a != b for a, b in permutations([value for unit in units for value in unit], 2)) / (n * (n - 1))
    assert result.observed_agreement == pytest.approx(1 - observed, abs=1e-12)
    if expected == 0:
        assert result.alpha is None
    else:
        assert result.alpha == pytest.approx(1 - observed / expected, abs=1e-12)


@given(tables, st.randoms(use_true_random=False))
def test_order_names_and_repeated_rows_do_not_matter(table: Table, random: Random) -> None:
    before = one(rows(table))
    again = [{**row, "category": f"x{row['category']}" if row["category"] else ""} for row in rows(table) * 2]
    random.shuffle(again)
    after = one(again)
    assert after.alpha == (None if before.alpha is None else pytest.approx(before.alpha, abs=1e-12))
    assert (after.units, after.pairable_units, after.values) == (before.units, before.pairable_units, before.values)


def test_a_large_table_does_not_overflow() -> None:
    # 3 million values in 2 categories, half of them each, every unit split 1:1: D_o = 1, D_e just over 1/2
    counts = np.ones((1_500_000, 2), dtype=np.int64)
    n = 3_000_000
    assert nominal_alpha(counts).value == pytest.approx(1 - 1 / (n / 2 / (n - 1)), abs=1e-12)


def test_unsure_is_missing_or_a_category_of_its_own() -> None:
    votes = [vote("s1", "a", "Q"), vote("s1", "b", "Q"), vote("s2", "a", None), vote("s2", "b", "R")]
    (missing,) = agreement(votes)
    assert (missing.values, missing.unsure, missing.categories) == (3, 1, {"Q": 2, "R": 1})
    (category,) = agreement(votes, unsure="category")
    # values Q 2, unsure 1, R 1: D_o = 1/4 * 2 = 1/2; D_e = (16 - 6) / 12 = 5/6; alpha = 1 - 3/5 = 2/5
    assert category.alpha == pytest.approx(2 / 5)
    assert (category.unsure, category.categories) == (0, {"Q": 2, "unsure": 1, "R": 1})
    foreign = [{"span_id": "s", "span_rev": 1, "rater_id": "a", "category": "unsure"}]
    assert one(foreign).unsure == 1


def test_a_unit_is_a_span_in_one_revision() -> None:
    votes = [vote("s1", "a", "Q", rev=1), vote("s1", "b", "R", rev=2)]
    (result,) = agreement(votes)
    assert (result.units, result.pairable_units) == (2, 0)


def test_one_result_per_dimension() -> None:
    votes = [vote("s1", rater, "Q") for rater in "ab"]
    votes += [vote("s1", rater, value, dimension="form") for rater, value in (("a", "x"), ("b", "y"))]
    assert [result.dimension for result in agreement(votes)] == ["intent", "form"]
    (form,) = agreement(votes, dimension="form")
    assert form.categories == {"x": 1, "y": 1}
    with pytest.raises(InputError, match=r"no votes for the dimension `intend`; it has `intent`, `form`"):
        agreement(votes, dimension="intend")
    with pytest.raises(InputError, match="no column `dimension`; leave --dimension out"):
        agreement(rows([["a"]]), dimension="intent")


def test_two_values_from_one_rater_are_refused_with_the_first_example() -> None:
    votes = [vote("s1", "a", "Q"), vote("s2", "a", "Q"), vote("s2", "a", "R"), vote("s3", "a", None)]
    with pytest.raises(InputError, match=r"the table, row 3: rater `a` gave unit `s2 1` both `Q` and `R`"):
        agreement(votes)
    with pytest.raises(InputError, match=r"both `Q` and `unsure`"):
        agreement([vote("s1", "a", "Q"), vote("s1", "a", None)])
    (form,) = agreement([*votes, vote("s1", "a", "x", dimension="form")], dimension="form")
    assert form.values == 1


def test_a_missing_column_is_named_with_what_was_found_and_how_to_map_it(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("unit,raters,code\n1,a,Q\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        agreement(path, unit="unit", rater="rater", value="code")
    assert str(caught.value) == (
        f"{path} has no column `rater` (found: unit, raters, code); "
        "name the column with --rater, perhaps `--rater raters`."
    )
    with pytest.raises(InputError, match=r"no column `span_id` \(found: unit, raters, code\); name .* --unit\."):
        agreement(path)


def test_a_row_without_rater_is_refused() -> None:
    with pytest.raises(InputError, match="row 2: the unit or the rater is empty"):
        agreement([*rows([["a"]]), {"span_id": "s9", "span_rev": 1, "rater_id": None, "category": "a"}])


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"")
    with pytest.raises(InputError, match="has no rows"):
        agreement(path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same(suffix: str, tmp_path: Path) -> None:
    votes = [vote(f"s{unit}", rater, "QRI"[unit % 3]) for unit in range(6) for rater in "ab"]
    votes += [vote("s6", "a", None), vote("s6", "b", "Q"), vote("s7", "a", "R"), vote("s7", "b", "Q")]
    path = tmp_path / f"votes{suffix}"
    write_votes(path, votes)
    assert agreement(path) == agreement(votes)
    assert agreement(str(path)) == agreement(votes)


def test_numbers_truth_values_and_nan_of_other_tables() -> None:
    table = [
        {"u": unit, "r": rater, "v": value}
        for unit, (left, right) in enumerate([(1, 1), (2, 1), (True, True), (math.nan, 2), (None, "")])
        for rater, value in ((1, left), (2, right))
    ]
    result = one(table, unit="u", rater="r", value="v")
    assert result.categories == {"1": 3, "2": 2, "true": 2}
    assert (result.units, result.pairable_units) == (4, 3)


def test_several_columns_may_name_the_unit() -> None:
    table = [{"talk": t, "turn": u, "r": r, "v": "a"} for t in (1, 11) for u in (1, 11) for r in "xy"]
    (data,) = read_reliability_data(iter(table), VoteColumns(("talk", "turn"), "r", "v"))
    assert data.units == (("1", "1"), ("1", "11"), ("11", "1"), ("11", "11"))
    assert data.counts.tolist() == [[2]] * 4


def test_text_for_people() -> None:
    votes = [vote("s1", "a", "Q"), vote("s1", "b", "Q"), vote("s2", "a", "R"), vote("s2", "b", "R")]
    votes += [vote("s1", rater, "x", dimension="form") for rater in "ab"]
    assert agreement_text(agreement(votes)).splitlines() == [
        "dimension  units  pairable  raters  observed  alpha",
        "intent     2      2         2       1.000     1.000",
        "form       1      1         2       1.000     undefined: all values that can be paired are the same, "
        "so chance cannot be told from agreement",
    ]


def test_rows_may_come_from_an_iterator() -> None:
    def stream() -> Iterator[Vote]:
        yield vote("s1", "a", "Q")
        yield vote("s1", "b", "R")

    (result,) = agreement(stream())
    assert result.alpha == 0.0  # D_o = 1, D_e = 2 * 1 * 1 / (2 * 1) = 1
