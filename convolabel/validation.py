"""Every fault of a conversation file in one go (design, section 3)."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError

from convolabel.conversation import SCHEMA_VERSION, Conversation
from convolabel.graphemes import is_grapheme_boundary
from convolabel.settings_file import without_knock_on

RULES: dict[str, str] = {
    "not_json": "the text is not valid JSON",
    "schema_version": f'a conversation file says "schema_version": "{SCHEMA_VERSION}"',
    "unknown_field": "the format has no such field",
    "missing_field": "a required field is missing",
    "wrong_type": "the value has the wrong type or size",
    "broken_unicode": "text holds a lone surrogate or a NUL, which no store can keep",
    "item_id_duplicate": "an item id stands once in a file",
    "item_without_span": "an item has at least one span",
    "message_id_duplicate": "a message id stands once in an item",
    "no_speaker": "a message names its speaker or its role",
    "unknown_speaker": "a message's speaker stands in the item's speakers",
    "span_id_length": "a span id has 1 to 64 characters",
    "span_id_duplicate": "a span id stands once in the study",
    "span_on_unlabelable": "only a labelable message has spans",
    "span_empty": "a span's end is greater than its start",
    "span_outside_text": "a span lies inside its message's text",
    "span_unsorted": "spans are sorted by start",
    "span_overlap": "spans do not overlap",
    "span_blank": "a span holds more than white space",
    "span_splits_grapheme": "a span's boundary never cuts a character (grapheme cluster)",
    "span_text_differs": "a span's text, when given, equals the slice of the message",
}
"""Rule name -> what the format asks for."""


@dataclass(frozen=True)
class Fault:
    """One broken rule: where it is broken and the value that breaks it."""

    rule: str
    value: str
    item_id: str | None = None
    message_id: str | int | None = None
    span_id: str | None = None
    source: str | None = None

    def __str__(self) -> str:
        places = [("item", self.item_id), ("message", self.message_id), ("span", self.span_id)]
        where = ", ".join(f"{name} {value}" for name, value in places if value is not None)
        start = ": ".join(part for part in (self.source, where) if part)
        return f"{start + ': ' if start else ''}{self.rule} ({RULES[self.rule]}): {self.value}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Checked:
    """What a check found: the valid conversations in file order, and the faults of the others.

    `item_ids` and `span_ids` are all that were met, those of refused items too.
    """

    conversations: list[Conversation]
    faults: list[Fault]
    item_ids: set[str] = field(default_factory=set)
    span_ids: set[str] = field(default_factory=set)

    @property
    def refused_items(self) -> list[str]:
        """Ids of the items with faults, in order; an item whose id cannot be read is named by its position."""
        return list(dict.fromkeys(fault.item_id for fault in self.faults if fault.item_id is not None))


def check_items(
    items: Iterable[object],
    *,
    source: str | None = None,
    known_span_ids: Iterable[str] = (),
    spans_required: bool = True,
) -> Checked:
    """Check raw items (parsed JSON) of one file.

    `known_span_ids` are span ids that stand elsewhere in the study; meeting one is a fault. An item without any span
    is a fault only where `spans_required`: there is nothing to code in it, but there is something to read.
    """
    conversations: list[Conversation] = []
    faults: list[Fault] = []
    item_ids: set[str] = set()
    span_ids = set(known_span_ids)
    for position, raw in enumerate(items):
        found = list(_item_faults(raw, position, item_ids, span_ids))
        if not spans_required:
            found = [fault for fault in found if fault.rule != "item_without_span"]
        if found:
            faults += [Fault(**{**fault.as_dict(), "source": source}) for fault in found]
        else:
            conversations.append(Conversation.model_validate(raw))
    return Checked(conversations, faults, item_ids, span_ids)


def _item_faults(raw: object, position: int, item_ids: set[str], span_ids: set[str]) -> Iterator[Fault]:
    item_id = raw["id"] if isinstance(raw, dict) and isinstance(raw.get("id"), str) and raw["id"] else None
    name = item_id if item_id is not None else f"#{position + 1}"
    if item_id is not None:
        if item_id in item_ids:
            yield Fault("item_id_duplicate", item_id, item_id=name)
        item_ids.add(item_id)
    yield from _structure_faults(raw, name)
    if not isinstance(raw, dict):
        return
    broken = sorted({where for where, text in _texts(raw, "item") if not _is_storable(text)})
    for where in broken:
        yield Fault("broken_unicode", where, item_id=name)
    content = raw.get("content")
    messages = content.get("messages") if isinstance(content, dict) else None
    if not isinstance(messages, list):
        return
    speakers = raw.get("speakers") if isinstance(raw.get("speakers"), dict) else {}
    seen_messages: set[object] = set()
    span_count = 0
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            continue
        ident = _message_name(message, index)
        if str(ident) in seen_messages:
            yield Fault("message_id_duplicate", repr(ident), item_id=name, message_id=ident)
        seen_messages.add(str(ident))
        speaker, role = message.get("speaker"), message.get("role")
        if speaker is None and role is None:
            yield Fault("no_speaker", "neither speaker nor role is given", item_id=name, message_id=ident)
        elif isinstance(speaker, str) and speakers and speaker not in speakers:
            yield Fault("unknown_speaker", repr(speaker), item_id=name, message_id=ident)
        spans = message.get("spans")
        if isinstance(spans, list):
            span_count += len(spans)
            for fault in _message_span_faults(message, spans, span_ids):
                yield Fault(fault.rule, fault.value, name, ident, fault.span_id)
    if span_count == 0:
        yield Fault("item_without_span", f"{len(messages)} messages, 0 spans", item_id=name)


def _message_span_faults(message: dict[str, Any], spans: list[object], span_ids: set[str]) -> Iterator[Fault]:
    text = message.get("content")
    if spans and message.get("labelable") is not True:
        yield Fault("span_on_unlabelable", f"labelable is {message.get('labelable', False)!r}, spans: {len(spans)}")
    placed: list[tuple[int, int, str | None]] = []
    for span in spans:
        if not isinstance(span, dict):
            continue
        span_id = span.get("span_id") if isinstance(span.get("span_id"), str) else None
        if span_id is not None:
            if not 1 <= len(span_id) <= 64:
                yield Fault("span_id_length", f"{len(span_id)} characters", span_id=span_id[:80])
            elif span_id in span_ids:
                yield Fault("span_id_duplicate", span_id, span_id=span_id)
            span_ids.add(span_id)
        start, end = span.get("start"), span.get("end")
        if type(start) is not int or type(end) is not int or not isinstance(text, str):
            continue
        where = f"[{start}, {end})"
        if end <= start:
            yield Fault("span_empty", where, span_id=span_id)
            continue
        if start < 0 or end > len(text):
            yield Fault("span_outside_text", f"{where}, text length {len(text)}", span_id=span_id)
            continue
        piece = text[start:end]
        if not piece.strip():
            yield Fault("span_blank", where, span_id=span_id)
        for offset in (start, end):
            if not is_grapheme_boundary(text, offset):
                yield Fault("span_splits_grapheme", f"{where} cuts a character at {offset}", span_id=span_id)
        if isinstance(span.get("text"), str) and span["text"] != piece:
            yield Fault("span_text_differs", f"{where} is {piece!r}, not {span['text']!r}", span_id=span_id)
        if placed and start < placed[-1][0]:
            yield Fault("span_unsorted", f"{where} after {placed[-1][0]}", span_id=span_id)
        placed.append((start, end, span_id))
    reach, holder = 0, None
    for start, end, span_id in sorted(placed, key=lambda place: place[:2]):
        if start < reach:
            value = f"[{start}, {end}) begins before span {holder} ends at {reach}"
            yield Fault("span_overlap", value, span_id=span_id)
        if end > reach:
            reach, holder = end, span_id


def _structure_faults(raw: object, name: str) -> Iterator[Fault]:
    try:
        Conversation.model_validate(raw)
    except ValidationError as error:
        for detail in without_knock_on(error.errors(include_url=False)):
            # Rules with a name of their own are judged on the raw item, with the ids at hand.
            if detail["loc"][-1:] == ("span_id",) and detail["type"] in ("string_too_long", "string_too_short"):
                continue
            message_id, span_id, path = _place(raw, detail["loc"])
            rule = {"extra_forbidden": "unknown_field", "missing": "missing_field"}.get(detail["type"], "wrong_type")
            value = path if rule != "wrong_type" else f"{path}: {detail['msg']}"
            yield Fault(rule, value, item_id=name, message_id=message_id, span_id=span_id)


def _place(raw: object, loc: tuple[int | str, ...]) -> tuple[str | int | None, str | None, str]:
    """Message id, span id and dotted path of a pydantic error location."""
    message_id: str | int | None = None
    span_id: str | None = None
    node: object = raw
    # union members add a type name to the location; keep only what exists in the raw document
    kept: list[str] = []
    for depth, key in enumerate(loc):
        if isinstance(node, dict) and (key in node or depth == len(loc) - 1):
            node = node.get(key)
        elif isinstance(node, list) and isinstance(key, int) and key < len(node):
            node = node[key]
            if kept and kept[-1] == "messages" and isinstance(node, dict):
                message_id = _message_name(node, key)
            if kept and kept[-1] == "spans" and isinstance(node, dict) and isinstance(node.get("span_id"), str):
                span_id = node["span_id"][:80]
        elif depth:
            continue
        kept.append(str(key))
    return message_id, span_id, ".".join(kept) or "item"


def _message_name(message: dict[str, Any], index: int) -> str | int:
    ident = message.get("message_id")
    return ident if isinstance(ident, str | int) and not isinstance(ident, bool) and ident != "" else index + 1


def _is_storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _texts(node: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield f"a key in {path}", str(key)
            yield from _texts(value, f"{path}.{key}" if _is_storable(str(key)) else path)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _texts(value, f"{path}[{index}]")
