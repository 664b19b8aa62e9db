"""Reading conversation files: one JSON document, or JSON Lines with one item per line."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from convolabel.conversation import SCHEMA_VERSION
from convolabel.errors import InputError
from convolabel.validation import Checked, Fault, check_items


def read_conversations(
    paths: Sequence[Path], *, known_span_ids: Iterable[str] = (), spans_required: bool = True
) -> Checked:
    """Read and check files of one study. Span ids are unique over all of them; item ids too.

    Items without spans are faults only where `spans_required`.

    Raises `InputError` when a file cannot be read at all.
    """
    checked = Checked([], [], span_ids=set(known_span_ids))
    origin: dict[str, Path] = {}
    for path in paths:
        items, faults = _parse(path)
        found = check_items(items, source=str(path), known_span_ids=checked.span_ids, spans_required=spans_required)
        repeated = sorted(found.item_ids & origin.keys())
        faults += [Fault("item_id_duplicate", f"also in {origin[name]}", name, source=str(path)) for name in repeated]
        origin |= dict.fromkeys(found.item_ids - origin.keys(), path)
        checked.conversations += [talk for talk in found.conversations if talk.id not in repeated]
        checked.faults += faults + found.faults
        checked.item_ids |= found.item_ids
        checked.span_ids |= found.span_ids
    return checked


def _parse(path: Path) -> tuple[list[object], list[Fault]]:
    source = str(path)
    try:
        # utf-8-sig: a byte order mark belongs to the file, not to its content
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}; check the path.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"Cannot read {path}: it is not UTF-8 (byte {error.start}); save it as UTF-8 and try again."
        ) from None
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return _parse_lines(text, source)
    try:
        document = _loads(text)
    except ValueError as error:
        return [], [Fault("not_json", str(error), source=source)]
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        said = document.get("schema_version") if isinstance(document, dict) else type(document).__name__
        return [], [Fault("schema_version", f"found {said!r}", source=source)]
    faults = [Fault("unknown_field", key, source=source) for key in document if key not in ("schema_version", "items")]
    items = document.get("items")
    if not isinstance(items, list):
        rule = "wrong_type" if "items" in document else "missing_field"
        return [], [*faults, Fault(rule, "items: a list of items", source=source)]
    return items, faults


def _parse_lines(text: str, source: str) -> tuple[list[object], list[Fault]]:
    items: list[object] = []
    faults: list[Fault] = []
    # splitlines() would also split at U+2028 and friends, which JSON allows inside strings
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            items.append(_loads(line))
        except ValueError as error:
            faults.append(Fault("not_json", f"line {number}: {error}", source=source))
    return items, faults


def _loads(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_refuse_repeated_keys, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {repeated!r} stands twice in one object")
    return document


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(f"{number} is too large a number")
    return value
