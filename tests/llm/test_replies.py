"""JSON out of replies (evaluator spec, "parse_json")."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convolabel.llm.errors import EmptyReply, Malformed, Truncated
from convolabel.llm.replies import list_in, parse_json

TEXT = st.text(st.characters(exclude_categories=("Cs",)))
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=8)
DOCUMENT = st.lists(VALUE) | st.dictionaries(TEXT, VALUE)
WRAPPING = st.sampled_from(
    [
        "{}",
        "```json\n{}\n```",
        "```JSON\r\n{}\r\n```",
        "```\n{}\n```",
        "\ufeff{}",
        "<think>Is it {{1}} or [2]?</think>\n{}",
        "<THINK>hm\n</THINK>```Json\n{}\n```",
        "Here is the answer:\n{}",
        "Sure.\n\n```json\n{}\n```\nTell me [if] you {{need}} more.",
        "thoughts without a beginning {{ [ </think> {}",
    ]
)


@given(DOCUMENT, WRAPPING, st.booleans(), st.sampled_from([None, 2]))
def test_a_value_comes_out_whatever_stands_around_it(
    value: object, wrapping: str, ascii_only: bool, indent: int | None
) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    reply = wrapping.replace("{{", "\0").replace("}}", "\1").replace("{}", "\2")
    reply = reply.replace("\0", "{").replace("\1", "}").replace("\2", written)
    assert parse_json(reply) == value


@given(st.dictionaries(TEXT, VALUE, min_size=1), st.data())
def test_a_reply_that_ends_too_early_is_never_read_in_part(value: dict[str, object], data: st.DataObject) -> None:
    written = json.dumps(value)
    cut = data.draw(st.integers(1, len(written) - 1))
    with pytest.raises((Truncated, Malformed)):
        parse_json(written[:cut])


@pytest.mark.parametrize(
    "reply",
    [
        '[{"a": 1}, {"a": "tw',
        '[{"a": 1}, {"a": 2}',
        '{"a": tru',
        '{"a": [1, 2',
        '{"a": "x\\',
        '{"a": "\\u12',
        "[-",
        '{"a"',
    ],
)
def test_truncation_is_named(reply: str) -> None:
    with pytest.raises(Truncated):
        parse_json(reply)
    with pytest.raises(Truncated):
        parse_json(f"```json\n{reply}")


def test_unclosed_thoughts_are_truncation() -> None:
    with pytest.raises(Truncated):
        parse_json('<think>The answer could be {"a": 1}')


def test_backticks_and_braces_inside_strings_stay() -> None:
    assert parse_json('```json\n{"a": "```py\\n{x}\\n```", "b": "} ] {"}\n```') == {
        "a": "```py\n{x}\n```",
        "b": "} ] {",
    }
    assert parse_json('{"a": "one\n```json\n[1]\n```"}') == {"a": "one\n```json\n[1]\n```"}


def test_raw_control_characters_in_strings_are_accepted() -> None:
    assert parse_json('{"a": "tab\there\nline\x01"}') == {"a": "tab\there\nline\x01"}


def test_the_largest_value_wins() -> None:
    assert parse_json('As in [1], {"ratings": [1, 2, 3]} (see {})') == {"ratings": [1, 2, 3]}


@pytest.mark.parametrize(
    "reply",
    ["no json", '"text"', "3", "null", "[1, oops]", '{"a": NaN}', "[Infinity]", '{"a": "\\ud83d"}', "[" * 99_999],
)
def test_what_is_not_json_is_malformed(reply: str) -> None:
    with pytest.raises((Malformed, Truncated)):
        parse_json(reply)


@pytest.mark.parametrize("reply", ["", "  \n", "\ufeff", "<think>nothing</think>"])
def test_an_empty_reply_is_named(reply: str) -> None:
    with pytest.raises(EmptyReply):
        parse_json(reply)


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse_json('["\\ud83d\\ude00"]') == ["😀"]


def test_a_list_is_found_inside_an_object() -> None:
    assert list_in([1]) == [1]
    assert list_in({"ratings": [1], "note": "x"}) == [1]
    for reply in ({"a": [1], "b": [2]}, {"a": 1}, {}):
        with pytest.raises(Malformed):
            list_in(reply)
