"""Coding by keyboard in a real browser on a real Label Studio: key press to next unit, key press to saved.

`script` is the page's own work up to the next unit, `next` the same up to the frame that shows it, `reveal` the same
for a unit in messages that the server sends only now, `saved` the time to the server's answer.

    python benchmarks/coding_bench.py [--units 92] [--units 1000] [--conversations FILE]

Targets (92 and 1,000 units): next unit on screen p95 <= 50 ms; saved p95 <= 100 and 150 ms.
"""

import json
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from playwright.sync_api import Page, sync_playwright

from convolabel import Conversation, Study, read_conversations, shipped_codebook
from convolabel.validation import check_items
from importers import connect, create_study, import_conversations
from tests.browser.chromium import launch, rater
from tests.label_studio_server import LabelStudioServer

RATER, PASSWORD = "ana@example.com", "ana-password-1"
# Before any other listener: the page keeps key presses to itself.
_CLOCK = "addEventListener('keydown', () => { window.benchBegan = performance.now(); }, { capture: true });"
# In the page: from the key press to the next unit in the DOM, the frame that shows it, and the server's answer.
_WATCH = """() => {
  const page = document.querySelector('convolabel-page');
  window.bench = { script: [], next: [], reveal: [], saved: [] };
  const messages = () => page.shadowRoot.querySelectorAll('[data-message]').length;
  let before = messages();
  new MutationObserver((changes) => {
    const t0 = window.benchBegan;
    if (!t0 || !changes.some((change) => change.target.hasAttribute?.('data-current'))) return;
    const now = messages();
    // where the next unit had to come from the server first, the way to it and back is in the figure
    const kind = now > before ? 'reveal' : 'next';
    before = now;
    if (kind === 'next') window.bench.script.push(performance.now() - t0);
    requestAnimationFrame(() => setTimeout(() => window.bench[kind].push(performance.now() - t0)));
  }).observe(page.shadowRoot, { subtree: true, attributes: true, attributeFilter: ['data-current'] });
  const send = window.fetch;
  window.fetch = async (...request) => {
    const t0 = window.benchBegan;
    const reply = await send(...request);
    if (request[1]?.method === 'PUT') window.bench.saved.push(performance.now() - t0);
    return reply;
  };
}"""


def made_up(units: int) -> Conversation:
    """Messages of four units each, all of them labelable."""
    messages = []
    for number in range(0, units, 4):
        sentences = [f"This is sentence number {number + k} of the talk." for k in range(min(4, units - number))]
        spans, start = [], 0
        for k, sentence in enumerate(sentences):
            spans.append({"span_id": f"u-{number + k}", "start": start, "end": start + len(sentence)})
            start += len(sentence) + 1
        messages.append({"role": "client", "content": " ".join(sentences), "labelable": True, "spans": spans})
    return check_items([{"id": f"bench-{units}", "content": {"messages": messages}}]).conversations[0]


@click.command()
@click.option("--units", multiple=True, type=int, default=(92, 1000), show_default=True)
@click.option("--conversations", type=click.Path(path_type=Path), help="Import these too, and code the first of them.")
@click.option("--keys", default=150, show_default=True, help="Key presses at most per conversation.")
def main(units: tuple[int, ...], conversations: Path | None, keys: int) -> None:
    """Print the figures as JSON, one object per conversation coded."""
    with tempfile.TemporaryDirectory() as folder, LabelStudioServer(Path(folder) / "data", plugin=True) as server:
        coded = read_conversations([conversations]).conversations if conversations else [made_up(n) for n in units]
        for number, batch in enumerate([coded] if conversations else [[each] for each in coded]):
            study = Study.model_validate(
                {
                    "study": f"bench-{number}",
                    "codebook": shipped_codebook("vrm-intent").model_dump(exclude_unset=True),
                    "raters": [{"email": RATER}],
                }
            )
            with connect(server.url, server.token) as manager:
                created = create_study(study, manager, passwords={RATER: PASSWORD})
                began = time.perf_counter()
                import_conversations(study, batch, manager)
                seconds = round(time.perf_counter() - began, 2)
            with sync_playwright() as playwright:
                browser = launch(playwright)
                with rater(browser, server.url) as window:
                    window.page.add_init_script(_CLOCK)
                    window.sign_in(RATER, PASSWORD)
                    window.page.goto(f"{server.url}/projects/{created.project_id}/data?labeling=1")
                    window.page.wait_for_selector("[data-testid=convolabel-page]")
                    found = {
                        "conversation": batch[0].id,
                        "import_seconds": seconds,
                        **code(window.page, keys),
                        **memory(server),
                    }
                    click.echo(json.dumps(found))
                browser.close()


def code(page: Page, keys: int) -> dict[str, Any]:
    page.evaluate(_WATCH)
    root = page.locator("[data-testid=convolabel-page]")
    decided, total = map(int, page.get_by_test_id("progress").inner_text().split(" of "))
    for number in range(min(keys, total - decided)):
        page.keyboard.press(str(number % 9 + 1))
        page.wait_for_function("n => window.bench.saved.length > n", arg=number, polling=5)
        page.wait_for_function(
            "() => document.querySelector('convolabel-page').dataset.saveState === 'saved'", polling=5
        )
    root.wait_for()
    found = page.evaluate("() => window.bench")
    return {"keys": len(found["saved"]), "units": total, **{name: figures(found[name]) for name in found}}


def figures(milliseconds: list[float]) -> dict[str, float] | None:
    """None when it did not happen: with one unit per message every next unit has to be revealed first."""
    if len(milliseconds) < 2:
        return None
    cuts = statistics.quantiles(milliseconds, n=100)
    return {"p50_ms": round(cuts[49], 1), "p95_ms": round(cuts[94], 1)}


def memory(server: LabelStudioServer) -> dict[str, int | None]:
    """Resident memory of Label Studio, where the system tells it under /proc."""
    status = Path(f"/proc/{server.pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return {"label_studio_megabytes": int(found.group(1)) // 1024 if found else None}


if __name__ == "__main__":
    main()
