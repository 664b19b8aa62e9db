"""The Python of the page for analysts runs as it stands, on the sample study with simulated raters."""

import ast
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from convolabel.votes_files import write_votes
from evaluators.report import Drawing
from tests.report.simulated_votes import simulated_votes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "analyst.md"


def run(block: str, names: dict[str, Any]) -> Any:
    """Runs a block as a cell of a notebook does: the value of its last line is what is shown."""
    *before, last = ast.parse(block).body
    exec(compile(ast.Module(before, []), str(PAGE), "exec"), names)
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), str(PAGE), "eval"), names)


def test_every_block_runs_and_shows_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_votes(tmp_path / "votes.csv", simulated_votes())
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    shown = [run(block, names) for block in blocks]
    assert [type(value) for value in shown] == [type(None), *[Drawing] * 4, pd.DataFrame, pd.DataFrame]
    assert "<title>My study</title>" in (tmp_path / "report.html").read_text("utf-8")
    captions = ("Each category against all others", "Learning curve of each rater", "Differences", "What follows what")
    for drawing, caption in zip(shown[1:5], captions, strict=True):
        assert caption in drawing._repr_html_()
    assert shown[5]["alpha"].is_monotonic_increasing
    assert len(shown[5]) == 9
    assert shown[6]["alpha"].notna().all()


def test_a_plot_takes_three_lines() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    first = next(block for block in blocks if "draw(" in block)
    assert len([line for line in first.splitlines() if line and "import" not in line]) == 3
