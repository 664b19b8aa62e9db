"""The page in a real browser: from disk, without errors, requests or sideways scrolling; light, dark and printed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from simulated_votes import simulated_votes

from evaluators import load_votes
from evaluators.report import report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report") / "report.html"
    report(load_votes(simulated_votes()), draws=50, redraws=50).write(made)
    return made


def opened(browser: Browser, path: Path, scheme: str, width: int) -> tuple[Page, list[str]]:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    seen: list[str] = []
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda request: None if request.url == path.as_uri() else seen.append(request.url))
    page.goto(path.as_uri())
    return page, seen


@pytest.mark.parametrize("width", [1200, 800, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_from_disk_alone(browser: Browser, path: Path, scheme: str, width: int) -> None:
    page, seen = opened(browser, path, scheme, width)
    assert page.locator("h1").inner_text() == "Coding of the table"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 26)")
    assert len(page.screenshot(full_page=True)) > 50_000
    assert seen == []
    page.close()


def test_plots_stand_in_their_tables_at_the_places_of_their_numbers(browser: Browser, path: Path) -> None:
    page, _ = opened(browser, path, "light", 1200)
    row = page.locator("table", has_text="Alpha over all units").locator("tbody tr").first
    alpha = float(row.locator("td.number data").first.get_attribute("value") or "nan")
    plot = row.locator("td.plot svg").bounding_box()
    dot = row.locator("td.plot circle").bounding_box()
    assert plot is not None
    assert dot is not None
    # the scale goes from 0 to 1
    middle = dot["x"] + dot["width"] / 2
    assert (middle - plot["x"]) / plot["width"] == pytest.approx(alpha, abs=0.01)
    page.close()


def test_it_prints_on_white_paper_and_no_table_is_cut_off(browser: Browser, path: Path) -> None:
    page, _ = opened(browser, path, "dark", 700)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    widest = page.evaluate("Math.max(...[...document.querySelectorAll('table')].map(table => table.scrollWidth))")
    assert widest <= 700
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
