"""What a rater does on the page beside choosing categories, in real Label Studio and Chromium."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from convolabel.votes_table import Vote
from importers import export_votes
from tests.browser.chromium import Rater, rater
from tests.browser.conftest import RatedStudy
from tests.browser.rated_study import LATER, SLICES

pytestmark = [pytest.mark.browser, pytest.mark.studio]


@pytest.fixture(scope="module")
def ana(rated: RatedStudy, browser: Browser) -> Iterator[Rater]:
    """The tests of this module go on in one window, each on the units of its own message."""
    with rater(browser, rated.server.url) as window:
        window.sign_in("ana@example.com", rated.passwords["ana@example.com"])
        window.await_page("First talk")
        yield window


def votes(rated: RatedStudy, name: str = "Ana") -> dict[str, Vote]:
    return {vote.span_id: vote for vote in export_votes(rated.study, rated.connection) if vote.rater_name == name}


def test_a_note_takes_the_keys_and_labels_nothing(rated: RatedStudy, ana: Rater) -> None:
    ana.await_unit("f-1")
    ana.press("n")
    ana.page.keyboard.type("3 Fragen, 0 Antworten")
    ana.press("Enter", "Backspace", "Escape")
    ana.await_saved()
    ana.await_unit("f-1")
    assert votes(rated) == {}
    ana.press("1")
    ana.await_unit("f-2")
    ana.await_saved()
    vote = votes(rated)["f-1"]
    assert (vote.category, vote.note.startswith("3 Fragen, 0 Antworten")) == ("Q", True)


def test_taking_a_choice_back_does_not_advance_and_backspace_steps_back(rated: RatedStudy, ana: Rater) -> None:
    ana.await_unit("f-2")
    ana.press("Backspace")
    ana.await_unit("f-1")
    ana.press("1")
    ana.page.wait_for_selector('[data-chip-for="f-1"][data-empty]')
    ana.await_unit("f-1")
    ana.await_saved()
    assert votes(rated) == {}
    # the numeric keypad counts as digits
    ana.press("Numpad2")
    ana.await_unit("f-2")
    ana.await_saved()
    assert votes(rated)["f-1"].category == "R"


def test_auto_advance_is_a_switch_that_is_remembered(ana: Rater) -> None:
    switch = ana.page.get_by_test_id("auto-advance")
    switch.uncheck()
    ana.await_unit("f-2")
    ana.press("1")
    ana.page.wait_for_selector('[data-chip-for="f-2"]:not([data-empty])')
    ana.await_unit("f-2")
    ana.press("Enter")
    ana.await_unit("f-3")
    ana.await_saved()
    ana.page.reload()
    ana.await_page("First talk")
    assert not switch.is_checked()
    switch.check()
    ana.await_unit("f-3")


def test_suggestions_are_never_chosen_and_controls_look_like_nothing(rated: RatedStudy, ana: Rater) -> None:
    shown = {}
    for span_id in ("f-3", "f-4", "f-5", "f-6", "f-7", "f-8"):
        ana.await_unit(span_id)
        ana.await_suggestion_reply(span_id)
        assert ana.page.locator('.category[aria-pressed="true"]').count() == 0
        accept = ana.page.get_by_test_id("accept")
        shown[span_id] = accept.count() == 1
        ana.press("a" if shown[span_id] else "4")
        ana.page.wait_for_selector(f'[data-chip-for="{span_id}"]:not([data-empty])')
        ana.await_saved()
    rows = votes(rated)
    arms = {span_id: row.copilot_arm for span_id, row in rows.items()}
    assert {True, False} == set(shown.values()), arms
    for span_id, was_shown in shown.items():
        row = rows[span_id]
        assert row.copilot_shown is was_shown, span_id
        if was_shown:
            assert (row.copilot_arm, row.copilot_accepted, row.category) == ("shown", True, row.copilot_label)
        else:
            assert row.copilot_arm in ("control", "none")
            assert row.copilot_accepted is None
            assert row.category == "K"
    controls = [rows[span_id] for span_id in shown if rows[span_id].copilot_arm == "control"]
    assert controls
    assert all(row.copilot_label for row in controls), "a control logs what would have been shown"
    received = "".join(body for url, body in ana.received if "/suggestion" in url)
    assert "control" not in received
    assert "withheld" not in received


def test_hostile_and_odd_text_is_shown_as_it_is(ana: Rater) -> None:
    for span_id, text in SLICES.items():
        mark = ana.page.locator(f'[data-span-id="{span_id}"]')
        assert mark.evaluate("node => node.textContent") == text.replace("\r\n", "\n")
    assert ana.page.get_by_text("</script><b>Cleo</b>").count() > 0
    assert ana.page.locator("[data-testid=convolabel-page] img").count() == 0
    assert ana.errors == []


def test_finished_is_finished_and_can_still_be_revised(rated: RatedStudy, ana: Rater) -> None:
    ana.press("Control+Enter")
    ana.await_page("second")
    ana.page.get_by_test_id("previous-conversation").click()
    ana.await_page("First talk")
    ana.page.get_by_test_id("submitted").wait_for()
    ana.page.get_by_test_id("next-conversation").click()
    ana.await_page("second")
    ana.code({"s-1": "4", "s-2": "1"})
    ana.await_saved()
    before = votes(rated)["s-2"]
    ana.press("ArrowUp")
    ana.press("ArrowDown")
    ana.await_unit("s-2")
    ana.press("2")
    ana.await_saved()
    after = votes(rated)["s-2"]
    assert (before.category, after.category) == ("Q", "R")
    assert (after.time_ms, after.created_at) == (before.time_ms, before.created_at), "the first decision's time stays"
    assert after.later_time_ms is not None
    assert LATER in after.span_text
    ana.press("Control+Enter")
    # Label Studio's own screen, or the page's, according to which of them is faster
    ana.page.get_by_text(re.compile("no more tasks left|all done", re.IGNORECASE)).first.wait_for()
