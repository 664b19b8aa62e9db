"""JSON out of a model's reply (evaluator spec, "LLM clients")."""

import json
import re
from typing import Any

from convolabel.llm.errors import EmptyReply, Malformed, Truncated

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_UNCLOSED_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[ \t]*\w*[ \t]*\r?$", re.MULTILINE)
_CUT_VALUE = re.compile(r"t|tr|tru|f|fa|fal|fals|n|nu|nul|[-.eE+]+")


def parse_json(text: str) -> Any:
    """The JSON object or array in a model's reply.

    Accepts code fences in any case, text around the JSON (the largest value wins), thoughts before it, a byte order
    mark, and raw control characters in strings. Raises `EmptyReply`, `Truncated` when the JSON ends too early, and
    `Malformed` for anything else, scalars, NaN and lone surrogates included.
    """
    body = _without_thoughts(text.lstrip("\ufeff").strip())
    if not body:
        raise EmptyReply("The model's reply is empty.")
    value = _largest_value(body)
    if "\\ud" in body.lower() or not body.isascii():
        _refuse_lone_surrogates(value)
    return value


def list_in(reply: Any) -> list[Any]:
    """The list that `reply` is, or the only list in it when it is an object. Raises `Malformed`."""
    if isinstance(reply, list):
        return reply
    if isinstance(reply, dict):
        lists = [value for value in reply.values() if isinstance(value, list)]
        if len(lists) == 1:
            return lists[0]
    raise Malformed("The model's reply holds no list, or several.")


def _without_thoughts(body: str) -> str:
    body = _THOUGHT.sub("", body, count=1).strip()
    if _UNCLOSED_THOUGHT.match(body):
        raise Truncated("The model's reply ends inside its thoughts.")
    if not body.startswith(("{", "[")) and (ends := list(_END_OF_THOUGHT.finditer(body))):
        body = body[ends[-1].end() :].strip()
    if not body.startswith(("{", "[")) and (fence := _FENCE.search(body)):
        body = body[fence.end() :].strip()
    return body


def _largest_value(body: str) -> Any:
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)
    best: tuple[int, Any] | None = None
    place = 0
    while (start := _next_bracket(body, place)) is not None:
        try:
            value, end = decoder.raw_decode(body, start)
        except json.JSONDecodeError as error:
            if _ends_too_early(body, error):
                raise Truncated("The model's reply ends inside its JSON.") from None
            if body[start + 1 : error.pos].strip():
                raise Malformed(f"The model's reply is not valid JSON ({error.msg}).") from None
            place = start + 1  # a bracket of the text around the JSON
        except RecursionError:
            raise Malformed("The model's reply is nested too deeply.") from None
        else:
            if best is None or end - start > best[0]:
                best = (end - start, value)
            place = end
    if best is None:
        raise Malformed("The model's reply holds no JSON object or array.")
    return best[1]


def _next_bracket(body: str, place: int) -> int | None:
    found = [at for bracket in "{[" if (at := body.find(bracket, place)) >= 0]
    return min(found, default=None)


def _ends_too_early(body: str, error: json.JSONDecodeError) -> bool:
    rest = body[error.pos :].strip()
    is_cut_escape = "escape" in error.msg and len(rest) < len("uXXXX")
    return not rest or error.msg.startswith("Unterminated string") or is_cut_escape or bool(_CUT_VALUE.fullmatch(rest))


def _refuse_constant(name: str) -> Any:
    raise Malformed(f"The model's reply holds {name}, which is not JSON.")


def _refuse_lone_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Malformed("The model's reply holds half a character (a lone surrogate).") from None
