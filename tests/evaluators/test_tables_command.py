"""The commands on tables: agreement, times, copilot."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from vote_rows import vote

from convolabel.cli import cli
from convolabel.errors import InputError
from convolabel.votes_files import write_votes
from evaluators import agreement, copilot_effect, load_votes, times


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    votes = [
        vote(
            f"s{unit}",
            rater,
            "QRI"[(unit + shift) % 3] if unit % 4 else "Q",
            conversation_id=f"c{unit // 5}",
            copilot_arm="control" if (unit + shift) % 3 == 0 else "shown",
            copilot_shown=(unit + shift) % 3 != 0,
            copilot_label="QRI"[unit % 3],
            time_ms=100 * unit,
            speaker_role="client",
        )
        for unit in range(20)
        for shift, rater in enumerate("ab")
    ]
    write_votes(path, votes)
    return path


def run(*args: Any) -> str:
    done = CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def without_nan(result: Any) -> Any:
    return json.loads(json.dumps(result.as_dict(), allow_nan=False))


@pytest.mark.parametrize(
    ("command", "function"), [("agreement", agreement), ("times", times), ("copilot", copilot_effect)]
)
def test_json_is_the_result_of_the_function_and_the_only_output(command: str, function: Any, table: Path) -> None:
    assert json.loads(run(command, table, "--json")) == without_nan(function(load_votes(table)))
    assert run(command, table) == function(load_votes(table)).text() + "\n"


def test_options_reach_the_functions(table: Path, tmp_path: Path) -> None:
    found = json.loads(run("agreement", table, "--unsure", "category", "--draws", 10, "--seed", 3, "--json"))
    assert found == without_nan(agreement(load_votes(table), unsure="category", draws=10, seed=3))
    found = json.loads(run("copilot", table, "--by", "shown", "--redraws", 20, "--control-unit", "span", "--json"))
    assert found == without_nan(copilot_effect(load_votes(table), by="shown", redraws=20, control_unit="span"))
    found = json.loads(run("times", table, "--fast", 900, "--step", 5, "--json"))
    assert found == without_nan(times(load_votes(table), fast_ms=900, step=5))


def test_a_foreign_table_with_a_distance_matrix(tmp_path: Path) -> None:
    path, matrix = tmp_path / "codes.csv", tmp_path / "matrix.csv"
    path.write_text("u,r,v\n1,x,a\n1,y,a\n2,x,b\n2,y,c\n3,x,a\n3,y,b\n4,x,-\n4,y,a\n")
    matrix.write_text(",a,b,c\na,0,1,1\nb,1,0,.5\nc,1,.5,0\n")
    columns = ("--unit", "u", "--rater", "r", "--value", "v", "--missing", "-")
    (row,) = json.loads(run("agreement", path, *columns, "--distance", matrix, "--json"))["overall"]
    # as in test_agreement: D_o = .5, D_e = 2/3
    assert row["alpha"] == pytest.approx(1 / 4, abs=1e-12)
    (row,) = json.loads(run("agreement", path, *columns, "--level", "ordinal", *_order("abc"), "--json"))["overall"]
    assert row["pairable_units"] == 3


def _order(values: str) -> list[str]:
    return [word for value in values for word in ("--order", value)]


def test_tables_as_csv(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "agreement"
    run("agreement", table, "--csv", folder)
    result = agreement(load_votes(table))
    assert json.loads((folder / "used.json").read_text()) == json.loads(json.dumps(result.used))
    for name, frame in result.tables().items():
        with (folder / f"{name}.csv").open(newline="") as file:
            lines = list(csv.reader(file))
        assert lines[0] == list(frame.columns)
        assert len(lines) == len(frame) + 1
    with pytest.raises(InputError, match="choose another folder"):
        run("agreement", table, "--csv", table / "below")


def test_without_the_packages_it_says_what_to_install(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'convolabel\[evaluators\]'"):
        run("agreement", table)


@pytest.mark.parametrize("command", ["agreement", "times", "copilot"])
def test_a_table_that_is_not_there_is_one_sentence(command: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot read"):
        run(command, tmp_path / "none.csv")
