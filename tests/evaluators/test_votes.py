"""Reading votes for analysis: foreign tables, formats, and everything that is refused."""

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vote_rows import rows, vote

from convolabel.errors import InputError
from convolabel.table_files import read_table
from convolabel.votes_files import write_votes
from evaluators import load_votes
from evaluators.columns import read_columns

cells = st.text(alphabet=st.sampled_from('a1.,"\r\n \u2028é👍NA'), max_size=4)


def values(votes: object) -> list[str]:
    return votes.frame["value"].tolist()  # type: ignore[attr-defined, no-any-return]


def test_a_unit_is_a_span_in_one_revision() -> None:
    votes = load_votes([vote("s1", "a", "Q"), vote("s1", "b", "R", span_rev=2)])
    assert votes.units["name"].tolist() == ["s1", "s1 rev 2"]
    assert votes.frame["unit"].tolist() == [0, 1]


def test_unsure_is_a_value_of_its_own_kind_wherever_it_is_said() -> None:
    assert values(load_votes([vote("s1", "a", None), vote("s2", "a", "Q")])) == ["unsure", "Q"]
    foreign = [{"u": 1, "r": "a", "v": "unsure"}, {"u": 2, "r": "a", "v": ""}, {"u": 3, "r": "a", "v": "n/a"}]
    assert values(load_votes(foreign, unit="u", rater="r", value="v", missing={"n/a"})) == ["unsure"]


def test_numbers_truth_values_and_nan_of_other_tables() -> None:
    table = [
        {"u": unit, "r": 1, "v": value} for unit, value in enumerate([1, "1", 1.0, True, math.nan, None, "", pd.NA])
    ]
    assert values(load_votes(table, unit="u", rater="r", value="v")) == ["1", "1", "1.0", "true"]
    frame = pd.DataFrame(table)
    assert values(load_votes(frame, unit="u", rater="r", value="v")) == ["1", "1", "1.0", "true"]


def test_pandas_columns_of_any_kind(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"u": [1, 2, 3], "r": pd.Categorical(["a", "a", "b"]), "v": ["x", None, "y"], "flag": [True, False, True]}
    )
    votes = load_votes(frame, unit="u", rater="r", value="v")
    assert values(votes) == ["x", "y"]
    assert votes.units["name"].tolist() == ["1", "3"]
    assert values(load_votes(frame, unit="u", rater="r", value="flag")) == ["true", "false", "true"]
    frame.to_parquet(tmp_path / "t.parquet")
    assert values(load_votes(tmp_path / "t.parquet", unit="u", rater="r", value="flag")) == ["true", "false", "true"]
    assert load_votes(tmp_path / "t.parquet", unit="u", rater="r", value="v").units["name"].tolist() == ["1", "3"]


def test_several_columns_may_name_the_unit() -> None:
    table = [{"talk": t, "turn": u, "r": r, "v": "a"} for t in (1, 11) for u in (1, 11) for r in "xy"]
    votes = load_votes(iter(table), unit=("talk", "turn"), rater="r", value="v")
    assert votes.units["name"].tolist() == ["1 1", "1 11", "11 1", "11 11"]
    assert votes.frame["unit"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_two_values_from_one_rater_are_refused_with_the_first_example() -> None:
    votes = [vote("s1", "a", "Q"), vote("s2", "a", "Q"), vote("s2", "a", "R"), vote("s3", "a", None)]
    with pytest.raises(InputError, match=r"the table, row 3: rater `a` gave unit `s2 1` both `Q` and `R`"):
        load_votes(votes)
    with pytest.raises(InputError, match=r"both `Q` and `unsure`"):
        load_votes([vote("s1", "a", "Q"), vote("s1", "a", None)])
    other = [*votes, vote("s1", "a", "x", dimension="form")]
    assert values(load_votes(other, dimension="form")) == ["x"]


def test_repeated_rows_count_once() -> None:
    assert len(load_votes([vote("s1", "a", "Q")] * 3).frame) == 1


def test_a_unit_in_two_conversations_is_refused() -> None:
    votes = [vote("s1", "a", "Q"), vote("s1", "b", "Q", conversation_id="d")]
    with pytest.raises(InputError, match=r"row 2: unit `s1 1` stands in two conversations"):
        load_votes(votes)


def test_dimensions() -> None:
    votes = [vote("s1", rater, "Q") for rater in "ab"] + [vote("s1", "a", "x", dimension="form")]
    assert load_votes(votes).dimensions == ("intent", "form")
    assert load_votes(votes, dimension="form").dimensions == ("form",)
    with pytest.raises(InputError, match=r"no votes for the dimension `intend`; it has `intent`, `form`"):
        load_votes(votes, dimension="intend")
    with pytest.raises(InputError, match="no column `dimension`; leave --dimension out"):
        load_votes(rows([["a"]]), dimension="intent")


def test_a_missing_column_is_named_with_what_was_found_and_how_to_map_it(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("unit,raters,code\n1,a,Q\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_votes(path, unit="unit", rater="rater", value="code")
    assert str(caught.value) == (
        f"{path} has no column `rater` (found: unit, raters, code); "
        "name the column with --rater, perhaps `--rater raters`."
    )
    with pytest.raises(InputError, match=r"no column `span_id` \(found: unit, raters, code\); name .* --unit\."):
        load_votes(path)
    with pytest.raises(InputError, match=r"no column `talk` .* --conversation"):
        load_votes(path, unit="unit", rater="raters", value="code", conversation="talk")


def test_a_row_without_rater_is_refused() -> None:
    with pytest.raises(InputError, match="row 2: the unit, the rater or the dimension is empty"):
        load_votes([*rows([["a"]]), {"span_id": "s9", "span_rev": 1, "rater_id": None, "category": "a"}])
    with pytest.raises(InputError, match="row 1: the unit, the rater or the dimension is empty"):
        load_votes([{**row, "dimension": ""} for row in rows([["a"]])])


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"")
    with pytest.raises(InputError, match="has no rows"):
        load_votes(path)
    with pytest.raises(InputError, match="has no rows"):
        load_votes([])


@pytest.mark.parametrize(("column", "cell"), [("time_ms", "soon"), ("time_ms", "inf"), ("copilot_shown", "maybe")])
def test_a_cell_of_the_wrong_kind_is_named_without_its_content(column: str, cell: str) -> None:
    table: list[dict[str, object]] = [{**row, column: ""} for row in rows([["a", "b"]])]
    table[1][column] = cell
    with pytest.raises(InputError, match=f"Column `{column}`, row 2") as caught:
        load_votes(table)
    assert cell not in str(caught.value)


def test_rows_may_come_from_an_iterator() -> None:
    def stream() -> Iterator[object]:
        yield vote("s1", "a", "Q")
        yield vote("s1", "b", "R")

    assert values(load_votes(stream())) == ["Q", "R"]  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same(suffix: str, tmp_path: Path) -> None:
    votes = [
        vote(f"s{unit}", rater, "QRI"[unit % 3], note='a "b"\r\nc', time_ms=unit, copilot_shown=True, speaker_role="x")
        for unit in range(6)
        for rater in "ab"
    ]
    votes += [vote("s6", "a", None), vote("s6", "b", "Q"), vote("s7", "a", "R"), vote("s7", "b", "Q", note="NA")]
    path = tmp_path / f"votes{suffix}"
    write_votes(path, votes)
    from_rows, from_file, from_text = load_votes(votes), load_votes(path), load_votes(str(path))
    pd.testing.assert_frame_equal(from_file.frame.astype(object), from_rows.frame.astype(object))
    pd.testing.assert_frame_equal(from_file.units.astype(object), from_rows.units.astype(object))
    pd.testing.assert_frame_equal(from_text.frame, from_file.frame)


def test_positions_follow_messages_and_starts_not_the_order_of_rows() -> None:
    def at(span: str, message: str, start: int, rater: str, **more: object) -> dict[str, object]:
        row = {"conversation_id": "c", "span_id": span, "span_rev": 1, "rater_id": rater, "category": "Q"}
        return {**row, "message_id": message, "span_start": start, "span_end": start + 2, **more}

    table = [at("a", "m1", 0, "x"), at("c", "m1", 9, "x"), at("d", "m2", 0, "x"), at("b", "m1", 5, "y")]
    units = load_votes(table).units
    assert dict(zip(units["name"], units["position"], strict=True)) == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert units["length"].tolist() == [2, 2, 2, 2]
    later_first = [at("d", "m2", 0, "x", message_index=1), at("a", "m1", 0, "y", message_index=0)]
    units = load_votes(later_first).units
    assert dict(zip(units["name"], units["position"], strict=True)) == {"d": 1, "a": 0}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(
    table=st.lists(st.tuples(cells, cells), max_size=4),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    always_quoted=st.booleans(),
)
def test_fast_reading_of_csv_is_the_same_as_row_by_row(
    tmp_path: Path, table: list[tuple[str, str]], ends: str, always_quoted: bool
) -> None:
    def written(cell: str) -> str:
        needs_quotes = always_quoted or any(char in cell for char in '",\r\n')
        return '"' + cell.replace('"', '""') + '"' if needs_quotes else cell

    path = tmp_path / "table.csv"
    lines = [",".join(map(written, row)) + ends for row in [("x", "y"), *table]]
    path.write_bytes("".join(lines).encode())
    fast, slow = read_columns(path, ["y", "z", "x"]), read_table(path, ["x", "y"])
    assert (fast.names, fast.rows) == (slow.columns, len(slow.rows))
    found = [[fast.columns[name][row] for name in ("x", "y")] for row in range(fast.rows)]
    assert found == [list(row) for row in slow.rows]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x,y\n1,2,3\n", "line 2: 3 cells where the header has 2"),
        (b"x,y\n1\n", "line 2: 1 cells where the header has 2"),
        (b'x,y\n1,"2\n', "not valid CSV"),
        (b"x,y\n1,\xff\n", "not UTF-8"),
        (b"x,x\n1,2\n", "`x` stands twice"),
        (b"", "is empty"),
    ],
)
def test_a_broken_csv_is_refused_with_its_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_columns(path, ["x", "y"])


def test_names_to_show() -> None:
    votes = load_votes([vote("s1", "7", "Q", rater_name="Ana"), vote("s1", "8", "Q")])
    assert votes.rater_names == {"7": "Ana", "8": "8"}
