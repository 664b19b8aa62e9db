"""What tests of several folders share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import launch


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a run: Playwright runs once per process."""
    with sync_playwright() as playwright:
        opened = launch(playwright)
        yield opened
        opened.close()
