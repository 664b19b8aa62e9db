"""The page tells the numbers of the tables, says what it lacks, and holds nothing that runs or is fetched."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from page_reader import Page
from simulated_votes import simulated_votes

from convolabel.errors import InputError
from evaluators import Votes, agreement, copilot_effect, descriptives, load_votes, times
from evaluators.report import Report, draw, report
from evaluators.report.elements import said
from evaluators.tidy_tables import records

STYLE = Path(__file__).resolve().parents[2] / "evaluators" / "report" / "templates" / "style.css"
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '=HYPERLINK("https://example.org","x")',
    '"><svg onload=alert(3)>{{ 7 * 7 }}{% raw %}',
    "</style><style>body{display:none}",
)


@pytest.fixture(scope="module")
def sample() -> Votes:
    return load_votes(simulated_votes())


@pytest.fixture(scope="module")
def made(sample: Votes) -> Report:
    return report(sample, title="Sample", draws=200, redraws=200)


@pytest.fixture(scope="module")
def page(made: Report) -> Page:
    return Page(made.html())


def small(*raters: str, **columns: Any) -> Votes:
    """Raters given as rows of single-character values."""
    rows = [
        {"u": unit, "r": f"r{rater}", "v": value, **{name: values[unit] for name, values in columns.items()}}
        for rater, values_of in enumerate(raters)
        for unit, value in enumerate(values_of.split())
    ]
    return load_votes(rows, unit="u", rater="r", value="v", conversation="c" if "c" in columns else None)


def test_a_published_value_and_what_it_rests_on() -> None:
    # Krippendorff (2011), section A: alpha = 2/21 = .095, observed agreement 6/10
    page = Page(report(small("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")).html())
    row = page.tables["Alpha over all units"].row("humans")
    assert [cell.text for cell in row[2:]] == ["0.095", "–", "60.0%", "10", "2", "–", "0"]
    assert row[2].numbers == [pytest.approx(2 / 21, abs=1e-12)]
    assert "alpha = 0.095 (no interval: the table has no column for the conversation)" in page.text
    # kappa: p_o = .6; each rater's shares 8/10, 2/10 and 6/10, 4/10: p_e = .48 + .08 = .56; .04/.44 = 1/11
    pair = page.tables["Pairs of raters"].row("r0")
    assert [cell.text for cell in pair[1:5]] == ["r1", "10", "60.0%", "0.091"]
    # r0 said 0 eight times: five of them with 0, three with 1
    confusion = page.tables["What r0 and r1 said of the same unit"]
    assert [cell.text for cell in confusion.row("0")[1:]] == ["62.5% 5", "37.5% 3"]
    assert [cell.text for cell in confusion.row("1")[1:]] == ["50.0% 1", "50.0% 1"]


def test_more_than_two_humans_are_counted_in_both_orders() -> None:
    # unit 1: a a b gives (a, a) twice, (a, b) twice, (b, a) twice; unit 2: b b b gives (b, b) six times
    made = report(small("a b", "a b", "b b"))
    found = {(row["row_value"], row["column_value"]): row["n"] for row in records(made.overview.confusion)}
    assert found == {("a", "a"): 2, ("a", "b"): 2, ("b", "a"): 2, ("b", "b"): 6}
    cells = Page(made.html()).tables["What every two humans said of the same unit"].row("b")
    assert [cell.text for cell in cells[1:]] == ["25.0% 2", "75.0% 6"]


def test_times_are_counted_in_bins_of_half_a_doubling() -> None:
    rows = [{"u": unit, "r": "x", "v": "a", "time_ms": ms} for unit, ms in enumerate((150, 160, 400, 90_000))]
    spread = records(report(load_votes(rows, unit="u", rater="r", value="v")).overview.time_spread)
    # 150 and 160 lie between 100 * 2 ** (1/2) and 200; 400 begins the bin that is three further
    assert spread[0] == {"from_ms": pytest.approx(141.42, abs=0.01), "to_ms": 200, "n": 2}
    assert [row["n"] for row in spread[:4]] == [2, 0, 0, 1]
    assert spread[3]["from_ms"] == pytest.approx(400)
    assert sum(row["n"] for row in spread) == 4


def test_curves_of_long_studies_have_fifty_points_and_their_numbers_stay_in_the_file() -> None:
    rows = [
        {"u": unit, "r": rater, "v": "a", "time_ms": 1000 + unit % 7} for unit in range(2600) for rater in range(14)
    ]
    made = report(load_votes(rows, unit="u", rater="r", value="v"), draws=0)
    assert made.times is not None
    # 2,600 decisions in 50 points are 52 a point; 14 raters times 50 points are more than 600 rows
    assert made.times.used["learning_step"] == 52
    assert len(made.times.learning) == 14 * 50
    assert "Learning curve of each rater: numbers" not in Page(made.html()).tables
    assert report(small("a b", "a b", c="xx")).times is None


@pytest.mark.parametrize(
    ("caption", "part", "table", "where", "cells"),
    [
        ("Each category against all others", "agreement", "by_category", {}, ("alpha", "low", "high", "values")),
        ("Time by conversation", "times", "by_conversation", {}, ("median_ms", "q1_ms", "q3_ms", "n")),
        ("How often", "descriptives", "frequencies", {"split": "overall"}, ("share", "low", "high", "n")),
        ("Differences", "copilot", "effects", {"scale": "difference"}, ("effect", "low", "high", "p", "n_shown")),
        ("Agreement with the suggestion, by rater", "copilot", "by_rater", {}, ("effect", "low", "n_control")),
        ("Each rater against the rest", "agreement", "by_rater", {}, ("kappa_with_rest", "alpha_without", "units")),
    ],
)
def test_the_page_tells_the_numbers_of_the_tables(
    made: Report, page: Page, caption: str, part: str, table: str, where: dict[str, str], cells: tuple[str, ...]
) -> None:
    rows = [
        row
        for row in records(made.parts()[part].tables()[table])
        if all(row[key] == value for key, value in where.items())
    ]
    assert rows
    for row in rows:
        name = str(next(row[key] for key in ("category", "conversation", "measure", "rater") if key in row))
        told = [number for cell in page.tables[caption].row(name) for number in cell.numbers]
        for cell in cells:
            assert row[cell] in told, (name, cell)


def test_every_drawn_table_counts_what_it_rests_on(made: Report) -> None:
    sizes = {"n", "units", "pairable_units", "values", "votes", "n_shown", "shown", "decisions", "helpful", "rows"}
    for section in made.sections():
        for element in section.every_element():
            if element.kind == "listing" and any(column.form not in ("text", "count") for column in element.columns):
                known = {column.key for column in element.columns}
                counts_in_each_row = any(key.startswith("units") or "n_rated" in key for key in known)
                assert known & sizes or counts_in_each_row, element.caption


def test_the_order_of_the_page_and_its_landmarks(page: Page) -> None:
    assert [title for level, title in page.headings if level == 2] == [
        *("Summary", "Data", "Agreement between raters", "Categories", "Time on task", "Effect of the co-pilot"),
        *("Notes", "Method", "References"),
    ]
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), "no level is skipped"
    assert (page.elements["main"], page.elements["nav"], page.elements["header"], page.elements["footer"]) == (1,) * 4
    assert set(page.ids.values()) == {1}
    assert all(link[0] == "#" and link[1:] in page.ids for link in page.links)
    assert len(page.tables) == page.elements["caption"] == page.elements["table"]
    drawn = [(tag, name, value) for tag, name, value in page.attributes if tag == "svg"]
    named = [value for _, name, value in drawn if name in ("aria-label", "aria-hidden")]
    assert len(named) == page.elements["svg"]
    assert all(named)


def test_several_dimensions_have_parts_of_their_own() -> None:
    made = report(load_votes(simulated_votes(("intent", "form"), copilot=False)), draws=50)
    page = Page(made.html())
    assert [title for level, title in page.headings if title in ("intent", "form")] == ["intent", "form"] * 2
    for dimension in ("intent", "form"):
        row = next(row for row in records(made.agreement.overall) if row["dimension"] == dimension)
        assert f"{dimension.capitalize()}: humans: alpha = {said(row['alpha'], 'coefficient')}" in page.text
    assert "Alpha by arm of the co-pilot" not in page.tables


def test_what_there_is_nothing_to_say_about_is_said_in_a_sentence() -> None:
    made = report(small("a b a b", "a b b b"))
    page = Page(made.html())
    assert "Nothing can be said about time: the table has no times of first decisions." in page.text
    assert "Nothing can be said of it: the table has no votes whose suggestion was shown or withheld." in page.text
    assert "No rater left a note." in page.text
    lacking = {row[0].text: row[1].text for row in page.tables["Not computed"].rows[1:]}
    assert lacking["agreement: by conversation"] == "the table has no column for the conversation"
    assert set(lacking) >= {"time on task", "effect of the co-pilot", "descriptives: transitions", "agreement: by role"}
    assert all(len(table.rows) > 1 for table in page.tables.values()), "no empty table"
    assert made.as_dict()["not_computed"] == lacking


def test_one_vote_is_enough_for_a_page() -> None:
    page = Page(report(small("a")).html())
    assert "alpha is not defined (alpha compares raters, and one rater gave values" in page.text


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    script, image, formula, svg, style = HOSTILE
    rows = [
        {
            "span_id": f"{style}{unit}",
            "span_rev": 1,
            "rater_id": rater,
            "category": (script, image)[(unit + place) % 2] if unit % 3 else svg,
            "conversation_id": f"{image}{unit // 4}",
            "speaker_role": (svg, formula)[unit % 2],
            "dimension": (image, style)[unit % 2],
            "note": formula,
            "span_text": script,
            "copilot_arm": ("shown", "control")[(unit + place) % 2],
            "copilot_label": script,
            "time_ms": 1000 + unit,
        }
        for unit in range(24)
        for place, rater in enumerate((script, image, formula))
    ]
    made = report(load_votes(rows), title=svg, draws=20, redraws=20)
    page = Page(made.html())
    assert page.elements["script"] == page.elements["img"] == 0
    assert page.elements["style"] == 1
    assert [name for _, name, _ in page.attributes if name.startswith("on")] == []
    for text in HOSTILE:
        assert " ".join(text.split()) in page.text
    path = tmp_path / "r.html"
    made.write(path)
    assert path.read_text("utf-8") == made.html()


def test_nothing_is_fetched_and_nothing_runs(made: Report, page: Page) -> None:
    outside = re.compile(r"(?i)(https?:)?//")
    fetching = [each for each in page.attributes if each[1] in ("src", "href", "srcset", "data", "action", "poster")]
    assert [each for each in fetching if outside.match(each[2])] == []
    assert not re.search(r"(?i)@import|url\(|<script|<link|<iframe|<object", made.html())
    assert "default-src 'none'" in made.html()


def test_the_same_table_gives_the_same_bytes(sample: Votes, made: Report, tmp_path: Path) -> None:
    assert report(sample, title="Sample", draws=200, redraws=200).html() == made.html()
    # more values than a matrix shows, all as frequent, in processes whose sets are ordered differently
    table = tmp_path / "many.csv"
    table.write_text("u,r,v\n" + "".join(f"{unit},{rater},v{unit}\n" for unit in range(40) for rater in "ab"))
    code = (
        "import sys; from evaluators import load_votes; from evaluators.report import report;"
        "print(report(load_votes(sys.argv[1], unit='u', rater='r', value='v'), draws=0).html())"
    )
    pages = {
        subprocess.run(
            [sys.executable, "-c", code, str(table)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=STYLE.parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(pages) == 1


def test_light_dark_and_print_are_styled_and_contrast_is_enough() -> None:
    style = STYLE.read_text("utf-8")
    assert "color-scheme: light dark" in style
    assert "@media print" in style
    light, dark = (dict(re.findall(r"--([\w-]+): ([^;]+);", block)) for block in _palettes(style))
    for palette in (light, {**light, **dark}):
        paper, ink = _rgb(palette["paper"]), _rgb(palette["ink"])
        assert _contrast(ink, paper) >= 7
        assert min(_contrast(_rgb(palette[name]), paper) for name in ("soft", "accent")) >= 4.5
        assert _contrast(_rgb(palette["mark"]), paper) >= 3
        shade = tuple(float(part) for part in palette["shade"].split(","))
        most = float(palette["shade-most"])
        strongest = tuple(most * a + (1 - most) * b for a, b in zip(shade, paper, strict=True))
        assert _contrast(ink, strongest) >= 4.5


def _palettes(style: str) -> tuple[str, str]:
    light, dark = re.findall(r"\.cv \{([^}]*--ink[^}]*)\}", style)
    return light, dark


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(float(int(colour[place : place + 2], 16)) for place in (1, 3, 5))


def _contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """WCAG 2.2, relative luminance."""

    def luminance(colour: tuple[float, ...]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (x / 255 for x in colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_raters_by_name_and_names_that_two_share() -> None:
    rows = [
        {"span_id": f"s{unit}", "span_rev": 1, "rater_id": rater, "rater_name": name, "category": "a"}
        for unit in range(2)
        for rater, name in (("1", "Ann"), ("2", "Ann"), ("3", "Bo"), ("4", ""))
    ]
    by_id, by_name = (
        report(load_votes(rows), names=names).overview.raters["rater"].tolist() for names in (False, True)
    )
    assert by_id == ["1", "2", "3", "4"]
    assert by_name == ["Ann (1)", "Ann (2)", "Bo", "4"]


def test_the_parts_are_those_of_the_functions(sample: Votes, made: Report) -> None:
    def plain(result: Any) -> Any:
        return json.loads(json.dumps(result.as_dict(), allow_nan=False))

    assert plain(made.agreement) == plain(agreement(sample, draws=200))
    assert made.times is not None
    assert plain(made.times) == plain(times(sample))
    assert made.copilot is not None
    assert plain(made.copilot) == plain(copilot_effect(sample, draws=200, redraws=200))
    assert plain(made.descriptives) == plain(descriptives(sample))


def test_a_drawing_of_one_table_is_that_of_the_page(sample: Votes, made: Report, tmp_path: Path) -> None:
    drawing = draw(made.agreement, "by_category")
    path = tmp_path / "drawing.html"
    drawing.write(path)
    (caption,) = Page(path.read_text("utf-8")).tables
    assert caption == "Each category against all others"
    whole = made.html()
    assert drawing.html[drawing.html.index("<table") : drawing.html.index("</table>")] in whole
    assert made.times is not None
    assert "Learning curve of each rater" in draw(made.times, "learning").html
    assert made.copilot is not None
    assert set(Page(draw(made.copilot, "effects").html).tables) >= {"Differences", "Time to the first decision"}
    assert "How often" in Page(draw(descriptives(sample)).html).tables
    with pytest.raises(InputError, match=r"no drawing of `nothing`; drawn are `overall`, `by_category`"):
        draw(made.agreement, "nothing")
