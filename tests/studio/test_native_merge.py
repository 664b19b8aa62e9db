"""One decision merged into native results: everything else stays byte for byte."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from convolabel import Codebook, shipped_codebook
from convolabel.decisions import Decision
from convolabel.native_results import read_decisions
from convolabel.task_data import TaskData, TaskMessage, TaskSpan
from label_config.studio.native_merge import merged_results

CODEBOOK: Codebook = shipped_codebook("vrm-intent")
DIMENSION = CODEBOOK.dimensions[0]


def conversation(texts: list[str]) -> TaskData:
    """Every message is one unit, every second one in its third revision."""
    return TaskData(
        study="s",
        id="c",
        label="C",
        metadata={},
        fingerprint="f",
        messages=tuple(
            TaskMessage(message_id=index, speaker="a", author="A", text=text, labelable=True)
            for index, text in enumerate(texts)
        ),
        spans=tuple(
            TaskSpan(span_id=f"u{index}", rev=3 if index % 2 else 1, message=index, start=0, end=len(text))
            for index, text in enumerate(texts)
        ),
    )


texts = st.lists(st.text(st.sampled_from("ab 😀é\r\n"), min_size=1, max_size=8), min_size=1, max_size=5)
decisions = st.builds(
    Decision,
    st.dictionaries(st.just(DIMENSION.id), st.sampled_from(DIMENSION.choices), max_size=1),
    st.text(max_size=5),
)


def of_others(results: list[dict[str, Any]], span_id: str) -> list[str]:
    return [json.dumps(result) for result in results if result["id"] != span_id]


@given(texts, st.data())
def test_merging(said: list[str], draw: st.DataObject) -> None:
    data = conversation(said)
    results: list[dict[str, Any]] = []
    expected: dict[str, Decision] = {}
    for _ in range(draw.draw(st.integers(1, 6))):
        span = draw.draw(st.sampled_from(data.spans))
        decision = draw.draw(decisions)
        before = results
        frozen = json.dumps(before)
        results = merged_results(before, data, span, decision)
        assert json.dumps(before) == frozen
        # other units: the same bytes in the same order; only regions that were missing may have been added
        rest = of_others(results, span.span_id)
        assert [each for each in rest if each in of_others(before, span.span_id)] == of_others(before, span.span_id)
        assert merged_results(results, data, span, decision) == results
        regions = [result["id"] for result in results if result["type"] == "paragraphlabels"]
        assert sorted(regions) == sorted(each.span_id for each in data.spans)
        expected[span.span_id] = decision
    read = read_decisions(results, data, CODEBOOK)
    for span in data.spans:
        assert read.get(span.unit, Decision()) == expected.get(span.span_id, Decision())


def test_clearing_leaves_only_the_region() -> None:
    data = conversation(["Hm.", "Yes."])
    span = data.spans[1]
    coded = merged_results([], data, span, Decision({DIMENSION.id: "K"}, "why"))
    assert [result["type"] for result in coded if result["id"] == "u1"] == ["paragraphlabels", "choices", "textarea"]
    assert {result["meta"]["rev"] for result in coded if result["id"] == "u1"} == {3}
    cleared = merged_results(coded, data, span, Decision())
    assert [result["type"] for result in cleared] == ["paragraphlabels", "paragraphlabels"]


def test_results_of_the_stock_interface_are_kept() -> None:
    """A rating of the whole conversation, made beside the units, is nobody's unit and stays."""
    data = conversation(["Hm."])
    foreign = {"id": "x1", "type": "rating", "from_name": "r", "to_name": "conversation", "value": {"rating": 3}}
    assert foreign in merged_results([foreign], data, data.spans[0], Decision({DIMENSION.id: "K"}))
