"""What reaches a rater's browser: nothing of later messages, nothing of the other rater."""

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import rater
from tests.browser.conftest import RatedStudy
from tests.browser.rated_study import LATER

pytestmark = [pytest.mark.browser, pytest.mark.studio]

SECRETS = (LATER, "ben@example.com", "Bens Notiz", '"Ben"')
PAGES = ("/projects/{project}/data", "/projects/{project}/data?tab=1", "/projects", "/")
APIS = (
    "/api/tasks/{task}",
    "/api/tasks/{task}/?fields=all&include=annotations,drafts,data",
    "/api/tasks?project={project}&fields=all",
    "/api/tasks/{task}/annotations/",
    "/api/tasks/{task}/drafts",
    "/api/projects/{project}",
    "/api/projects/{project}/next",
    "/api/projects/{project}/export?exportType=JSON",
    "/api/projects/{project}/tasks/",
    "/api/dm/project?project={project}",
    "/api/dm/views?project={project}",
    "/api/users/",
    "/api/organizations/1/memberships",
    "/convolabel/api/tasks/{task}",
    "/convolabel/api/projects/{project}/log",
)


def test_nothing_of_the_future_or_of_another_rater_reaches_the_browser(rated: RatedStudy, browser: Browser) -> None:
    with rater(browser, rated.server.url) as ben, rater(browser, rated.server.url) as ana:
        ben.sign_in("ben@example.com", rated.passwords["ben@example.com"])
        ben.await_page("First talk")
        ben.await_unit("f-1")
        ben.press("n")
        ben.page.keyboard.type("Bens Notiz")
        ben.press("Escape", "2")
        ben.await_unit("f-2")
        ben.press("1")
        ben.await_unit("f-3")
        ben.await_saved()

        ana.sign_in("ana@example.com", rated.passwords["ana@example.com"])
        ana.await_page("First talk")
        ana.code({"f-1": "1", "f-2": "2"})
        ana.await_unit("f-3")
        ana.await_saved()
        task = int(ana.page.get_by_test_id("convolabel-page").get_attribute("data-task") or 0)
        html = ana.page.content()
        for path in PAGES:
            ana.page.goto(rated.server.url + path.format(project=rated.project))
            ana.page.wait_for_timeout(1500)
            html += ana.page.content()
        bodies = [
            ana.page.evaluate(
                "path => fetch(path).then(reply => reply.text())", path.format(task=task, project=rated.project)
            )
            for path in APIS
        ]
        received = html + "".join(bodies) + "".join(body for _, body in ana.received)
        # the test can fail: what she may see is in there
        assert "Was nun?" in received
        assert "ana@example.com" in received
        found = [secret for secret in SECRETS if secret in received]
        assert found == [], [url for url, body in ana.received if any(secret in body for secret in SECRETS)]
