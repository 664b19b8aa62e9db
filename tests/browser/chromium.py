"""A real Chromium with one signed-in rater."""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, Response

_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch(playwright: Playwright) -> Browser:
    found = next(filter(None, map(shutil.which, _NAMES)), None) or (str(_MAC) if _MAC.exists() else None)
    assert found, "Chromium is not installed; `make test` installs it or says how"
    return playwright.chromium.launch(executable_path=found, args=_FLAGS)


class Rater:
    """One browser window of one rater; everything the server sent it is kept in `received`."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.received: list[tuple[str, str]] = []
        self.errors: list[str] = []
        page.on("response", self._keep)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))

    def sign_in(self, email: str, password: str) -> None:
        self.page.goto(f"{self.url}/user/login/")
        self.page.fill("input[name=email]", email)
        self.page.fill("input[name=password]", password)
        self.page.click("button[type=submit]")

    def await_page(self, conversation: str) -> None:
        self.page.wait_for_selector("[data-testid=convolabel-page]", timeout=30_000)
        self.page.get_by_role("heading", name=conversation).wait_for(timeout=30_000)

    def await_unit(self, span_id: str) -> None:
        self.page.wait_for_selector(f'[data-span-id="{span_id}"][data-current]', timeout=15_000)

    def await_saved(self) -> None:
        self.page.wait_for_selector('[data-testid=convolabel-page][data-save-state="saved"]', timeout=15_000)

    def await_suggestion_reply(self, span_id: str) -> None:
        """Until the server has answered for the unit, and the page has had time to show what it answered."""
        limit = time.monotonic() + 20
        while not any(f"/units/{span_id}/suggestion" in url for url, _ in self.received):
            assert time.monotonic() < limit, f"no answer for {span_id}"
            self.page.wait_for_timeout(100)
        self.page.wait_for_timeout(500)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def code(self, units: dict[str, str]) -> None:
        """Span id -> key, each pressed when its unit has become the current one by itself."""
        for span_id, key in units.items():
            self.await_unit(span_id)
            self.press(key)

    def _keep(self, response: Response) -> None:
        kind = response.headers.get("content-type", "")
        if re.search(r"/(static|react-app|label-studio-frontend|dm)/", response.url) or "image" in kind:
            return
        if response.status in (204, 301, 302, 304):
            return
        try:
            self.received.append((response.url, response.text()))
        except Exception:  # noqa: BLE001 - a body is gone when the page navigated away meanwhile
            self.received.append((response.url, ""))


@contextmanager
def rater(browser: Browser, url: str, *, scheme: str = "light") -> Iterator[Rater]:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        yield Rater(context.new_page(), url)
    finally:
        context.close()
