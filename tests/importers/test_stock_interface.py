"""A rater codes a conversation in Label Studio's own interface, without the plugin, in a real browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from convolabel import Conversation, Study, shipped_codebook
from importers import connect, create_study, export_votes, import_conversations
from tests.label_studio_server import LabelStudioServer

pytestmark = [pytest.mark.studio, pytest.mark.browser]
EMAIL, PASSWORD = "stock@example.com", "stock-password-1"
TEXTS = [
    ("Gut 👍🏽 weiter so. Was nun?", [("e1", 0, 17), ("e2", 18, 26)]),
    ("Erst das.\r\nDann 😀 dies. Ende\nneu.", [("n1", 0, 9), ("n2", 18, 23), ("n3", 24, 33)]),
    ("A  doppelt.  Ende.", [("w1", 13, 18)]),
]
UNITS = ["Gut 👍🏽 weiter so.", "Was nun?", "Erst das.", "dies.", "Ende\nneu.", "Ende."]
KEYS = ["1", "2", "9", "0", "3", "1"]
"""Question, Reflection, Uncodable, unsure, Interpretation, Question: the codebook's first nine categories in order."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context.new_page()
    context.close()


def tricky() -> Conversation:
    messages: list[dict[str, Any]] = [{"speaker": "c", "content": "Hallo <b>x</b>."}]
    for text, spans in TEXTS:
        placed = [{"span_id": span_id, "start": start, "end": end} for span_id, start, end in spans]
        messages.append({"speaker": "a", "content": text, "labelable": True, "spans": placed})
    return Conversation.model_validate({"id": "tricky", "content": {"messages": messages}})


def test_units_are_frozen_in_the_right_places_and_coded_by_keys(label_studio: LabelStudioServer, page: Page) -> None:
    label_studio.add_user(EMAIL, PASSWORD, "Stock")
    codebook = shipped_codebook("vrm-intent")
    study = Study.model_validate({"study": "stock", "codebook": codebook.model_dump(), "raters": [{"email": EMAIL}]})
    with connect(label_studio.url, label_studio.token) as connection:
        project = create_study(study, connection).project_id
        import_conversations(study, [tricky()], connection)

        sign_in(page, label_studio.url)
        page.goto(f"{label_studio.url}/projects/{project}/data?labeling=1")
        page.wait_for_function("window.Htx?.annotationStore?.selected?.regions?.length === 6")
        units = page.locator(".htx-highlight")
        assert units.all_text_contents() == UNITS
        assert page.evaluate("Htx.annotationStore.selected.regions.map(region => region.text)") == UNITS

        for number, key in enumerate(KEYS[:-1]):
            code(page, number, key)
        submit = page.get_by_role("button", name="Submit").first
        submit.click()
        page.get_by_text("every unit needs a category or unsure").wait_for()
        page.get_by_role("button", name="OK").click()

        code(page, 1, "")
        page.get_by_placeholder("Note on this unit").fill("3 Fragen")
        code(page, 5, KEYS[-1])
        page.keyboard.press("Backspace")  # cannot delete a frozen unit
        with page.expect_response(
            lambda answer: "/annotations" in answer.url and answer.request.method == "POST"
        ) as sent:
            submit.click()
        assert sent.value.status == 201

        rows = list(export_votes(study, connection))
    categories = [category.id for category in codebook.dimensions[0].categories]
    expected = [None if key == "0" else categories[int(key) - 1] for key in KEYS]
    assert [row.category for row in rows] == expected
    assert [row.span_text for row in rows] == UNITS
    assert [row.note for row in rows] == ["", "3 Fragen", "", "", "", ""]
    assert [row.span_rev for row in rows] == [1] * 6


def sign_in(page: Page, url: str) -> None:
    page.goto(f"{url}/user/login/")
    page.fill("input[name=email]", EMAIL)
    page.fill("input[name=password]", PASSWORD)
    with page.expect_navigation():
        page.click("button[type=submit]")


def code(page: Page, number: int, key: str) -> None:
    """Select a unit and, with a key, give it a category."""
    page.locator(".htx-highlight").nth(number).click()
    page.wait_for_function(f"Htx.annotationStore.selected.regions[{number}].selected")
    if key:
        page.keyboard.press(key)
        page.wait_for_function(
            f"Htx.annotationStore.selected.regions[{number}].results.some(result => result.type === 'choices')"
        )
