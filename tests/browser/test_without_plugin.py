"""The same project with the plugin off: frozen units, categories by hotkey, a native submit, the same export."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from importers import connect, create_study, export_votes, import_conversations
from tests.browser.chromium import rater
from tests.browser.rated_study import FIRST, RATERS, SLICES, conversations, study
from tests.label_studio_server import LabelStudioServer

pytestmark = [pytest.mark.browser, pytest.mark.studio]

KEYS = ["1", "2", "3", "4", "5", "6", "7", "0"]
LABELS = ["Q", "R", "I", "K", "C", "A", "E", None]


def test_a_conversation_is_coded_in_the_stock_interface(tmp_path: Path, browser: Browser) -> None:
    data = tmp_path / "data"
    with LabelStudioServer(data, plugin=True) as with_plugin:
        made = study("stock-study", with_plugin.url, None)
        with connect(with_plugin.url, with_plugin.token) as manager:
            create_study(made, manager, passwords=dict.fromkeys(RATERS, "rater-password-1"))
            import_conversations(made, [each for each in conversations() if each.id == FIRST["id"]], manager)
    with LabelStudioServer(data, plugin=False) as stock, rater(browser, stock.url) as ana:
        ana.sign_in("ana@example.com", "rater-password-1")
        ana.page.goto(f"{stock.url}/projects/1/data?labeling=1")
        page = ana.page
        page.wait_for_function("() => window.Htx?.annotationStore?.selected?.regions?.length === 8", timeout=30_000)
        shown = page.evaluate("() => Htx.annotationStore.selected.regions.map(region => region.cleanId)")
        assert shown == list(SLICES)
        for span_id, key in zip(SLICES, KEYS, strict=True):
            page.evaluate(
                "id => { const a = Htx.annotationStore.selected; a.unselectAll();"
                " a.selectArea(a.regions.find(region => region.cleanId === id)); }",
                span_id,
            )
            page.keyboard.press("Backspace")  # frozen: nothing is deleted
            page.keyboard.press(key)
        page.get_by_role("button", name="submit", exact=False).first.click()
        page.wait_for_timeout(3000)
        with connect(stock.url, stock.token) as manager:
            rows = list(export_votes(made, manager))
        assert [(row.span_id, row.category, row.unsure) for row in rows] == [
            (span_id, label, label is None) for span_id, label in zip(SLICES, LABELS, strict=True)
        ]
        assert {row.span_id: row.span_text for row in rows} == SLICES
        assert {row.copilot_arm for row in rows} == {None}
