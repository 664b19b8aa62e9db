"""Data inside prompts: what people wrote can neither end its line, fake another one, nor fill a placeholder."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x7f\x85\u2028\u2029"}


def json_line(value: Any) -> str:
    """`value` as JSON on exactly one line, whatever line ends its texts hold."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS)


def json_lines(rows: Iterable[Any]) -> str:
    """One JSON value per line."""
    return "\n".join(json_line(row) for row in rows)


def filled(template: str, values: Mapping[str, str]) -> str:
    """`template` with each `{name}` of `values` replaced, in one pass: a placeholder inside a value stays as it is.

    A `{name}` without a value stays too, so that a template may show JSON.
    """
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
