"""`convolabel report`: the page, the numbers beside it, results of evaluators."""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from page_reader import Page
from simulated_votes import simulated_votes

from convolabel.cli import cli
from convolabel.errors import InputError
from convolabel.votes_files import write_votes
from evaluators import load_votes
from evaluators.report import report
from evaluators.tidy_tables import records

QUICK = ("--draws", "20", "--redraws", "20")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    write_votes(path, simulated_votes())
    return path


def run(*args: Any) -> str:
    done = CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_page_the_tables_and_the_document_hold_the_same_numbers(table: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "report.html", tmp_path / "tables"
    document = json.loads(run("report", table, "-o", out, "--csv", folder, "--json", *QUICK))
    made = report(load_votes(table), draws=20, redraws=20)
    assert document == json.loads(json.dumps(made.as_dict(), allow_nan=False))
    assert out.read_text("utf-8") == made.html()
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    expected = [f"{part}/{name}.csv" for part, each in made.parts().items() for name in each.tables()]
    assert [name for name in written if name.endswith(".csv")] == sorted(expected)
    with (folder / "agreement" / "by_category.csv").open(newline="") as file:
        alphas = [float(row["alpha"]) for row in csv.DictReader(file)]
    assert alphas == [row["alpha"] for row in document["agreement"]["by_category"]]
    named = set(re.findall(r"File: ([^<]+)<", out.read_text("utf-8")))
    assert len(named) > 20
    assert named <= set(written)


def test_without_json_it_says_where_the_page_is(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert run("report", table, "-o", out, *QUICK) == f"{out} holds the report; open it in a browser.\n"


def test_options_reach_the_analyses(table: Path, tmp_path: Path) -> None:
    options = ("--unsure", "category", "--who", "all", "--by", "shown", "--fast", 900, "--step", 50, "--seed", 3)
    document = json.loads(run("report", table, "-o", tmp_path / "r.html", "--json", "--names", *options, *QUICK))
    made = report(
        load_votes(table),
        unsure="category",
        who="all",
        by="shown",
        fast_ms=900,
        step=50,
        seed=3,
        draws=20,
        redraws=20,
        names=True,
    )
    assert document == json.loads(json.dumps(made.as_dict(), allow_nan=False))
    assert document["overview"]["raters"][0]["rater"] == "Rater A"


def test_a_foreign_table_with_distances(tmp_path: Path) -> None:
    path, matrix, out = tmp_path / "codes.csv", tmp_path / "matrix.csv", tmp_path / "r.html"
    path.write_text("u,r,v\n1,x,a\n1,y,a\n2,x,b\n2,y,c\n3,x,a\n3,y,b\n")
    matrix.write_text(",a,b,c\na,0,1,1\nb,1,0,.5\nc,1,.5,0\n")
    columns = ("--unit", "u", "--rater", "r", "--value", "v", "--title", "Foreign")
    run("report", path, "-o", out, *columns, "--distance", matrix)
    page = Page(out.read_text("utf-8"))
    # D_o = .5, D_e = 2/3: alpha = 1/4 (as in test_agreement)
    assert page.tables["Alpha over all units"].row("humans")[2].text == "0.250"
    assert "Krippendorff's alpha with the distances of matrix.csv" in page.text
    assert page.headings[0] == (1, "Foreign")


@pytest.fixture
def run_of_cig(tmp_path: Path) -> Path:
    folder = tmp_path / "cig"
    folder.mkdir()
    (folder / "cig_summary.csv").write_text(
        "conversation_id,is_mediator,n_rated,cig_mean\n"
        "sample-06-biscuit,false,10,2.5\nsample-06-biscuit,true,4,3.25\nelsewhere,false,7,1.5\n"
    )
    (folder / "cig_utterances.csv").write_text("conversation_id,cig\nsample-06-biscuit,2\nsample-06-biscuit,3\n")
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "cig_report.json").write_text('{"conversations": {"complete": 1, "failed": 1}}')
    return folder


def test_results_of_evaluators_are_joined_by_conversation(table: Path, run_of_cig: Path, tmp_path: Path) -> None:
    claims = tmp_path / "claims"
    claims.mkdir()
    (claims / "claims_summary.csv").write_text(
        "conversation_id,speaker,n_final\nsample-06-biscuit,a,4\nsample-06-biscuit,b,7\n"
    )
    out = tmp_path / "r.html"
    document = json.loads(
        run("report", table, "-o", out, "--json", "--results", run_of_cig, "--results", claims, *QUICK)
    )
    rows = {row["conversation"]: row for row in document["results"]["conversations"]}
    assert len(rows) == 9
    joined = rows["sample-06-biscuit"]
    assert joined["cig: cig_mean (participants)"] == 2.5
    assert joined["cig: cig_mean (mediator)"] == 3.25
    assert joined["claims: n_final"] == 5.5
    alphas = {row["conversation"]: row["alpha"] for row in document["agreement"]["by_conversation"]}
    assert joined["alpha_intent"] == alphas["sample-06-biscuit"]
    assert rows["elsewhere"]["cig: n_rated (participants)"] == 7
    assert rows["elsewhere"]["alpha_intent"] is None
    files = {row["file"]: (row["rows"], row["joined"], row["run"]) for row in document["results"]["files"]}
    assert files == {
        "cig/cig_summary.csv": (3, "yes", "1 complete, 1 failed"),
        "cig/cig_utterances.csv": (2, "no", "1 complete, 1 failed"),
        "claims/claims_summary.csv": (2, "yes", None),
    }
    cells = Page(out.read_text("utf-8")).tables["Per conversation"].row("sample-06-biscuit")
    assert [cell.text for cell in cells[4:]] == ["10", "2.5", "4", "3.25", "5.5"]


def test_results_that_are_none(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    with pytest.raises(InputError, match="is not a folder"):
        run("report", table, "-o", out, "--results", tmp_path / "none", *QUICK)
    with pytest.raises(InputError, match="no table with a column `conversation_id`"):
        run("report", table, "-o", out, "--results", tmp_path, *QUICK)
    assert not out.exists()


def test_a_place_that_cannot_be_written_is_one_sentence(table: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose another place"):
        run("report", table, "-o", tmp_path / "none" / "r.html", *QUICK)


def test_without_the_packages_it_says_what_to_install(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith("evaluators.report") or name == "jinja2"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InputError, match=r"pip install 'convolabel\[evaluators\]'"):
        run("report", table, "-o", tmp_path / "r.html")


def test_rows_of_results_stay_the_tables(table: Path, run_of_cig: Path) -> None:
    made = report(load_votes(table), results=[run_of_cig], draws=10, redraws=10)
    assert made.results is not None
    assert len(records(made.results.conversations)) == 9
