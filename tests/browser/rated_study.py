"""The study of the browser tests: a conversation with what can go wrong on a page, and a second one to go on to."""

from typing import Any

from convolabel import Conversation, Study, shipped_codebook
from convolabel.validation import check_items

RATERS = ("ana@example.com", "ben@example.com")
LATER = "Geheimnis"
"""Stands only in messages that come into view late."""


def study(name: str, url: str, copilot_url: str | None) -> Study:
    copilot = {"url": copilot_url, "control_share": 0.5, "wait_seconds": 10} if copilot_url else None
    return Study.model_validate(
        {
            "study": name,
            "title": "Browser study",
            "label_studio": {"url": url},
            "codebook": shipped_codebook("vrm-intent").model_dump(exclude_unset=True),
            "raters": [{"email": RATERS[0], "name": "Ana"}, {"email": RATERS[1], "name": "Ben"}],
            "copilot": copilot,
        }
    )


def _message(ident: str, speaker: str, content: str, *spans: tuple[str, int, int]) -> dict[str, Any]:
    marked = [{"span_id": span_id, "start": start, "end": end} for span_id, start, end in spans]
    return {"message_id": ident, "speaker": speaker, "content": content, "labelable": bool(spans), "spans": marked}


# Code points: 👍🏽 is two, 😀 one, CR LF two. "Gut 👍🏽 weiter so. " is 18 long, "Erst das.\r\n" 11.
FIRST = {
    "id": "first",
    "label": "First talk",
    "speakers": {"c": {"name": "</script><b>Cleo</b>", "role": "client"}, "a": {"name": "Ada", "role": "counsellor"}},
    "content": {
        "messages": [
            _message("m1", "c", "Hello there."),
            _message("m2", "a", "Gut 👍🏽 weiter so. Was nun?", ("f-1", 0, 17), ("f-2", 18, 26)),
            _message("m3", "c", "Erst das.\r\nDann 😀 dies.", ("f-3", 0, 9), ("f-4", 11, 23)),
            _message("m4", "c", "A  doppelt.  Ende.", ("f-5", 0, 11), ("f-6", 13, 18)),
            _message("m5", "a", f"<img src=x onerror=alert(1)> {LATER}.", ("f-7", 0, 28), ("f-8", 29, 39)),
        ]
    },
}
SECOND = {
    "id": "second",
    "speakers": {"a": {"name": "Ada", "role": "counsellor"}},
    "content": {"messages": [_message("m1", "a", "Mhm.", ("s-1", 0, 4)), _message("m2", "a", LATER, ("s-2", 0, 9))]},
}
SLICES = {
    "f-1": "Gut 👍🏽 weiter so.",
    "f-2": "Was nun?",
    "f-3": "Erst das.",
    "f-4": "Dann 😀 dies.",
    "f-5": "A  doppelt.",
    "f-6": "Ende.",
    "f-7": "<img src=x onerror=alert(1)>",
    "f-8": f"{LATER}.",
}


def conversations() -> list[Conversation]:
    checked = check_items([FIRST, SECOND])
    assert not checked.faults, checked.faults
    return checked.conversations
