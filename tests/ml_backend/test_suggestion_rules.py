"""Context, clauses, calibration, wording and the checks on a provider's answer: pure rules."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_study import CODEBOOK, talk

from convolabel.task_data import TaskSpan
from ml_backend.calibration import Calibration, confidence
from ml_backend.clauses import clauses
from ml_backend.context import Context, context_of
from ml_backend.suggestion import Evidence, Suggestion, UnusableAnswerError, checked
from ml_backend.wording import Wording

TEXT = "Gut 👍🏽 weiter so. Was nun?"


def test_context_ends_with_the_unit() -> None:
    span = TaskSpan(span_id="s", message=0, start=0, end=17)  # "Gut 👍🏽 weiter so." is 17 code points long
    cut = context_of(talk(TEXT, "Later."), span, no_future_messages=True)
    assert cut == Context(message=0, text="Gut 👍🏽 weiter so.", start=0, end=17)
    assert cut.unit_text == "Gut 👍🏽 weiter so."
    assert context_of(talk(TEXT), span, no_future_messages=False).text == TEXT


@given(st.text(min_size=2, max_size=40), st.text(max_size=10), st.data())
def test_what_follows_the_unit_changes_nothing(text: str, later: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(1, len(text)))
    span = TaskSpan(span_id="s", message=0, start=0, end=end)
    one = context_of(talk(text), span, no_future_messages=True)
    other = context_of(talk(text[:end] + later, later), span, no_future_messages=True)
    assert one == other
    assert one.fingerprint == other.fingerprint


def test_context_fingerprint_sees_every_part() -> None:
    contexts = [Context(0, "ab", 0, 1), Context(1, "ab", 0, 1), Context(0, "ac", 0, 1), Context(0, "ab", 1, 2)]
    assert len({context.fingerprint for context in contexts}) == 4


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Stop at ten, close the laptop.", ["Stop at ten,", "close the laptop."]),
        ("Erst das.\r\nDann 😀 dies.", ["Erst das.", "Dann 😀 dies."]),
        ("  A  doppelt.  ", ["A  doppelt."]),
        ("3.5 km at 7:30", ["3.5 km at 7:30"]),
        ("👍🏽 !", []),
        ("", []),
    ],
)
def test_clauses(text: str, pieces: list[str]) -> None:
    assert [text[start:end] for start, end in clauses(text)] == pieces


@given(st.text(alphabet="ab ,.!\r\n—👍🏽", max_size=40))
def test_clauses_are_in_order_trimmed_and_inside(text: str) -> None:
    found = clauses(text)
    edges = [edge for span in found for edge in span]
    assert edges == sorted(edges)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in found)


def test_calibration_pools_violators() -> None:
    # by margin: .1 right, .2 wrong, .3 wrong, .4 right, .5 right.
    # 1, 0 -> 1/2; 1/2, 0 -> 1/3 over (.1, .2, .3); then 1, 1: equal shares pool to one block that begins at .4
    calibration = Calibration([0.5, 0.1, 0.3, 0.2, 0.4], [True, True, False, False, True])
    assert [calibration.share(margin) for margin in (0.0, 0.1, 0.39, 0.4, 9.0)] == [1 / 3, 1 / 3, 1 / 3, 1.0, 1.0]


def test_calibration_takes_equal_margins_together() -> None:
    assert Calibration([0.2, 0.2, 0.2, 0.2], [False, True, True, True]).share(0.2) == 3 / 4


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_never_falls_and_keeps_the_total(answers: list[tuple[float, bool]]) -> None:
    margins, right = [m for m, _ in answers], [r for _, r in answers]
    shares = [Calibration(margins, right).share(margin) for margin in sorted(margins)]
    assert shares == sorted(shares)
    assert math.isclose(sum(shares), sum(right), abs_tol=1e-9)


def test_confidence_levels() -> None:
    assert [confidence(share) for share in (0.0, 0.49, 0.5, 0.74, 0.75, 1.0)] == [
        "low", "low", "medium", "medium", "high", "high",
    ]  # fmt: skip


def test_wording_weighs_and_normalises() -> None:
    # texts "a b" and "a": features a, b, ^a, "a b", b$ and a, ^a, a$. Against itself a text's cosine is 1.
    # Shared: a and ^a, in both texts: idf ln(3/3)+1 = 1 each. Alone: idf ln(3/2)+1 = 1.4055 (b, "a b", b$ / a$).
    # cosine = 2 / (sqrt(2 + 3*1.4055**2) * sqrt(2 + 1.4055**2)) = 2 / (2.8154 * 1.9938) = 0.3563
    rows = Wording(["a b", "a"]).vectors(["a b", "a"])
    assert np.allclose(rows @ rows.T, [[1, 0.3563], [0.3563, 1]], atol=1e-4)


def test_wording_of_unseen_words_is_not_close_to_anything() -> None:
    wording = Wording(["Sit down.", "Sit here."])
    known, unseen = wording.vectors(["Sit down.", "Sit qqq rrr sss."])
    assert known @ known == pytest.approx(1)
    assert unseen @ unseen < 0.5
    assert not wording.vectors([""]).any()


def suggestion(label: str = "Q", dimension: str = "intent", evidence: Evidence | None = None) -> Suggestion:
    return Suggestion(dimension=dimension, label=label, rationale="Because.", confidence="low", evidence=evidence)


CONTEXT = Context(message=3, text=TEXT, start=18, end=26)


@pytest.mark.parametrize(
    "answer",
    [
        [suggestion("Z")],
        [suggestion("unsure")],
        [suggestion("Question")],
        [suggestion("Q", "mood")],
        [suggestion("Q"), suggestion("Q")],
        [suggestion("Q"), suggestion("A"), suggestion("D")],
    ],
)
def test_answers_outside_the_rules_are_refused(answer: list[Suggestion]) -> None:
    with pytest.raises(UnusableAnswerError):
        checked(answer, CODEBOOK, 2, CONTEXT)


def test_two_labels_are_too_many_for_one() -> None:
    assert len(checked([suggestion("Q"), suggestion("x", "form")], CODEBOOK, 1, CONTEXT)) == 2
    with pytest.raises(UnusableAnswerError):
        checked([suggestion("Q"), suggestion("A")], CODEBOOK, 1, CONTEXT)


def test_evidence_is_verified() -> None:
    true = Evidence(text="Was nun?", message=3, start=18, end=26)
    (kept,) = checked([suggestion(evidence=true)], CODEBOOK, 1, CONTEXT)
    assert kept.evidence == true.model_copy(update={"verbatim": True})


@pytest.mark.parametrize(
    "claimed",
    [
        Evidence(text="Was nun!", message=3, start=18, end=26, verbatim=True),
        Evidence(text="Was nun?", message=2, start=18, end=26, verbatim=True),
        Evidence(text="Was nun?", message=3, start=19, end=27, verbatim=True),
        Evidence(text="?", message=3, start=-1, end=26, verbatim=True),
        Evidence(text="Was nun?", verbatim=True),
    ],
)
def test_a_false_quote_is_kept_but_marked(claimed: Evidence) -> None:
    (kept,) = checked([suggestion(evidence=claimed)], CODEBOOK, 1, CONTEXT)
    assert kept.evidence == Evidence(text=claimed.text, message=None, start=None, end=None, verbatim=False)
