"""From a conversation to an agreement table: two raters in a real browser, wholly by keyboard."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from convolabel.votes_files import read_votes, write_votes
from evaluators import agreement, load_votes
from importers import export_votes, progress_of
from tests.browser.chromium import rater
from tests.browser.conftest import RatedStudy
from tests.browser.rated_study import SLICES

pytestmark = [pytest.mark.browser, pytest.mark.studio]

KEYS = {"Q": "1", "R": "2", "I": "3", "K": "4", "C": "5", "A": "6", "E": "7", "D": "8", "U": "9", "unsure": "0"}
ANA = ["Q", "R", "R", "K", "D", "A", "Q", "unsure"]
BEN = ["Q", "R", "K", "K", "D", "A", "D", "Q"]
# f-8 has one vote and is not pairable. Of the seven others f-3 and f-7 disagree: D_o = 2/7.
# Values over the seven: Q 3, R 3, K 3, D 3, A 2, together 14.
# D_e = 1 - (4 * 3*2 + 2*1) / (14*13) = 1 - 26/182 = 6/7. alpha = 1 - (2/7)/(6/7) = 2/3.
ALPHA = 2 / 3


def keys_of(labels: list[str]) -> dict[str, str]:
    return dict(zip(SLICES, (KEYS[label] for label in labels), strict=True))


def test_two_raters_from_import_to_alpha(rated: RatedStudy, browser: Browser, tmp_path: Path) -> None:
    ana_keys, ben_keys = keys_of(ANA), keys_of(BEN)
    with rater(browser, rated.server.url) as ana, rater(browser, rated.server.url) as ben:
        for window, email in ((ana, "ana@example.com"), (ben, "ben@example.com")):
            window.sign_in(email, rated.passwords[email])
            window.await_page("First talk")
        ana.code({span: ana_keys[span] for span in ("f-1", "f-2", "f-3")})
        ana.await_unit("f-4")
        ana.await_saved()
        ana.page.reload()
        ana.await_page("First talk")
        ana.await_unit("f-4")
        ben.code({span: ben_keys[span] for span in ("f-1", "f-2")})
        ben.await_unit("f-3")
        ben.await_saved()

        rated.server.stop()
        # the server is away: the choice is on the page at once, kept, and sent when the server is back
        ben.press(ben_keys["f-3"])
        ben.await_unit("f-4")
        ben.page.wait_for_selector("[data-testid=convolabel-page]:not([data-save-state=saved])")
        rated.server.restart()
        ben.page.wait_for_selector("[data-testid=convolabel-page][data-save-state=saved]", timeout=60_000)

        for window, keys in ((ana, ana_keys), (ben, ben_keys)):
            window.code({span: keys[span] for span in ("f-4", "f-5", "f-6", "f-7", "f-8")})
            window.await_saved()
            window.press("Control+Enter")
            window.await_page("second")
            assert window.errors == []

    votes = list(export_votes(rated.study, rated.connection))
    write_votes(tmp_path / "votes.csv", votes)
    rows = read_votes(tmp_path / "votes.csv")
    assert [(row.rater_name, row.span_id, row.category or "unsure") for row in rows] == [
        (name, span, label)
        for name, labels in (("Ana", ANA), ("Ben", BEN))
        for span, label in zip(SLICES, labels, strict=True)
    ]
    assert {row.span_id: row.span_text for row in rows} == SLICES
    offsets = {row.span_id: (row.message_id, row.span_index, row.span_start, row.span_end) for row in rows}
    assert offsets == {
        "f-1": ("m2", 0, 0, 17),
        "f-2": ("m2", 1, 18, 26),
        "f-3": ("m3", 0, 0, 9),
        "f-4": ("m3", 1, 11, 23),
        "f-5": ("m4", 0, 0, 11),
        "f-6": ("m4", 1, 13, 18),
        "f-7": ("m5", 0, 0, 28),
        "f-8": ("m5", 1, 29, 39),
    }
    assert all(row.time_ms is not None and row.created_at is not None for row in rows)

    overall = agreement(load_votes(tmp_path / "votes.csv")).overall
    assert overall[["alpha", "pairable_units"]].to_numpy().tolist() == [[pytest.approx(ALPHA, abs=1e-12), 7]]

    finished = {row.rater: row.is_submitted for row in progress_of(rated.study, rated.connection) if row.total == 8}
    assert finished == {"ana@example.com": True, "ben@example.com": True}
    assert len(annotations(rated)) == 2


def annotations(rated: RatedStudy) -> list[dict[str, object]]:
    """Label Studio's own, of the first conversation."""
    page = rated.connection.get("/api/tasks", project=rated.project, fields="all", page_size=10)
    return next(task for task in page["tasks"] if task["data"]["id"] == "first")["annotations"]  # type: ignore[no-any-return]
